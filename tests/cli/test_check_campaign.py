"""Campaigns of black box checking: lists multiply, outcomes are compared, interrupted ones go on."""

from pathlib import Path

from tests.cli.test_check import DOOR

CAMPAIGN = """format_version: 1
name: door
system: door.dot
requirements:
  - {id: R1, text: "opening works once", ltl: "G(in == open & out == ok -> X(in == open -> out == no))"}
  - {id: R2, ltl: "G(out != no)", expected: falsified}
engine: {kind: check, max_states: [3, 4], learner: [lsharp, kv]}
expected: not_falsified
seed: 1
"""


def prepare(tmp_path, text=CAMPAIGN):
    (tmp_path / "door.dot").write_text(DOOR)
    (tmp_path / "door.yaml").write_text(text)
    return tmp_path / "door.yaml"


def test_four_runs_as_expected(cli, tmp_path):
    file = prepare(tmp_path)
    called = cli("run", file)
    assert called.code == 0, called.err
    assert "4 runs: 4 correct" in called.out and called.out.count("(as expected)") == 8
    [folder] = Path("runs").iterdir()
    assert (folder / "runs" / "0004" / "model.svg").read_text().startswith("<svg")
    shown = cli("show", folder / "runs" / "0002")
    assert "R1 satisfied if the system has at most 3 states" in shown.out
    again = cli("run", file, "--resume", "--json", "-q").json  # all are finished: nothing is executed
    assert [run["outcome"] for run in again["runs"]] == ["falsified"] * 4


def test_another_outcome_than_expected(cli, tmp_path):
    called = cli("run", prepare(tmp_path, CAMPAIGN.replace("expected: falsified", "expected: not_falsified")))
    assert called.code == 1 and "expected: not falsified" in called.out and "4 wrong" in called.out


def test_mistakes_are_found_before_anything_runs(cli, tmp_path):
    text = CAMPAIGN.replace("in == open", "in == opne").replace("lsharp", "lsharps").replace("G(out != no)", "G(out !=")
    called = cli("run", prepare(tmp_path, text))
    assert called.code == 2 and not Path("runs").exists()
    assert "door.yaml:5" in called.err and "door.yaml:6" in called.err and "lsharps" in called.err
    signals = cli("run", prepare(tmp_path, CAMPAIGN.replace("ltl:", "stl:")))
    assert signals.code == 2
    text = CAMPAIGN.replace("learner:", "alphabet: [opne], older: old.dot, learner:")
    files = cli("validate", prepare(tmp_path, text))
    assert files.code == 2 and "door.yaml:7: unknown input symbol 'opne'" in files.err and "old.dot'" in files.err
