"""The pool itself: start methods, sharing, limits, what is said about the ends of processes."""

import os
import pickle
import signal
import time

import numpy as np
import pytest

from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FunctionSystem, load_system

TIMES = np.linspace(0.0, 1.0, 4)


def judge(trace):
    return (Judgement(Verdict.SATISFIED, float(trace.signals["y"][0])),)


def echo(stimulus):
    return {"y": stimulus.inputs["u"]}


def own_number(stimulus):
    return {"y": np.full(len(stimulus.times), float(os.getpid()))}


def queries(count, **more):
    return [Query(f"q/{i}", Stimulus(TIMES, {"u": np.full(4, float(i))}), **more) for i in range(count)]


def box(function):
    return FunctionSystem(function, inputs=["u"], outputs=["y"], name="box")


def values(pool, count):
    return [a.judgements[0].robustness for a in pool.answers(queries(count))]


def test_spawned_workers_answer_as_forked_ones():
    with WorkerPool(box(echo), judge, Execution(jobs=1), start_method="spawn") as pool:
        assert values(pool, 3) == [0.0, 1.0, 2.0]


def test_systems_loaded_from_files_reach_spawned_workers(tmp_path):
    """They live in modules that a new process cannot import by name."""
    (tmp_path / "adapter.py").write_text(
        "from bbfalsify.systems import system\n"
        "@system(inputs=['u'], outputs=['y'])\n"
        "def triple(stimulus): return {'y': 3 * stimulus.inputs['u']}\n"
    )
    with WorkerPool(load_system(".", base=tmp_path), judge, start_method="spawn") as pool:
        assert values(pool, 3) == [0.0, 3.0, 6.0]


def test_decorated_functions_can_be_pickled():
    heater = load_system("bbfalsify.examples.heater.system:heater")
    assert pickle.loads(pickle.dumps(heater)) is heater
    assert pickle.loads(pickle.dumps(box(echo))).name == "box"


def test_the_system_never_runs_in_this_process_and_workers_are_kept():
    with WorkerPool(box(own_number), judge, Execution(jobs=1)) as pool:
        numbers = set(values(pool, 20)) | set(values(pool, 20))
    assert len(numbers) == 1 and os.getpid() not in numbers


def test_work_is_shared():
    """Each simulation waits for a file that only the other worker writes: two workers, or none ends."""
    first, second = os.pipe(), os.pipe()

    def meet(stimulus):
        me, other = (first, second) if stimulus.inputs["u"][0] == 0 else (second, first)
        os.write(me[1], b"x")
        os.read(other[0], 1)
        return own_number(stimulus)

    with WorkerPool(box(meet), judge, Execution(jobs=2, time_limit=30)) as pool:
        assert len(set(values(pool, 2))) == 2
    for end in (*first, *second):
        os.close(end)


def test_large_traces_in_both_directions_do_not_block():
    """Far more than a socket holds is on its way in both directions at once."""
    n = 60_000
    stimulus = Stimulus(np.arange(n, dtype=float), {"u": np.arange(n, dtype=float)})
    asked = [Query(f"q/{i}", stimulus, keep_trace=True) for i in range(12)]
    with WorkerPool(box(echo), judge, Execution(jobs=2)) as pool:
        answers = list(pool.answers(asked))
    assert all(a.trace.signals["y"][-1] == n - 1 for a in answers)


def test_an_abandoned_batch_does_not_leak_into_the_next():
    with WorkerPool(box(echo), judge, Execution(jobs=2)) as pool:
        answers = pool.answers(queries(50))
        assert next(answers).judgements[0].robustness == 0.0
        answers.close()
        assert values(pool, 5) == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_worker_that_died_while_idle_is_nobodys_fault():
    with WorkerPool(box(own_number), judge) as pool:
        [number] = values(pool, 1)
        os.kill(int(number), 9)
        os.waitid(os.P_PID, int(number), os.WEXITED | os.WNOWAIT)
        [answer] = pool.answers(queries(1))
    assert answer.ok and answer.judgements[0].robustness != number


