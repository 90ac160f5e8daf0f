"""Campaigns of the engine `reach`: queries about models, from the file to the report."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.unit.running.test_reach_run import without_times

CAMPAIGN = """format_version: 1
name: fischers
model: ["example:fischer-faulty:4", "example:fischer:4"]
requirements:
  - {id: Q1, text: "no two inside", query: "A[] (sum (i : id_t) P(i).cs) <= 1"}
  - {id: Q2, text: "one can enter", query: "E<> P(1).cs", expected: reached}
engine: {kind: reach, walks: 22}
seed: 1
"""


@pytest.fixture
def campaign(tmp_path):
    def write(text: str = CAMPAIGN) -> Path:
        file = tmp_path / "campaign.yaml"
        file.write_text(text)
        return file

    return write


def test_models_multiply_into_runs_and_every_query_has_its_outcome(cli, campaign):
    called = cli("run", campaign(), "--json", "-q", "--junit", "junit.xml", "--sarif", "found.sarif")
    assert called.code == 1  # what nobody expected was found in the first
    faulty, correct = called.json["runs"]
    assert [row["outcome"] for row in faulty["requirements"]] == ["falsified", "reached"]
    assert [row["outcome"] for row in correct["requirements"]] == ["not_falsified", "reached"]
    assert faulty["varies"] == {"model": "example:fischer-faulty:4"}
    assert (faulty["category"], faulty["engine"], faulty["outcome"]) == ("correct", "reach", "falsified")
    for row in (*faulty["requirements"], correct["requirements"][1]):
        trace = json.loads(Path(row["file"]).read_text())
        assert trace["length"] == row["length"] == len(row["actions"])
        assert cli("replay", row["file"]).out.startswith("SAME: ")
    suites = JUnitXml.fromfile("junit.xml")
    assert (suites.tests, suites.failures, suites.errors) == (4, 1, 0)
    [rule] = {r["ruleId"] for r in json.loads(Path("found.sarif").read_text())["runs"][0]["results"]
              if r["level"] == "error"}  # fmt: skip
    assert rule == "Q1"


def test_all_is_as_expected_and_shown_again(cli, campaign):
    one = CAMPAIGN.replace(', "example:fischer:4"', "")
    file = campaign(one.replace('cs) <= 1"', 'cs) <= 1", expected: falsified'))
    called = cli("run", file, "-q")
    assert called.code == 0
    assert "VIOLATED after 10 steps" in called.out and called.out.count("(as expected)") == 2
    directory = next(line for line in called.out.splitlines() if line.startswith("run directory: ")).split(": ")[1]
    page = (Path(directory) / "report.html").read_text()
    assert page.count("message sequence chart of") == 2 and "as expected" in page and "no two inside" in page
    again = cli("show", directory)
    assert again.code == 0 and "P(2): wait -> cs" in again.out and "Q2: E<> P(1).cs: REACHED" in again.out
    same = cli("compare", directory, directory)
    assert same.code == 0 and "nothing is new" in same.out
    assert cli("validate", file).out == f"{file}: campaign, 1 run: no problems\n"


def test_the_page_of_a_campaign_speaks_of_walks(cli, campaign):
    cli("run", campaign(), "-q")
    [directory] = Path("runs").iterdir()
    page = (directory / "report.html").read_text()
    tables = sorted(file.name for file in (directory / "tables").glob("*.csv"))
    assert tables == ["counterexamples.csv", "requirements.csv"]
    with open(directory / "tables" / "requirements.csv", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [row["run"] for row in rows] == ["0001", "0001", "0002", "0002"]
    assert [row["outcome"] for row in rows] == ["falsified", "reached", "not_falsified", "reached"]
    assert rows[0]["formula"] == "A[] (sum (i : id_t) P(i).cs) <= 1"
    assert "walks made" in page and "probability that a use" not in page


def test_a_version_that_fails_is_news(cli, campaign):
    for model in ("fischer", "fischer-faulty"):
        text = CAMPAIGN.replace('["example:fischer-faulty:4", "example:fischer:4"]', f"example:{model}:4")
        cli("run", campaign(text), "-q")
    old, new = sorted(Path("runs").iterdir())
    called = cli("compare", old, new)
    assert called.code == 1 and "Q1: not falsified before, falsified now" in called.out


def test_queries_stored_with_a_model(cli, campaign, tmp_path):
    (tmp_path / "two.xta").write_text("process P() { state A, B; init A; trans A -> B { }; }\nQ = P();\nsystem Q;\n")
    (tmp_path / "two.q").write_text("/* B is reached */\nE<> Q.B\n\nA[] Q.A\n")
    stored = "format_version: 1\nmodel: two.xta\nengine: {kind: reach, walks: 11}\nseed: 1\n"
    rows = cli("run", campaign(stored), "--json", "-q").json["requirements"]
    assert [(row["id"], row["text"], row["outcome"]) for row in rows] == [
        ("Q1", "B is reached", "reached"), ("Q2", "", "falsified")
    ]  # fmt: skip
    second = cli("run", campaign(f"{stored}requirements: [{{id: B, query: 2}}]\n"), "--json", "-q").json
    assert [row["query"] for row in second["requirements"]] == ["A[] Q.A"]
    many = cli("run", campaign(f"{stored}requirements: [{{id: B, query: stored}}]\n"))
    assert many.code == 2 and "the file stores 2, choose one by number. Allowed: 1: E<> Q.B, 2: A[] Q.A" in many.err


def test_stored_queries_of_every_kind_are_answered_or_handed_on(cli, campaign, tmp_path):
    (tmp_path / "two.xta").write_text(
        "clock x; process P() { state A { x <= 2 }, B; init A; trans A -> A { assign x = 0; }, A -> B { }; }\n"
        "Q = P();\nsystem Q;\n"
    )
    (tmp_path / "two.q").write_text("A<> Q.B\n\nsup: x\n\nPr[<=9](<> Q.B)\n\ncontrol: A<> Q.B\n\nQ.B --> Q.A\n")
    stored = "format_version: 1\nmodel: two.xta\nengine: {kind: reach, walks: 11}\nseed: 1\n"
    rows = cli("run", campaign(stored), "--json", "-q").json["requirements"]
    assert [row["outcome"] for row in rows] == ["falsified", "reached", "inconclusive", "inconclusive", "falsified"]
    assert rows[0]["ends"].startswith("then repeats step")
    assert rows[1]["extremes"][0]["unbounded"]
    assert [row["stopped"] for row in rows[2:4]] == ["handed on", "handed on"]
    assert "'bbfalsify estimate' is the command for that" in rows[2]["in_words"]
    assert rows[4]["ends"] == "then waits for ever"
    for row in (rows[0], rows[4]):
        again = cli("replay", row["file"])
        assert again.code == 1 and "the query is violated: the run then" in again.out


def test_every_mistake_at_once_with_its_line(cli, campaign):
    wrong = cli("run", campaign("""format_version: 1
