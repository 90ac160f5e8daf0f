"""The report in a real browser (headless Chromium): it opens from disk, without network, and can be used."""

import json
import shutil
from pathlib import Path

import pytest

from bbfalsify.records.json_files import read_json
from tests.cli.test_run import falsify

EVIL = "R1</script><script>window.broken=1</script><img src=x onerror=window.broken=2>"


@pytest.fixture(scope="module")
def chromium():
    """Gone when this module is: others count the processes that are left."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program, "chromium is missing: sh tests/install_programs.sh"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page that fails the test when its script does, or when it asks for anything but itself."""
    context = chromium.new_context(offline=True, viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda request: None if request.url.startswith("file://") else problems.append(request.url))
    yield opened
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory):
    """A small falsification of two requirements, one of them named to do harm."""
    from bbfalsify import load_campaign
    from bbfalsify.campaigns.run_all import run_all
    from bbfalsify.examples import example_folder

    folder = tmp_path_factory.mktemp("report")
    campaign = folder / "campaign.yaml"
    profile, system = example_folder("heater") / "profile.yaml", f"{example_folder('heater') / 'system.py'}:heater"
    campaign.write_text(
        json.dumps(
            {
                "format_version": 1,
                "name": "heater <b>",
                "system": system,
                "profile": str(profile),
                "requirements": [
                    {"id": EVIL, "text": EVIL, "stl": "always[0:20](T <= 75)", "expected": "falsified"},
                    {"id": "R2", "text": "never above 60", "stl": "always[0:20](T <= 60)"},
                ],
                "engine": {"kind": "falsify", "horizon": 20, "counterexamples": 4, "simulations": 300, "passes": 2,
                           "traces": 20, "smc": "fixed", "smc_epsilon": 0.2},
                "seed": 1,
            }
        )
    )  # fmt: skip
    [done] = run_all(load_campaign(campaign), out=folder)
    return Path(done.results["run_directory"])


def open_report(page, directory: Path) -> None:
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.html import write_report

    page.goto(write_report(directory, ENGINES).as_uri())
    page.wait_for_function("document.documentElement.dataset.ready")


def test_the_table_sorts_filters_and_opens(page, run_directory):
    results = json.loads((run_directory / "results.json").read_text())
    open_report(page, run_directory)
    assert page.evaluate("window.broken") is None and "</script><script>" in page.inner_text("main")
    rows = page.locator("tr.row")
    assert rows.count() == len(results["counterexamples"])
    assert page.locator("tr.detail svg").count() >= 2, "the first one is open, its plots are drawn"
    for text in ("T [degC]", "heat", "robustness of what must hold", "violated", "actions", "that do not"):
        assert text in page.locator("tr.detail").text_content()
    page.click("th[data-key='3'] button")
    shown = rows.evaluate_all("rows => rows.map(row => row.id)")
    values = [row["probability"]["value"] for row in results["counterexamples"]]
    assert shown == [f"n{i + 1}" for i in sorted(range(len(values)), key=lambda i: -values[i])]
    page.select_option("select[data-key='1']", "R2")
    visible = [row for row in results["counterexamples"] if row["requirement"] == "R2"]
    assert page.locator("tr.row:visible").count() == len(visible)
    word = visible[0]["actions"]
    page.fill("#filter", " ".join(word))
    matching = [row for row in visible if "·".join(word) in "·".join(row["actions"])]
    assert page.locator("tr.row:visible").count() == len(matching) >= 1
    assert page.inner_text("#counted") == f"{len(matching)} of {len(values)}"
    page.fill("#filter", "no such action")
    assert page.locator("tr.row:visible, tr.detail:visible").count() == 0
    page.fill("#filter", "")
    page.select_option("select[data-key='1']", EVIL)
    named = [row for row in results["counterexamples"] if row["requirement"] == EVIL]
    assert page.locator("tr.row:visible").count() == len(named) > 0, "spaces in a name are part of it"


def test_it_is_usable_with_the_keyboard_and_shows_values_under_the_cross_hair(page, run_directory):
    open_report(page, run_directory)
    page.focus("tr.row button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("tr.row.open").count() == 2
    plot = page.locator("tr.detail .canvas").first
    plot.focus()
    page.keyboard.press("ArrowRight")
    readout = page.locator("tr.detail .readout").first
    assert "T " in readout.inner_text() and "robustness " in readout.inner_text()
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 30)
    page.mouse.up()
    whole = page.locator("tr.detail .tools button", has_text="whole").first
    assert whole.is_visible()
    whole.click()
    assert not whole.is_visible()


@pytest.mark.parametrize("scheme, width", [("dark", 1200), ("light", 420)])
def test_dark_and_narrow(page, run_directory, scheme, width):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_report(page, run_directory)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") is (scheme == "light")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"


