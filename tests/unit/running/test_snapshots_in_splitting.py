"""Splitting of a closed loop with saved states of the system: the same estimate, for less simulated time."""

from __future__ import annotations

import pytest

from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.running.estimate.closed_loop import estimate_use
from bbfalsify.running.execution import Execution
from bbfalsify.systems import Capabilities
from bbfalsify.systems.fmu import FmuSystem
from tests.heater import profile
from tests.unit.systems.test_continued import Rooms


def row(system: object, *, jobs: int = 1, executor: str | None = None):
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 70)"))
    settings = EstimateSettings(horizon=20.0, period=0.5, method="splitting", particles=12, passes=2)
    done = estimate_use(
        system, profile(), [requirement], settings, seed=1, execution=Execution(jobs=jobs, executor=executor)
    )
    return done.requirements[0]


class Forgetful(Rooms):
    capabilities = Capabilities(stepwise=True)


@pytest.mark.parametrize("executor", ["in-process", None])
def test_a_python_system_that_saves_its_state(executor: str | None):
    """All uses begin anew without the ability; with it a third of the time need not be simulated."""
    with_states, without = row(Rooms(), executor=executor), row(Forgetful(), executor=executor)
    assert with_states.estimate == without.estimate and with_states.runs == without.runs
    whole, saved = without.simulated_time, with_states.simulated_time
    assert whole["simulated"] == whole["uses"] == saved["uses"] == 20.0 * without.runs
    assert 0 < saved["simulated"] < 0.8 * whole["uses"]


def test_two_workers_give_the_same_estimate():
    assert row(Rooms(), jobs=2).estimate == row(Rooms()).estimate


def test_an_fmu_that_saves_its_state(fmus):
    """An FMU with canGetAndSetFMUstate, and the same FMU without it, which has to simulate every beginning again."""
    able = row(FmuSystem(fmus.build("heater", "--handle-state"), inputs=["heat"], outputs=["T"]))
    unable = row(FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T"]))
    assert able.estimate == unable.estimate and able.runs == unable.runs
    assert able.simulated_time["simulated"] < 0.8 * unable.simulated_time["simulated"]
