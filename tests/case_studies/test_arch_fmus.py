"""Automatic transmission and chasing cars as FMUs: what the adapters compute, step by step."""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify.systems import FmuSystem, load_system
from tests.fmus.asking import ask, signals, stimulus
from tests.fmus.building import built_by

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    """Systems of the FMUs that the script builds, by name."""
    script = ROOT / "experiments" / "arch" / "make_fmus.py"
    return {fmu.stem: FmuSystem(fmu) for fmu in built_by(script, tmp_path_factory.mktemp("arch"))}


def pieces(times, every, highest, rng):
    levels = rng.uniform(0, highest, int(times[-1] / every) + 1)
    return levels[(times / every + 1e-9).astype(int)]


def compared(fmu, adapter, driven):
    """Signals of FMU and adapter; all but the gear, which an FMU shows later, agree."""
    found = [signals(ask(system, driven)[0]) for system in (fmu, load_system(adapter, base=ROOT))]
    for name in found[1].keys() - {"gear"}:
        np.testing.assert_allclose(found[0][name], found[1][name], rtol=0, atol=1e-9, err_msg=name)
    return found


def test_the_transmission_agrees_step_by_step_and_gears_show_one_step_later(fmus):
    """An output of an FMU does not see the input that begins to act at its time, and the chart reads the throttle."""
    rng, times = np.random.default_rng(4), np.arange(3001) * 0.01
    driven = stimulus(times, throttle=pieces(times, 5, 100, rng), brake=pieces(times, 5, 325, rng))
    fmu, python = compared(fmus["AutomaticTransmission"], "automatic_transmission", driven)
    assert len(set(python["gear"])) > 2
    assert np.array_equal(fmu["gear"][1:], python["gear"][:-1])


def test_between_its_steps_the_transmission_holds_outputs_and_inputs(fmus):
    """Inputs that change within a step act with the next one."""
    rng, times = np.random.default_rng(5), np.arange(2001) * 0.0025
    driven = stimulus(times, throttle=pieces(times, 0.0075, 100, rng), brake=pieces(times, 0.0125, 325, rng))
    compared(fmus["AutomaticTransmission"], "automatic_transmission", driven)


def test_the_cars_agree_step_by_step(fmus):
    rng, times = np.random.default_rng(6), np.arange(5001) * 0.01
    driven = stimulus(times, throttle=pieces(times, 5, 1, rng), brake=pieces(times, 5, 1, rng))
    _, python = compared(fmus["ChasingCars"], "chasing_cars", driven)
    assert {"y1", "y2", "y3", "y4", "y5"} <= python.keys()
