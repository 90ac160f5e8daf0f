"""Programs isolated by bubblewrap, for real: what they can no longer do, and that their answers are the same.

Where a machine has bubblewrap and does not allow it namespaces (some containers), the refusal is tested instead.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.systems import NoAnswer, ProcessSystem, ProgramSystem, SystemDied
from bbfalsify.systems.programs import sandbox
from tests.hostile.hostile_systems import queries
from tests.hostile.pool_runs import run
from tests.hostile.test_fork_storms import STORM, gone
from tests.hostile.test_hostile_programs import PROGRAM

TRYING = """
import os, socket, sys
def can(deed):
    try:
        deed()
        return 1
    except OSError:
        return 0
def connect(where, kind):
    with socket.socket(kind) as end:
        end.settimeout(2)
        end.connect(where)
port, home, unix, target = int(sys.argv[1]), sys.argv[2], sys.argv[3][2:], sys.argv[4]
found = {
    "network": can(lambda: connect(("127.0.0.1", port), socket.AF_INET)),
    "service": can(lambda: connect(unix, socket.AF_UNIX)),
    "write": can(lambda: open(home + "/written", "w")),
    "system": can(lambda: open("/etc/bbfalsify-was-here", "w")),
    "processes": sum(name.isdecimal() for name in os.listdir("/proc")),
    "signal": can(lambda: os.kill(int(sys.argv[5]), 0)),
    "own": can(lambda: open("mine.txt", "w")),
    "tmp": can(lambda: open("/tmp/mine.txt", "w")),
    "read": can(lambda: open(home + "/program.py")),
}
with open(target, "w") as file:
    file.write(",".join(found) + "\\n" + ",".join(map(str, found.values())) + "\\n")
"""
ASKED = ("network", "service", "write", "system", "processes", "signal", "own", "tmp", "read")

needs_namespaces = pytest.mark.skipif(
    sandbox.shutil.which("bwrap") is not None and bool(sandbox.sandbox_problems()),
    reason="this machine does not allow namespaces; test_a_machine_that_cannot_says_so looks at its message",
)


def tried(tmp_path: Path, **options) -> dict[str, float]:
    (tmp_path / "program.py").write_text(TRYING)
    unix = f"{tempfile.mkdtemp()}/service"  # of somebody else
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as service:
        service.bind(unix)
        service.listen()
        command = [
            sys.executable,
            "-I",
            "-S",
            "{here}/program.py",
            server.getsockname()[1],
            "{here}",
            f"at{unix}",
            "{output}",
        ]
        system = ProgramSystem([*command, os.getpid()], inputs=[], outputs=ASKED, folder=tmp_path, **options)
        with system.open(0) as session:
            answer = session.execute(Stimulus(np.array([0.0]), {}))
    (tmp_path / "written").unlink(missing_ok=True)
    Path("/etc/bbfalsify-was-here").unlink(missing_ok=True)
    return {name: float(values[0]) for name, values in answer.items()}


@needs_namespaces
def test_a_sandboxed_program_has_no_network_and_changes_nothing(tmp_path):
    free, bound = tried(tmp_path), tried(tmp_path, sandbox="bubblewrap")
    assert free["network"] and free["service"] and free["write"] and free["signal"] and free["processes"] > 3
    assert (
        not bound["network"]
        and not bound["service"]
        and not bound["write"]
        and not bound["system"]
        and not bound["signal"]
    )
    assert bound["processes"] <= 3, "it sees itself and the sandbox"
    assert bound["own"] and bound["tmp"] and bound["read"]
    assert not Path("/tmp/mine.txt").exists() or free["tmp"]
    Path("/tmp/mine.txt").unlink(missing_ok=True)


@needs_namespaces
def test_answers_are_the_same_and_failures_too():
    command = [sys.executable, "-I", "-S", str(PROGRAM), "exits"]
    ports = {"inputs": ["bad", "u"], "outputs": ["y"], "name": "exits"}
    free, bound = (run(ProcessSystem(command, **ports, sandbox=kind)) for kind in (None, "bubblewrap"))
    assert [a.status for a in bound] == [a.status for a in free] == [Status.OK, Status.DIED] * 2
    assert [a.judgements for a in bound] == [a.judgements for a in free]


@needs_namespaces
def test_a_storm_dies_with_its_sandbox(tmp_path):
    (tmp_path / "storm.py").write_text(STORM)
    token = f"storm-{os.getpid()}-{tmp_path.name}"
    command = [sys.executable, "-I", "-S", str(tmp_path / "storm.py"), "once", token]
    system = ProgramSystem(command, inputs=["bad", "u"], outputs=["y"], time_limit_s=0.4, sandbox="bubblewrap")
    with pytest.raises(NoAnswer), system.open(0) as session:
        session.execute(queries([0])[0].stimulus)
    assert gone(token)


@needs_namespaces
def test_memory_is_limited_also_that_of_children():
    code = "import os, time\nif os.fork() == 0:\n    hoard = bytearray(300 << 20)\ntime.sleep(60)"
    system = ProgramSystem(
        [sys.executable, "-c", code], inputs=["bad", "u"], outputs=["y"], sandbox="bubblewrap", memory_mb=200
    )
    with pytest.raises(SystemDied, match="more than the 200 MB allowed"), system.open(0) as session:
        session.execute(queries([0])[0].stimulus)


def test_there_is_a_limit_of_memory_by_default():
    ports = {"inputs": ["u"], "outputs": ["y"]}
    assert ProgramSystem("x", **ports, sandbox="bubblewrap").launch.memory_mb == sandbox.MEMORY_MB
    assert ProgramSystem("x", **ports).launch.memory_mb is None
    with pytest.raises(UserError, match="unknown sandbox 'bublewrap'.*Did you mean 'bubblewrap'?"):
        ProgramSystem("x", **ports, sandbox="bublewrap")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "the program 'bwrap' is not on this machine ('apt install bubblewrap' brings it"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "on this machine: bwrap: No permissions"),
    ],
)
def test_a_machine_that_cannot_says_so(tmp_path, monkeypatch, script, said):
    (tmp_path / "true").symlink_to("/bin/true")
    if script is not None:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    system = ProgramSystem("true", inputs=["u"], outputs=["y"], sandbox="bubblewrap")
    with pytest.raises(UserError) as refused:
        system.prepare()
    assert said in str(refused.value)
