"""Signals and parameters drawn by laws: reading, values of quantiles, and every mistake with its line."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.core.errors import UserError
from bbfalsify.modelling import check_profile, parse_profile, value_profile
from bbfalsify.modelling.profiles.laws import Exponential, LogUniform, Normal, Uniform, Values


def profile(signals="{}", parameters="{}", more=""):
    lines = [f"signals: {signals}"] if signals != "{}" else []
    lines += [f"parameters: {parameters}"] if parameters != "{}" else []
    return parse_profile("\n".join(["format_version: 1", "name: p", *lines, more]))


def problems(**sections):
    with pytest.raises(UserError) as caught:
        profile(**sections)
    return [str(p) for p in caught.value.problems]


def test_the_same_in_python():
    made = value_profile({"throttle": {"range": [0, 100], "every": 5}}, {"mass": {"uniform": [1, 2]}})
    read = profile("{throttle: {range: [0, 100], every: 5}}", "{mass: {uniform: [1, 2]}}")
    assert made.signals == read.signals and not made.has_actions
    assert [(p.name, p.law) for p in made.parameters] == [(p.name, p.law) for p in read.parameters]
    with pytest.raises(UserError, match="'signals.a.range' ends before it begins"):
        value_profile({"a": {"range": [2, 1], "every": 5}})
    with pytest.raises(UserError, match="needs signals or parameters"):
        value_profile()


def test_a_signal_in_two_lines_is_a_profile_without_actions():
    found = profile("{throttle: {range: [0, 100], every: 5}}")
    [signal] = found.signals
    assert (signal.law, signal.every, signal.shape) == (Uniform(0, 100), 5.0, "constant")
    assert not found.has_actions and check_profile(found) == []
    assert [i.name for i in found.inputs] == ["throttle"]


def test_pieces_of_a_given_length_of_equal_length_and_of_free_length():
    [every, pieces, free] = profile(
        "{a: {range: [0, 1], every: 4}, b: {range: [0, 1], pieces: 4, shape: linear}, "
        "c: {range: [0, 1], pieces: 3, every: free}}"
    ).signals
    assert every.curve([0.1, 0.2, 0.3], 10.0).times == (0.0, 4.0, 8.0)
    assert pieces.curve([0.1, 0.2, 0.3, 0.4, 0.5], 10.0).times == (0.0, 2.5, 5.0, 7.5, 10.0)
    assert list(free.choices(10.0)) == [("value", "c"), ("delay", "c")] * 2 + [("value", "c")]
    # the earlier of two uniform times has the median 1 − √½
    curve = free.curve([0.0, 0.5, 0.5, 0.0, HIGHEST], 10.0)
    assert curve.times == pytest.approx((0.0, 10 * (1 - math.sqrt(0.5)), 10 * (1 - math.sqrt(0.5))))
    assert curve.values == (0.0, 0.5, 1.0)


def test_free_switches_are_uniform_over_the_use():
    """Two free switches are the order statistics of two uniform times.

    Means of 40,000 draws: false alarms below 1e-9 (six deviations); an error of 0.01 of the use is always caught.
    """
    [free] = profile("{c: {range: [0, 1], pieces: 3, every: free}}").signals
    draws = np.random.default_rng(0).random((40_000, 5))
    times = np.array([free.curve(row, 1.0).times[1:] for row in draws.tolist()])
    assert times.mean(axis=0) == pytest.approx([1 / 3, 2 / 3], abs=6 * math.sqrt(1 / 18 / 40_000))
    assert np.all(np.diff(times) >= 0)


@pytest.mark.parametrize(
    ("law", "low", "high"),
    [
        (Uniform(0.1, 0.7), 0.1, 0.7),
        (LogUniform(0.01, 100), 0.01, 100),
        (Normal(50, 10, 0, 100), 0, 100),
        (Exponential(5, 0, 20), 0, 20),
        (Values((1, 2, 4), (1, 1, 1)), 1, 4),
    ],
)
def test_the_extreme_quantiles_are_the_ends_exactly(law, low, high):
    assert (law.value(LOWEST), law.value(HIGHEST)) == (low, high)
    values = [law.value(u) for u in np.linspace(0, HIGHEST, 200)]
    assert values == sorted(values) and min(values) >= low and max(values) <= high


def test_laws_without_ends_stay_finite():
    assert all(math.isfinite(Normal(0, 1).value(u)) for u in (LOWEST, HIGHEST))
    assert math.isfinite(Exponential(5).value(HIGHEST))


def test_quantiles_are_those_of_the_law():
    assert Normal(50, 10).value(0.975) == pytest.approx(NormalDist(50, 10).inv_cdf(0.975))
    assert Exponential(5).value(0.5) == pytest.approx(5 * math.log(2))
    assert LogUniform(0.01, 100).value(0.5) == pytest.approx(1.0)
    weighted = Values((1.0, 2.0), (0.8, 0.2))
    assert [weighted.value(u) for u in (0.0, 0.79, 0.81)] == [1.0, 1.0, 2.0]
    cut = Normal(0, 1, -1, 1)
    assert cut.value(0.5) == pytest.approx(0.0, abs=1e-12)


def test_parameters_by_law_and_constant():
    found = profile(parameters="{mass: {uniform: [1, 2], unit: kg}, drag: 0.3, gear: {values: {1: 0.8, 2: 0.2}}}")
    assert [(p.name, p.unit, p.varies) for p in found.parameters] == [
        ("mass", "kg", True),
        ("drag", None, False),
        ("gear", None, True),
    ]


@pytest.mark.parametrize(
    ("signals", "says"),
    [
        ("{a: {range: [2, 1], every: 5}}", "<text>:3: 'signals.a.range' ends before it begins: 2 is above 1."),
        ("{a: {range: [0, .inf], every: 5}}", "infinite, and no law says how values are spread"),
        ("{a: {range: [0], every: 5}}", "must have two ends"),
        ("{a: {every: 5}}", "needs a range or a law. Allowed: range, uniform, normal"),
        ("{a: {range: [0, 1]}}", "does not say when its value changes. Allowed: every: TIME, pieces: NUMBER."),
        ("{a: {range: [0, 1], every: free}}", "also needs 'pieces'"),
        ("{a: {range: [0, 1], every: 5, pieces: 2}}", "choose one"),
        ("{a: {range: [0, 1], every: -5}}", "must be above 0, found -5"),
        ("{a: {range: [0, 1], pieces: 0}}", "whole number of at least 1, found 0"),
        ("{a: {range: [0, 1], every: 5, shape: liner}}", "Did you mean 'linear'?"),
        ("{a: {rnge: [0, 1], every: 5}}", "Did you mean 'range'?"),
        ("{a: {normal: [0, -1], every: 5}}", "the standard deviation must be above 0, found -1"),
        ("{a: {normal: [0, 1], range: [50, 60], every: 5}}", "hardly any value"),
        ("{a: {log_uniform: [0, 1], every: 5}}", "must begin above 0"),
        ("{a: {exponential: 0, every: 5}}", "the mean must be above 0"),
        ("{a: {uniform: [0, 1], normal: [0, 1], every: 5}}", "choose one law"),
        ("{a: {values: [], every: 5}}", "is empty"),
        ("{a: {values: {x: 1}, every: 5}}", "must be numbers, found 'x'"),
        ("{}\nsignals2: 1", "unknown key 'signals2'"),
    ],
)
def test_mistakes_are_told_with_their_line(signals, says):
    assert any(says in text for text in problems(signals=signals)), problems(signals=signals)


def test_all_mistakes_at_once():
    assert len(problems(signals="{a: {range: [2, 1], every: -5}, b: {}}", parameters="{m: high}")) >= 4


def test_an_input_has_one_driver():
    automaton = """
automata:
  User:
    initial: S
    declarations: clock x;
    locations: {S: {invariant: x <= 5}}
    edges: [{from: S, to: S, action: on, guard: x >= 4, update: x = 0}]
inputs: {a: {actions: {on: 1}, initial: 0}}
"""
    assert (
        "driven by 'inputs' and by 'signals'" in problems(signals="{a: {range: [0, 1], every: 5}}", more=automaton)[0]
    )
    mixed = profile(signals="{b: {range: [0, 1], every: 5}}", more=automaton)
    assert mixed.has_actions and [i.name for i in mixed.inputs] == ["a", "b"]