def test_the_two_kinds_of_traces_of_a_fan_are_shown_and_hidden_one_by_one(page, run_directory):
    open_report(page, run_directory)
    count = len(json.loads((run_directory / "results.json").read_text())["requirements"])
    drawn = page.locator("tr.detail .canvas").first.locator("path.fan")
    both = drawn.count()
    assert both >= 2 * count and page.locator(".fan-legend input").count() == 2
    page.uncheck(".fan-legend .violating input")
    assert drawn.count() == both / 2 and page.locator("path.fan.violating").count() == 0
    page.uncheck(".fan-legend .others input")
    assert drawn.count() == 0


def test_a_plot_of_many_lines_gives_each_its_own_colour_and_name(page, run_directory):
    open_report(page, run_directory)
    page.locator("#when").scroll_into_view_if_needed()
    names = page.locator("#when .legend").first.locator("span")
    names.first.wait_for()
    colours = "items => items.map(i => getComputedStyle(i.querySelector('path')).stroke)"
    assert names.count() >= 4 and len(set(names.evaluate_all(colours))) == names.count()
    assert names.first.inner_text() == "the list"


def test_a_printed_report_is_light_and_nothing_is_cut_off(page, run_directory):
    page.emulate_media(color_scheme="dark")
    open_report(page, run_directory)
    page.emulate_media(color_scheme="dark", media="print")
    page.set_viewport_size({"width": 700, "height": 900})  # about what paper leaves
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    bad = page.evaluate("getComputedStyle(document.querySelector('.badge.bad')).color")
    assert bad == "rgb(179, 38, 30)", "the red of the light page"
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    plot = page.locator("tr.detail svg").first
    plot.wait_for(state="visible")  # rows open when the medium has changed, a moment later
    assert plot.bounding_box()["width"] <= 700


