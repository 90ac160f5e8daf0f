import math

import numpy as np
import pytest
from scipy import special

from bbfalsify.stats.intervals import Passes, clopper_pearson, splitting_estimate, t_interval, total_estimate


def binomial_cdf(k: int, n: int, p: float) -> float:
    return 1.0 if k >= n else 0.0 if k < 0 else float(special.betainc(n - k, k + 1, 1 - p))


@pytest.mark.parametrize(("hits", "trials"), [(1, 10), (5, 10), (9, 10), (3, 1000), (997, 1000)])
def test_clopper_pearson_limits_are_where_the_tails_have_half_of_the_error(hits, trials):
    low, high = clopper_pearson(hits, trials, 0.95)
    assert 1 - binomial_cdf(hits - 1, trials, low) == pytest.approx(0.025)
    assert binomial_cdf(hits, trials, high) == pytest.approx(0.025)


def test_clopper_pearson_at_the_ends():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    low, high = clopper_pearson(0, 100)
    assert low == 0.0 and high == pytest.approx(1 - 0.025 ** (1 / 100))
    assert clopper_pearson(100, 100) == (pytest.approx(0.025 ** (1 / 100)), 1.0)
    with pytest.raises(ValueError, match="between 0 and 3"):
        clopper_pearson(4, 3)


def test_t_interval_of_three_values():
    low, high = t_interval([0.1, 0.2, 0.3])
    half = 4.302652729749464 * 0.1 / math.sqrt(3)  # t quantile with 2 degrees of freedom
    assert low == max(0.0, 0.2 - half) and high == pytest.approx(0.2 + half)
    assert t_interval([0.5]) == (0.0, 1.0)


def test_many_hits_use_students_t_over_the_passes():
    passes = Passes((0.5,) * 4, (30, 40, 50, 60), (100,) * 4)
    estimate = splitting_estimate(passes, method="m")
    assert estimate.value == pytest.approx(0.225)
    assert (estimate.low, estimate.high) == pytest.approx(t_interval([0.15, 0.2, 0.25, 0.3]))
    assert estimate.samples == 400 and "t over 4 passes" in estimate.method


def test_when_all_traces_violate_the_interval_does_not_collapse():
    estimate = splitting_estimate(Passes((0.01,) * 10, (100,) * 10, (100,) * 10), method="m")
    assert estimate.value == pytest.approx(0.01)
    assert estimate.low == pytest.approx(0.01 * clopper_pearson(1000, 1000)[0]) and estimate.low < 0.01
    assert estimate.high == pytest.approx(0.01)


def test_no_hit_gives_an_upper_bound_never_zero():
    estimate = splitting_estimate(Passes((0.01,) * 10, (0,) * 10, (100,) * 10), method="m")
    assert estimate.value == estimate.high == pytest.approx(0.01 * clopper_pearson(0, 1000)[1]) and estimate.low == 0.0
    assert "upper bound" in estimate.method


def test_lost_passes_count_as_zero_and_a_total_loss_says_nothing():
    passes = Passes((0.2, 0.0), (50, 0), (100, 0))
    assert splitting_estimate(passes, method="m").value == pytest.approx(0.05)
    lost = splitting_estimate(Passes((0.0, 0.0), (0, 0), (0, 0)), method="m")
    assert (lost.low, lost.high) == (0.0, 1.0)


def test_total_sums_per_pass_and_widens_by_those_without_evidence():
    a = Passes((1.0,) * 4, (30, 40, 50, 60), (100,) * 4)
    b = Passes((1.0,) * 4, (60, 50, 40, 30), (100,) * 4)
    total = total_estimate([a, b], method="m")
    # The passes' sums are all 0.9: perfectly anticorrelated, which only a sum per pass can see.
    assert total.value == pytest.approx(0.9) and total.low == pytest.approx(0.9) and total.high == pytest.approx(0.9)
    sure = Passes((0.01,) * 4, (100,) * 4, (100,) * 4)
    wider = total_estimate([a, sure], method="m")
    assert wider.value == pytest.approx(0.46)
    low, high = t_interval(a.values)
    assert wider.low == pytest.approx(low + splitting_estimate(sure, method="m").low)
    assert wider.high == pytest.approx(high + 0.01)


def test_total_of_nothing_and_of_unmet_counterexamples():
    assert total_estimate([], method="m").value == 0.0
    unmet = Passes((0.1,) * 2, (0, 0), (50, 50))
    total = total_estimate([unmet], method="m")
    assert total.value == total.high == splitting_estimate(unmet, method="m").high


@pytest.mark.slow
def test_intervals_cover():
    """Coverage of the 95 % interval of C·f with exact C = 0.3, 10 passes of 100 traces.

    Null hypothesis: coverage is at least 0.939 for f in {0.004, 0.08, 0.5, 0.998}.  n = 4000 repetitions each;
    fewer than 3704 covered happens with probability 4e-4 at that coverage (the false-alarm rate per f); a true
    coverage of 0.91 is caught in more than 99.9 % of cases.
    """
    rng = np.random.default_rng(5)
    for f in (0.004, 0.08, 0.5, 0.998):
        covered = 0
        for hits in rng.binomial(100, f, size=(4000, 10)):
            e = splitting_estimate(Passes((0.3,) * 10, tuple(int(h) for h in hits), (100,) * 10), method="m")
            covered += e.low <= 0.3 * f <= e.high
        assert covered >= 3704, (f, covered)
