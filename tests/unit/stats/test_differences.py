"""Differences and intersections of estimates: the interval keeps its promise, also for several at once."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from bbfalsify.core.estimate import Estimate
from bbfalsify.stats.estimates import difference, explained, half_each, intersection
from bbfalsify.stats.intervals import clopper_pearson


def estimate(hits: int, samples: int) -> Estimate:
    """With a Clopper–Pearson interval, from scipy alone."""
    low = float(beta.ppf(0.025, hits, samples - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, samples - hits)) if hits < samples else 1.0
    return Estimate(hits / samples, low, high, 0.95, "Clopper–Pearson", samples)


@pytest.mark.parametrize("comparisons", [1, 20])
def test_false_alarms_and_power(comparisons):
    """Null hypothesis: both probabilities are 0.1.  1000 repetitions of 400 samples each, seed 5.

    A family of comparisons raises a false alarm in at most 5 % of repetitions (Clopper–Pearson is cautious, so fewer);
    more than 70 of 1000 at a true rate of 5 % would happen with probability 0.3 %.  Twice the probability is seen in
    at least 90 % of repetitions for one comparison.  A rule without the square root, or intervals of half the width,
    would fail.
    """
    rng = np.random.default_rng(5)
    cache = {k: estimate(k, 400) for k in range(401)}
    pairs = rng.binomial(400, 0.1, (1000, comparisons, 2))
    alarms = sum(
        any(not explained(difference(cache[int(a)], cache[int(b)], comparisons)) for a, b in family) for family in pairs
    )
    assert alarms <= 70
    assert comparisons > 1 or alarms >= 10, "an interval that is never left is no test"
    seen = sum(
        not explained(difference(cache[int(a)], cache[int(b)]))
        for a, b in zip(rng.binomial(400, 0.1, 300), rng.binomial(400, 0.2, 300), strict=True)
    )
    assert seen >= 270


def test_what_cannot_be_compared():
    nothing = Estimate(1.0, 0.0, 1.0, 0.95, "not estimated", 0)
    other = Estimate(0.5, 0.4, 0.6, 0.99, "m", 10)
    assert difference(nothing, estimate(3, 10)) is None and difference(estimate(3, 10), other) is None
    exact = Estimate(0.25, 0.25, 0.25, 0.95, "exact", 1)
    same = difference(exact, exact)
    assert (same.value, same.low, same.high) == (0, 0, 0) and explained(same)


PART, WHOLE = Estimate(0.41, 0.23, 0.68, 0.975, "rows", 1_000), Estimate(0.244, 0.2, 0.29, 0.975, "plain", 400)


def test_a_total_is_known_from_its_part_and_from_plain_simulation():
    """The part bounds it from below, plain simulation from both sides; the sharper one gives the value."""
    found = intersection(PART, WHOLE, 0.95)
    assert (found.value, found.low, found.high, found.confidence) == (0.244, 0.23, 0.29, 0.95)
    sharp = replace(PART, value=0.25, low=0.24, high=0.26)
    assert (intersection(sharp, WHOLE, 0.95).value, intersection(sharp, WHOLE, 0.95).low) == (0.25, 0.24)
    apart = replace(PART, low=0.5)  # they exclude each other
    assert (intersection(apart, WHOLE, 0.95).low, intersection(apart, WHOLE, 0.95).high) == (0.2, 0.29)
    hardly = replace(WHOLE, low=0.001)
    assert intersection(PART, hardly, 0.95) == replace(PART, confidence=0.95)


def test_the_intersection_covers():
    """H0: at least 95 % of 10,000 intersections of a part (8 of 10 violations) and of the whole cover the whole.

    Fewer than 94.5 % by chance in 1 % of all test runs where the coverage is 95 %; with both at 95 % it would be 91 %
    if the limits of both bound it.
    """
    rng, truth, covered = np.random.default_rng(1), 0.1, 0
    for part, whole in zip(rng.binomial(2_000, 0.8 * truth, 10_000), rng.binomial(2_000, truth, 10_000), strict=True):
        made = [
            Estimate(hits / 2_000, *clopper_pearson(hits, 2_000, half_each(0.95)), half_each(0.95), "", 2_000)
            for hits in (part, whole)
        ]
        found = intersection(*made, 0.95)
        covered += found.low <= truth <= found.high
    assert covered >= 9_450
