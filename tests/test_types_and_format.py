"""mypy and ruff find nothing to complain about, and users of the public names get their types."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
UNTYPED = {"records", "running"}
"""Rooms that still have type errors; the goal is none."""

CALLS = """\
import bbfalsify

bbfalsify.falsify(1, 2, 3, horizon="x")
bbfalsify.falsifie
reveal_type(bbfalsify.load_network("gate.xml"))
"""


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert not done.stderr, done.stderr
    return done.stdout


def test_types(tmp_path):
    """One run for both: about 15 s, and 4 s when mypy's cache is warm."""
    calls = tmp_path / "calls.py"
    calls.write_text(CALLS)
    lines = run("mypy", "bbfalsify", str(calls)).splitlines()
    errors = [line for line in lines if (room := re.match(r"bbfalsify/([\w.]+)", line)) and room[1] not in UNTYPED]
    assert not errors, "\n".join(errors)
    said = "\n".join(line.partition(calls.name)[2] for line in lines)  # a message from the cache has an older folder
    assert ':3: error: Argument 1 to "falsify" has incompatible type "int"; expected "System"' in said
    assert ':3: error: Argument "horizon" to "falsify" has incompatible type "str"; expected "float"' in said
    assert ':4: error: Module has no attribute "falsifie"' in said
    assert ':5: note: Revealed type is "bbfalsify.modelling.network.network.Network"' in said


@pytest.mark.parametrize("command", [("check", "--quiet", "."), ("format", "--check", "--quiet", ".")], ids=" ".join)
def test_format(command):
    assert run("ruff", *command) == ""
