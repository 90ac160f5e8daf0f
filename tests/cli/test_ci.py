"""What other machines read: JUnit XML, SARIF, annotations, pytest."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bbfalsify.core.verdict import Outcome
from bbfalsify.core.visible_text import visible
from bbfalsify.reporting.exports.annotations import annotation_lines
from bbfalsify.reporting.exports.cases import suite_of
from bbfalsify.reporting.exports.junit import junit_text
from bbfalsify.reporting.exports.sarif import sarif_text
from tests.cli.test_run import falsify

ROOT = Path(__file__).resolve().parent.parent.parent


def requirement(name: str, outcome: str, expected: str | None = None, **more) -> dict:
    return {"id": name, "text": f"text of {name}", "stl": "T < 1", "outcome": outcome, "expected": expected, **more}


def results(*requirements: dict, counterexamples=(), notes=()) -> dict:
    return {
        "name": "run", "outcome": "inconclusive", "seconds": 3.0, "seed": 1, "run_directory": "runs/x",
        "requirements": list(requirements),
        "counterexamples": list(counterexamples), "notes": list(notes),
    }  # fmt: skip


def counterexample(name: str, rank: int, *actions: str, accepted: str | None = None) -> dict:
    estimate = {"value": 0.1, "low": 0.05, "high": 0.2, "confidence": 0.95, "method": "m", "samples": 10}
    return {
        "requirement": name, "rank": rank, "actions": list(actions), "probability": estimate, "status": "confirmed",
        "first_violation_time": 2.0, "robustness": -1.0, "file": "counterexamples/1.json", "accepted": accepted,
    }  # fmt: skip


@pytest.mark.parametrize(
    "outcome, expected, accepted, status",
    [
        ("falsified", None, None, "failed"),
        ("falsified", "falsified", None, "passed"),
        ("falsified", "not_falsified", None, "failed"),
        ("not_falsified", None, None, "passed"),
        ("not_falsified", "falsified", None, "failed"),
        ("inconclusive", None, None, "inconclusive"),
        ("inconclusive", "inconclusive", None, "passed"),
        ("error", "falsified", None, "error"),
        ("falsified", None, "accepted", "passed"),
        ("falsified", "falsified", "new", "failed"),
    ],
)
def test_what_a_requirement_is_as_a_test_case(outcome, expected, accepted, status):
    found = [counterexample("R1", 1, "on", accepted=accepted)] if outcome == Outcome.FALSIFIED else []
    [case] = suite_of(results(requirement("R1", outcome, expected), counterexamples=found)).cases
    assert case.status == status


def test_junit_is_read_by_a_ci_parser(tmp_path):
    from junitparser import Error, Failure, JUnitXml

    evil = "text ]]> <b> & \x00\x1b \" ' \u2603"
    bad = requirement("R1", "falsified", text=evil)
    suites = [
        suite_of(results(bad, requirement("R2", "not_falsified"), requirement("R3", "inconclusive"),
                         counterexamples=[counterexample("R1", 1, "on", evil)], notes=["2 simulations failed"])),
        suite_of({**results(requirement("R1", "falsified", "falsified")), "varies": {"seed": 2}}),
    ]  # fmt: skip
    file = tmp_path / "junit.xml"
    file.write_text(junit_text(suites), encoding="utf-8")
    read = JUnitXml.fromfile(str(file))
    assert (read.tests, read.failures, read.errors, read.time) == (4, 1, 1, 6.0)
    first, second = read
    assert second.name == "run (seed 2)"
    failed, passed, unknown = first
    assert failed.name.startswith("R1: text ]]> <b> & ") and isinstance(failed.result[0], Failure)
    assert "bbfalsify replay counterexamples/1.json" in failed.result[0].text
    assert not passed.result
    assert isinstance(unknown.result[0], Error) and "2 simulations failed" in unknown.result[0].text


def test_sarif_recognises_the_same_failure_from_run_to_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = results(requirement("R1", "falsified"), counterexamples=[counterexample("R1", 1, "on", "off")])
    two = results(
        requirement("R1", "falsified"),
        counterexamples=[counterexample("R1", 1, "off"), counterexample("R1", 2, "on", "off", accepted="accepted")],
    )

    def read(data: dict) -> list[dict]:
        log = json.loads(sarif_text([suite_of(data, campaign=str(tmp_path / "a campaign.yaml"))], {}))
        assert log["version"] == "2.1.0" and log["runs"][0]["tool"]["driver"]["rules"][0]["id"] == "R1"
        return log["runs"][0]["results"]

    [before], [new, again] = read(one), read(two)
    assert before["partialFingerprints"] == again["partialFingerprints"] != new["partialFingerprints"]
    assert (before["level"], again["level"]) == ("error", "note") and again["suppressions"]
    assert before["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20campaign.yaml"


def test_runs_write_the_files_they_are_asked_for(cli, heater, tmp_path):
    from junitparser import JUnitXml

    called = falsify(cli, heater, "--junit", "junit.xml", "--sarif", "x.sarif", "--json", "-q")
    found = called.json["counterexamples"]
    [suite] = JUnitXml.fromfile("junit.xml")
    [case] = suite
    assert case.result[0].text.count("bbfalsify replay") == len(found)
    [row], (first, *_) = called.json["requirements"], called.json["modes"]
    sentence = f"R1, {row['stl']}: violated in "
    assert case.result[0].message.startswith(sentence) and f" | #1 {first['sentence']}: 1 in " in case.result[0].message
    assert case.result[0].text.startswith(sentence) and f"\n#1 {first['sentence']}: 1 in " in case.result[0].text
    messages = [result["message"]["text"] for result in json.loads(Path("x.sarif").read_text())["runs"][0]["results"]]
    assert all(text.startswith(sentence) for text in messages) and len(set(messages)) == len(found)
    [(level, _, message)] = annotations("\n".join(annotation_lines([suite_of(called.json)], {})))
    assert level == "error" and message.startswith(sentence) and f"\n#1 {first['sentence']}: 1 in " in message
    assert len(json.loads(Path("x.sarif").read_text())["runs"][0]["results"]) == len(found)
    again = cli("report", called.json["run_directory"], "--junit", "again.xml")
    assert again.code == 0 and Path("again.xml").read_text() == Path("junit.xml").read_text()


def test_files_that_cannot_be_written_are_refused_before_anything_runs(cli, heater, tmp_path):
    (tmp_path / "folder").mkdir()
    refused = falsify(cli, heater, "--junit", "no/such/folder.xml", "--sarif", "folder", "-q")
    assert refused.code == 2 and not (tmp_path / "runs").exists(), "not after the run"
    assert refused.err.splitlines() == [
        "no/such/folder.xml: cannot be written: there is no folder 'no/such'.",
        "folder: is a folder; expected the name of a file.",
    ]


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As GitHub's runner reads them: ::level key=value,key=value::message, with %XX for what would end a part."""

    def plain(escaped: str) -> str:
        for code in ("0A", "0D", "3A", "2C", "25"):
            escaped = escaped.replace(f"%{code}", chr(int(code, 16)))
        return escaped

    found = []
    for line in text.splitlines():
        if line.startswith("::"):
            command, _, message = line[2:].partition("::")
            level, _, properties = command.partition(" ")
            about = dict(part.split("=", 1) for part in properties.split(","))
            found.append((level, {key: plain(value) for key, value in about.items()}, plain(message)))
    return found


