"""The loop: order, budget, recording, meaning of failures, endings."""

import json
import math
import os

import numpy as np
import pytest

from bbfalsify.core.budget import Budget, BudgetSpent
from bbfalsify.core.errors import InvariantViolated, SystemFailure, UserError
from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, StopReason, Verdict
from bbfalsify.records.event_log import Recorder, read_events
from bbfalsify.records.recording import RunRecord
from bbfalsify.running import Driver, Execution
from bbfalsify.systems import FunctionSystem
from tests.support.recorded import recorded_answers

TIMES = np.linspace(0.0, 2.0, 5)


def judge(trace):
    """y <= 5, always."""
    y = trace.signals["y"]
    robustness = float(np.min(5.0 - y))
    if robustness >= 0:
        return (Judgement(Verdict.SATISFIED, robustness),)
    return (Judgement(Verdict.VIOLATED, robustness, float(trace.times[np.argmax(y > 5.0)])),)


def query(value, name=None, **more):
    return Query(name or f"q/{value}", Stimulus(TIMES, {"u": np.full(5, float(value))}), **more)


def box(function=lambda s: {"y": s.inputs["u"]}):
    return FunctionSystem(function, inputs=["u"], outputs=["y"], name="box")


def fails_below_zero(stimulus):
    if stimulus.inputs["u"][0] < 0:
        raise ValueError(f"no {stimulus.inputs['u'][0]}")
    return {"y": stimulus.inputs["u"]}


@pytest.mark.parametrize("jobs", [1, 2])
def test_answers_come_in_the_order_asked(jobs):
    with Driver(box(), judge, Execution(jobs=jobs)) as driver:
        answers = driver.ask([query(v) for v in range(100)])
    assert [a.judgements[0].robustness for a in answers] == [5.0 - v for v in range(100)]
    assert [a.violated for a in answers] == [()] * 6 + [(0,)] * 94
    assert driver.spent.simulations == 100
    assert all(a.trace is None and a.ok for a in answers)


def test_traces_come_back_only_when_asked_for():
    with Driver(box(), judge) as driver:
        without, having = driver.ask([query(1), query(2, keep_trace=True)])
    assert without.trace is None
    assert having.trace.signals["u"].tolist() == having.trace.signals["y"].tolist() == [2.0] * 5
    assert having.trace.times.tolist() == TIMES.tolist()


def test_an_empty_batch_is_answered_without_a_worker():
    with Driver(box(), judge, budget=Budget(simulations=0)) as driver:
        assert driver.ask([]) == []


def test_names_must_differ_within_a_batch():
    with Driver(box(), judge) as driver, pytest.raises(InvariantViolated):
        driver.ask([query(1), query(1)])


# ---------------------------------------------------------------------------- budget


def test_a_batch_that_fits_exactly_is_answered_and_the_next_is_refused():
    with Driver(box(), judge, budget=Budget(simulations=3)) as driver:
        assert len(driver.ask([query(v) for v in range(3)])) == 3
        assert driver.stop_reason is None
        with pytest.raises(BudgetSpent) as spent:
            driver.ask([query(3)])
    assert (spent.value.reason, spent.value.answers) == (StopReason.BUDGET_SIMULATIONS, ())


def test_a_batch_that_does_not_fit_is_answered_as_far_as_it_does(tmp_path):
    file = tmp_path / "events.jsonl"
    with (
        Recorder(file) as recorder,
        Driver(box(), judge, record=RunRecord(recorder), budget=Budget(simulations=3)) as driver,
    ):
        with pytest.raises(BudgetSpent) as spent:
            driver.ask([query(v) for v in range(5)])
    assert [a.judgements[0].robustness for a in spent.value.answers] == [5.0, 4.0, 3.0]
    assert list(recorded_answers(file)) == ["q/0", "q/1", "q/2"]


def test_a_budget_of_zero_runs_nothing():
    for budget, reason in (
        (Budget(simulations=0), StopReason.BUDGET_SIMULATIONS),
        (Budget(seconds=0.0), StopReason.BUDGET_TIME),
    ):
        with Driver(box(), judge, budget=budget) as driver:
            with driver.until_stopped() as ended:
                driver.ask([query(1)])
        assert (ended.reason, driver.spent.simulations) == (reason, 0)


