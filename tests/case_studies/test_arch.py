"""Chasing cars and pacemaker of the ARCH competition: what they do, and what a guided search finds in them."""

from pathlib import Path

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.systems.loading import load_system

ROOT = Path(__file__).parent.parent.parent
CARS = load_system(str(ROOT / "adapters" / "chasing_cars"))
PACEMAKER = load_system(str(ROOT / "adapters" / "pacemaker"))
OPTIONS = Options(simulations=300, counterexamples=1, passes=0, sensitivity=False, shrink=0)


def constant(system, end, step, **inputs):
    times = np.arange(round(end / step) + 1) * step
    return system.function(Stimulus(times, {name: np.full(len(times), level) for name, level in inputs.items()}))


def test_the_first_car_follows_its_closed_form():
    """v = -(a/b)(1 - exp(-b t)), y its integral; without a brake y = -a t²/2."""
    times, a, b = np.arange(1001) * 0.01, 0.8, 0.5
    exact = -(a / b) * (times - (1 - np.exp(-b * times)) / b)
    assert constant(CARS, 10, 0.01, throttle=a, brake=b)["y1"] == pytest.approx(exact, abs=1e-9)
    assert constant(CARS, 10, 0.01, throttle=a, brake=0.0)["y1"] == pytest.approx(-a * times**2 / 2, abs=1e-9)


def test_the_second_car_starts_to_chase_at_a_gap_of_15():
    out = constant(CARS, 10, 0.01, throttle=1.0, brake=0.0)
    start = int(np.flatnonzero(np.diff(out["y2"]))[0])
    assert out["y2"][0] == 10.0 and out["y2"][start] - out["y1"][start] >= 15.0
    assert out["y2"][start - 1] - out["y1"][start - 1] < 15.0
    after = (np.arange(1, 51) * 0.01) ** 2 / 2
    assert out["y2"][start + 1 : start + 51] == pytest.approx(10.0 - after), "v' = 1 from rest"


def test_cars_stand_when_nobody_drives():
    out = constant(CARS, 100, 0.01, throttle=0.0, brake=1.0)
    assert [set(row) for row in out.values()] == [{0.0}, {10.0}, {20.0}, {30.0}, {40.0}]


@pytest.mark.parametrize(("rate", "paces"), [(50, 8), (60, 10), (90, 14), (90.9, 14)])
def test_paces_in_ten_seconds(rate, paces):
    assert constant(PACEMAKER, 10, 0.01, rate=rate)["count"][-1] == paces


def search(system, signals, stl, horizon):
    profile = parse_profile(f"format_version: 1\nname: inputs\nsignals: {{{signals}}}\n")
    requirement = Requirement("R", "", parse_stl(stl))
    return falsify(system, profile, [requirement], horizon=horizon, seed=2, out=None, options=OPTIONS)


def test_the_pacemaker_stays_unfalsified():
    stl = "(always[0:10](count <= 15)) and (eventually[0:10](count >= 8))"
    result = search(PACEMAKER, "rate: {range: [50, 90.999], every: 2}", stl, 10.0)
    assert result.outcome is Outcome.NOT_FALSIFIED
    assert 300 * 4 // 5 <= result.iterations < 300, "a fifth at most is for judging again, at finer samples"


def test_corners_violate_a_requirement_that_plain_draws_hardly_do():
    """CC1: of plain draws one in a hundred violates it; the portfolio begins with corners."""
    signals = "throttle: {range: [0, 1], every: 5}, brake: {range: [0, 1], every: 5}"
    result = search(CARS, signals, "always[0:100](y5 - y4 <= 40)", 100.0)
    assert result.outcome is Outcome.FALSIFIED and result.iterations <= 8
