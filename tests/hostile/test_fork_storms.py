"""Programs that fork faster than anybody looks: killed until none of their processes is left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FunctionSystem, ProcessSystem, ProgramSystem
from tests.hostile.hostile_systems import judge, queries

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

STORM = """
import json, os, signal, sys, time
if sys.argv[1] == "persistent":
    ports = {"inputs": {"bad": None, "u": None}, "outputs": {"y": None}}
    print(json.dumps({"bbfalsify": 1, "name": "s", **ports}), flush=True)
    sys.stdin.readline()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
number = 0
while True:
    number += 1
    if os.fork() == 0:
        if number % 3 == 0:
            os.setsid()
        if number % 4 == 0 and os.fork():
            os._exit(0)          # the grandchild is an orphan at once
        if number % 10 == 0:     # and some of them fork on
            for _ in range(3):
                time.sleep(0.002)
                os.fork()
        time.sleep(300)
        os._exit(0)
    time.sleep(0.002)
"""


def living(token: str) -> set[int]:
    """Processes whose command line has this word, without zombies."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if token.encode() in words and state not in "ZX":
                found.add(int(entry.name))
    return found


def gone(token: str, patience_s: float = 5.0) -> bool:
    until = time.monotonic() + patience_s
    while living(token) and time.monotonic() < until:
        time.sleep(0.01)
    return not living(token)


@pytest.fixture
def storm(tmp_path):
    """Return (kind of program, limit of its own) -> system; whatever stays is killed at the end, and counted."""
    token = f"storm-{os.getpid()}-{tmp_path.name}"
    (tmp_path / "storm.py").write_text(STORM)

    def make(kind: str, limit_s: float | None):
        command = [sys.executable, "-I", "-S", str(tmp_path / "storm.py"), kind, token]
        ports = {"inputs": ["bad", "u"], "outputs": ["y"]}
        if kind == "persistent":
            return ProcessSystem(command, time_limit_s=limit_s, **ports)
        return ProgramSystem(command, time_limit_s=limit_s, **ports)

    yield make, token
    while left := living(token):
        for pid in left:
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kind", ["persistent", "once"])
@pytest.mark.parametrize("who", ["the adapter's limit", "the pool's limit"])
def test_a_storm_ends_with_its_time_limit(storm, kind, who):
    make, token = storm
    system = make(kind, 0.4 if who.startswith("the adapter") else None)
    execution = Execution(time_limit=20.0 if who.startswith("the adapter") else 0.4)
    with WorkerPool(system, judge, execution) as pool:
        [answer] = pool.answers(queries([0]))
        assert answer.status is Status.TIMED_OUT
        assert gone(token), f"{len(living(token))} processes are left"


def test_a_storm_ends_with_a_worker_that_is_killed_from_outside(storm, tmp_path):
    """Its processes have lost all their ancestors then; they are known by the mark in their environment."""
    make, token = storm
    inner = make("once", None)

    def told(stimulus):
        (tmp_path / "worker").write_text(str(os.getpid()))
        with inner.open(0) as session:
            return session.execute(stimulus)

    def kill_the_worker() -> None:
        while len(living(token)) < 20:
            time.sleep(0.01)
        os.kill(int((tmp_path / "worker").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill_the_worker)
    killer.start()
    system = FunctionSystem(told, inputs=["bad", "u"], outputs=["y"], name="storm")
    with WorkerPool(system, judge, Execution(time_limit=2.0)) as pool:
        [answer] = pool.answers(queries([0]))
        assert answer.status is Status.TIMED_OUT, "it was executed once more"
        killer.join()
        assert gone(token), f"{len(living(token))} processes are left"
