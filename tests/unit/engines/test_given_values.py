"""Patterns of values are sampled directly: their probability is a product, and drawn uses have them."""

import numpy as np
import pytest

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.modes.given_values import given
from bbfalsify.engines.falsification.modes.pattern import Condition, Pattern, Window
from bbfalsify.engines.falsification.modes.sampling import everyday_walks
from bbfalsify.engines.falsification.modes.strata import GivenStratum, draw
from bbfalsify.engines.falsification.modes.use import use_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.modelling import parse_profile
from tests.heater import profile

SIGNALS = parse_profile(
    """
format_version: 1
name: car
signals:
  throttle: {range: [0, 100], every: 5}
  brake: {range: [0, 325], every: 5}
parameters: {slope: {uniform: [-1, 3]}}
""",
    file="car.yaml",
)
USAGE = Usage(SIGNALS, compile_network(SIGNALS.network), 20.0, 1.0)
HIGH = Condition(Window("throttle", 0.0, 10.0, "least"), low=95.0)
LOW = Condition(Window("brake", 5.0, 10.0, "greatest"), high=65.0)
STEEP = Condition(Window("slope", 0.0, 20.0, "least"), low=2.0)
SOME_TIME = Condition(Window("brake", 0.0, 20.0, "greatest"), low=162.5)


@pytest.mark.parametrize(
    ("conditions", "probability"),
    [((HIGH,), 0.05**2), ((LOW,), 0.2), ((STEEP,), 0.25), ((HIGH, LOW, STEEP), 0.05**2 * 0.2 * 0.25)],
)
def test_the_probability_of_values_within_limits_is_a_product(conditions, probability):
    found = given(USAGE, Pattern((), conditions))
    assert found.probability == pytest.approx(probability, rel=1e-9)
    walks = list(found.walks(USAGE, 5, SeedTree(1)))
    assert len(walks) == 100 and all(Pattern((), conditions).matches(use_of(USAGE, walk)) for walk in walks)


def test_what_cannot_be_drawn_is_left_to_plain_walks():
    """At some time, a single value (probability 0), no condition, and actions."""
    exact = Condition(HIGH.feature, low=100.0)
    assert all(given(USAGE, Pattern((), one)) is None for one in [(SOME_TIME,), (exact,), ()])
    heater = Usage(profile(), compile_network(profile().network), 20.0, 0.1)
    assert given(heater, Pattern(("on",))) is None


def test_conditions_of_another_kind_are_counted():
    """A level above the middle at some time in four: 15/16 of the uses, of 300 within 5 standard errors (1e-6)."""
    pattern = Pattern((), (HIGH, SOME_TIME))
    strata = draw(USAGE, [pattern], [300, 0], 500, SeedTree(3))
    part = strata.parts[0]
    assert isinstance(part, GivenStratum) and part.simulated == 300 and part.tried > 300
    assert abs(part.owned / part.tried - 15 / 16) < 5 * np.sqrt(15 / 256 / 300)
    value, low, high = part.occurrence(strata.drawn, 0.95)
    assert low < 0.05**2 * 15 / 16 < high and value == pytest.approx(0.05**2 * part.owned / part.tried)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_mean_implies_limits(sign):
    """The mean of two values is beyond 95 of 100 (or below 5): each is beyond 90, which is 0.01, half of which matches;
    of 300 drawn uses within 5 standard errors (a false alarm in 1e-6 of all seeds).
    """
    limit = {"low": 95.0} if sign > 0 else {"high": 5.0}
    pattern = Pattern((), (Condition(Window("throttle", 0.0, 10.0, "mean"), **limit),))
    assert given(USAGE, pattern).probability == pytest.approx(0.01, rel=1e-9)
    part = draw(USAGE, [pattern], [300, 0], 500, SeedTree(3)).parts[0]
    assert abs(part.owned / part.tried - 0.5) < 5 * np.sqrt(0.25 / part.tried)


def test_drawn_uses_have_the_law_of_plain_ones_with_the_pattern():
    """The values that a pattern does not limit: means within 5 standard errors (a false alarm in 1e-6 of all seeds)."""
    pattern = Pattern((), (LOW,))
    plain = [w for w in everyday_walks(USAGE, SeedTree(5), 2_000) if pattern.matches(use_of(USAGE, w))]
    drawn = list(given(USAGE, pattern).walks(USAGE, 20, SeedTree(6)))
    for place in range(USAGE.values.width):
        own, other = (np.array([walk.values[place] for walk in walks]) for walks in (drawn, plain))
        error = np.sqrt(own.var(ddof=1) / len(own) + other.var(ddof=1) / len(other))
        assert abs(own.mean() - other.mean()) < 5 * error