def test_time_runs_out_in_the_middle_of_a_simulation():
    """The second simulation never ends; the deadline does not wait for it."""

    def stops_at_one(stimulus):
        while stimulus.inputs["u"][0] == 1.0:
            pass
        return {"y": stimulus.inputs["u"]}

    with Driver(box(stops_at_one), judge, Execution(time_limit=None), budget=Budget(seconds=0.4)) as driver:
        with pytest.raises(BudgetSpent) as spent:
            driver.ask([query(0), query(1), query(2)])
    assert spent.value.reason is StopReason.BUDGET_TIME and len(spent.value.answers) == 1


def test_an_engine_may_catch_the_end_and_return_what_it_has():
    def engine(ask, step):
        found = []
        try:
            for start in range(0, 100, step):
                found += ask([query(v) for v in range(start, start + step)])
        except BudgetSpent as spent:
            found += spent.answers
        return len(found)

    with Driver(box(), judge, budget=Budget(simulations=25)) as driver:
        with driver.until_stopped() as ended:
            found = engine(driver.ask, step=10)
    assert (found, ended.reason) == (25, StopReason.BUDGET_SIMULATIONS)


def test_repetitions_are_outside_the_budget_and_the_record(tmp_path):
    file = tmp_path / "events.jsonl"
    with (
        Recorder(file) as recorder,
        Driver(box(), judge, record=RunRecord(recorder), budget=Budget(simulations=1)) as driver,
    ):
        driver.ask([query(9)])
        again = driver.rerun([query(9, "again/1"), query(9, "again/2")])
    assert [a.violated for a in again] == [(0,), (0,)]
    assert list(recorded_answers(file)) == ["q/9"] and driver.spent.simulations == 1


# ---------------------------------------------------------------------------- failures


def test_a_failed_simulation_has_no_judgement_unless_failing_violates():
    for on_failure, judgements in (
        ("inconclusive", ()),
        ("violation", (Judgement(Verdict.VIOLATED, -math.inf, 2.0),) * 2),
    ):
        with Driver(
            box(fails_below_zero), judge, Execution(on_failure=on_failure), requirements=["R1", "R2"]
        ) as driver:
            good, bad = driver.ask([query(1), query(-1)])
        assert good.ok and bad.judgements == judgements
        assert bad.status is SimulationStatus.RAISED and "ValueError: no -1.0" in bad.message
        assert driver.failures == {SimulationStatus.RAISED: 1}


def test_failing_can_abort():
    with Driver(box(fails_below_zero), judge, Execution(on_failure="abort")) as driver:
        with driver.until_stopped() as ended:
            driver.ask([query(1), query(-1), query(2)])
    assert ended.reason is StopReason.SYSTEM_FAILED and "ValueError: no -1.0" in ended.message


def test_unknown_meaning_of_failures():
    with pytest.raises(UserError, match="Did you mean 'violation'"):
        Driver(box(), judge, Execution(on_failure="violated"))


def test_ten_failures_of_one_kind_at_the_start_are_a_broken_system(tmp_path):
    """The messages differ in their numbers; the kind of error does not."""
    file = tmp_path / "events.jsonl"
    with pytest.raises(SystemFailure, match="the first 10 simulations of the system 'box' all failed alike"):
        with (
            Recorder(file) as recorder,
            Driver(box(fails_below_zero), judge, Execution(jobs=2), RunRecord(recorder)) as driver,
        ):
            driver.ask([query(-v) for v in range(1, 101)])
    assert len(recorded_answers(file)) == 10
    last = list(read_events(file))[-1]
    assert (last.kind, last.data["reason"]) == ("RunStopped", "system failed")


def test_three_time_outs_at_the_start_are_enough():
    def hangs(stimulus):
        while True:
            pass

    with pytest.raises(SystemFailure, match="the first 3 simulations .* no answer within 0.05 s"):
        with Driver(box(hangs), judge, Execution(time_limit=0.05)) as driver:
            driver.ask([query(v) for v in range(100)])


def test_one_success_before_them_makes_failures_a_matter_of_the_simulation():
    with Driver(box(fails_below_zero), judge) as driver:
        answers = driver.ask([query(1)] + [query(-v) for v in range(1, 31)])
    assert sum(a.ok for a in answers) == 1 and len(answers) == 31


def test_different_failures_are_not_a_broken_system():
    def fails_in_two_ways(stimulus):
        raise (ValueError if stimulus.inputs["u"][0] % 2 else KeyError)("x")

    with Driver(box(fails_in_two_ways), judge) as driver:
        assert len(driver.ask([query(v) for v in range(20)])) == 20


def test_a_system_that_cannot_be_prepared_fails_at_once():
    class Unprepared(FunctionSystem):
        def prepare(self):
            raise OSError("no licence")

    system = Unprepared(lambda s: {"y": s.inputs["u"]}, inputs=["u"], outputs=["y"], name="box")
    with pytest.raises(SystemFailure, match="'box' could not be started: OSError: no licence"):
        with Driver(system, judge) as driver:
            driver.ask([query(1)])


