"""Automatic transmission and chasing cars as FMUs: what the adapters compute, step by step."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.systems import FmuSystem, load_system
from tests.fmus.asking import ask, signals, stimulus

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    """Systems of the FMUs that the script builds, by name."""
    script = ROOT / "experiments" / "arch" / "make_fmus.py"
    command = [sys.executable, str(script), str(tmp_path_factory.mktemp("arch"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return {Path(line).stem: FmuSystem(line) for line in done.stdout.split()}


def pieces(times, every, highest, rng):
    levels = rng.uniform(0, highest, int(times[-1] / every) + 1)
    return levels[(times / every + 1e-9).astype(int)]


def both(fmu, adapter, driven):
    answers = [ask(system, driven)[0] for system in (fmu, load_system(adapter, base=ROOT))]
    return [signals(answer) for answer in answers]


def test_the_transmission_agrees_step_by_step_and_gears_show_one_step_later(fmus):
    """An output of an FMU does not see the input that begins to act at its time, and the chart reads the throttle."""
    rng, times = np.random.default_rng(4), np.arange(3001) * 0.01
    driven = stimulus(times, throttle=pieces(times, 5, 100, rng), brake=pieces(times, 5, 325, rng))
    fmu, python = both(fmus["AutomaticTransmission"], "automatic_transmission", driven)
    for name in ("speed", "rpm"):
        np.testing.assert_allclose(fmu[name], python[name], rtol=0, atol=1e-9)
    assert len(set(python["gear"])) > 2
    assert np.array_equal(fmu["gear"][1:], python["gear"][:-1])


def test_between_its_steps_the_transmission_holds_outputs_and_inputs(fmus):
    """Inputs that change within a step act with the next one."""
    rng, times = np.random.default_rng(5), np.arange(2001) * 0.0025
    driven = stimulus(times, throttle=pieces(times, 0.0075, 100, rng), brake=pieces(times, 0.0125, 325, rng))
    fmu, python = both(fmus["AutomaticTransmission"], "automatic_transmission", driven)
    for name in ("speed", "rpm"):
        np.testing.assert_allclose(fmu[name], python[name], rtol=0, atol=1e-9)


def test_the_cars_agree_step_by_step(fmus):
    rng, times = np.random.default_rng(6), np.arange(5001) * 0.01
    driven = stimulus(times, throttle=pieces(times, 5, 1, rng), brake=pieces(times, 5, 1, rng))
    fmu, python = both(fmus["ChasingCars"], "chasing_cars", driven)
    for car in range(1, 6):
        np.testing.assert_allclose(fmu[f"y{car}"], python[f"y{car}"], rtol=0, atol=1e-9)