def test_sessions_are_opened_and_closed_once_per_simulation_and_systems_once_per_worker(tmp_path):
    log = tmp_path / "log"

    def note(word):
        with open(log, "a") as file:
            file.write(word + " ")

    class Session:
        def __enter__(self):
            note("open")
            return self

        def __exit__(self, *exception):
            note("shut")

        def execute(self, stimulus):
            note("run")
            return echo(stimulus) if stimulus.inputs["u"][0] != 1 else 1 / 0

    class System(FunctionSystem):
        def open(self, seed):
            return Session()

        def prepare(self):
            note("prepare")

        def close(self):
            note("close")

    with WorkerPool(System(echo, inputs=["u"], outputs=["y"]), judge) as pool:
        statuses = [a.status for a in pool.answers(queries(2))]
    assert statuses == [SimulationStatus.OK, SimulationStatus.RAISED]
    assert log.read_text().split() == ["prepare", "open", "run", "shut", "open", "run", "shut", "close"]


def test_seconds_are_those_of_the_system(monkeypatch):
    with WorkerPool(box(echo), judge) as pool:
        [answer] = pool.answers(queries(1))
    assert 0.0 < answer.seconds < 5.0


@pytest.mark.parametrize("time_limit_s", [None, 50.0])
def test_a_system_that_never_gets_ready_is_a_failure_of_the_system(time_limit_s):
    class Slow(FunctionSystem):
        def prepare(self):
            while True:
                pass

    system = Slow(echo, inputs=["u"], outputs=["y"], name="slow")
    with pytest.raises(SystemFailure, match="'slow' could not be started: no answer within 0.1 s"):
        with WorkerPool(system, judge, Execution(time_limit=time_limit_s), start_limit_s=0.1) as pool:
            list(pool.answers(queries(1)))


def test_a_system_that_dies_while_it_gets_ready_is_a_failure_of_the_system():
    class Dying(FunctionSystem):
        def prepare(self):
            os.write(2, b"cannot open display\n")
            os._exit(4)

    with pytest.raises(SystemFailure, match="exit code 4; its last output: cannot open display"):
        with WorkerPool(Dying(echo, inputs=["u"], outputs=["y"]), judge) as pool:
            list(pool.answers(queries(1)))


def test_last_words_are_whole_where_secrets_are_known(monkeypatch):
    """The filter holds back what could be the beginning of a secret, and gives it out once."""
    monkeypatch.setattr("bbfalsify.core.redaction._values", {"a secret that never comes"})

    def dies(stimulus):
        os.write(2, b"cannot open display\n")
        os._exit(4)

    with WorkerPool(box(dies), judge) as pool:
        [answer] = pool.answers(queries(1))
    assert answer.message.endswith("its last output: cannot open display")


def test_being_killed_from_outside_hints_at_memory():
    def kills_itself(stimulus):
        os.kill(os.getpid(), 9)

    with WorkerPool(box(kills_itself), judge) as pool:
        [answer] = pool.answers(queries(1))
    assert answer.message == "the process was killed by SIGKILL (the machine may have run out of memory)"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_killed_from_outside_costs_no_simulation(tmp_path, number):
    """The system tells its process to the test, which kills it there, and waits; the next worker finds the mark."""

    def killed_once(stimulus):
        if stimulus.inputs["u"][0] == 2 and not (tmp_path / "mark").exists():
            (tmp_path / "mark").touch()
            os.kill(os.getpid(), number)
            time.sleep(60)
        return echo(stimulus)

    with WorkerPool(box(killed_once), judge, log=tmp_path / "workers.log") as pool:
        assert values(pool, 5) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert (tmp_path / "mark").exists()
    assert "a fresh worker executes once more" in (tmp_path / "workers.log").read_text()


def test_a_worker_that_ends_itself_or_crashes_is_not_tried_again(tmp_path):
    """Flaky crashes are findings: only signals from outside are forgiven."""

    def crashes_once(stimulus):
        if not (tmp_path / "mark").exists():
            (tmp_path / "mark").touch()
            os.abort()
        return echo(stimulus)

    with WorkerPool(box(crashes_once), judge) as pool:
        answers = list(pool.answers(queries(2)))
    assert [a.status for a in answers] == [SimulationStatus.DIED, SimulationStatus.OK]


def test_a_worker_killed_while_it_gets_ready_is_replaced(tmp_path):
    class Slow(FunctionSystem):
        def prepare(self):
            if not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                os.kill(os.getpid(), signal.SIGKILL)

    with WorkerPool(Slow(echo, inputs=["u"], outputs=["y"], name="slow"), judge) as pool:
        assert values(pool, 2) == [0.0, 1.0]


def test_limits_that_make_no_sense_are_refused_together():
    with pytest.raises(UserError) as error:
        WorkerPool(box(echo), judge, Execution(jobs=0, time_limit=0, memory_limit=-1))
    assert len(error.value.problems) == 3
