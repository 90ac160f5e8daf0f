"""Whatever a program does is the typed outcome of that one simulation; nothing of it stays behind; the run goes on."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.query import WordQuery
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.running import Driver, WorkerPool
from bbfalsify.systems import NoAnswer, ProcessSymbolSystem, ProcessSystem, SessionFailure, SystemDied
from tests.hostile.hostile_systems import SAMPLES, judge, queries
from tests.hostile.pool_runs import run
from tests.hostile.processes import descendants, survivors, worker_sessions

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

PROGRAM = Path(__file__).with_name("hostile_program.py")
PATTERN = [0, 1, 0, 1]


def program(deed, *arguments, **options):
    command = [sys.executable, "-I", "-S", str(PROGRAM), deed, *map(str, arguments)]
    return ProcessSystem(command, inputs=["bad", "u"], outputs=["y"], name=deed, **options)


@pytest.mark.parametrize(
    ("deed", "status", "said"),
    [
        ("exits", Status.DIED, "its answer to 'run' did not come: the process ended itself with exit code 3; its last"),
        ("aborts", Status.DIED, "killed by SIGABRT"),
        ("crashes", Status.DIED, "killed by SIGSEGV"),
        ("is_killed", Status.DIED, "killed by SIGKILL"),
        ("leaves_a_child_and_exits", Status.DIED, "exit code 5"),
        ("leaves_a_server_and_exits", Status.DIED, "exit code 5"),
        ("closes_its_output", Status.DIED, "it closed its standard output"),
        ("garbage", Status.MALFORMED, r"not JSON: '\x80\x81"),
        ("talks", Status.MALFORMED, "not JSON: 'T = 20.000' (messages belong on standard error)"),
        ("says_a_number", Status.MALFORMED, "not a JSON object: '17'"),
        ("nests", Status.MALFORMED, "not JSON: '[[["),
        ("endless_line", Status.MALFORMED, "its answer to 'run' is longer than 1 MB: 'xxx"),
        ("a_million_lines", Status.MALFORMED, "not JSON: 'step'"),
        ("answers_twice", Status.MALFORMED, 'followed by something nobody had asked for: \'{"id"'),
        ("wrong_number", Status.MALFORMED, "carries number"),
        ("no_number", Status.MALFORMED, "carries no number"),
        ("text_as_number", Status.MALFORMED, "carries number '"),
        ("reports", Status.RAISED, "the pump is broken"),
        ("gives_nan", Status.MALFORMED, "'y': expected finite numbers, got nan at time 0.4 (sample 4; 1 of 11"),
        ("gives_null", Status.MALFORMED, "'y': expected numbers, got values of type NoneType"),
        ("gives_infinity", Status.MALFORMED, "got -inf at time 0 "),
        ("gives_too_few", Status.MALFORMED, "output 'y': expected 11 numbers (one per sample), got 10"),
        ("gives_columns", Status.MALFORMED, "got an array of shape (11, 1)"),
        ("gives_one_number", Status.MALFORMED, "got a value of type float"),
        ("gives_words", Status.MALFORMED, "output 'y': expected numbers, got values of type str"),
        ("gives_no_outputs", Status.MALFORMED, "no 'outputs'"),
        ("misspells", Status.MALFORMED, "missing output 'y' and undeclared output 'Y_'; expected y"),
    ],
)
def test_a_misdeed_is_the_status_of_its_simulation_alone(deed, status, said):
    answers = run(program(deed, output_limit_mb=1))
    assert [a.status for a in answers] == [status if bad else Status.OK for bad in PATTERN]
    for bad, answer in zip(PATTERN, answers, strict=True):
        assert said in answer.message if bad else answer.message == ""
    assert [a.judgements[0].robustness for a in answers if a.ok] == [5.0, 3.0]


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("hangs", "its answer to 'run' did not come within 0.3 s"),
        ("hangs_and_ignores_sigterm", "within 0.3 s"),
        ("says_half_and_hangs", "within 0.3 s"),
        ("leaves_children_and_hangs", "within 0.3 s"),
    ],
)
def test_a_hanging_program_is_cut_off_with_everything_it_started(deed, said):
    answers = run(program(deed, time_limit_s=0.3), bad=[0, 1, 0])
    assert [a.status for a in answers] == [Status.OK, Status.TIMED_OUT, Status.OK]
    assert said in answers[1].message


def test_the_limit_of_the_run_holds_too():
    answers = run(program("hangs_and_ignores_sigterm"), bad=[0, 1, 0], time_limit=0.4)
    assert [a.status for a in answers] == [Status.OK, Status.TIMED_OUT, Status.OK]


@pytest.mark.parametrize(
    "deed", ["answers_in_two_pieces", "floods_its_errors", "leaves_children", "greets", "hangs_on_close"]
)
def test_what_is_odd_but_no_failure(deed):
    assert all(a.ok for a in run(program(deed, close_limit_s=0.1), bad=[0, 1, 1, 0]))


def test_words_between_two_simulations_cost_a_restart_and_no_simulation():
    system = program("says_more_later")
    good, bad = (q.stimulus for q in queries([0, 1]))
    with system.open(0) as session:
        session.execute(bad)
    first = system.conversation.child
    while not first.spoke_unasked():
        pass
    with system.open(0) as session:
        session.execute(good)
        assert system.conversation.child is not first
    system.close()


def test_memory_growth_has_a_limit():
    answers = run(program("eats_memory", memory_mb=100), bad=[0, 1, 0])
    assert [a.status for a in answers] == [Status.OK, Status.DIED, Status.OK]
    assert "more than the 100 MB allowed" in answers[1].message
    assert 0 < answers[0].memory_mb < 100 < answers[1].memory_mb
    assert all(a.cpu_seconds > 0 for a in answers)


def test_a_flood_of_errors_is_bounded_and_stays_off_the_terminal(tmp_path, capfd):
    log = tmp_path / "workers.log"
    answers = run(program("floods_its_errors"), bad=[1], log=log, log_limit_bytes=10_000)
    assert answers[0].ok and log.stat().st_size < 10_100
    assert capfd.readouterr() == ("", "")


# --- starting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("hangs_on_start", "its hello did not come within 0.3 s"),
        (
            "exits_on_start",
            "its hello did not come: the process ended itself with exit code 9; its last output: cannot",
        ),
        ("speaks_another_version", "it speaks version 2 of the protocol; this bbfalsify speaks version 1"),
        ("has_no_outputs", "its hello is wrong: it needs 'outputs', or an 'alphabet'"),
        ("floods_on_start", "none of its first 1000 lines is a hello"),
    ],
)
def test_a_program_that_cannot_be_started(deed, said):
    before = descendants(os.getpid())
    limit_s = 0.3 if "hangs" in deed else 20.0
    with pytest.raises(SystemFailure, match="could not be started") as failure:
        run(program(deed, start_limit_s=limit_s))
    assert said in str(failure.value)
    command = program(deed).conversation.launch.command
    with pytest.raises(SystemFailure, match="could not be started") as failure:
        _ = ProcessSystem(command, start_limit_s=limit_s).inputs
    assert said in str(failure.value)
    assert descendants(os.getpid()) <= before


def test_a_slow_start_is_not_held_against_the_first_simulation():
    assert all(a.ok for a in run(program("starts_slowly"), bad=[0, 0], time_limit=0.3))


def test_a_restart_that_hangs_costs_one_simulation(tmp_path):
    system = program("hangs_on_second_start", tmp_path / "starts", start_limit_s=2.0)
    answers = run(system, bad=[0, 1, 1, 0, 0])
    assert [a.status for a in answers] == [Status.OK, Status.DIED, Status.DIED, Status.TIMED_OUT, Status.OK]
    assert answers[3].message == "its hello did not come within 2 s"


def test_ports_that_change_are_noticed(tmp_path):
    answers = run(program("changes_its_ports", tmp_path / "starts"), bad=[0, 1, 0])
    assert [a.status for a in answers] == [Status.OK, Status.DIED, Status.MALFORMED]
    assert answers[2].message == "its outputs are z, but y were promised"


# --- ended from outside, and nothing leaked -------------------------------------------------------------------------


def test_killed_by_somebody_else():
    """Between two simulations: nobody is to blame, so it is started again; within one: that one has the status."""
    system = program("hangs", time_limit_s=20.0)
    good, bad = (q.stimulus for q in queries([0, 1]))
    try:
        with system.open(0) as session:
            session.execute(good)
        os.kill(system.conversation.child.pid, signal.SIGKILL)
        while not system.conversation.child.exited():
            pass
        with system.open(0) as session:
            assert session.execute(good) == {"y": [0.0] * SAMPLES}
            victim = system.conversation.child.pid
            killer = os.fork()
            if killer == 0:
                os.kill(victim, signal.SIGKILL)
                os._exit(0)
            with pytest.raises(SystemDied, match="killed by SIGKILL"):
                session.execute(bad)
            os.waitpid(killer, 0)
        with system.open(0) as session:
            session.execute(good)
    finally:
        system.close()


SHELL = """
echo '{"bbfalsify": 1, "name": "shell", "inputs": {"u": null}, "outputs": {"y": null}}'
while read -r line; do
  case "$line" in
    *'"request":"close"'*) exit 0;;
    *'"u":[1.0'*) kill -9 $$;;
    *'"u":[2.0'*) sleep 600 & exit 4;;
    *) echo '{"id": 1, "outputs": {"y": [1, 2]}}';;
  esac
