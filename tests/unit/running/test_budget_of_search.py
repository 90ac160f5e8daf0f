"""`simulations` bounds all that a search executes, as the systems count it; it is used up where nothing is found."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify, system
from bbfalsify.modelling import value_profile
from bbfalsify.systems import ProgramSystem, load_system
from tests import heater
from tests.fmus.building import HERE

PROGRAM = """
import csv, sys
open(sys.argv[1], "a").write("x")
rows = list(csv.reader(open(sys.argv[2])))
with open(sys.argv[3], "w") as out:
    out.write("time,level\\n")
    for row in rows[1:]:
        out.write(f"{row[0]},{row[rows[0].index('inflow')]}\\n")
"""
JOBS = 2
COUNTING = """
        if current_time == 0:
            open(COUNTER, "a").write("x")
        target ="""


def counted(counter: Path) -> int:
    return len(counter.read_text()) if counter.exists() else 0


def a_function(counter, _):
    @system(inputs=["inflow"], outputs=["level"])
    def tank(times, inputs):
        with counter.open("a") as file:
            file.write("x")
        return {"level": np.asarray(inputs["inflow"])}

    return tank


def a_batch_function(counter, _):
    @system(inputs=["inflow"], outputs=["level"], batch=True)
    def tank(stimuli):
        with counter.open("a") as file:
            file.write("x" * len(stimuli))
        return [{"level": np.asarray(one.inputs["inflow"])} for one in stimuli]

    return tank


def a_program(counter, folder):
    (folder / "tank.py").write_text(PROGRAM)
    command = [sys.executable, str(folder / "tank.py"), str(counter), "{input}", "{output}"]
    return ProgramSystem(command, inputs={"inflow": "1"}, outputs={"level": "1"})


def an_fmu(counter, folder):
    script = (HERE / "heater.py").read_text().replace("\n        target =", COUNTING)
    (folder / "heater.py").write_text(f"COUNTER = {str(counter)!r}\n{script}")
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", str(folder / "heater.py"), "-d", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return load_system(f"{folder / 'Heater.fmu'}?inputs=heat&outputs=T&step=0.5")


MAKERS = {"function": a_function, "batch": a_batch_function, "program": a_program, "fmu": an_fmu}


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_executed_is_what_is_told_and_never_more_than_asked_for(kind, tmp_path):
    counter = tmp_path / "count"
    tested = MAKERS[kind](counter, tmp_path)
    name, output = tested.inputs[0].name, tested.outputs[0].name
    signals = value_profile({name: {"range": [0, 1], "every": 2}})
    for profile in (signals, heater.profile()) if name == "heat" else (signals,):
        for formula, budget in ((f"always[0:10]({output} <= 1e6)", 40), (f"always[0:10]({output} <= 0.5)", 25)):
            before = counted(counter)
            found = falsify(
                tested,
                profile,
                [formula],
                horizon=10,
                simulations=budget,
                passes=0,
                seed=2,
                jobs=JOBS,
                out=None,
                period=0.5,
            )
            executed = counted(counter) - before
            resets_tested = JOBS * (1 + math.log2(budget)) if kind == "fmu" else 0  # on new instances (`fmu.md`)
            assert found.simulations <= executed <= found.simulations + resets_tested
            assert found.simulations <= budget
            if not found.counterexamples:
                assert found.simulations >= budget - 6
