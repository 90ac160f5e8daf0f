"""The thermal house as an FMU is the thermal house: the same temperatures, and the same findings for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import load_profile
from bbfalsify.systems import FmuSystem, load_system
from tests.fmus.asking import ask, signals, stimulus
from tests.fmus.building import built_by

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    """The adapter, and the FMU that its script builds."""
    script = ROOT / "adapters" / "thermal_house_fmu" / "build.py"
    [fmu] = built_by(script, tmp_path_factory.mktemp("house"))
    return load_system("thermal_house", base=ROOT), FmuSystem(fmu)


def test_a_cold_month_sample_by_sample(houses):
    rng = np.random.default_rng(3)
    times = np.unique(np.r_[np.arange(0.0, 721.0), rng.uniform(0, 720, 50)])
    weather = rng.normal(-20, 15, len(times))
    python, fmu = (signals(ask(house, stimulus(times, T_out=weather))[0])["T"] for house in houses)
    np.testing.assert_allclose(fmu, python, rtol=0, atol=1e-9)


def test_the_same_seed_finds_the_same_weather(houses):
    requirement = Requirement("R1", "never below 16 degrees", parse_stl("always(T >= 16)", signals=["T", "T_out"]))
    options = Options(counterexamples=4, simulations=200, passes=2, traces=10, search="first")
    python, fmu = (
        falsify(
            house,
            load_profile(ROOT / "profiles" / "weather.yaml"),
            [requirement],
            horizon=400.0,
            period=1.0,
            options=options,
            seed=1,
            out=None,
        )
        for house in houses
    )
    assert python.outcome is fmu.outcome is Outcome.FALSIFIED and len(python.counterexamples) == 4
    for one, other in zip(python.counterexamples, fmu.counterexamples, strict=True):
        assert (one.rank, one.actions, one.probability) == (other.rank, other.actions, other.probability)
        assert one.first_violation_time == other.first_violation_time
        assert one.robustness == pytest.approx(other.robustness, abs=1e-9)
