import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from bbfalsify.stats.binomial import bayesian, wilson
from bbfalsify.stats.intervals import (
    Passes,
    clopper_pearson,
    levels_estimate,
    skewed_interval,
    splitting_estimate,
    t_interval,
    total_estimate,
)


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
    half = 4.302652729749464 * 0.1 / math.sqrt(3) / 0.2  # t quantile with 2 degrees of freedom
    assert (low, high) == (pytest.approx(0.2 * math.exp(-half)), pytest.approx(0.2 * math.exp(half)))
    assert t_interval([0.5]) == t_interval([]) == t_interval([0.0, 0.0]) == (0.0, 1.0)
    assert t_interval([0.1, 0.2, 0.3], least=0.25)[0] == pytest.approx(0.2 * math.exp(-4.302652729749464 * 0.5))
    low, high = t_interval([2e-200, 1e-200, 3e-200])  # squares of these are 0
    assert (low, high) == (pytest.approx(2e-200 * math.exp(-half)), pytest.approx(2e-200 * math.exp(half)))


def test_many_hits_use_students_t_over_the_passes():
    passes = Passes((0.5,) * 4, (30, 40, 50, 60), (100,) * 4)
    estimate = splitting_estimate(passes, method="m")
    assert estimate.value == pytest.approx(0.225)
    assert (estimate.low, estimate.high) == pytest.approx(t_interval([0.15, 0.2, 0.25, 0.3]))
    assert estimate.samples == 400 and "t over 4 passes" in estimate.method


def test_passes_that_agree_too_well_vary_at_least_as_the_binomial_law_says():
    passes = Passes((0.5,) * 4, (45, 46, 45, 44), (100,) * 4)
    estimate = splitting_estimate(passes, method="m")
    half = 3.182446305284263 * math.sqrt(0.55 / (0.45 * 400))  # t quantile with 3 degrees of freedom
    assert estimate.high == pytest.approx(0.225 * math.exp(half)) and "t over 4 passes" in estimate.method
    # The cylinder's own scatter comes on top, also where it happens to cancel that of the fraction.
    scattered = replace(passes, cylinders=(0.45, 0.55, 0.45, 0.55), hits=(55, 45, 55, 45))
    assert scattered.least_variance == pytest.approx(1 / 400 + np.var([0.9, 1.1] * 2, ddof=1) / 4)
    assert replace(passes, even=True).least_variance == 0.0


def test_factors_with_few_hits_are_combined():
    """Four hits: the binomial limits of the fraction and Student's of the cylinder, as relative distances."""
    passes = Passes((0.4, 0.5, 0.6, 0.5), (1, 2, 1, 0), (100,) * 4)
    estimate = splitting_estimate(passes, method="m")
    f_low, f_high = clopper_pearson(4, 400)
    c_low, c_high = t_interval((0.4, 0.5, 0.6, 0.5))
    value = float(passes.values.mean())
    assert estimate.low == pytest.approx(value * math.exp(-math.hypot(math.log(0.01 / f_low), math.log(0.5 / c_low))))
    assert estimate.high == pytest.approx(value * math.exp(math.hypot(math.log(f_high / 0.01), math.log(c_high / 0.5))))
    assert "Clopper–Pearson × cylinder" in estimate.method


def test_when_all_traces_violate_the_interval_does_not_collapse():
    estimate = splitting_estimate(Passes((0.01,) * 10, (100,) * 10, (100,) * 10, exact=True), method="m")
    assert estimate.value == pytest.approx(0.01)
    assert estimate.low == pytest.approx(0.01 * clopper_pearson(1000, 1000)[0]) and estimate.low < 0.01
    assert estimate.high == pytest.approx(0.01)


def test_no_hit_gives_an_upper_bound_never_zero():
    estimate = splitting_estimate(Passes((0.01,) * 10, (0,) * 10, (100,) * 10, exact=True), method="m")
    assert estimate.high == pytest.approx(0.01 * clopper_pearson(0, 1000)[1]) and estimate.low == 0.0
    assert estimate.value == pytest.approx(0.01 * 0.5 / 1001), "half a hit, an estimate below its bound"
    assert "upper bound" in estimate.method and estimate.none_seen


def test_lost_passes_count_as_zero_and_a_total_loss_says_nothing():
    passes = Passes((0.2, 0.0), (50, 0), (100, 0))
    assert splitting_estimate(passes, method="m").value == pytest.approx(0.05)
    lost = splitting_estimate(Passes((0.0, 0.0), (0, 0), (0, 0)), method="m")
    assert (lost.low, lost.high) == (0.0, 1.0)


