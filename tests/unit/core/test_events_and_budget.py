import json
import math

import pytest

from bbfalsify.core.budget import Budget, Spent
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import BatchAnswered, FindingReported, ListenerFailed
from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.records.answer_records import answer_from_record, answer_record
from bbfalsify.records.event_log import Recorder, read_events


@pytest.mark.parametrize(
    "answer",
    [
        Answer(SimulationStatus.OK, (Judgement(Verdict.SATISFIED, 0.1 + 0.2),), seconds=0.25),
        Answer(
            SimulationStatus.OK, (Judgement(Verdict.VIOLATED, -1e-300, 19.75), Judgement(Verdict.INCONCLUSIVE, 1.0))
        ),
        Answer(SimulationStatus.OK, (Judgement(Verdict.SATISFIED, math.inf, vacuous=True),)),
        Answer(SimulationStatus.DIED, (), "killed by SIGSEGV"),
    ],
)
def test_a_record_holds_all_that_the_engine_was_told(answer):
    again = answer_from_record(json.loads(json.dumps(answer_record("q", answer), allow_nan=False)))
    assert (again.status, again.judgements, again.message) == (answer.status, answer.judgements, answer.message)


def test_records_are_short_even_when_messages_are_not():
    judgements = tuple(Judgement(Verdict.VIOLATED, -1.2345678901234567, 17.123456789012345) for _ in range(3))
    long = answer_record("search/123456", Answer(SimulationStatus.OK, judgements, seconds=0.123456))
    failed = answer_record("search/123456", Answer(SimulationStatus.RAISED, (), "x" * 5000))
    assert len(json.dumps(long, separators=(",", ":"))) < 300
    assert len(json.dumps(failed, separators=(",", ":"))) < 700


def test_events_are_numbered_lines_of_json_without_infinities(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "two\nlines, ünïcode"))
        recorder.record(FindingReported("R1", ("on", "off"), "q/1", -math.inf, 3.5))
        recorder.record(BatchAnswered((answer_record("q/2", Answer(SimulationStatus.OK)),)))
    assert len(file.read_text().splitlines()) == 3
    note, finding, batch = read_events(file)
    assert (note.sequence, note.kind, note.data) == (
        0,
        "ListenerFailed",
        {"listener": "page", "error": "two\nlines, ünïcode"},
    )
    assert finding.data["robustness"] == "-inf" and finding.data["actions"] == ["on", "off"]
    assert batch.data["answers"][0]["query"] == "q/2"


def test_an_unfinished_last_line_is_left_out_and_a_spoilt_one_in_between_is_not(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "a"))
        recorder.record(ListenerFailed("page", "b"))
    whole = file.read_text()
    file.write_text(whole[:-10])
    assert [e.data["error"] for e in read_events(file)] == ["a"]
    file.write_text("spoilt\n" + whole)
    with pytest.raises(UserError, match="events.jsonl:1: not an event"):
        list(read_events(file))


def test_a_record_is_continued_where_it_was_cut_off(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "a"))
        recorder.record(ListenerFailed("page", "b"))
    file.write_text(file.read_text()[:-10])
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "c"))
    assert [(e.sequence, e.data["error"]) for e in read_events(file)] == [(0, "a"), (1, "c")]


def test_a_record_that_cannot_be_written_stops_the_run(tmp_path):
    with pytest.raises(UserError, match="events cannot be recorded: No space left on device"):
        with Recorder("/dev/full") as recorder:
            recorder.record(ListenerFailed("page", "a"))
    with pytest.raises(UserError, match="events cannot be recorded"):
        Recorder(tmp_path / "missing" / "events.jsonl")


def test_budgets():
    assert Budget().used_up(Spent(10**9, 1e9)) is None
    assert Budget(simulations=0).used_up(Spent()) is StopReason.BUDGET_SIMULATIONS
    assert Budget(seconds=0.0).used_up(Spent()) is StopReason.BUDGET_TIME
    assert Budget(simulations=5).used_up(Spent(4)) is None
    assert (Budget(simulations=5).simulations_left(Spent(4)), Budget().simulations_left(Spent(4))) == (1, None)


@pytest.mark.parametrize("wrong", [{"simulations": -1}, {"simulations": 1.5}, {"seconds": -0.1}, {"seconds": math.nan}])
def test_wrong_budgets_are_refused(wrong):
    with pytest.raises(UserError, match="^(simulations|seconds) must be (at least 0|a whole number|finite); found"):
        Budget(**wrong)
