"""The automatic transmission of the ARCH competition: what it does, and that short violations are not missed."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import RegularGridInterpolator, interp1d

from bbfalsify import falsify
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import load_profile
from bbfalsify.systems import FunctionSystem
from bbfalsify.systems.loading import load_system

ROOT = Path(__file__).parent.parent.parent
TRANSMISSION = load_system(str(ROOT / "adapters" / "automatic_transmission"))
WITHOUT_STEP = FunctionSystem(
    TRANSMISSION.function, inputs=TRANSMISSION.inputs, outputs=TRANSMISSION.outputs, name="without_step"
)
AT2 = Requirement("AT2", "", parse_stl("always[0:10](rpm < 4750)"))
AT2_PROBABILITY = 0.0580
"""Of 200,000 drives, every step judged; standard error 0.0005."""
RATES = {"AT1": 0.0, "AT2": AT2_PROBABILITY, "AT51": 0.0872, "AT52": 0.1439, "AT53": 0.4704, "AT54": 0.0356}
"""Of the same drives."""


def drive(throttle, brake, end=30.0, step=0.01):
    """Signals at every step; throttle and brake change at equal distances."""
    times = np.arange(round(end / step) + 1) * step
    piece = np.minimum((times / end * len(throttle)).astype(int), len(throttle) - 1)
    inputs = {"throttle": np.array(throttle, float)[piece], "brake": np.array(brake, float)[piece]}
    return TRANSMISSION.function(Stimulus(times, inputs))


def test_full_throttle_goes_through_the_gears():
    out = drive([100], [0])
    assert out["rpm"][0] == 1000 and out["speed"][0] == 0 and out["gear"][0] == 1
    changes = out["gear"][np.flatnonzero(np.diff(out["gear"])) + 1]
    assert changes.tolist() == [2, 3, 4]
    assert np.all(np.diff(out["speed"]) >= 0)
    assert 120 < out["speed"][2000] < 120.5, "AT1, always[0:20](speed < 120), is violated by full throttle, just so"
    assert out["rpm"].min() >= 600 and out["rpm"].max() <= 6000


def test_without_throttle_and_braked_the_car_stands():
    out = drive([0], [325])
    assert abs(out["speed"][-1]) < 1 and set(out["gear"]) == {1}


def test_gears_change_at_ticks_only_and_outputs_hold_between_steps():
    out = drive([60, 10, 90], [0, 200, 0])
    assert np.all((np.flatnonzero(np.diff(out["gear"])) + 1) % 4 == 0)
    fine = drive([60, 10, 90], [0, 200, 0], step=0.0025)
    for name in ("speed", "rpm", "gear"):
        assert np.array_equal(fine[name][::4], out[name]) and np.array_equal(fine[name][3::4], out[name][:-1])


def integrated(tables, throttle, brake, end):
    """Speed, engine speed and gear every 0.04 s, written anew: scipy's tables and integrator, the chart as states."""
    torque = RegularGridInterpolator(
        (tables["THROTTLES"], tables["ENGINE_SPEEDS"]), tables["ENGINE_TORQUE"], bounds_error=False, fill_value=None
    )
    capacity, gain = (
        interp1d(tables["SPEED_RATIOS"], tables[name], fill_value="extrapolate")
        for name in ("CAPACITIES", "TORQUE_RATIOS")
    )
    up, down = (
        interp1d(tables[f"{way}_THROTTLES"], tables[f"{way}_SPEEDS"], axis=0, fill_value="extrapolate")
        for way in ("UP", "DOWN")
    )
    ratios, mph = (2.393, 1.450, 1.000, 0.677), 2 * np.pi * 60 / 5280

    def rates(_, state, pedal, braked, ratio):
        engine, wheel = state
        slip = 3.23 * wheel * ratio / engine
        taken = (engine / capacity(slip)) ** 2
        speed = wheel * mph
        load = np.sign(speed) * (40 + 0.02 * speed**2 + braked)
        pushed = (torque((pedal, engine)).item() - taken) / 0.021991488283555904
        return [pushed, (3.23 * taken * gain(slip) * ratio - load) / 12.094147857312473]

    state, gear, mode, since, rows = np.array([1000.0, 0.0]), 1, "steady", 0, []
    for tick in range(round(end / 0.04)):
        pedal, braked = throttle(tick * 0.04), brake(tick * 0.04)
        speed, above, below = state[1] * mph, up(pedal)[gear - 1], down(pedal)[gear - 1]
        since += 1
        if mode == "steady":
            mode, since = ("up" if speed > above else "down" if speed < below else "steady"), 0
        elif (mode == "up" and speed < above) or (mode == "down" and speed > below):
            mode = "steady"
        elif since >= 2:
            gear, mode = (min(gear + 1, 4) if mode == "up" else max(gear - 1, 1)), "steady"
        rows.append((speed, state[0], gear))
        solved = solve_ivp(rates, (0, 0.04), state, args=(pedal, braked, ratios[gear - 1]), rtol=1e-7, atol=1e-7)
        state = solved.y[:, -1]
    return np.array(rows).T


