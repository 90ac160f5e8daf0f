"""Looking at a finished run again."""

import json
from pathlib import Path

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.records.json_files import read_json, write_json
from bbfalsify.results.recorded import showing
from tests.cli.test_run import falsify


def test_a_run_is_shown_again_in_full(cli, heater):
    first = falsify(cli, heater)
    report = next(line for line in first.out.splitlines() if line.startswith("report: "))
    directory = Path(report.split(": ")[1]).parent
    assert "time to violation: " not in first.out and "profile coverage" not in first.out
    assert "by then" in (directory / "time_to_violation.svg").read_text()
    again = cli("show", directory)
    assert (again.code, again.err) == (0, "")
    table = first.out.splitlines()[:7]
    assert again.out.splitlines()[:7] == table and any("failure mode " in line for line in table)
    assert "time to violation: " in again.out and "profile coverage: 2 of 2 edges" in again.out
    assert "% per 1 % more" in again.out and "weight of User.S -> S (on)" in again.out
    assert "edge, times taken" in again.out
    assert max(len(line) for line in again.out.splitlines() if not line.startswith("replay")) <= 80
    assert cli("show", directory, "--json").json == read_json(directory / "results.json")


def test_one_counterexample_step_by_step_also_after_the_directory_moved(cli, heater, tmp_path):
    directory = Path(falsify(cli, heater, "--json", "-q").json["run_directory"])
    moved = directory.rename(tmp_path / "elsewhere")
    whole = cli("show", moved).out.splitlines()
    assert f"run directory: {moved}" in whole and whole[-1].startswith(f"replay: bbfalsify replay {moved}/")
    shown = cli("show", moved, "--counterexample", 1)
    assert shown.code == 0
    data = cli("show", moved / "results.json", "-n", 1, "--json").json["counterexamples"][0]
    assert [step["action"] for step in data["word"]] == data["actions"]
    assert data["word"][-2]["time"] < data["first_violation_time"] <= data["word"][-1]["time"]
    lines = shown.out.splitlines()
    assert lines[0].startswith("R1 #1, confirmed, probability ")
    end = lines.index(f"replay: bbfalsify replay {data['file']}")
    assert "violated" in lines[end - 2], "the violation comes before the action that ends its delay"
    core = data["shrunk"]
    assert core["transitions"] == 4 and [step["action"] for step in core["word"]] == core["actions"]
    assert lines[end + 1].startswith(f"shrunk: 4 of 5 actions, as #{core['same_as']}, confirmed, probability ")
    assert "violated" in lines[-3] and lines[-1] == f"replay: bbfalsify replay {core['file']}"
    replayed = cli("replay", core["file"])
    assert replayed.code == 1 and replayed.out.startswith("SAME")
    assert f"run directory: {moved}" in cli("show", moved).out
    wrong = cli("show", moved, "--counterexample", 99)
    assert (wrong.code, wrong.out) == (2, "")
    assert "there is no counterexample 99; the ranks are 1 to " in wrong.err


def test_shrinking_can_be_switched_off_and_the_result_says_so(cli, heater):
    off = falsify(cli, heater, "--shrink", 0)
    assert "note: shrink is 0: nobody asked which actions of a counterexample matter" in off.out
    assert "shrinks to" not in off.out
    shown = falsify(cli, heater, "--shrink", 100, "-v")
    assert "shrinks to #" in shown.out and "no action can be left out of #" in shown.out
    data = falsify(cli, heater, "--shrink", 0, "--json", "-q").json
    assert [row["shrunk"] for row in data["counterexamples"]] == [None] * len(data["counterexamples"])


def test_what_is_not_a_run(cli, tmp_path):
    assert cli("show", tmp_path).code == 2
    for text in ("{}", "[]"):
        (tmp_path / "results.json").write_text(text)
        refused = cli("show", tmp_path)
        assert refused.code == 2 and "not the results of a run" in refused.err


def test_sensitivity_can_be_left_out(cli, heater):
    data = falsify(cli, heater, "--json", "-q", "--no-sensitivity").json
    assert data["requirements"][0]["sensitivity"] is None
    assert data["profile_coverage"]["never_taken"]["edges"] == []