done
"""


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _many_sessions(count: int) -> None:
    """Sessions that end well, die and leave children, each with a process of its own."""
    system = ProcessSystem(["sh", "-c", SHELL], restart_every=1)
    _ = system.inputs
    before, children = _open_files(), descendants(os.getpid())
    for i in range(count):
        deed = i % 5 if i % 5 in (1, 2) else 0
        stimulus = Stimulus(np.array([0.0, 1.0]), {"u": np.full(2, float(deed))})
        with system.open(0) as session:
            if deed:
                with pytest.raises(SystemDied, match="SIGKILL" if deed == 1 else "exit code 4"):
                    session.execute(stimulus)
            else:
                assert session.execute(stimulus) == {"y": [1, 2]}
        if i % 25 == 2:
            assert descendants(os.getpid()) == children
    system.close()
    assert (_open_files(), descendants(os.getpid())) == (before, children)


def test_two_hundred_sessions_leak_neither_files_nor_processes():
    _many_sessions(200)


@pytest.mark.slow
def test_ten_thousand_sessions_leak_neither_files_nor_processes():
    _many_sessions(10_000)


def test_a_killed_driver_takes_its_programs_along():
    """Even a program that hangs and ignores SIGTERM."""
    code = (
        "from bbfalsify.running import Execution, WorkerPool\n"
        "from tests.hostile.hostile_systems import judge, queries\n"
        "from tests.hostile.test_hostile_programs import program\n"
        "with WorkerPool(program('hangs_and_ignores_sigterm'), judge, Execution(time_limit=500)) as pool:\n"
        "    for answer in pool.answers(queries([0, 1])):\n"
        "        print('answered', flush=True)\n"
    )
    import subprocess

    root = PROGRAM.parent.parent.parent
    driver = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root, start_new_session=True
    )
    try:
        assert driver.stdout.readline() == "answered\n"
        sessions: set[int] = set()
        while len(sessions) < 2:  # that of the worker and that of the program
            sessions = worker_sessions(driver.pid)
        driver.kill()
        driver.wait()
        assert survivors(sessions) == set()
    finally:
        driver.kill()
        driver.wait()
        driver.stdout.close()


def test_a_copy_made_by_fork_leaves_the_program_alone():
    """A worker inherits the system of its parent, but not the parent's process."""
    system = program("greets")
    good = queries([0])[0].stimulus
    with system.open(0) as session:
        session.execute(good)
        pid = system.conversation.child.pid
        assert all(a.ok for a in run(system, bad=[0, 0]))
        session.execute(good)
        assert system.conversation.child.pid == pid
    system.close()