def test_another_integrator_finds_the_same_drive():
    """Engine speed away from its limits; gears up and down; the torque converter beyond the end of its table."""
    throttle, brake = [80.0, 5.0, 55.0], [0.0, 250.0, 20.0]
    out = drive(throttle, brake, end=15.0)
    speed, rpm, gear = integrated(
        vars(sys.modules[TRANSMISSION.function.__globals__["drive"].__module__]),
        lambda now: throttle[min(int(now / 5 + 1e-9), 2)],
        lambda now: brake[min(int(now / 5 + 1e-9), 2)],
        end=15.0,
    )
    assert out["rpm"].min() > 600 and out["rpm"].max() < 6000
    assert {-1.0, 1.0} <= set(np.diff(gear))
    assert np.array_equal(out["gear"][:-1:4], gear)
    assert out["speed"][:-1:4] == pytest.approx(speed, abs=1e-3)
    assert out["rpm"][:-1:4] == pytest.approx(rpm, abs=1.0)


def test_how_often_random_drives_violate():
    """Null hypothesis: drives violate with the rates above, known from 200,000 other drives.

    2,000 drives; each of the six counts lies within 4.5 standard deviations (false alarm 7e-6 each, 0 of 2,000 for
    AT1); a rate of 6 % that becomes 9 % is caught in 99 % of the cases.
    """
    rng, drives = np.random.default_rng(7), 2000
    hits = dict.fromkeys(RATES, 0)
    for _ in range(drives):
        out = drive(rng.uniform(0, 100, 6), rng.uniform(0, 325, 6))
        hits["AT1"] += bool((out["speed"][:2001] >= 120).any())
        hits["AT2"] += bool((out["rpm"][:1001] >= 4750).any())
        for gear in (1, 2, 3, 4):
            engaged = np.flatnonzero((out["gear"][1:] == gear) & (out["gear"][:-1] != gear)) + 1
            hits[f"AT5{gear}"] += any((out["gear"][at : at + 251] != gear).any() for at in engaged)
    for name, rate in RATES.items():
        assert abs(hits[name] - drives * rate) <= 4.5 * np.sqrt(drives * rate * (1 - rate)), (name, hits[name])


def falsified(box, **arguments):
    settings = {"horizon": 30.0, "seed": 1, "out": None, "options": Options(simulations=500, sensitivity=False)}
    profile = load_profile(ROOT / "profiles" / "throttle_and_brake.yaml")
    return falsify(box, profile, [AT2], baseline=smc.SmcOptions(simulations=1000), **{**settings, **arguments})


@pytest.mark.parametrize("box", [TRANSMISSION, WITHOUT_STEP], ids=["with its step", "without"])
def test_the_intervals_cover_the_truth_at_fine_sampling(box):
    """Null hypothesis: the probability of AT2's violation is the one above.

    1,000 traces and 1,000 plain simulations; two 95 % intervals that miss with at most 5 % each for a new random
    stream, and the seed is fixed.  Samples that are 0.3 apart give about 0.014, which is caught always (next test).
    """
    result = falsified(box)
    for estimate in (result.found_probability, result.smc):
        assert estimate.low <= AT2_PROBABILITY <= estimate.high
    assert result.outcome is Outcome.FALSIFIED and result.sampling.period <= 0.01
    assert bool(result.sampling.checks) == (box is WITHOUT_STEP)


def test_a_period_that_is_too_long_is_obeyed_and_denounced():
    result = falsified(WITHOUT_STEP, period=0.3)
    assert result.found_probability.high < AT2_PROBABILITY / 2 and result.smc.high < AT2_PROBABILITY
    assert any("THE PERIOD IS TOO LONG" in note for note in result.notes)
