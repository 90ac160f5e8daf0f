"""CPU seconds before a command does anything, and of a small search: `python experiments/bench/startup.py`.

Each command runs five times in a fresh process; the smallest user + system time counts, as noise only adds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = {
    "--help": (["--help"], 0.4),
    "run --help": (["run", "--help"], 0.4),
    "list examples": (["list", "examples"], 0.4),
    "validate campaign": (["validate", str(ROOT / "experiments" / "heater" / "campaign.yaml")], 0.8),
    "validate profile": (["validate", str(ROOT / "profiles" / "heater_user.yaml")], 0.8),
    "reach, small model": (["reach", "--example", "fischer-faulty:3", "--seed", "1", "-q"], 1.2),
}
REPEATS = 5


def cpu_seconds(arguments: list[str]) -> float:
    before = os.times()
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", folder] if arguments[0] == "reach" else []
        command = [sys.executable, "-m", "bbfalsify.cli.main", *arguments, *out]
        code = subprocess.run(command, cwd=ROOT, capture_output=True).returncode
    if code != (1 if out else 0):
        raise SystemExit(f"{arguments}: exit code {code}")
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def main() -> None:
    print(f"{'command':20} {'CPU s':>6} {'target':>6}")
    for name, (arguments, target) in COMMANDS.items():
        seconds = min(cpu_seconds(arguments) for _ in range(REPEATS))
        print(f"{name:20} {seconds:6.2f} {target:6.2f}{'' if seconds <= target else '  too slow'}")


if __name__ == "__main__":
    main()