def test_annotations_say_what_failed_and_cannot_be_forged():
    evil = "50 %\r\n::error file=x::no, really: \u2603"
    rows = [requirement("R0", "falsified", "falsified"), requirement("R1", "falsified", text=evil)]
    rows += [requirement("R2", "not_falsified"), requirement("R3", "inconclusive"), requirement("R4", "error")]
    found = [counterexample("R0", 1, "on"), counterexample("R1", 1, "on", evil)]
    suite = suite_of(results(*rows, counterexamples=found), campaign="a, b.yaml")
    lines = list(annotation_lines([suite], {"a, b.yaml": {"R1": ("my: specs.yaml", 7)}}))
    assert all(line.isprintable() for line in lines)
    read = annotations("\n".join(lines))
    assert [level for level, _, _ in read] == ["error", "error", "warning", "notice"], (
        "the gravest first; R2 is in order"
    )
    level, about, message = read[0]
    assert about == {"file": "my: specs.yaml", "line": "7", "title": f"R1: {visible(evil)}"}
    assert visible(evil) in message and "bbfalsify replay counterexamples/1.json" in message.splitlines()[-1]
    assert read[3][1] == {"file": "a, b.yaml", "line": "1", "title": "R0: text of R0"} and "as expected" in read[3][2]


def test_github_is_told_where_a_requirement_is_written(cli, heater, tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "own.yaml").write_text(
        "format_version: 1\nrequirements:\n\n  - id: hot\n    stl: always[0:20](T <= 76)\n"
    )
    text = CAMPAIGN.replace("  - {id: hot, text: never above 75.5, stl", "  - specs/own.yaml\n  - {id: cold, stl")
    (tmp_path / "campaign.yaml").write_text(text)
    assert annotations(cli("run", "campaign.yaml", "-q").out) == [], "nobody asked"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    called = cli("run", "campaign.yaml", "-q", "--json")
    [error, other, notice] = annotations(called.err)
    assert called.json["outcome"] == "falsified", "stdout is JSON alone"
    assert (error[0], error[1]["file"], error[1]["line"]) == ("error", f"{tmp_path.name}/specs/own.yaml", "4")
    assert (other[0], other[1]["file"]) == ("error", f"{tmp_path.name}/campaign.yaml")
    line = text.splitlines()[int(notice[1]["line"]) - 1]
    assert notice[0] == "notice" and line.strip().startswith("- {id: warm"), "expected, so no alarm"
    directory = called.json["run_directory"]
    assert annotations(cli("run", "campaign.yaml", "-q", "--no-annotations").out) == []
    assert annotations(cli("report", directory).out) == []
    assert annotations(cli("report", directory, "--annotations", "--sarif", "x.sarif").out) == [error, other, notice]
    places = [
        r["locations"][0]["physicalLocation"] for r in json.loads(Path("x.sarif").read_text())["runs"][0]["results"]
    ]
    assert {(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places} == {
        (told["file"], int(told["line"])) for _, told, _ in (error, other, notice)
    }


CAMPAIGN = """
format_version: 1
name: heater
system: heater/system.py:heater
profile: heater/profile.yaml
requirements:
  - {id: warm, stl: "always[0:20](T <= 75)", expected: falsified}
  - {id: hot, text: never above 75.5, stl: "always[0:20](T <= 75.5)", expected: not_falsified}
engine: {kind: falsify, horizon: 20, counterexamples: 2, simulations: 200, passes: 2, traces: 10, shrink: 0}
seed: 1
"""

TESTS = """
USE = {"horizon": 20, "simulations": 200, "passes": 2, "traces": 10}

def test_holds(assert_not_falsified):
    assert_not_falsified("heater/system.py:heater", "heater/profile.yaml", "always[0:20](T <= 99)", **USE)

def test_fails(assert_not_falsified):
    assert_not_falsified("heater/system.py:heater", "heater/profile.yaml", "always[0:20](T <= 75)", **USE)
"""


def test_pytest_collects_campaigns_offers_fixtures_and_runs_exported_counterexamples(cli, heater, tmp_path):
    directory = Path(falsify(cli, heater, "--json", "-q").json["run_directory"])
    exported = cli("export", next((directory / "counterexamples").glob("*.json")), "--pytest")
    assert exported.code == 0
    [test] = tmp_path.glob("test_r1_*.py")
    refused = cli("export", next((directory / "counterexamples").glob("*.json")), "--pytest", "-o", test)
    assert refused.code == 2 and refused.err.count("nothing was overwritten") == 2
    (tmp_path / "heater.campaign.yaml").write_text(CAMPAIGN)
    (tmp_path / "wrong.campaign.yaml").write_text("format_version: 1\n")
    (tmp_path / "test_mine.py").write_text(TESTS)
    # The entry point as pyproject.toml declares it, whether or not this installation already knows it.
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    metadata = tmp_path / "metadata" / "plugin-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 0\n")
    lines = [f"{name} = {module}" for name, module in declared.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines, ""]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(metadata.parent)])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "."],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 failed, 2 passed, 1 error" in done.stdout, done.stdout
    assert " (expected: not falsified); " in done.stdout
    assert "bbfalsify replay" in done.stdout and "report: " in done.stdout
    assert f"FAILED {test.name}" in done.stdout and "same: " in done.stdout
    assert done.stdout.count("wrong.campaign.yaml:1: ") >= 3, "every mistake of the campaign, with its line"
    # Once the heater is weaker, the exported counterexample is fixed.
    source = heater / "system.py"
    source.write_text(source.read_text().replace("100", "70"))
    fixed = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test], cwd=tmp_path,
                           env=environment, capture_output=True, text=True, timeout=300)  # fmt: skip
    assert fixed.returncode == 0, fixed.stdout