def test_no_answer_in_a_session_of_ones_own():
    system = program("hangs", time_limit_s=0.2)
    with pytest.raises(NoAnswer), system.open(0) as session:
        session.execute(queries([1])[0].stimulus)
    assert system.conversation.child is None


@pytest.mark.parametrize("deed", ["leaves_a_child_and_exits", "leaves_a_server_and_exits", "leaves_children_and_hangs"])
def test_what_a_program_leaves_behind_is_gone_before_the_worker_is(deed):
    """A server with a session of its own has lost its parent; it is recognised by its mark."""
    before = descendants(os.getpid())
    with WorkerPool(program(deed, time_limit_s=0.5), judge) as pool:
        [answer] = pool.answers(queries([1]))
        assert not answer.ok
        [_worker] = descendants(os.getpid()) - before


def test_a_hang_in_the_middle_of_a_word():
    """Symbols travel step by step; what was answered before is kept."""
    code = (
        "import sys\n"
        'print(\'{"bbfalsify": 1, "name": "box", "alphabet": ["a", "b"]}\', flush=True)\n'
        "for number, line in enumerate(sys.stdin, 1):\n"
        "    if '\"b\"' not in line:\n"
        '        print(\'{"id": %d, "symbol": "ok"}\' % number, flush=True)\n'
    )
    system = ProcessSymbolSystem([sys.executable, "-I", "-S", "-c", code], time_limit_s=0.3)
    words = [("a", "a"), ("a", "b", "a"), ("a",)]
    with Driver(system, None) as driver:
        answers = driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])
    assert [a.status for a in answers] == [Status.OK, Status.TIMED_OUT, Status.OK]
    assert answers[1].symbols == ("ok",)
    assert answers[1].message == "answer 2: its answer to 'step' did not come within 0.3 s"


def test_a_program_that_stops_listening_but_goes_on_talking():
    """Its standard input is closed, so our end is closed too; nothing may be written to that number any more."""
    code = (
        "import os, sys, time\n"
        'print(\'{"bbfalsify": 1, "name": "deaf", "inputs": {"u": null}, "outputs": {"y": null},\'\n'
        '      \'"capabilities": {"stepwise": true}}\', flush=True)\n'
        "sys.stdin.readline()\n"
        "os.close(0)\n"
        "for number in range(1, 1000):\n"
        '    print(\'{"id": %d, "outputs": {"y": 1}}\' % number, flush=True)\n'
        "    time.sleep(0.001)\n"
        "time.sleep(60)\n"
    )
    system = ProcessSystem([sys.executable, "-I", "-S", "-c", code], time_limit_s=0.5)
    with pytest.raises(SessionFailure), system.open(0) as session:
        for _ in range(2000):
            session.step({"u": 1.0}, 1.0)
    assert system.conversation.child is None
