"""Weighted quantiles, bins that suit the sampling grid, and ratios of means over passes."""

import math

import numpy as np
import pytest

from bbfalsify.core.estimate import Estimate
from bbfalsify.stats.estimates import MOST_BINS, common_bins, distribution, part_of, ratio_of_means


def test_quantiles_are_weighted_and_bars_add_up_to_the_probability():
    times, weights = np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.7])
    found = distribution(times, weights, common_bins([times], 1.0))
    assert (found.samples, found.probability) == (3, pytest.approx(1.0))
    assert found.quantiles == (1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0)
    assert found.histogram == pytest.approx((0.2, 0.7, 0.1))
    assert found.as_json()["quantiles"]["0.5"] == 2.0


@pytest.mark.parametrize("samples", [1, 7, 40, 41, 1000, 8737])
def test_samples_of_a_grid_fill_the_bins_evenly(samples):
    """A comb would show structure that is only that of the grid; the last bin may be cut."""
    times = 0.1 * np.arange(3, 3 + samples)
    bins = common_bins([times], 0.1)
    bars = distribution(times, np.ones(samples), bins).histogram
    assert len(bars) <= MOST_BINS
    assert len({round(b) for b in bars[:-1]}) <= 1
    assert sum(bars) == pytest.approx(samples)
    assert bars[-1] > 0


def test_times_between_samples_are_in_some_bin():
    times = np.random.default_rng(1).uniform(17.0, 19.0, 500)
    found = distribution(times, np.full(500, 1e-3), common_bins([times, np.array([18.0])], 0.2))
    assert sum(found.histogram) == pytest.approx(0.5)


def test_nothing_happened():
    assert common_bins([np.zeros(0)], 1.0) is None
    assert distribution(np.zeros(0), np.zeros(0), np.array([0.0, 1.0])) is None


def test_ratio_of_means_and_its_interval():
    values, half = ratio_of_means(np.array([[2.0, 1.0], [4.0, 3.0]]), np.array([1.0, 2.0]), 0.95)
    assert values == pytest.approx([2.0, 4 / 3])
    residual = (1.0 - 4 / 3) / 1.5
    assert half == pytest.approx([0.0, 12.7062 * math.sqrt(2) * abs(residual) / math.sqrt(2)], rel=1e-4)
    assert math.isinf(ratio_of_means(np.ones((1, 1)), np.ones(1), 0.95)[1][0])


def test_part_of_a_whole_that_was_never_met_without_it_is_all_of_it():
    """It was 0: a mode that a use meets with probability 0.004 "fails 0 %"."""
    met, nothing = Estimate(0.004, 0.001, 0.009, 0.95, "", 20), Estimate(0.0, 0.0, 0.1, 0.95, "", 50)
    quotient = part_of(met, nothing)
    assert (quotient.value, quotient.low, quotient.high) == (1.0, 0.0, 1.0)
    assert part_of(nothing, met).value == 0.0


def test_part_that_may_be_nothing_has_the_lower_limit_zero():
    """It was 1e-305."""
    quotient = part_of(Estimate(0.004, 0.0, 0.009, 0.95, "", 20), Estimate(0.012, 0.01, 0.014, 0.95, "", 50))
    assert quotient.value == pytest.approx(1 / 3) and quotient.low == 0.0 < quotient.value < quotient.high < 1.0
