"""Elasticities of the heater's counterexamples against the derivatives of their closed forms, and what follows."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.estimates.evidence import Evidence
from bbfalsify.engines.falsification.estimates.sensitivity import (
    influence_of,
    logarithmic_variance,
    of_total,
    swaps,
    widened,
)
from bbfalsify.engines.falsification.insights import _no_less_than
from bbfalsify.modelling import profile_parameters
from bbfalsify.results.falsify_insights import Elasticity
from tests import heater
from tests.unit.engines.test_falsification import falsify, usage_of

ON, OFF = "weight of User.S -> S (on)", "weight of User.S -> S (off)"


def exact(word: tuple[str, ...], on: float = 1.0, off: float = 1.0) -> float:
    """Probability of a key where the edges have these weights; with 1 and 1 those of tests/heater.py."""
    share = on / (on + off)
    p = share / 2
    return {
        ("on", "on", "on", "off"): p**3
        * (heater.three_uniforms_exceed(heater.HEATING - 11) + (1 - share) * heater.FOURTH_ON)
        / 2,
        ("on", "on", "on", "on"): p**4 * heater.FOURTH_ON,
        ("on", "on", "on", "on", "off"): p**4 * (1 - heater.FOURTH_ON) * (1 - p),
        ("on", "on", "on", "on", "on"): p**5 * (1 - heater.FOURTH_ON),
    }[word]


def derivative(word: tuple[str, ...], which: str) -> float:
    step = 1e-5
    up, down = (math.log(exact(word, **{which: math.exp(h)})) for h in (step, -step))
    return (up - down) / (2 * step)


@pytest.fixture(scope="module")
def influences():
    usage = usage_of()
    progress = falsify(usage, simulations=220, passes=10, traces=200)
    parameters = profile_parameters(usage.profile.network)
    return {r.actions: influence_of(usage.model, r.estimated, parameters) for r in progress.estimated}


def test_the_closed_form_with_weights_is_the_known_one():
    assert {word: exact(word) for word in heater.EXACT} == pytest.approx(heater.EXACT)


@pytest.mark.parametrize("word", heater.EXACT)
def test_elasticities_are_the_derivatives_of_the_closed_forms(influences, word):
    """H0: the mean score over violating traces is d ln P / d ln weight.

    n = 150 to 1000 violating traces; twice the 95 % interval: false alarms below 1e-3 over all; catches a missing or
    doubled step (0.5 or more) always.
    """
    found = {e.parameter: e for e in influences[word].elasticities(0.95)}
    for name, which in ((ON, "on"), (OFF, "off")):
        half = found[name].high - found[name].value
        assert 0 < half < 0.1
        assert found[name].value == pytest.approx(derivative(word, which), abs=2 * half)
    assert found[ON].value + found[OFF].value == pytest.approx(0.0, abs=1e-9)


def test_where_two_swap_is_where_their_closed_forms_cross(influences):
    """on·on·on·on and on·on·on·on·on: equal where the chance of on is F/(1 − F); first order says 1.66.

    H0: the likelihood ratios give the curve.  Twice the 95 % interval, false alarm 1e-4.
    """
    share = 2 * heater.FOURTH_ON / (1 - heater.FOURTH_ON)
    factor = share / (1 - share)
    first, second = ("on",) * 4, ("on",) * 5
    assert exact(first, on=factor) == pytest.approx(exact(second, on=factor))
    found = swaps(influences[first], influences[second], (2, 4), 0.95)
    assert [s.parameter for s in found] == [ON, OFF], "the two say the same; the one that grows comes first"
    for swap, value in zip(found, (factor, 1 / factor), strict=True):
        assert (swap.first, swap.second) == (2, 4)
        half = math.log(swap.high / swap.factor)
        assert 0 < half < 0.5
        assert abs(math.log(swap.factor / value)) < 2 * half
    slope = derivative(second, "on") - derivative(first, "on")
    assert math.exp(math.log(exact(first) / exact(second)) / slope) < 0.95 * factor


def test_no_factor_swaps_what_keeps_its_order(influences):
    """on·on·on·on·off stays ahead of on·on·on·on·on: the chance of on is at most one half."""
    assert swaps(influences[("on",) * 4 + ("off",)], influences[("on",) * 5], (1, 2), 0.95) == []


def test_without_violating_traces_the_word_itself_is_judged():
    usage = usage_of()
    progress = falsify(usage, simulations=22, passes=2, traces=5)
    ranked = next(r for r in progress.estimated if set(r.actions) == {"on"})
    found = ranked.estimated
    unlucky = replace(found, evidence=Evidence([[], []], followers=found.evidence.followers))
    influence = influence_of(usage.model, unlucky, profile_parameters(usage.profile.network))
    assert (influence.violating, influence.traces) == (False, 5)
    [_, on] = influence.elasticities(0.95)
    assert on.value == pytest.approx(len(ranked.actions) / 2)
    assert on.low == -math.inf, "one pass has no interval"


# --- the profile's uncertainty ----------------------------------------------------------------------------------------


def elasticity(name: str, value: float) -> Elasticity:
    return Elasticity(name, value, value, value, 0.95)


def test_uncertainty_adds_up_by_the_delta_method():
    rows = [elasticity(ON, 2.0), elasticity(OFF, -2.0), elasticity("rate", 5.0)]
    assert logarithmic_variance(rows, {ON: 0.04, OFF: 0.01}) == pytest.approx(4 * 0.05)
    assert logarithmic_variance(rows, {}) == 0.0


def test_the_elasticity_of_a_sum_is_the_weighted_mean():
    [found] = of_total([(3.0, [elasticity(ON, 1.0)]), (1.0, [elasticity(ON, 5.0)])])
    assert found.value == 2.0
    assert of_total([]) == ()


def test_intervals_widen_in_squares_on_the_logarithm():
    value, sigma = 1e-3, 0.25
    point = Estimate(value, value, value, 0.95, "m", 10)
    wide = widened(point, sigma**2)
    assert math.log(wide.high / value) == pytest.approx(1.959964 * sigma, rel=1e-6)
    assert wide.low * wide.high == pytest.approx(value**2)
    assert wide.method == "m, with the profile's uncertainty"
    both = widened(Estimate(value, value / 2, value * 2, 0.95, "m", 10), sigma**2)
    assert math.log(both.high / value) == pytest.approx(math.hypot(math.log(2), 1.959964 * sigma), rel=1e-6)
    assert widened(Estimate(value, value / 2, value * 2, 0.95, "m", 10), 0.0).high == pytest.approx(2 * value)


def test_bounds_stay_bounds():
    upper = widened(Estimate(1e-6, 0.0, 1e-5, 0.95, "m", 10, none_seen=True), 0.04)
    assert (upper.low, upper.value) == (0.0, 1e-6)
    assert upper.high > 1e-5 and upper.none_seen
    assert widened(Estimate(0.9, 0.8, 1.0, 0.95, "m", 10), 4.0).high == 1.0


def test_a_total_with_uncertainty_is_no_less_than_its_rows():
    """Rows whose errors cancel out in the sum, each of them only bounded."""
    rows = [Estimate(1e-4, 0.0, 1e-3, 0.95, "m", 10, none_seen=True), Estimate(0.2, 0.1, 0.9, 0.95, "m", 10)]
    total = _no_less_than(Estimate(0.1, 0.05, 0.3, 0.95, "m", 20), rows)
    assert (total.value, total.low, total.high) == (0.2, 0.05, 0.9)