def test_a_monitor_that_fails_is_our_bug_not_the_systems():
    def broken_judge(trace):
        raise IndexError("off by one")

    with pytest.raises(InvariantViolated, match="off by one"):
        with Driver(box(), broken_judge) as driver:
            driver.ask([query(1)])


# ---------------------------------------------------------------------------- seeds


def random_walk(stimulus, seed):
    return {"y": np.random.default_rng(seed).normal(size=len(stimulus.times))}


def test_seeds_depend_on_the_name_of_the_query_alone():
    def robustness(names, root, jobs):
        with Driver(box(random_walk), judge, Execution(jobs=jobs), seeds=SeedTree(root)) as driver:
            answers = driver.ask([query(0, name) for name in names])
        return dict(zip(names, (a.judgements[0].robustness for a in answers), strict=True))

    names = [f"q/{i}" for i in range(12)]
    assert robustness(names, 1, 1) == robustness(names[::-1], 1, 2)
    assert robustness(names, 1, 1) != robustness(names, 2, 1)
    assert len(set(robustness(names, 1, 1).values())) == len(names)


def test_a_query_can_repeat_the_seed_of_another():
    with Driver(box(random_walk), judge) as driver:
        first, again, other = driver.ask([query(0, "a"), query(0, "b", seed_name="a"), query(0, "c")])
    assert first.judgements == again.judgements != other.judgements


# ---------------------------------------------------------------------------- the record


def test_the_record_has_a_beginning_an_end_and_every_answer(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder:
        with Driver(
            box(fails_below_zero), judge, record=RunRecord(recorder), seeds=SeedTree(7), requirements=["R1"], name="try"
        ) as driver:
            answers = driver.ask([query(v) for v in (1, 9, -1)])
            answers += driver.ask([query(v) for v in range(20, 20 + 600)])
    events = list(read_events(file))
    assert [e.sequence for e in events] == list(range(len(events)))
    assert events[0].kind == "RunStarted" and events[0].data["seed"] == 7 and events[0].data["system"] == "box"
    assert events[-1].kind == "RunStopped"
    assert (events[-1].data["reason"], events[-1].data["simulations"]) == ("completed", 603)
    recorded = list(recorded_answers(file).values())
    assert [(a.status, a.judgements) for a in recorded] == [(a.status, a.judgements) for a in answers]


def test_the_record_is_compact(tmp_path):
    file = tmp_path / "events.jsonl"
    with Recorder(file) as recorder, Driver(box(), judge, record=RunRecord(recorder)) as driver:
        driver.ask([query(v / 7, f"search/run/3/walk/{v}") for v in range(300)])
    assert file.stat().st_size / 300 < 160


def test_an_error_in_the_engine_is_the_last_event(tmp_path):
    file = tmp_path / "events.jsonl"

    def engine(ask):
        ask([query(1)])
        raise RuntimeError("engine bug")

    with pytest.raises(RuntimeError):
        with Recorder(file) as recorder, Driver(box(), judge, record=RunRecord(recorder)) as driver:
            with driver.until_stopped():
                engine(driver.ask)
    last = json.loads(file.read_text().splitlines()[-1])
    assert (last["event"], last["reason"], last["message"]) == ("RunStopped", "error", "RuntimeError: engine bug")


def test_listeners_hear_everything_and_one_that_fails_is_switched_off(tmp_path):
    heard, calls = [], []

    def clumsy(event):
        calls.append(event)
        raise OSError("the screen is gone")

    file = tmp_path / "events.jsonl"
    with Recorder(file, [clumsy, lambda event: heard.append(type(event).__name__)]) as recorder:
        with Driver(box(), judge, record=RunRecord(recorder)) as driver:
            driver.ask([query(1)])
    assert heard == ["RunStarted", "BatchAnswered", "RunStopped"] and len(calls) == 1
    failed = [e for e in read_events(file) if e.kind == "ListenerFailed"]
    assert len(failed) == 1 and "clumsy" in failed[0].data["listener"]


def test_a_recorder_that_fails_stops_the_run(tmp_path):
    recorder = Recorder(tmp_path / "events.jsonl")
    with pytest.raises(UserError, match="events cannot be recorded"):
        with Driver(box(), judge, record=RunRecord(recorder)) as driver:
            os.dup2(os.open("/dev/full", os.O_WRONLY), recorder._file.handle)
            driver.ask([query(1)])
