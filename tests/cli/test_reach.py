import json
from pathlib import Path

import pytest

from tests.examples.documents import BLOCKS

MODEL = """
format_version: 1
name: counter
declarations: |
  int[0,5] n;
  int[0,100] q;
  int endless() { int i = 0; while (i >= 0) { i = 0; } return i; }
automata:
  P:
    declarations: clock x;
    initial: A
    locations: {A: {invariant: "x <= 3"}, B: {}, Stuck: {invariant: "x <= 3"}}
    edges:
      - {from: A, to: A, action: more, guard: "x >= 1 && n < 4", update: "x = 0, n = n + 1"}
      - {from: A, to: B, action: leave, guard: "x == 3 && n == 4"}
      - {from: A, to: Stuck, action: stick, guard: "x > 2 && n == 3"}
EOF_EDGES"""


@pytest.fixture
def counter(tmp_path):
    def write(*edges: str):
        file = tmp_path / "counter.yaml"
        file.write_text(MODEL.replace("EOF_EDGES", "".join(f"      - {{{e}}}\n" for e in edges)))
        return file

    return write


def test_a_trace_is_shown_written_and_replayed(cli, counter):
    file = counter()
    found = cli("reach", file, "--query", "E<> P.B && n == 4", "--seed", 3)
    assert found.code == 1
    outcome, report, *last = found.out.splitlines()[-5:]
    assert outcome.startswith("E<> P.B && n == 4: REACHED after 5 steps")
    assert "message sequence chart" in Path(report.removeprefix("report: ")).read_text()
    assert last[0].startswith("run directory: runs/reach-counter-")
    tables = Path(last[0].removeprefix("run directory: ")) / "tables"
    assert sorted(file.name for file in tables.iterdir()) == ["counterexamples.csv", "requirements.csv"]
    assert last[1] == "seed: 3"
    replay = last[2].removeprefix("replay: bbfalsify replay ")
    again = cli("replay", replay)
    assert again.code == 1
    assert again.out.startswith("SAME: ")
    file.write_text(file.read_text().replace("x == 3", "x == 2"))
    assert cli("replay", replay, "--json").json["outcome"] == "fixed"
    file.write_text(file.read_text().replace("B: {}", "C: {}").replace("to: B", "to: C"))
    changed = cli("replay", replay)
    assert changed.code == 4
    assert "CHANGED: step 5: the model has 'P: A -> C' where it had 'P: A -> B'" in changed.out


def test_json_keeps_its_contract(cli, counter):
    found = cli("reach", counter(), "--query", "E<> P.B", "--seed", 3, "--json", "-q").json
    assert {"reached", "heuristic", "steps", "walks", "seconds", "trace"} <= set(found)
    assert found["reached"] is True
    trace = found["trace"]
    assert trace["length"] == len(trace["steps"]) == 5
    assert trace["steps"][-1]["who"] == ["P: A -> B"]
    assert trace["end"]["locations"] == {"P": "B"}
    assert trace["end"]["variables"]["n"] == 4
    assert json.load(open(found["file"]))["steps"] == trace["steps"]


def test_the_same_seed_gives_the_same_trace_on_any_number_of_workers(cli, counter):
    query = ["--query", "E<> P.B", "--json", "-q", "--seed", 8]
    one, two = (cli("reach", counter(), *query, "--jobs", jobs).json for jobs in (1, 2))
    for key in ("trace", "walks", "steps", "heuristic", "walk"):
        assert one[key] == two[key]


def test_not_found_within_the_walks_is_0_and_within_the_time_is_4(cli, counter):
    never = ["--query", "E<> P.B && n == 3", "--seed", 1]
    done = cli("reach", counter(), *never, "--walks", 22)
    assert done.code == 0
    assert "NOT REACHED (all walks are made; random walks prove nothing)" in done.out
    late = cli("reach", counter(), *never, "--timeout", 0)
    assert late.code == 4
    assert "the time is up" in late.out


def test_deadlocks_and_timelocks(cli, counter):
    found = cli("reach", counter(), "--query", "A[] deadlock imply P.B", "--seed", 2)
    assert "VIOLATED (deadlock)" in found.out
    assert "P.Stuck" in found.out
    walked = cli("reach", counter(), "--query", "E<> false", "--seed", 2, "--walks", 22)
    assert "walks ended in a timelock" in walked.out


