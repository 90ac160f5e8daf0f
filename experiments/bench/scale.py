"""CPU time and peak memory of long inputs: a trace to judge, a log to follow, a long horizon, a large machine.

    python experiments/bench/scale.py [monitor] [fit] [horizon] [machine] [--size 1.0]

Each command runs in a process of its own.  `--size` scales the inputs: 1.0 is a trace of a million samples, a log of
45 MB, a horizon of 8,000 and a machine of 500 states.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
BEFORE = {"monitor": (43.0, 692.0), "fit": (85.0, None), "horizon": (None, None), "machine": (805.0, None)}
"""Seconds and megabytes of these inputs at full size, as measured before they were mended."""


def monitor(folder: Path, size: float) -> list[str]:
    count = int(1_000_000 * size)
    times = np.arange(count) * 0.01
    values = 30 + 40 * np.sin(times / 50) + np.random.default_rng(1).normal(0, 0.5, count)
    file = folder / "trace.csv"
    with open(file, "w", encoding="utf-8") as out:
        out.write("time,T,heat\n")
        for row in zip(times.tolist(), values.tolist(), (values > 40).astype(float).tolist(), strict=True):
            out.write("{:.2f},{!r},{}\n".format(*row))
    until = 0.9 * times[-1]
    return ["monitor", f"always[0:{until:g}](T <= 75 and (heat > 0 -> eventually[0:10](T <= 70)))", str(file)]


def fit(folder: Path, size: float) -> list[str]:
    rng, file, written, session = np.random.default_rng(1), folder / "log.csv", 0, 0
    with open(file, "w", encoding="utf-8") as out:
        written += out.write("session,time,action\n")
        while written < 45e6 * size:
            session, time = session + 1, 0.0
            written += out.write(f"s{session},0,\n")
            for _ in range(50):
                delay = rng.uniform(3, 5)
                time += delay
                action = "off" if delay < 4 or rng.random() < 0.5 else "on"
                written += out.write(f"s{session},{time:.6f},{action}\n")
    structure = ROOT / "profiles" / "heater_user.yaml"
    return ["fit", str(file), "--structure", str(structure), "-o", str(folder / "fitted.yaml")]


def horizon(folder: Path, size: float) -> list[str]:
    end = f"{8000 * size:g}"
    system, profile = ROOT / "adapters" / "heater", ROOT / "profiles" / "heater_user.yaml"
    small = "--counterexamples 3 --simulations 50 --passes 2 --traces 5 --shrink 0".split()
    return [
        *("falsify", "--system", str(system), "--profile", str(profile), "--seed", "1", "-q", *small),
        *("--require", f"always[0:{end}](T <= 75)", "--horizon", end, "--out", str(folder / "runs")),
    ]


def machine(folder: Path, size: float) -> list[str]:
    """A random machine without equivalent states, learned with its true number of states as the bound."""
    from bbfalsify.automata.equivalence import minimise
    from bbfalsify.automata.mealy import MealyMachine, dot_text

    rng, states = np.random.default_rng(1), int(505 * size)  # about 500 of 505 states can be reached
    names = tuple(f"i{i}" for i in range(5)), tuple(f"o{o}" for o in range(3))
    successor = rng.integers(states, size=(states, 5), dtype=np.int32)
    found = minimise(MealyMachine(*names, successor, rng.integers(3, size=(states, 5), dtype=np.int32)))
    file = folder / "machine.dot"
    file.write_text(dot_text(found), encoding="utf-8")
    holds = "G(out == o0 | out == o1 | out == o2)"
    out = ("--max-states", str(len(found)), "--seed", "1", "-q", "--out", str(folder / "runs"))
    return ["check", "--system", str(file), "--require", holds, *out]


INPUTS: dict[str, Callable[[Path, float], list[str]]] = {
    "monitor": monitor,
    "fit": fit,
    "horizon": horizon,
    "machine": machine,
}


def measured(arguments: list[str]) -> tuple[int, float, float]:
    """Exit code, CPU seconds and peak megabytes of a command."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.execv(sys.executable, [sys.executable, "-m", "bbfalsify", *arguments])
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def rows(names: list[str], size: float) -> Iterator[str]:
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            arguments = INPUTS[name](Path(folder), size)
            measured(["list", "units"])  # the files of Python are in memory
            code, seconds, megabytes = measured(arguments)
        before = BEFORE[name]
        ratio = "" if before[0] is None or size != 1.0 else f"  {before[0] / seconds:5.1f} times as fast as before"
        yield f"{name:8} exit {code}  {seconds:7.1f} CPU s  {megabytes:6.0f} MB{ratio}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(INPUTS)} (all)")
    parser.add_argument("--size", type=float, default=1.0)
    given = parser.parse_args()
    for row in rows(given.names or list(INPUTS), given.size):
        print(row, flush=True)


if __name__ == "__main__":
    main()
