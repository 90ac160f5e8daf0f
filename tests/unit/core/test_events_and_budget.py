import dataclasses
import json
import math
import multiprocessing
import re
from datetime import datetime

import pytest

from bbfalsify.core.budget import Budget, Spent
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import ENVELOPE, BatchAnswered, Event, FindingReported, ListenerFailed, TraceFound
from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.records.answer_records import answer_from_record, answer_record
from bbfalsify.records.event_log import Recorder, read_events
from bbfalsify.records.recorded_answers import RecordedAnswers


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
    with pytest.raises(UserError, match="events.jsonl:1: damaged, or not an event"):
        list(read_events(file))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [lines[0], lines[2], lines[1]], "events.jsonl:2: event 2 where event 1 belongs; the 1 events"),
        (
            lambda lines: [lines[0], "\0" * 40, lines[2]],
            "events.jsonl:2: damaged, or not an event of bbfalsify; the 1 events",
        ),
        (lambda lines: [lines[0], lines[2]], "events.jsonl:2: event 2 where event 1 belongs"),
        (lambda lines: [lines[0].replace("page", "paje"), *lines[1:]], "events.jsonl:1: damaged, or not an event"),
        (lambda lines: [*lines[:2], lines[2].replace("error", "eror")], "events.jsonl:3: ListenerFailed without error"),
        (lambda lines: [lines[0].replace('"sequence":0', '"sequence":"x"'), *lines[1:]], "events.jsonl:1: event x"),
    ],
    ids=["swapped", "zeros", "missing line", "changed", "missing field", "wrong number"],
)
def test_a_damaged_record_is_named_with_its_line_and_what_is_whole(tmp_path, damage, said, request):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        for text in "abc":
            recorder.record(ListenerFailed("page", text))
    lines = file.read_text().splitlines()
    if request.node.callspec.id in ("missing field", "wrong number"):  # a log of an older version, without checksums
        lines = [re.sub(r',"crc":"\w+"\}$', "}", line) for line in lines]
    file.write_text("\n".join(damage(lines)) + "\n")
    with pytest.raises(UserError, match=said):
        RecordedAnswers(file)


def test_a_record_is_continued_where_it_was_cut_off(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "a"))
        recorder.record(ListenerFailed("page", "b"))
    file.write_text(file.read_text()[:-10])
    with Recorder(file) as recorder:
        recorder.record(ListenerFailed("page", "c"))
    assert [(e.sequence, e.data["error"]) for e in read_events(file)] == [(0, "a"), (1, "c")]


def all_events(base=Event):
    for kind in base.__subclasses__():
        yield kind
        yield from all_events(kind)


@pytest.mark.parametrize(
    "kind", [k for k in all_events() if k.__module__ == Event.__module__], ids=lambda k: k.__name__
)
def test_no_field_of_an_event_takes_the_place_of_its_number_or_time(kind, tmp_path):
    names = [field.name for field in dataclasses.fields(kind)]
    with Recorder(tmp_path / "events.jsonl") as recorder:
        recorder.record(kind(**{name: () if name == "answers" else f"value of {name}" for name in names}))
    [event] = read_events(tmp_path / "events.jsonl")
    assert (event.sequence, event.kind, list(event.data)) == (0, kind.__name__, names)
    assert datetime.fromisoformat(event.time).year >= 2025


@pytest.mark.parametrize("name", ENVELOPE)
def test_an_event_with_a_field_of_the_log_is_refused_when_it_is_defined(name):
    with pytest.raises(TypeError, match=f"Hidden cannot have a field '{name}'"):
        type("Hidden", (Event,), {"__annotations__": {name: float}})


OLD_LOG = """\
{"sequence":0,"time":"2026-11-01T10:00:00.000Z","event":"RunResumed","answers":0,"jobs":1}
{"sequence":1,"time":"2026-11-01T10:00:07.000Z","event":"ListenerFailed","listener":"page","error":"a"}
{"sequence":2,"time":12.5,"event":"TraceFound","requirement":"Q1","heuristic":"some","walk":3,"steps":4,"seconds":0.5}
"""


def test_a_log_whose_last_line_has_model_time_in_place_of_its_time_is_continued(tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_text(OLD_LOG)
    before = RecordedAnswers(file)
    assert before.started and before.seconds == 7.0
    found = TraceFound("Q1", "some", 3, 4, 12.5, 0.5)
    with Recorder(file, again=before.events) as recorder:
        recorder.record(found)
        recorder.record(dataclasses.replace(found, walk=4))
    *_, old, new = read_events(file)
    assert (old.sequence, old.time, old.data["model_time"]) == (2, None, 12.5)
    assert (new.sequence, new.data["walk"], new.data["model_time"]) == (3, 4, 12.5)


def test_a_record_that_cannot_be_written_stops_the_run(tmp_path):
    with pytest.raises(UserError, match="events cannot be recorded: No space left on device"):
        with Recorder("/dev/full") as recorder:
            recorder.record(ListenerFailed("page", "a"))
    with pytest.raises(UserError, match="events cannot be recorded"):
        Recorder(tmp_path / "missing" / "events.jsonl")


def test_a_forked_process_does_not_hold_the_lock_of_a_record(tmp_path):
    context = multiprocessing.get_context("fork")
    started, leave = context.Event(), context.Event()
    recorder = Recorder(tmp_path / "events.jsonl")

    def live_on():
        started.set()
        leave.wait()

    child = context.Process(target=live_on)
    child.start()
    try:
        started.wait()
        recorder.record(ListenerFailed("page", "a"))
        recorder.close()
        with Recorder(tmp_path / "events.jsonl") as again:
            again.record(ListenerFailed("page", "b"))
    finally:
        leave.set()
        child.join()
    assert [e.data["error"] for e in read_events(tmp_path / "events.jsonl")] == ["a", "b"]


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
