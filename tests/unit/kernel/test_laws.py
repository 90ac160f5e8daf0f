"""The stochastic semantics against laws computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import (
    Particles,
    WalkStatus,
    conditional_step,
    step_probability,
    stochastic_step,
    stochastic_walks,
    supports_conditional,
)
from tests.unit.kernel.kernel_models import FISCHER, GAP, HEATER, MIXED, model, one, several


def particles(m, count: int) -> Particles:
    return Particles.initial(m, np.arange(count, dtype=np.uint64))


def probabilities(m) -> dict[str, float]:
    start = particles(m, 1)
    return {name: float(step_probability(m, start, a)[0]) for a, name in enumerate(m.actions)}


def test_heater_law_is_exact():
    assert probabilities(model(HEATER)) == {"off": pytest.approx(0.75, abs=1e-15), "on": pytest.approx(0.25, abs=1e-15)}


def test_an_internal_gap_is_decided_by_the_additional_delay():
    """[0,1) and [4,5] of U[0,5]: 1/5 of the first draws fall into the first window, the rest end in the second."""
    assert probabilities(model(GAP)) == {"a": pytest.approx(0.2), "b": pytest.approx(0.8)}


def test_an_exponential_with_a_gap():
    text = one(
        "clock x;",
        {"S": 'exponential_rate: "2"', "E": ""},
        ['from: S, to: E, action: a, guard: "x <= 1"', 'from: S, to: E, action: b, guard: "x >= 3 && x <= 4"'],
    )
    first = 1 - math.exp(-2)
    found = probabilities(model(text))
    assert found["a"] == pytest.approx(first)
    assert found["b"] == pytest.approx((1 - first) * first)  # the rest never fires


def test_a_point_is_a_dirac_and_weights_share_it():
    text = one(
        "clock x;",
        {"S": 'invariant: "x <= 2"'},
        ['from: S, to: S, action: a, guard: "x == 2", weight: 3', 'from: S, to: S, action: b, guard: "x >= 2"'],
    )
    m = model(text)
    assert probabilities(m) == {"a": pytest.approx(0.75), "b": pytest.approx(0.25)}
    step = stochastic_step(m, particles(m, 400))
    assert (step.delay == 2.0).all()
    assert 0.6 < (step.action == 0).mean() < 0.9
    given = conditional_step(m, particles(m, 5), 1)
    assert (given.delay == 2.0).all() and (given.action == 1).all()


def test_nothing_enabled_at_the_bound_is_a_timelock():
    edge = 'from: S, to: S, action: a, guard: "x < 1", update: "x = 5"'
    m = model(one("clock x;", {"S": 'invariant: "x <= 2"'}, [edge]))
    walks = stochastic_walks(m, np.arange(300, dtype=np.uint64), 1e9, 10)
    assert set(walks.status) == {WalkStatus.TIMELOCK}
    assert probabilities(m)["a"] == 0.0  # the state entered would violate the invariant


def test_refused_models_say_why():
    with pytest.raises(UserError, match="channel 'start' is a handshake"):
        stochastic_walks(model(MIXED), np.zeros(1, np.uint64), 1.0, 1)
    assert supports_conditional(model(MIXED)) == "channel 'start' is a handshake"
    timed = model(one("clock x;", {"S": 'invariant: "x <= 2"'}, ["from: S, to: S, action: a, weight: x"]))
    assert supports_conditional(timed).endswith("'a' (line 13) reads a clock")
    with pytest.raises(UserError, match="reads a clock"):
        step_probability(timed, particles(timed, 1), 0)
    assert supports_conditional(model(HEATER)) is None
    assert supports_conditional(model(FISCHER)) is None


def test_take_gives_new_streams():
    m = model(HEATER)
    start = particles(m, 2)
    again = start.take(np.array([1, 1, 1]), np.arange(10, 13, dtype=np.uint64))
    delays = stochastic_step(m, again).delay
    assert len(set(delays)) == 3
    np.testing.assert_array_equal(delays, stochastic_step(m, again).delay)


RACE = several(
    {
        "A": ("", {"S": 'exponential_rate: "3"'}, ["from: S, to: S, action: a"]),
        "B": ("", {"S": 'exponential_rate: "1"'}, ["from: S, to: S, action: b"]),
    }
)


def test_a_race_of_exponentials():
    """H0: P(a wins) = 3/4, mean delay 1/4.  n = 20,000; 4.5 standard errors (about 1e-5); catches 1.4 % of bias."""
    m = model(RACE)
    n = 20_000
    step = stochastic_step(m, particles(m, n))
    assert abs((step.action == 0).mean() - 0.75) < 4.5 * math.sqrt(0.75 * 0.25 / n)
    assert abs(step.delay.mean() - 0.25) < 4.5 * 0.25 / math.sqrt(n)


@pytest.mark.parametrize("text", [HEATER, GAP], ids=["heater", "gap"])
def test_conditional_steps_follow_the_law_of_those_steps_that_carry_the_action(text):
    """H0: delays given the action are equally distributed (Kolmogorov–Smirnov, two samples, both actions).

    n = 20,000 steps; threshold 2.3 (false alarm 1e-4 per action); catches a distance of about 0.03.
    """
    m = model(text)
    free = stochastic_step(m, particles(m, 20_000))
    assert (free.status == 0).all()
    for action in range(2):
        drawn = free.delay[free.action == action]
        share = float(step_probability(m, particles(m, 1), action)[0])
        assert abs(len(drawn) / 20_000 - share) < 4.5 * math.sqrt(share * (1 - share) / 20_000)
        given = conditional_step(m, Particles.initial(m, np.arange(50_000, 60_000, dtype=np.uint64)), action)
        assert (given.action == action).all()
        points = np.sort(np.concatenate([drawn, given.delay]))
        distance = np.abs(
            np.searchsorted(np.sort(drawn), points, "right") / len(drawn)
            - np.searchsorted(np.sort(given.delay), points, "right") / len(given.delay)
        ).max()
        assert distance * math.sqrt(len(drawn) * 10_000 / (len(drawn) + 10_000)) < 2.3