def test_a_known_cylinder_scales_the_binomial_interval():
    passes = Passes((0.5,) * 4, (30, 40, 50, 60), (100,) * 4, exact=True)
    estimate = splitting_estimate(passes, method="m")
    low, high = clopper_pearson(180, 400)
    assert (estimate.low, estimate.high) == (pytest.approx(0.5 * low), pytest.approx(0.5 * high))
    assert estimate.method == "m, exact cylinder × Clopper–Pearson"
    # Evenly spread traces vary less than the binomial law says: the passes know better.
    even = splitting_estimate(replace(passes, even=True), method="m")
    assert (even.low, even.high) == pytest.approx(t_interval(passes.values))


def test_passes_that_agree_by_chance_do_not_collapse():
    # A coin tossed fifty times, twice, with 25 heads each: nobody knows its bias exactly.
    estimate = splitting_estimate(Passes((1.0, 1.0), (25, 25), (50, 50), exact=True), method="m")
    assert estimate.low < 0.41 and estimate.high > 0.59
    # Sampled cylinders that agree are no exact ones, even if all of their tries succeeded.
    sampled = Passes((1.0,) * 10, (10,) * 10, (10,) * 10)
    value, low, high = sampled.cylinder()
    assert value == high == 1.0 and low == pytest.approx(clopper_pearson(100, 100)[0])
    assert splitting_estimate(sampled, method="m").low < low
    agreeing = Passes((0.5,) * 3, (4,) * 3, (10,) * 3)
    assert agreeing.cylinder()[1] < 0.35 and agreeing.cylinder()[2] > 0.65
    # One pass says nothing about its own variation.
    assert Passes((0.5,), (4,), (10,)).cylinder() == (0.5, 0.0, 1.0)


def test_common_ancestors_make_traces_worth_less():
    alone = Passes((0.1,) * 10, (0,) * 10, (100,) * 10, exact=True)
    related = replace(alone, families=(5.0,) * 10)
    assert splitting_estimate(alone, method="m").high == pytest.approx(0.1 * clopper_pearson(0, 1000)[1])
    assert splitting_estimate(related, method="m").high == pytest.approx(0.1 * clopper_pearson(0, 50)[1])
    assert replace(related, hits=(12,) * 9 + (13,)).spread
    assert not replace(related, hits=(0,) * 9 + (60,)).spread  # one pass knows of them, perhaps of one family
    assert not replace(related, hits=(100,) * 9 + (40,)).spread


def test_traces_that_nobody_could_judge_raise_the_upper_limit():
    passes = Passes((0.5,) * 2, (20, 20), (100, 100), exact=True, unknown=(5, 0))
    estimate = splitting_estimate(passes, method="m")
    assert estimate.value == pytest.approx(0.1) and estimate.low == pytest.approx(0.5 * clopper_pearson(40, 200)[0])
    assert estimate.high == pytest.approx(0.5 * clopper_pearson(45, 200)[1])
    assert "5 traces could not be judged" in estimate.method


def test_total_sums_per_pass_and_combines_with_those_that_have_their_own_limits():
    a = Passes((0.4, 0.5, 0.6, 0.5), (30, 40, 50, 60), (100,) * 4)
    b = Passes((0.5,) * 4, (60, 40, 45, 30), (100,) * 4)
    total = total_estimate([a, b], method="m")
    assert (total.low, total.high) == pytest.approx(t_interval(a.values + b.values))
    assert total.value == pytest.approx((a.values + b.values).mean()) and "sum per pass" in total.method
    sure = Passes((0.01,) * 4, (100,) * 4, (100,) * 4, exact=True)
    wider = total_estimate([a, sure], method="m")
    low, high = t_interval(a.values)
    below = math.hypot(a.values.mean() - low, 0.01 - splitting_estimate(sure, method="m").low)
    assert wider.low == pytest.approx(wider.value - below)
    assert wider.high - wider.value == pytest.approx(high - a.values.mean())


def test_a_total_whose_passes_agree_by_chance_does_not_collapse():
    a = Passes((1.0,) * 4, (30, 40, 50, 60), (100,) * 4)
    b = Passes((1.0,) * 4, (60, 50, 40, 30), (100,) * 4)
    total = total_estimate([a, b], method="m")
    half = (0.45 - t_interval(a.values)[0]) * math.sqrt(2)
    assert total.value == pytest.approx(0.9)
    assert (total.low, total.high) == (pytest.approx(0.9 - half), 1.0)