def test_zeno_runs_are_noticed(cli, counter):
    file = counter('from: A, to: A, action: spin, guard: "x <= 0 && n == 1", update: "x = 0"')
    walked = cli(
        "reach", file, "--query", "E<> n == 5", "--depth", 2048, "--walks", 11, "--heuristic", "rlc", "--seed", 1
    )
    assert "zeno" not in walked.out  # time may pass there, and the upper bounds of other windows are taken
    file.write_text(file.read_text().replace('"x >= 1 && n < 4"', '"x >= 1 && n < 1"'))
    walked = cli("reach", file, "--query", "E<> n == 5", "--depth", 2048, "--walks", 11, "--seed", 1)
    assert "without time passing (a zeno run)" in walked.out


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        ('from: A, to: A, action: fail, guard: "n == 2", update: "q = 10 / (n - 2)"', "division by zero"),
        ('from: A, to: A, action: fail, guard: "n == 2", update: "n = n + 4"', "value 6 is out of range"),
        ('from: A, to: A, action: fail, guard: "n == 2", update: "q = endless()"', "more than 1000000 iterations"),
        ('from: A, to: A, action: fail, guard: "n != 2 || 1 / (n - 2) > 0"', "division by zero"),
    ],
)
def test_a_model_that_fails_is_a_finding_of_its_own(cli, counter, edge, words):
    found = cli("reach", counter(edge), "--query", "E<> false", "--seed", 1, "--timeout", 20)
    assert found.code == 1
    assert "THE MODEL FAILS after" in found.out
    assert words in found.out
    assert cli("replay", found.out.splitlines()[-1].removeprefix("replay: bbfalsify replay ")).code == 1
    as_json = cli("reach", counter(edge), "--query", "E<> false", "--seed", 1, "--json", "-q").json
    assert as_json["reached"] is False
    assert as_json["outcome"] == "model_error"


def test_better_traces_are_reported_as_they_come(cli):
    found = cli("reach", "--example", "fischer-faulty:4", "--trace", "shortest", "--walks", 550, "--seed", 4)
    lengths = [int(line.split(" s: ")[1].split()[0]) for line in found.err.splitlines() if " s: " in line]
    assert len(lengths) > 1
    assert lengths == sorted(lengths, reverse=True)
    assert f"VIOLATED after {lengths[-1]} steps" in found.out


def test_queries_stored_in_a_model_of_uppaal(cli, tmp_path):
    file = tmp_path / "two.xta"
    file.write_text("process P() { state A, B; init A; trans A -> B { }; }\nQ = P();\nsystem Q;\n")
    given = cli("reach", file, "--query", "E<> Q.B", "--seed", 1)
    assert given.code == 1
    assert cli("reach", file).code == 2
    file.with_suffix(".q").write_text("/* B is reached */\nE<> Q.B\n")
    beside = cli("reach", file, "--seed", 1)
    assert beside.code == 1 and "E<> Q.B" in beside.out
    file.with_suffix(".q").unlink()
    xml = tmp_path / "two.xml"
    queries = "".join(f"<query><formula>{q}</formula><comment/></query>" for q in ("E&lt;&gt; Q.B", "A[] not deadlock"))
    xml.write_text(
        "<nta><declaration/><template><name>P</name><location id='a'><name>A</name></location>"
        "<location id='b'><name>B</name></location><init ref='a'/><transition><source ref='a'/><target ref='b'/>"
        f"</transition></template><system>Q = P(); system Q;</system><queries>{queries}</queries></nta>"
    )
    second = cli("reach", xml, "--query", 2, "--seed", 1)
    assert "A[] not deadlock: VIOLATED (deadlock) after" in second.out
    which = cli("reach", xml)
    assert which.code == 2
    assert "1: E<> Q.B, 2: A[] not deadlock" in which.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reach"], "give either a MODEL or --example."),
        (["reach", "--example", "fisher:3"], "unknown model 'fisher'"),
        (["reach", "--example", "fischer:x"], "the size of 'fischer' is a number from 2 to 10000; found 'x'."),
        (["reach", "--example", "fischer", "--query", "P(1).cs"], "it must start with E<> or A[]"),
        (["reach", "nowhere.yaml", "--query", "E<> P.x"], "nowhere.yaml"),
    ],
)
def test_wrong_input(cli, arguments, words):
    called = cli(*arguments)
    assert called.code == 2
    assert words in called.err


def test_the_page_shows_what_happens(cli):
    page = {b.marker: b.text for b in BLOCKS if b.page.parent.name == "reachability"}
    words = page["command: reach"].split()
    shown = cli(*words[1:]).out.splitlines()
    expected = page["output: reach"].splitlines()
    # All but how long it took and the day's name.
    assert [s for s in shown if " in 0." not in s and "runs/" not in s] == [
        e for e in expected if " in 0." not in e and "runs/" not in e
    ]
