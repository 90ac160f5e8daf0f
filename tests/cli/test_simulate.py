from xml.etree import ElementTree

import pytest

CLOCK = """
format_version: 1
name: ticker
declarations: |
  int n = 0;
automata:
  Ticker:
    declarations: clock x;
    initial: A
    locations:
      A: {invariant: "x <= 2"}
    edges:
      - {from: A, to: A, action: tick, guard: "x >= 2", update: "x = 0, n = n + 1"}
"""


@pytest.fixture
def ticker(tmp_path):
    file = tmp_path / "ticker.yaml"
    file.write_text(CLOCK)
    return file


def rows(text: str) -> list[dict[str, str]]:
    header, *lines = [line.split(",") for line in text.splitlines()]
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_a_model_shows_its_variables_and_locations(cli, ticker):
    called = cli("simulate", ticker, "--until", 5, "--period", 1, "--seed", 1)
    assert called.code == 0
    assert called.problems[-1] == "1 walk (1 reached end), seed 1"
    table = rows(called.out)
    assert [(r["time"], r["action"], r["Ticker"], r["n"], r["Ticker.x"]) for r in table] == [
        ("0.0", "", "A", "0.0", "0.0"),
        ("1.0", "", "A", "0.0", "1.0"),
        ("2.0", "tick", "A", "1.0", "0.0"),
        ("3.0", "", "A", "1.0", "1.0"),
        ("4.0", "tick", "A", "2.0", "0.0"),
        ("5.0", "", "A", "2.0", "1.0"),
    ]


def test_expressions_can_be_shown(cli, ticker):
    table = rows(cli("simulate", ticker, "--until", 4, "--period", 2, "--show", "2 * n + 1").out)
    assert [r["2 * n + 1"] for r in table] == ["1.0", "3.0", "5.0"]


def test_what_is_simulated_can_be_monitored(cli, ticker, tmp_path):
    assert cli("simulate", ticker, "--until", 5, "--csv", "t.csv", "-q").out == ""
    assert cli("monitor", "always[0:5](n <= 2)", "t.csv").code == 0
    assert cli("monitor", "always[0:5](n <= 1)", "t.csv").out.endswith("certain at time 4\n")


def test_a_profile_shows_its_inputs_and_seeds_decide(cli, heater):
    def walk(seed: int) -> str:
        return cli("simulate", heater / "profile.yaml", "--until", 30, "--walks", 2, "--seed", seed).out

    assert walk(1) == walk(1) != walk(2)
    table = rows(walk(1))
    assert {r["walk"] for r in table} == {"1", "2"}
    for before, row in zip(table, table[1:], strict=False):
        if row["walk"] == before["walk"]:
            set_to = {"on": "1.0", "off": "0.0", "": before["heat"]}[row["action"]]
            assert row["heat"] == set_to


def test_the_plot_is_a_picture(cli, heater, tmp_path):
    called = cli("simulate", heater / "profile.yaml", "--until", 30, "--walks", 2, "--plot", "w.svg", "-q")
    assert (called.code, called.out, called.err) == (0, "", "")
    root = ElementTree.parse(tmp_path / "w.svg").getroot()
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_the_search_heuristic_as_json(cli, heater):
    options = ["--until", 9, "--heuristic", "ret", "--json", "-q", "--seed", 3]
    data = cli("simulate", heater / "profile.yaml", *options).json
    assert data["seed"] == 3
    (walk,) = data["walks"]
    assert walk["ending"] == "reached end"
    assert set(walk["signals"]) == {"heat"}
    assert len(walk["signals"]["heat"]) == len(walk["times"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "0"], "--until must be a positive number; found 0."),
        (["--period", "-1"], "--period must be a positive number; found -1."),
        (["--show", "m + 1"], "unknown name 'm'"),
        (["--plot", "w.png"], "--plot draws SVG; the file must end in .svg, found 'w.png'."),
        (["--plot", "no/such/folder.svg"], "no/such/folder.svg cannot be written: No such file or directory."),
    ],
)
def test_wrong_options(cli, ticker, options, message):
    called = cli("simulate", ticker, "-q", *options)
    assert (called.code, called.out) == (2, "")
    assert message in called.err


def test_a_model_that_leaves_an_int_range_fails_with_its_own_words(cli, ticker):
    """The walk up to there is written; the error says what the model did, and that it is the model's."""
    ticker.write_text(CLOCK.replace("int n = 0;", "int[0, 1] n = 0;"))
    called = cli("simulate", ticker, "--until", 10, "--period", 1, "--seed", 1)
    assert called.code == 2 and "Traceback" not in called.err
    assert called.problems[0] == "1 walk (1 runtime error), seed 1"
    assert "the model fails in walk 1: " in called.problems[1] and "n" in called.problems[1]
    assert [r["n"] for r in rows(called.out) if r["action"]] == ["1.0"]
    failed = cli("simulate", ticker, "--until", 10, "--walks", 2, "--heuristic", "ret", "--json")
    assert failed.code == 2 and "the model fails in walk 1: " in failed.err + failed.out
