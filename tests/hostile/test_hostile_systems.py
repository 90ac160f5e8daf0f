"""Whatever a black box does is the typed outcome of that one query; the run goes on and leaves no process behind."""

from __future__ import annotations

import os

import numpy as np
import pytest

from bbfalsify.core.redaction import forget_secrets, keep_secret
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.running import WorkerPool
from bbfalsify.systems import Capabilities, FunctionSystem, Port
from tests.hostile import hostile_systems as box
from tests.hostile.hostile_systems import judge, misbehaving, queries
from tests.hostile.pool_runs import run

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

PATTERN = [0, 1, 0, 0, 1, 0]
DEEDS_THAT_HANG = [
    box.hangs,
    box.hangs_without_ever_letting_go,
    box.leaves_children_and_hangs,
    box.starts_a_server_and_hangs,
]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("deed", "status", "said"),
    [
        (box.raises, Status.RAISED, "ValueError: the pump is broken (hostile_systems.py:"),
        (box.ends_itself_politely, Status.RAISED, "SystemExit: 3"),
        (box.interrupts, Status.RAISED, "KeyboardInterrupt"),
        (box.recurses, Status.RAISED, "RecursionError"),
        (box.exits, Status.DIED, "exit code 7"),
        (box.aborts, Status.DIED, "SIGABRT"),
        (box.crashes, Status.DIED, "SIGSEGV"),
        (box.gives_nan, Status.MALFORMED, "'y': expected finite numbers, got nan at time 0.4 (sample 4; 1 of 11"),
        (box.gives_infinity, Status.MALFORMED, "got -inf at time 0 "),
        (box.gives_too_few, Status.MALFORMED, "output 'y': expected 11 numbers (one per sample), got 10"),
        (box.gives_columns, Status.MALFORMED, "got an array of shape (11, 1)"),
        (box.gives_nothing, Status.MALFORMED, "expected a mapping from output names (y) to arrays, got None"),
        (box.gives_an_array, Status.MALFORMED, "got a value of type ndarray"),
        (box.gives_words, Status.MALFORMED, "output 'y': expected numbers, got values of type str"),
        (box.gives_complex, Status.MALFORMED, "complex"),
        (box.gives_one_number, Status.MALFORMED, "got a value of type float"),
        (box.misspells, Status.MALFORMED, "missing output 'y' and undeclared output 'Y_'; expected y"),
        (box.adds_an_output, Status.MALFORMED, "undeclared output 'z'"),
        (box.gives_thorns, Status.MALFORMED, "RuntimeError: do not touch"),
        (box.leaves_a_child_and_exits, Status.DIED, "exit code 5"),
        (box.closes_all_files, Status.DIED, "Bad file descriptor"),
    ],
)
def test_a_misdeed_is_the_status_of_its_query_alone(deed, status, said, jobs):
    answers = run(misbehaving(deed), bad=PATTERN, jobs=jobs)
    assert [a.status for a in answers] == [status if bad else Status.OK for bad in PATTERN]
    for bad, answer in zip(PATTERN, answers, strict=True):
        assert said in answer.message if bad else answer.message == ""
        assert answer.judgements == () if bad else len(answer.judgements) == 1
    robust = [a.judgements[0].robustness for a in answers if a.ok]
    assert robust == [5.0 - i for i, bad in enumerate(PATTERN) if not bad]


@pytest.mark.parametrize("deed", DEEDS_THAT_HANG)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_hanging_simulation_is_cut_off_with_everything_it_started(deed, jobs):
    answers = run(misbehaving(deed), bad=[0, 0, 1, 0], jobs=jobs, time_limit=0.3)
    assert [a.status for a in answers] == [Status.OK, Status.OK, Status.TIMED_OUT, Status.OK]
    assert answers[2].message == "no answer within 0.3 s"


class Clingy:
    """Works well, but one of its sessions (or it itself) does not let go."""

    name, inputs, outputs, capabilities = "clingy", (Port("bad"), Port("u")), (Port("y"),), Capabilities()

    def __init__(self, clings_to="session"):
        self.clings_to = clings_to

    def open(self, seed):
        return ClingySession(self.clings_to)

    def close(self):
        if self.clings_to == "system":
            box.hangs_without_ever_letting_go(None)


class ClingySession:
    def __init__(self, clings_to):
        self.hangs, self.clings_to = False, clings_to

    def __enter__(self):
        return self

    def execute(self, stimulus):
        self.hangs = self.clings_to == "session" and stimulus.inputs["bad"][0] == 1
        return {"y": stimulus.inputs["u"]}

    def __exit__(self, *exception):
        if self.hangs:
            box.hangs_without_ever_letting_go(None)