def test_the_directory_of_a_campaign_is_not_one_of_its_runs(cli, tmp_path):
    campaign = tmp_path / "campaign"
    campaign.mkdir()
    (campaign / "campaign.json").write_text("{}\n")
    for command in (("show", campaign), ("accept", campaign, "-o", "accepted.yaml", "--reason", "known")):
        refused = cli(*command)
        assert refused.code == 2 and refused.out == ""
        assert f"name one of them, such as {campaign / 'runs' / '0001'}" in refused.err


def test_one_finding_of_a_check_or_of_reach(cli, tmp_path):
    (tmp_path / "m.dot").write_text(
        "digraph m {\n__start0 [label=\"\"];\n__start0 -> s0;\ns0 -> s1 [label=\"a/x\"];\ns0 -> s0 [label=\"b/y\"];\n"
        "s1 -> s0 [label=\"a/y\"];\ns1 -> s1 [label=\"b/x\"];\n}\n"
    )  # fmt: skip
    found = cli("check", "--system", "m.dot", "--require", "G(out != x)", "--require", "F out == z", "--max-states", 3,
                "--seed", 1, "--json", "-q").json  # fmt: skip
    shown = cli("show", found["run_directory"], "-n", 1)
    assert shown.code == 0
    assert shown.out.splitlines()[:2] == ["R1, confirmed: G(out != x)", "     1  a  x"]
    loop = cli("show", found["run_directory"], "-n", 2, "--json").json["counterexamples"][0]
    assert loop["loop_begins"] == len(loop["actions"]) - 1 and {"input", "output"} == set(loop["word"][0])
    reached = cli("reach", "--example", "fischer-faulty:4", "--seed", 1, "--json", "-q").json
    shown = cli("show", reached["run_directory"], "-n", 1)
    assert "P(2): wait -> cs" in shown.out and shown.out.splitlines()[-1].startswith("replay: bbfalsify replay runs/")
    test = cli("export", reached["file"], "--pytest")
    assert test.out.startswith("test: test_q1_fischer_faulty_4.py")


def change_by_hand(file: Path, change) -> None:
    """Change a file of JSON; as the message of a wrong checksum says, without its checksum."""
    data = json.loads(file.read_text())
    data.pop("checksum", None)
    change(data)
    file.write_text(json.dumps(data))


def test_results_and_traces_changed_by_hand_are_messages_with_file_and_member(cli, tmp_path):
    (tmp_path / "m.yaml").write_text(
        "format_version: 1\nname: m\nautomata:\n  P:\n    declarations: clock x;\n    initial: A\n"
        "    locations: {A: {invariant: x <= 2}, B: {}}\n    edges: [{from: A, to: B, guard: x >= 1}]\n"
    )
    run = Path(cli("reach", "m.yaml", "--query", "E<> P.B", "--seed", 1, "--json").json["run_directory"])
    trace = next((run / "counterexamples").iterdir())
    change_by_hand(trace, lambda data: (data.pop("steps"), data.update(waits="long")))
    for command in (("show", run), ("show", run, "-n", 1)):
        shown = cli(*command)
        assert shown.code == 2 and f"{trace}: steps: is missing." in shown.err
        assert f"{trace}: waits: must be a number, found a text." in shown.err
    assert cli("report", run).code == 0 and "steps: is missing." in (run / "report.html").read_text()
    results = run / "results.json"
    change_by_hand(results, lambda data: data["requirements"][0].update(walks="many"))
    for command in (("show", run), ("report", run)):
        shown = cli(*command)
        assert shown.code == 2, shown.err
        assert f"{results}: not the results of a run: requirements.0.walks: must be a whole number, found" in shown.err
    change_by_hand(results, lambda data: data.update(counterexamples=[{"requirement": 5, "actions": []}]))
    for command in (
        ("show", run),
        ("compare", run, run),
        ("report", run),
        ("accept", run, "-o", "a.yaml", "--reason", "x"),
    ):
        shown = cli(*command)
        assert shown.code == 2, shown.err
        assert f"{results}: not the results of a run: " in shown.err


def test_what_cannot_be_shown_of_our_own_files_is_our_error(tmp_path):
    file = tmp_path / "results.json"
    write_json(file, {"requirements": []})
    with pytest.raises(KeyError), showing(file, {}):
        raise KeyError("steps")
    file.write_text('{"requirements": []}')
    with pytest.raises(UserError, match="results.json: not the results of a run: "), showing(file, {}):
        raise KeyError("steps")
