"""What FMUs did to other people's simulators, done to ours: the status of one simulation, and the run goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bbfalsify.core.errors import SystemFailure
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.systems import FmuSystem
from tests.fmus.building import edited
from tests.fmus.hostile import DEEDS
from tests.hostile.pool_runs import run

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def hostile(fmus, deed):
    return FmuSystem(fmus.build("hostile"), start_values={"deed": DEEDS.index(deed)})


@pytest.mark.parametrize(
    ("deed", "status", "said"),
    [
        ("raise", Status.RAISED, "fmi2DoStep from time 0.4 to 0.5: the FMU answered a fatal error; its last message: "),
        ("discard", Status.RAISED, "fmi2DoStep from time 0.4 to 0.5: the FMU discarded it"),
        ("abort", Status.DIED, "SIGABRT"),
        ("segfault", Status.DIED, "SIGSEGV"),
        ("exit", Status.DIED, "exit code 7"),
        ("kill", Status.DIED, "SIGKILL"),
        ("nan", Status.MALFORMED, "'y': expected finite numbers, got nan at time 0.5"),
        ("infinity", Status.MALFORMED, "'y': expected finite numbers, got -inf at time 0.5"),
    ],
)
def test_a_misdeed_is_the_status_of_its_simulation(fmus, deed, status, said):
    bad = [0, 0, 1, 0, 1, 0]
    answers = run(hostile(fmus, deed), bad=bad)
    assert [a.status for a in answers] == [status if b else Status.OK for b in bad]
    for answer, b in zip(answers, bad, strict=True):
        assert said in answer.message if b else answer.message == ""
    assert [a.judgements[0].robustness for a in answers if a.ok] == [5.0, 4.0, 2.0, 0.0]


def test_what_the_fmu_said_is_in_the_message(fmus):
    [answer] = run(hostile(fmus, "raise"), bad=[1])
    assert "the pump is broken" in answer.message
    [answer] = run(hostile(fmus, "discard"), bad=[1])
    assert answer.message.endswith("its last message: no solution found")


@pytest.fixture
def continued():
    """Continue this process after a while, should something have stopped it: the test fails then, and does not hang.

    One process that starts no other, which would be taken for one that the system left behind.
    """
    program = f"import os, signal, time; time.sleep(20); os.kill({os.getpid()}, signal.SIGCONT)"
    helper = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    yield
    helper.kill()
    helper.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="the guard is one of Linux")
@pytest.mark.parametrize("deed", ["stop_parent", "stop_group"])
def test_an_fmu_cannot_stop_the_process_that_runs_it(fmus, deed, continued):
    answers = run(hostile(fmus, deed), bad=[0, 1, 0])
    assert [a.status for a in answers] == [Status.OK, Status.RAISED, Status.OK]
    assert "Operation not permitted" in answers[1].message


@pytest.mark.parametrize("deed", ["hang_on_start", "hang", "hang_on_close", "stop"])
def test_an_fmu_that_hangs_is_cut_off(fmus, deed):
    answers = run(hostile(fmus, deed), bad=[0, 1, 0], time_limit=1.0)
    assert [a.status for a in answers] == [Status.OK, Status.TIMED_OUT, Status.OK]


def test_memory_growth_has_a_limit(fmus):
    answers = run(hostile(fmus, "memory"), bad=[0, 1, 0], memory_limit=500)
    assert [a.status for a in answers] == [Status.OK, Status.RAISED, Status.OK]
    assert "MemoryError" in answers[1].message
    assert all(a.cpu_seconds > 0 and a.memory_mb > 10 for a in answers)


def test_children_of_an_fmu_go_with_the_worker(fmus):
    assert all(a.ok for a in run(hostile(fmus, "children"), bad=[1, 0, 1]))


def test_a_flood_of_messages_is_bounded(fmus, tmp_path):
    answers = run(hostile(fmus, "flood"), bad=[1, 0, 1, 1], log=tmp_path / "log")
    assert all(a.ok for a in answers)
    text = (tmp_path / "log").read_text()
    assert text.count("[FMU, a warning] message") == 200 and text.count("more messages are not shown") == 1


def with_library(fmu, target, data):
    def replaced(members):
        return {name: data if name.endswith(".so") else content for name, content in members.items()}

    return edited(fmu, target, members=replaced)


def library_of(fmu):
    found = {}
    edited(fmu, fmu.with_suffix(".copy"), members=lambda members: found.update(members) or members)
    return next(data for name, data in found.items() if name.endswith(".so"))


@pytest.mark.parametrize("script", ["hostile", "fmi3_box"])
def test_a_library_that_is_none(fmus, tmp_path, script):
    fmu = with_library(fmus.build(script), tmp_path / "rubbish.fmu", b"not a library")
    with pytest.raises(SystemFailure, match=r"could not be started: .*the library cannot be loaded: .*\.so"):
        run(FmuSystem(fmu), bad=[0])


def test_a_library_without_the_functions_of_its_version(fmus, tmp_path):
    """A library of FMI 2.0 in an FMU of FMI 3.0: it loads, but knows no function by the right name."""
    fmu = with_library(fmus.build("fmi3_box"), tmp_path / "older.fmu", library_of(fmus.build("hostile")))
    with pytest.raises(SystemFailure, match="the library has no function fmi3.*, which FMI 3 demands"):
        run(FmuSystem(fmu), bad=[0])


def test_a_model_that_cannot_be_instantiated(fmus, tmp_path):
    def broken(members):
        return {n: b"import nothing_of_this_name\n" if n == "resources/hostile.py" else d for n, d in members.items()}

    answers = run(FmuSystem(edited(fmus.build("hostile"), tmp_path / "broken.fmu", members=broken)), bad=[0, 0])
    assert [a.status for a in answers] == [Status.RAISED] * 2
    assert "the model could not be instantiated" in answers[0].message