model: [nowhere.xml, "example:fisher:4", "example:fischer:4"]
system: heater.py:heater
votes: 3
budget: {simulations: 10}
requirements:
  - {id: Q1, query: "A[] P(1).ccs"}
  - {id: Q1, query: "E<> P(1).cs", expected: falsified}
  - {id: Q3, query: "Pr[<=9](<> P(1).cs)"}
  - {id: Q4, stl: "always(T <= 3)"}
engine: {kind: reach}
"""))  # fmt: skip
    assert wrong.code == 2
    for place, words in (
        (2, "there is no file"),
        (2, "unknown model 'fisher'"),
        (3, "system means nothing to the engine reach."),
        (4, "votes means nothing to the engine reach."),
        (5, "reach simulates nothing: engine.walks limits its walks."),
        (7, "ccs"),
        (8, "requirement 'Q1' is given twice."),
        (8, "'Q1' asks E<>, so its outcome cannot be 'falsified'."),
        (9, "'bbfalsify estimate' is the command for that"),
        (10, "'stl' is about signals, for engines such as falsify; this engine takes query."),
    ):
        assert any(f"campaign.yaml:{place}: " in problem and words in problem for problem in wrong.problems), words
    settings = cli("run", campaign(CAMPAIGN.replace("walks: 22", "walks: 0, heuristics: ret, trace: best")))
    assert settings.code == 2 and len(settings.problems) == 3


LONG = """format_version: 1
name: long
model: example:fischer:4
requirements:
  - {id: Q0, query: "E<> P(1).cs"}
  - {id: Q1, query: "A[] (sum (i : id_t) P(i).cs) <= 1"}
engine: {kind: reach, heuristic: portfolio, depth: 500, walks: 2530}
seed: 3
"""
SLOWLY = """
import time, bbfalsify.records.checkpoint as checkpoint
checkpoint.EVERY_S, write = 0.0, checkpoint.Checkpoint.write
def slowly(self, content):
    write(self, content)
    time.sleep(0.2)
checkpoint.Checkpoint.write = slowly
from bbfalsify.cli.main import main
main()
"""


def test_a_killed_search_goes_on_and_ends_the_same(cli, campaign, tmp_path):
    """The kill comes when the first query is answered and the second has made some turns."""
    file = campaign(LONG)
    whole = cli("run", file, "--json", "-q", "--out", tmp_path / "whole").json
    assert [row["outcome"] for row in whole["requirements"]] == ["reached", "not_falsified"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, "run", str(file), "-q"], env=environment, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(Path("runs").glob("*/standing.json")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    [directory] = Path("runs").iterdir()
    assert not (directory / "results.json").exists()
    standing = json.loads((directory / "standing.json").read_text())
    assert standing["requirement"] == "Q1" and 0 < standing["turn"] < 10
    file.write_text(LONG.replace("seed: 3", "seed: 4"))
    refused = cli("run", file, "--resume", directory)
    assert refused.code == 2 and "seed was 3, and is 4 now" in refused.err
    file.write_text(LONG)
    resumed = cli("run", file, "--resume", "--json", "-q")
    assert without_times(resumed.json) == without_times(whole)
    assert not (directory / "standing.json").exists()
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    assert [e["requirement"] for e in events if e["event"] == "QueryAnswered"] == ["Q0", "Q1"]
    again = cli("run", file, "--resume", "--json", "-q")
    assert again.json == resumed.json  # it is finished, and not run again
