"""Ctrl-C, exceptions and a killed driver: the record ends properly and no process stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bbfalsify.records.event_log import read_events
from bbfalsify.running import Execution, WorkerPool
from tests.hostile.hostile_systems import hangs, judge, misbehaving, queries
from tests.hostile.processes import listen_to_interrupts, nothing_stays, survivors, worker_sessions
from tests.support.recorded import recorded_answers

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
import sys
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recording import RunRecord
from bbfalsify.running import Driver, Execution
from tests.hostile.hostile_systems import hangs, judge, misbehaving, queries

def engine(ask):
    ask(queries([0, 0, 0], prefix="first"))
    print("answered", flush=True)
    ask(queries([0, 0, 1, 1], prefix="second"))

with Recorder(sys.argv[1]) as recorder:
    with Driver(misbehaving(hangs), judge, Execution(jobs=2, time_limit=500), RunRecord(recorder)) as driver:
        with driver.until_stopped() as ended:
            engine(driver.ask)
    print(ended.reason, flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """A run that has answered its first batch and now hangs in the second, in a process group of its own."""
    events = tmp_path / "events.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(events)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        preexec_fn=listen_to_interrupts,
    )
    assert process.stdout.readline() == "answered\n"
    sessions: set[int] = set()
    while len(sessions) < 2:  # both workers have started
        sessions = worker_sessions(process.pid)
    yield process, events, sessions
    process.kill()
    process.wait()
    process.stdout.close()
    for session in sessions:
        try:
            os.killpg(session, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_ctrl_c_stops_in_order(program):
    process, events, sessions = program
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == (0, "interrupted\n")
    assert survivors(sessions) == set()
    recorded = list(read_events(events))
    assert [e.sequence for e in recorded] == list(range(len(recorded)))
    assert (recorded[0].kind, recorded[-1].kind) == ("RunStarted", "RunStopped")
    assert recorded[-1].data["reason"] == "interrupted"
    assert {"first/0", "first/1", "first/2"} <= set(recorded_answers(events))
    assert recorded[-1].data["simulations"] == len(recorded_answers(events))


def test_a_killed_driver_takes_its_workers_along(program):
    process, events, sessions = program
    process.kill()
    process.wait()
    assert survivors(sessions) == set()
    assert {"first/0", "first/1", "first/2"} <= set(recorded_answers(events))


def test_an_exception_in_the_driver_leaves_no_process():
    with nothing_stays() as look, pytest.raises(ZeroDivisionError):
        with WorkerPool(misbehaving(hangs), judge, Execution(jobs=2, time_limit=500)) as pool:
            for answer in pool.answers(queries([0, 1, 1])):
                assert answer.ok
                look()
                raise ZeroDivisionError


def test_a_forgotten_pool_is_closed_at_exit():
    program = (
        "from bbfalsify.running import Execution, WorkerPool\n"
        "from tests.hostile.hostile_systems import *\n"
        "pool = WorkerPool(misbehaving(raises), judge, Execution(jobs=2))\n"
        "print(len(list(pool.answers(queries([0, 0])))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_ctrl_c_while_workers_are_ended_ends_them_all_the_same():
    """A worker is stopped before it is killed: one that stayed stopped was waited for, for ever."""
    program = (
        "import multiprocessing, signal\n"
        "from bbfalsify.running import Execution, WorkerPool\n"
        "from bbfalsify.running.workers import worker_process\n"
        "from tests.hostile.hostile_systems import *\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "real = worker_process.end_family\n"
        "def end_family(*family):\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    return real(*family)\n"
        "worker_process.end_family = end_family\n"
        "try:\n"
        "    with WorkerPool(misbehaving(hangs), judge, Execution(jobs=2, time_limit=500)) as pool:\n"
        "        answers = iter(pool.answers(queries([0, 1, 1, 1])))\n"
        "        next(answers)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted,', len(multiprocessing.active_children()), 'left')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout) == (0, "interrupted, 0 left\n"), done.stderr