def test_a_log_that_was_cut_off_is_named(page, run_directory, tmp_path):
    directory = tmp_path / "run"
    shutil.copytree(run_directory, directory)
    log = (directory / "events.jsonl").read_text().splitlines(keepends=True)
    (directory / "events.jsonl").write_text("".join(log[: len(log) // 2]) + log[len(log) // 2][:20])
    open_report(page, directory)
    assert "events.jsonl: the log is cut off" in page.inner_text("#overview .notes")
    open_report(page, run_directory)
    assert page.locator("#overview .notes", has_text="log").count() == 0


def test_a_thousand_counterexamples_are_there_at_once(page, run_directory, tmp_path):
    directory = tmp_path / "run"
    shutil.copytree(run_directory, directory)
    results = read_json(directory / "results.json")
    [first, *_] = [row for row in results["counterexamples"] if row["requirement"] == "R2"]
    results["counterexamples"] = [
        {**first, "rank": rank, "actions": [*first["actions"], f"a{rank}"], "shrunk": None} for rank in range(1, 1001)
    ]
    (directory / "results.json").write_text(json.dumps(results))
    open_report(page, directory)
    assert page.locator("tr.row").count() == 1000
    assert page.locator("tr.detail").count() == 1, "what is not looked at is not drawn"
    assert (directory / "report.html").stat().st_size < 12_000_000
    page.fill("#filter", "a777")
    assert page.locator("tr.row:visible").count() == 1


def test_what_is_spoilt_is_named_and_the_rest_shown(page, run_directory, tmp_path):
    directory = tmp_path / "run"
    shutil.copytree(run_directory, directory)
    (directory / "fans.npz").write_bytes(b"PK\x03\x04 cut off")
    (directory / "events.jsonl").write_text('{"no": "event"}\n' * 3)
    first, second, *_ = sorted((directory / "counterexamples").glob("*.json"))
    first.unlink()
    second.write_text(second.read_text()[:200])
    open_report(page, directory)
    notes = page.inner_text("#overview .notes")
    for part in ("fans.npz: not the fans of a run", f"{first.name}: there is no such file", f"{second.name}:"):
        assert part in notes
    for button in page.locator("tr.row button").all():
        if button.get_attribute("aria-expanded") == "false":
            button.click()
    assert page.locator("tr.detail").count() == page.locator("tr.row").count()


def test_a_check_shows_the_way_of_each_violation_through_what_was_learned(page, tmp_path):
    from bbfalsify import check
    from bbfalsify.automata.mealy import MealyMachine

    steps = {
        ("off", "push"): ("on", "light"),
        ("on", "push"): ("hot", "light"),
        ("hot", "push"): ("on", "<b>smoke</b>"),
    }
    lamp = MealyMachine.from_transitions(steps, "off", name="lamp")
    result = check(
        lamp, ["G(out == light)", "F G(out == light)", "F(out == light)"], max_states=3, seed=1, out=tmp_path
    )
    open_report(page, result.directory)
    assert page.locator("#overview .badge").all_inner_texts() == ["violated", "violated", "satisfied up to bound"]
    drawings = page.locator("#violations svg.machine")
    assert drawings.count() == 2
    assert [drawings.nth(i).locator(".arrow.on").count() for i in range(2)] == [3, 3], (
        "a loop is followed until it closes"
    )
    assert page.locator("#violations .sequence").first.locator("text.broken").text_content().startswith("<b>smoke</b>")
    steps = (
        page.locator("#violations .sequence")
        .first.locator("text.time")
        .evaluate_all("all => all.map(text => text.firstChild.data)")
    )
    assert steps == ["step", "1", "2", "3"], "an answer belongs to its symbol"
    page.locator("#search").scroll_into_view_if_needed()
    page.wait_for_selector("#search svg")  # how learning went; drawn when it comes into sight


def test_a_large_machine_is_zoomed_and_searched(page, tmp_path):
    from bbfalsify import check
    from bbfalsify.automata.mealy import MealyMachine

    table = {(f"s{i}", "next"): (f"s{(i + 1) % 30}", "a rather long answer") for i in range(30)}
    table |= {(f"s{i}", "back"): ("s0" if i % 3 else f"s{max(0, i - 2)}", f"answer {i}") for i in range(30)}
    machine = MealyMachine.from_transitions(table, "s0", name="ring")
    result = check(machine, ["G(out != nothing)"], max_states=30, seed=1, out=tmp_path)
    open_report(page, result.directory)
    frame, svg = page.locator("#machine .drawing"), page.locator("#machine svg.machine")
    assert svg.locator(".state").count() == 30
    full = float(svg.get_attribute("width"))
    begin = svg.bounding_box()["width"]
    assert 0.75 * full < begin < full, "as small as can still be read"
    page.click("#machine .tools button:has-text('fit')")
    assert svg.bounding_box()["width"] <= frame.bounding_box()["width"]
    frame.focus()
    page.keyboard.press("1")
    assert svg.bounding_box()["width"] == pytest.approx(full, abs=2)
    page.select_option("#machine .tools select", label="s5")
    near = svg.locator(".arrow:not(.far)").evaluate_all("all => all.map(a => a.querySelector('title').textContent)")
    assert near and all("s5" in title.split(":")[0].split(" → ") for title in near)
    assert svg.locator(".state:not(.far) .name").all_text_contents().count("s5") == 1
    frame.focus()
    page.keyboard.press("Escape")
    assert svg.locator("xpath=self::*[contains(@class, 'looking')]").count() == 0
    assert page.locator("#machine details summary").inner_text() == "as a table: 30 states, 2 symbols"


def test_a_campaign_links_its_runs(cli, page, run_directory, tmp_path):
    folder = tmp_path / "campaign"
    shutil.copytree(run_directory, folder / "runs" / "0001")
    manifest = {"format_version": 1, "name": "two <b>", "versions": {}, "runs": [
        {"name": "first", "directory": "runs/0001", "varies": {"seed": 1}},
        {"name": "second", "directory": "runs/0002", "varies": {"seed": 2}},
    ]}  # fmt: skip
    (folder / "campaign.json").write_text(json.dumps(manifest))
    assert cli("report", folder).code == 0
    page.goto((folder / "report.html").as_uri())
    rows = page.locator("#runs tbody tr")
    assert rows.count() == 2 and "not begun" in rows.nth(1).inner_text()
    assert "not expected" not in rows.first.inner_text() and "as expected" in rows.first.inner_text()
    page.click("th button:has-text('seed')")
    page.click("th button:has-text('seed')")
    assert rows.first.locator("a, td:nth-child(2)").first.inner_text() == "second", "sorted by what varies, downwards"
    page.click("text=first")
    assert page.locator("#counterexample-table").count() == 1


def test_of_many_runs_those_that_are_looked_for_are_found(cli, page, tmp_path):
    folder = tmp_path / "campaign"
    (folder / "runs").mkdir(parents=True)
    runs = [{"name": f"many-{i}", "directory": f"runs/{i:04}", "varies": {"seed": i, "size": i % 7}} for i in range(40)]
    (folder / "campaign.json").write_text(
        json.dumps({"format_version": 1, "name": "many", "versions": {}, "runs": runs})
    )
    assert cli("report", folder).code == 0
    page.goto((folder / "report.html").as_uri())
    rows = page.locator("#run-table tbody tr")
    assert rows.count() == 40
    page.fill("#filter", "many-3")
    assert page.locator("#run-table tbody tr:visible").count() == 11 and page.inner_text("#counted") == "11 of 40"
    page.fill("#filter", "")
    page.click("th button:has-text('size')")
    sizes = rows.evaluate_all("rows => rows.map(row => +row.cells[3].textContent)")
    assert sizes == sorted(sizes)


def test_every_run_writes_one_and_the_command_makes_it_again(cli, heater):
    result = falsify(cli, heater)
    directory = Path(result.out.splitlines()[-2].removeprefix("report: ")).parent
    assert f"report: {directory / 'report.html'}" in result.out
    first = (directory / "report.html").read_text()
    (directory / "report.html").unlink()
    again = cli("report", directory, "--json")
    assert again.code == 0 and again.json == {"report": str(directory / "report.html"), "bytes": len(first.encode())}
    assert (directory / "report.html").read_text() == first, "a report is a function of what was recorded"
    assert cli("report", directory / "counterexamples").code == 2
