"""Rates, bounds and tests of the law of delays."""

import math

import numpy as np
import pytest

from bbfalsify.fitting.delays import check_law, check_uniform, exponential_or_uniform, fit_bounds, fit_rate
from bbfalsify.fitting.stays import Stay


def stays(delays, *, low=0.0, bound=None):
    return [Stay(((low, d),), bound, True, d) for d in delays]


def test_a_rate_is_actions_per_time_in_which_one_could_act():
    rate = fit_rate(stays([1.0, 2.0, 3.0]))
    assert rate.value == pytest.approx(0.5) and rate.samples == 3
    waited = fit_rate([*stays([1.0, 2.0, 3.0]), Stay(((0.0, 6.0),), None, False, 6.0)])
    assert waited.value == pytest.approx(0.25)
    gap = fit_rate([Stay(((1.0, 2.0), (4.0, 5.0)), None, True, 5.0)])
    assert gap.value == pytest.approx(0.5)
    assert fit_rate([Stay(((0.0, 6.0),), None, False, 6.0)]) is None


def test_the_interval_of_a_rate_is_that_of_the_gamma_law():
    """One delay T: λT is exponential, so the limits are -ln(1 - α/2)/T and -ln(α/2)/T."""
    rate = fit_rate(stays([2.0]))
    assert (rate.low, rate.high) == pytest.approx((-math.log(0.975) / 2, -math.log(0.025) / 2))


def test_unbiased_ends_of_a_uniform_law():
    found = fit_bounds([3.0, 4.0, 5.0])
    assert (found.low, found.high) == (2.0, 6.0)
    assert found.high_most == pytest.approx(5 + 2 * (0.05**-0.5 - 1)) and found.low_least == 0.0
    assert fit_bounds([3.0]) is None and fit_bounds([0.1, 5.0]).low == 0.0


@pytest.mark.parametrize(("law", "fits"), [("uniform", True), ("triangular", False)])
def test_a_wrong_law_is_noticed(law, fits):
    """300 delays; the right law is refused at the 1 % level, the wrong one lies 0.125 off: seen almost surely."""
    rng = np.random.default_rng(5)
    delays = rng.uniform(3, 5, 300) if law == "uniform" else 3 + 2 * rng.triangular(0, 0.5, 1, 300)
    with_ends = check_law(stays(delays, low=3.0, bound=5.0), None, fitted=False)
    without = check_uniform(stays(delays))
    assert with_ends.doubtful is not fits and without.doubtful is not fits
    assert ("fits" in str(with_ends)) is fits and ("DOES NOT FIT" in str(with_ends)) is not fits


def test_an_exponential_law_with_a_fitted_rate():
    rng = np.random.default_rng(5)
    for delays, fits in ((rng.exponential(2, 300), True), (rng.uniform(0, 4, 300), False)):
        seen = stays(delays)
        test = check_law(seen, fit_rate(seen).value, fitted=True)
        assert test.law == "exponential" and test.doubtful is not fits


def test_too_few_delays_and_delays_without_freedom_are_not_tested():
    assert check_law(stays([1.0] * 4), 1.0, fitted=True) is None
    assert check_law([Stay((), 2.0, True, 2.0)] * 50, None, fitted=False) is None
    assert check_law([Stay((), 0.0, True, 0.0)] * 50, None, fitted=False) is None


def test_the_likelier_law_is_chosen():
    rng = np.random.default_rng(2)
    assert exponential_or_uniform(rng.exponential(3, 100).tolist())[0] == "exponential"
    assert exponential_or_uniform(rng.uniform(3, 5, 100).tolist())[0] == "uniform"
    assert exponential_or_uniform([2.0, 2.0])[0] == "uniform" and exponential_or_uniform([0.0, 0.0])[0] == "uniform"