def test_hanging_while_closing():
    """A session that does not close has no answer; a system that does not close is ended with its worker."""
    answers = run(Clingy(), bad=[0, 1, 0], time_limit=0.3)
    assert [a.status for a in answers] == [Status.OK, Status.TIMED_OUT, Status.OK]
    assert all(a.ok for a in run(Clingy("system"), bad=[0, 1, 0]))


@pytest.mark.parametrize("deed", [box.leaves_children, box.starts_a_server])
def test_children_left_by_a_good_simulation_go_with_the_worker(deed):
    assert all(a.ok for a in run(misbehaving(deed), bad=[1, 1]))


def test_memory_has_a_limit():
    answers = run(misbehaving(box.eats_memory), bad=[0, 1, 0], memory_limit=200)
    assert [a.status for a in answers] == [Status.OK, Status.RAISED, Status.OK]
    assert "MemoryError" in answers[1].message


def test_a_flood_of_output_is_bounded_and_stays_off_the_terminal(tmp_path, capfd):
    log = tmp_path / "workers.log"
    answers = run(misbehaving(box.floods_the_terminal), bad=[0, 1, 0], log=log, log_limit_bytes=10_000)
    assert all(a.ok for a in answers)
    text = log.read_text()
    assert text.count("x") <= 10_000 and "bytes were printed and not kept" in text
    assert int(text.split("[")[1].split()[0]) == 50_000_000 - 10_000
    assert capfd.readouterr() == ("", "")


def test_native_output_goes_to_the_log_too(tmp_path, capfd):
    log = tmp_path / "workers.log"
    run(misbehaving(box.writes_past_python), bad=[1], log=log)
    assert log.read_text() == "from a C library\nand an error\n"
    assert capfd.readouterr() == ("", "")


def test_there_is_no_keyboard():
    [answer] = run(misbehaving(box.reads_the_keyboard), bad=[1])
    assert answer.judgements[0].robustness == 5.0


@pytest.fixture(params=[False, True], ids=["no secret", "a long secret"])
def perhaps_a_secret(request):
    """With a secret, the end of a worker's output is held back until the worker has ended."""
    if request.param:
        keep_secret(["a long secret that no worker prints"])
    yield
    forget_secrets()


def test_the_last_words_of_a_dead_process_are_reported(perhaps_a_secret):
    def last_words(good):
        os.write(2, b"license server not reachable\n")
        os._exit(1)

    [_, answer] = run(misbehaving(last_words), bad=[0, 1])
    assert answer.message == "the process ended itself with exit code 1; its last output: license server not reachable"


def test_earlier_words_are_not_blamed_on_a_later_simulation(perhaps_a_secret):
    def talks_then_dies(stimulus):
        if stimulus.inputs["u"][0] == 3:
            os._exit(1)
        os.write(1, b"all is well\n")
        return {"y": stimulus.inputs["u"]}

    answers = run(FunctionSystem(talks_then_dies, inputs=["bad", "u"], outputs=["y"]), bad=[0] * 5)
    assert answers[3].message == "the process ended itself with exit code 1"


def test_inputs_cannot_be_changed_by_the_system():
    system = FunctionSystem(box.spoils_its_inputs, inputs=["bad", "u"], outputs=["y"])
    [answer] = run(system, bad=[0])
    assert answer.status is Status.RAISED and "read-only" in answer.message


def test_a_long_mixture_is_the_same_for_one_and_two_workers():
    """Forty queries, a third of them deadly in different ways: the same statuses, messages and judgements."""
    deeds = [box.raises, box.exits, box.gives_nan, box.crashes]

    def mixture(good):
        return deeds[int(good["y"][0]) % len(deeds)](good)

    bad = [int(i % 3 == 0) for i in range(40)]
    one, two = (run(misbehaving(mixture), bad=bad, jobs=jobs) for jobs in (1, 2))
    assert [(a.status, a.message, a.judgements) for a in one] == [(a.status, a.message, a.judgements) for a in two]
    assert sum(not a.ok for a in one) == sum(bad)


def test_a_system_that_reuses_its_buffer_does_not_overwrite_earlier_traces():
    buffer = np.zeros(box.SAMPLES)

    def reuse(stimulus):
        buffer[:] = stimulus.inputs["u"]
        return {"y": buffer}

    system = FunctionSystem(reuse, inputs=["bad", "u"], outputs=["y"])
    asked = [type(q)(q.name, q.stimulus, keep_trace=True) for q in queries([0] * 5)]
    with WorkerPool(system, judge) as pool:
        answers = list(pool.answers(asked))
    assert [a.trace.signals["y"][3] for a in answers] == [0.0, 1.0, 2.0, 3.0, 4.0]