def test_a_sum_over_levels_bounds_what_no_level_showed():
    seen = Passes((0.1,) * 4, (30, 40, 50, 60), (100,) * 4, exact=True)
    unseen = [Passes((c,) * 4, (0,) * 4, (100,) * 4, exact=True) for c in (0.5, 0.25)]
    total = levels_estimate([*unseen, seen], method="m")
    low, high = t_interval(seen.values)
    assert total.value == pytest.approx(seen.values.mean()) and total.low == pytest.approx(low)
    # Both together: had they 0.5 · 3.7/400, nothing would be seen with probability 2.5 % (or less).
    assert total.high == pytest.approx(high + 0.5 * -math.log(0.025) / 400)
    nothing = levels_estimate(unseen, method="m")
    assert nothing.high == pytest.approx(0.5 * -math.log(0.025) / 400) and nothing.low == 0.0
    assert nothing.value == pytest.approx(0.5 * 0.5 / 401) and nothing.none_seen and not total.none_seen
    lost = levels_estimate([Passes((0.0,) * 2, (0, 0), (0, 0))], method="m")
    assert (lost.low, lost.high, lost.samples) == (0.0, 1.0, 0)


def test_total_of_nothing_and_of_unmet_counterexamples():
    assert total_estimate([], method="m").value == 0.0
    unmet = Passes((0.1,) * 2, (0, 0), (50, 50))
    total = total_estimate([unmet], method="m")
    own = splitting_estimate(unmet, method="m")
    assert (total.value, total.high, total.none_seen) == (own.value, own.high, True)


@pytest.mark.parametrize("hits", [(0, 0), (1, 0), (30, 20)])
def test_a_total_is_no_less_than_any_of_its_rows(hits):
    rows = [Passes((c,) * 2, (0, 0), (50, 50)) for c in (0.9, 0.2)] + [Passes((1e-6,) * 2, hits, (50, 50))]
    own = [splitting_estimate(row, method="m") for row in rows]
    total = total_estimate(rows, method="m")
    assert total.value >= max(row.value for row in own) and total.high >= max(row.high for row in own)
    assert total.low <= total.value <= total.high and total.none_seen == (hits == (0, 0))


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
            seen = Passes((0.3,) * 10, tuple(int(h) for h in hits), (100,) * 10, exact=True)
            e = splitting_estimate(seen, method="m")
            covered += e.low <= 0.3 * f <= e.high
        assert covered >= 3704, (f, covered)


def test_passes_as_skewed_as_a_gamma_law_are_covered():
    """H0: at least 94.5 % of 4,000 intervals of 8 values cover (standard error 0.35 %); 93.4 % fails: false alarm 1e-3.

    Passes of splitting with 20 particles scatter so.  The logarithm's scale alone covers 91.9 % of the first, a failure
    in 999 of 1,000 cases.
    """
    rng = np.random.default_rng(4)
    for shape in (0.6, 2.0):
        found = [skewed_interval(values) for values in rng.gamma(shape, 0.01 / shape, size=(4000, 8))]
        assert np.mean([low <= 0.01 <= high for low, high in found]) >= 0.934, shape


@pytest.mark.parametrize(
    ("limits", "trials"), [(wilson, 300), (wilson, 1000), (bayesian, 30), (bayesian, 300), (bayesian, 1000)]
)
def test_an_interval_covers_for_every_probability(limits: Callable[[int, int], tuple[float, float]], trials: int):
    """Computed, not sampled: at least 94 % for 600 probabilities and beside each limit, where coverage jumps.

    Wilson's without its correction covers 84 % at 0.18 / trials, the Bayesian one with Jeffreys' prior alone 88 %.
    """
    hits = np.arange(trials + 1)
    low, high = np.array([limits(int(h), trials) for h in hits]).T
    beside = [limit + side for limit in (*low, *high) for side in (-1e-12, 1e-12)]
    for probability in [*np.geomspace(0.05 / trials, 50 / trials, 400), *np.linspace(0.02, 0.5, 200), *beside]:
        if 0.05 / trials <= probability <= 1 - 0.05 / trials:
            covers = stats.binom.pmf(hits, trials, probability)[(low <= probability) & (probability <= high)].sum()
            assert covers >= 0.94, probability
