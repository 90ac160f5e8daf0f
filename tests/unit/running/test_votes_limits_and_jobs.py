"""What a run does with systems that answer in several ways, need much memory, or are there only once."""

import os
import time

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, Outcome, Verdict
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import Capabilities, FunctionSystem
from bbfalsify.systems.servers import LineMapper, SocketSystem
from bbfalsify.systems.servers.server import Server
from tests import heater

SMALL = Options(counterexamples=4, simulations=220, passes=2, traces=20, shrink=0)  # what is flaky is not shrunk
calls = 0


def box(function, **abilities):
    capabilities = Capabilities(**abilities)
    return FunctionSystem(
        function, inputs={"heat": "1"}, outputs={"T": "degC"}, name="heater", capabilities=capabilities
    )


def run(system, **arguments):
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    arguments = {"out": None, "options": SMALL, **arguments}
    return falsify(system, heater.profile(), [requirement], horizon=20.0, seed=1, **arguments)


def sometimes_cold(stimulus):
    """The heater, but every fifth use measures nothing."""
    global calls
    calls += 1
    return {"T": np.zeros_like(stimulus.times)} if calls % 5 == 0 else heater_system(stimulus)


def test_votes_find_what_a_reliable_system_shows():
    """One of three votes is wrong at most, so the majority is always right."""
    reliable, voted = run(heater_system), run(box(sometimes_cold), votes=3)
    keys = [[(c.actions, c.probability) for c in result.counterexamples] for result in (reliable, voted)]
    assert keys[0] == keys[1] and len(keys[0]) >= 3
    confirming = 3 * len(keys[0])  # repetitions that are not voted on
    assert voted.simulations - confirming == 3 * (reliable.simulations - confirming)
    # Confirmation shows the system as it is, and not as the majority would like it to be.
    assert {c.status for c in voted.counterexamples} <= {"confirmed", "flaky"}
    [note] = [n for n in voted.notes if "several ways" in n]
    asked = reliable.simulations - confirming
    assert f" of {asked:,} simulations, each executed 3 times, were answered in several ways" in note
    assert "; the first: search/" in note and "2 of 3: " in note
    assert not [n for n in reliable.notes if "several ways" in n]


@pytest.mark.parametrize("votes", [0, -1, 1.5, True])
def test_votes_that_make_no_sense(votes):
    with pytest.raises(UserError, match="^votes must be (at least 1|a number|a whole number); found"):
        run(heater_system, votes=votes)


def hungry(stimulus):
    """Needs 400 MB where it gets hot."""
    answer = heater_system(stimulus)
    if max(answer["T"]) > 75:
        np.ones(50_000_000)
    return answer


def test_a_memory_limit_holds_in_the_run_and_in_its_replay(tmp_path):
    result = run(box(hungry), out=tmp_path, memory_limit_mb=200, on_failure="violation", store=tmp_path / "known")
    assert result.outcome is Outcome.FALSIFIED
    file = result.counterexamples[0].file
    assert Counterexample.read(file).memory_limit_mb == 200
    again = replay(file, box(hungry))
    assert again.outcome is ReplayOutcome.SAME and "MemoryError" in again.answers[0].message
    known = run(box(hungry), out=tmp_path, memory_limit_mb=200, on_failure="violation", store=tmp_path / "known")
    assert {row.outcome for row in known.known} == {"same"}


def own_number(stimulus):
    return {"T": np.full(len(stimulus.times), float(os.getpid()))}


def workers_of(system, jobs):
    stimulus = Stimulus(np.array([0.0, 1.0]), {"heat": np.zeros(2)})
    queries = [Query(f"q/{i}", stimulus) for i in range(40)]

    def judge(trace):
        return (Judgement(Verdict.SATISFIED, float(trace.signals["T"][0])),)

    with WorkerPool(system, judge, Execution(jobs=jobs)) as pool:
        return len({a.judgements[0].robustness for a in pool.answers(queries)})


def test_an_exclusive_system_has_one_worker_and_a_note_says_so():
    assert workers_of(box(own_number), 3) > 1
    assert workers_of(box(own_number, exclusive=True), 3) == 1
    shared, alone = (run(box(heater_system, exclusive=e), jobs=3) for e in (False, True))
    assert shared.counterexamples == alone.counterexamples
    note = "3 workers were asked for; there is only one 'heater' (exclusive), so one worker was used"
    assert note in alone.notes and note not in shared.notes


def test_servers_of_others_are_exclusive():
    mapper = LineMapper({"hello": "HELLO"})
    assert SocketSystem("mail", mapper, port=25).capabilities.exclusive
    assert not SocketSystem("mail", mapper, port=25, exclusive=False).capabilities.exclusive
    assert not SocketSystem("mail", mapper, server=Server(["server"])).capabilities.exclusive


@pytest.mark.parametrize(("declared", "status"), [(True, "ok"), (False, "timed_out")])
def test_in_real_time_the_time_that_passes_inside_is_not_held_against_a_simulation(declared, status):
    def lives(stimulus):
        time.sleep(stimulus.times[-1])
        return {"T": stimulus.times}

    query = Query("q", Stimulus(np.array([0.0, 0.7]), {"heat": np.zeros(2)}))
    with WorkerPool(box(lives, real_time=declared), lambda trace: (), Execution(time_limit=0.4)) as pool:
        [answer] = pool.answers([query])
    assert answer.status.value == status


def test_a_hang_in_real_time_is_one_in_the_end():
    query = Query("q", Stimulus(np.array([0.0, 0.3]), {"heat": np.zeros(2)}))
    with WorkerPool(
        box(lambda stimulus: time.sleep(600), real_time=True), lambda trace: (), Execution(time_limit=0.2)
    ) as pool:
        [answer] = pool.answers([query])
    assert (answer.status.value, answer.message) == ("timed_out", "no answer within 0.5 s")
