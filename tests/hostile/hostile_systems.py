"""Black boxes that do what real ones did to us, each in one function.

The input `bad` is 0 for a good simulation and 1 for one in which the system misbehaves.
"""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.systems import FunctionSystem

SAMPLES = 11


def judge(trace: Trace) -> tuple[Judgement, ...]:
    """y <= 5, always."""
    robustness = float(np.min(5.0 - trace.signals["y"]))
    if robustness >= 0:
        return (Judgement(Verdict.SATISFIED, robustness),)
    first = float(trace.times[np.argmax(trace.signals["y"] > 5.0)])
    return (Judgement(Verdict.VIOLATED, robustness, first),)


def queries(bad: Sequence[int], prefix: str = "q") -> list[Query]:
    times = np.linspace(0.0, 1.0, SAMPLES)
    return [
        Query(f"{prefix}/{i}", Stimulus(times, {"bad": np.full(SAMPLES, float(b)), "u": np.full(SAMPLES, float(i))}))
        for i, b in enumerate(bad)
    ]


def misbehaving(deed) -> FunctionSystem:
    """A system that returns its input, except in bad simulations, where it does `deed`."""

    def box(stimulus: Stimulus):
        good = {"y": stimulus.inputs["u"].copy()}
        return deed(good) if stimulus.inputs["bad"][0] else good

    return FunctionSystem(box, inputs=["bad", "u"], outputs=["y"], name=deed.__name__)


def raises(good):
    raise ValueError("the pump is broken")


def ends_itself_politely(good):
    sys.exit(3)


def interrupts(good):
    raise KeyboardInterrupt


def recurses(good):
    return recurses(good)


def hangs(good):
    while True:
        time.sleep(60)


def hangs_without_ever_letting_go(good):
    """Native code that ignores signals and never returns to Python."""
    libc = ctypes.PyDLL(None)  # PyDLL keeps the interpreter's lock
    while True:
        libc.sleep(60)


def exits(good):
    os._exit(7)


def aborts(good):
    os.abort()


def crashes(good):
    ctypes.string_at(0)


def gives_nan(good):
    good["y"][4] = math.nan
    return good


def gives_infinity(good):
    good["y"][0] = -math.inf
    return good


def gives_too_few(good):
    return {"y": good["y"][:-1]}


def gives_columns(good):
    return {"y": good["y"].reshape(-1, 1)}


def gives_nothing(good):
    return None


def gives_an_array(good):
    return good["y"]


def gives_words(good):
    return {"y": ["warm"] * SAMPLES}


def gives_complex(good):
    return {"y": good["y"] + 0j}


def gives_one_number(good):
    return {"y": 3.0}


def misspells(good):
    return {"Y_": good["y"]}


def adds_an_output(good):
    return {**good, "z": good["y"]}


class Thorny(dict):
    def __getitem__(self, key):
        raise RuntimeError("do not touch")


def gives_thorns(good):
    return Thorny(good)


def floods_the_terminal(good):
    block = "x" * 99 + "\n"
    for _ in range(50):
        sys.stdout.write(block * 10_000)
    return good


def writes_past_python(good):
    os.write(1, b"from a C library\n")
    os.write(2, b"and an error\n")
    return good


def reads_the_keyboard(good):
    return {"y": np.full(SAMPLES, float(len(sys.stdin.read())))}


def eats_memory(good):
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def leaves_a_child_and_exits(good):
    """The child inherits every open file, the worker's socket included."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(5)


def leaves_children_and_hangs(good):
    subprocess.Popen(["sleep", "600"])
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(600)


def leaves_children(good):
    subprocess.Popen(["sleep", "600"])
    return good


def closes_all_files(good):
    """As programs do that turn themselves into a service."""
    os.closerange(3, 4096)
    return good


def starts_a_server_and_hangs(good):
    """The server has a session of its own, so it does not belong to the worker's process group."""
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    time.sleep(600)


def starts_a_server(good):
    """Through a shell that ends at once, so that the server loses its parent."""
    subprocess.run(["setsid sleep 600 > /dev/null 2>&1 &"], shell=True, check=True)
    return good


def spoils_its_inputs(stimulus: Stimulus):
    stimulus.inputs["u"][:] = 0.0
    return {"y": stimulus.inputs["u"]}
