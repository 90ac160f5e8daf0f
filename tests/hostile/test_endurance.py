"""Ten thousand sessions leave nothing behind: descriptors, processes and memory are flat.  A few hundred run always."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.running import WorkerPool
from bbfalsify.systems import FmuSystem, FunctionSystem
from bbfalsify.systems.programs.process_cost import memory_mb
from bbfalsify.systems.servers import LineMapper, SocketSystem
from bbfalsify.systems.servers.server import Server
from tests.hostile.hostile_systems import judge
from tests.hostile.processes import descendants

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

SESSIONS = [pytest.param(300, id="300"), pytest.param(10_000, id="10000", marks=pytest.mark.slow)]
WARM_UP = 100
GROWTH_MB = 3.0


def footprint(pid):
    return len(os.listdir(f"/proc/{pid}/fd")), memory_mb(pid)


def assert_flat(before, after):
    assert after[0] <= before[0], "open files"
    assert after[1] - before[1] < GROWTH_MB, "memory"


def asked(count, first=0):
    times = np.linspace(0.0, 1.0, 11)
    stimulus = Stimulus(times, {"bad": np.zeros(11), "u": np.ones(11)})
    return [Query(f"q{i}", stimulus) for i in range(first, first + count)]


@pytest.mark.parametrize("count", SESSIONS)
@pytest.mark.parametrize("kind", ["function", "fmu"])
def test_systems_in_workers(kind, count, fmus):
    """One worker for all, and nothing grows in it: an FMU is reset, not leaked."""
    if kind == "fmu":
        system = FmuSystem(fmus.build("hostile"))
    else:
        system = FunctionSystem(lambda stimulus: {"y": stimulus.inputs["u"]}, inputs=["bad", "u"], outputs=["y"])
    mine = descendants(os.getpid())
    with WorkerPool(system, judge) as pool:
        assert all(a.ok for a in pool.answers(asked(WARM_UP)))
        [worker] = descendants(os.getpid()) - mine
        before = footprint(worker)
        assert all(a.ok for a in pool.answers(asked(count, WARM_UP)))
        assert descendants(os.getpid()) - mine == {worker}
        assert_flat(before, footprint(worker))
    assert descendants(os.getpid()) <= mine


@pytest.mark.parametrize("count", SESSIONS)
def test_connections_to_a_server(count):
    """New connections, closed in order, in haste and by the server; the ports do not run out."""
    program = Path(__file__).with_name("hostile_server.py")
    server = Server([sys.executable, "-I", "-S", str(program), "half_and_closes", "{port}", "{folder}"])
    mapper = LineMapper({"echo": "echo", "bad": "bad"}, reply=r"250 (\w+)", banner=True)
    system = SocketSystem("server", mapper, server=server, silence_s=20.0)
    system.prepare()
    try:

        def use(times):
            for i in range(times):
                with system.open(0) as session:
                    assert session.step("echo") == "echo"
                    if i % 10 == 0:
                        assert session.step("bad") == "closed"
                    if i % 10 == 1:
                        session._line.close(abrupt=True)

        use(WARM_UP)
        mine, its = footprint(os.getpid()), footprint(server.pid)
        pid = server.pid
        use(count)
        assert server.pid == pid
        assert_flat(mine, footprint(os.getpid()))
        assert_flat(its, footprint(server.pid))
    finally:
        system.close()


@pytest.mark.slow
def test_a_thousand_servers():
    """A new process for each session: no zombie, no folder, no descriptor."""
    program = Path(__file__).with_name("hostile_server.py")
    server = Server([sys.executable, "-I", "-S", str(program), "none", "{port}", "{folder}"])
    system = SocketSystem("server", LineMapper({"echo": "echo"}, banner=True), server=server, reset="restart")
    mine, before = descendants(os.getpid()), footprint(os.getpid())
    for _ in range(1000):
        with system.open(0) as session:
            assert session.step("echo") == "250"
    system.close()
    assert descendants(os.getpid()) <= mine
    assert_flat(before, footprint(os.getpid()))
