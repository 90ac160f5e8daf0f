"""Stopping rules: table D.1, the confidence sequence against its definition, and exact probabilities of missing."""

import math

import numpy as np
import pytest
from scipy import special

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.stats.estimates import bounded_by_part, share_explained
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.sequential import (
    KINDS,
    LADDER,
    ConfidenceSequence,
    Counts,
    StoppingRule,
    chernoff_hoeffding_samples,
    hoeffding,
)

TABLE_D1 = {
    0.1: (600, 59_915, 5_991_465, 599_146_455),
    0.05: (738, 73_778, 7_377_759, 737_775_891),
    0.01: (1_060, 105_967, 10_596_635, 1_059_663_474),
}
SEQUENCES = {"tuned": ConfidenceSequence.for_half_width(0.005), "ladder": ConfidenceSequence()}
COUNTS = [(0, 1), (1, 1), (1, 40), (0, 100), (50, 100), (100, 100), (3, 1000), (999, 1000), (700, 10**6)]
COUNTS += [(0, 10**9), (10**8, 10**9)]


@pytest.mark.parametrize("alpha", TABLE_D1)
def test_all_twelve_entries_of_table_d1(alpha):
    assert tuple(chernoff_hoeffding_samples(e, alpha) for e in (0.05, 5e-3, 5e-4, 5e-5)) == TABLE_D1[alpha]
    with pytest.raises(ValueError, match="strictly between"):
        chernoff_hoeffding_samples(0.0, alpha)


def test_hoeffding_has_the_wanted_half_width_at_the_number_of_table_d1():
    low, high = hoeffding(369, 738)
    assert low < 0.5 < high and (high - low) / 2 == pytest.approx(0.05, rel=1e-3) and (high - low) / 2 <= 0.05
    assert hoeffding(0, 0) == (0.0, 1.0) and hoeffding(0, 738)[0] == 0.0 and hoeffding(738, 738)[1] == 1.0


# ------------------------------------------------------------------ the confidence sequence


def log_capital(p, hits, trials, concentrations):
    """The definition, written with another special function."""
    parts = [
        special.betaln(k * p + hits, k * (1 - p) + trials - hits) - special.betaln(k * p, k * (1 - p))
        for k in concentrations
    ]
    mean = special.logsumexp(parts, axis=0) - math.log(len(concentrations))
    return mean - hits * np.log(p) - (trials - hits) * np.log1p(-p)


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
@pytest.mark.parametrize(("hits", "trials"), COUNTS)
def test_limits_are_where_the_capital_reaches_one_over_alpha(sequence, hits, trials):
    low, high = sequence.interval(hits, trials)
    assert 0 <= low <= hits / trials <= high <= 1
    for limit in {low, high} - {0.0, 1.0}:
        capital = log_capital(limit, hits, trials, sequence.concentrations)
        # Rounded outwards by a millionth of the distance; differences of logarithms of 10^9! are good to about 4e-6.
        assert -1e-5 <= capital - math.log(20) <= 1e-4
    if hits == 0:
        assert low == 0.0
    if hits == trials:
        assert high == 1.0


@pytest.mark.parametrize("concentrations", [(60.0,), LADDER])
def test_the_capital_is_a_martingale_that_starts_at_one_and_is_convex_in_p(concentrations):
    sequence = ConfidenceSequence(0.95, concentrations)
    for p in (0.003, 0.3, 0.9):
        assert sequence.log_capital(p, 0, 0) == pytest.approx(0, abs=1e-9)
        for hits, trials in ((0, 5), (2, 7), (30, 200)):
            after = p * math.exp(sequence.log_capital(p, hits + 1, trials + 1))
            after += (1 - p) * math.exp(sequence.log_capital(p, hits, trials + 1))
            assert after == pytest.approx(math.exp(sequence.log_capital(p, hits, trials)), rel=1e-8)
    grid = np.linspace(0.001, 0.999, 999)
    for hits, trials in ((0, 50), (1, 50), (20, 50), (50, 50)):
        values = np.array([sequence.log_capital(float(p), hits, trials) for p in grid])
        assert np.all(np.diff(values, 2) >= -1e-9)


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_limits_grow_with_the_hits_and_mirror_those_of_the_misses(sequence):
    intervals = np.array([sequence.interval(hits, 60) for hits in range(61)])
    assert np.all(np.diff(intervals, axis=0) >= 0)
    assert np.allclose(intervals[:, 0], 1 - intervals[::-1, 1], atol=1e-6)


def test_it_is_narrow_for_rare_events():
    # No violation in 1000: the exact interval for one look has the limit 3.68e-3.
    assert SEQUENCES["tuned"].interval(0, 1000)[1] < 4.5e-3
    assert SEQUENCES["ladder"].interval(0, 1000)[1] < 5e-3
    low, high = SEQUENCES["tuned"].interval(12, 2400)
    assert (high - low) / 2 <= 0.005  # where the fixed rule asks for 73,778 simulations
    with pytest.raises(ValueError, match="between 0 and 3"):
        SEQUENCES["tuned"].interval(4, 3)


def ever_excluded(p: float, excluded, looks: int) -> float:
    """The exact probability that p is left out at some look: a walk over (looks, hits) that ends when it is."""
    alive, missed = np.array([1.0]), 0.0
    for trials in range(1, looks + 1):
        after = np.zeros(trials + 1)
        after[:-1] += alive * (1 - p)
        after[1:] += alive * p
        reachable = np.flatnonzero(after > 0)
        out = reachable[excluded(p, reachable.astype(float), trials)]
        missed += after[out].sum()
        after[out] = 0
        alive = after
    return float(missed)


def outside_clopper_pearson(p, hits, trials):
    at_least = np.where(hits == 0, 1.0, special.bdtrc(np.maximum(hits - 1, 0), trials, p))
    return (special.bdtr(hits, trials, p) <= 0.025) | (at_least <= 0.025)


@pytest.mark.parametrize(
    ("p", "tuned", "ladder", "looking_often"), [(0.005, 0.0155, 0.0100, 0.189), (0.1, 0.0153, 0.0094, 0.394),
                                                (0.5, 0.0154, 0.0094, 0.456)]
)  # fmt: skip
def test_exact_probability_of_ever_missing_within_2000_looks(p, tuned, ladder, looking_often):
    """No sampling: the probabilities are computed, so there is no false alarm.  α = 0.05."""
    for name, expected in (("tuned", tuned), ("ladder", ladder)):
        concentrations = SEQUENCES[name].concentrations

        def outside(p, hits, trials, concentrations=concentrations):
            return log_capital(p, hits, trials, concentrations) >= math.log(20)

        missed = ever_excluded(p, outside, 2000)
        assert missed <= 0.05 and missed == pytest.approx(expected, abs=1e-4)
    assert ever_excluded(p, outside_clopper_pearson, 2000) == pytest.approx(looking_often, abs=1e-3)


# ------------------------------------------------------------------ stopping rules


def trials_needed(rule: StoppingRule, p: float) -> int:
    low, high = 1, 2
    while not rule.reached(Counts(round(p * high), high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rule.reached(Counts(round(p * middle), middle)) else (middle, high)
    return high


def test_each_rule_stops_at_its_own_moment():
    needed = {kind: trials_needed(StoppingRule(kind, 0.005), 0.005) for kind in KINDS}
    assert needed["fixed"] == 73_778
    assert needed["clopper_pearson"] < needed["sequence"] < 2.6 * needed["clopper_pearson"]
    assert trials_needed(StoppingRule("clopper_pearson", 0.05), 0.0) == 36  # 1 - 0.025^(1/36) = 0.0974


def test_relative_width_needs_a_hit_and_either_width_is_enough():
    relative = StoppingRule(relative=0.5)
    assert relative.half_width is None and not relative.reached(Counts(0, 10**7)) and not relative.reached(Counts())
    n = trials_needed(relative, 0.01)
    low, high = relative.interval(Counts(round(0.01 * n), n))
    assert (high - low) / 2 <= 0.5 * round(0.01 * n) / n
    assert StoppingRule(epsilon=0.01, relative=0.1).reached(Counts(0, 1000))
    assert StoppingRule().half_width == 0.005


@pytest.mark.parametrize("kind", ["sequence", "clopper_pearson", "fixed"])
def test_failed_simulations_open_the_interval_to_both_sides(kind):
    rule = StoppingRule(kind, 0.005)
    estimate = rule.estimate(Counts(5, 1000, 20))
    assert estimate.low == rule.interval(Counts(5, 1000))[0] and estimate.high == rule.interval(Counts(25, 1000))[1]
    assert estimate.value == 5 / 980 and "20 failed" in estimate.method and estimate.samples == 1000
    lost = rule.estimate(Counts(0, 1000, 1000))
    assert (lost.value, lost.low, lost.high) == (1.0, 0.0, 1.0)


def test_estimates_say_what_they_are():
    assert StoppingRule().estimate(Counts()).as_json() == {
        "value": 1.0, "low": 0.0, "high": 1.0, "confidence": 0.95, "method": "not estimated", "samples": 0,
        "none_seen": False, "at_least": False, "unseen": 0.0,
    }  # fmt: skip
    none = StoppingRule().estimate(Counts(0, 500))
    assert none.value == 0 < none.high and none.none_seen and "upper bound (no violation in 500)" in none.method
    pearson = StoppingRule("clopper_pearson").estimate(Counts(3, 500))
    assert (pearson.low, pearson.high) == clopper_pearson(3, 500) and "not kept" in pearson.method
    assert "500 of 73778" in StoppingRule("fixed").estimate(Counts(3, 500)).method


def test_wrong_options_are_all_named_at_once():
    with pytest.raises(UserError) as error:
        StoppingRule("sequnce", epsilon=0.0, confidence=1.0)
    text = str(error.value)
    assert "Did you mean 'sequence'" in text and "epsilon: 0.0" in text and "confidence: 1.0" in text
    with pytest.raises(UserError, match="relative: the fixed rule"):
        StoppingRule("fixed", relative=0.1)


# ------------------------------------------------------------------ shares


def estimate(value, low, high):
    return Estimate(value, low, high, 0.95, "m", 100)


def test_a_share_divides_intervals_and_adds_up_the_errors():
    share = share_explained(estimate(0.02, 0.01, 0.03), estimate(0.04, 0.032, 0.05))
    assert share.value == pytest.approx(0.5) and share.low == pytest.approx(0.2)
    assert share.high == pytest.approx(0.03 / 0.032) and share.confidence == pytest.approx(0.9)


def test_a_share_never_exceeds_one_and_admits_what_is_not_known():
    over = share_explained(estimate(0.05, 0.04, 0.06), estimate(0.04, 0.03, 0.05))
    assert (over.value, over.low, over.high) == (1.0, pytest.approx(0.8), 1.0)
    unmet = share_explained(estimate(1e-6, 9e-7, 1.1e-6), estimate(0.003, 0.0, 0.003))
    assert unmet.low == pytest.approx(3e-4) and unmet.high == 1.0 and "lower bound" in unmet.method
    impossible = share_explained(estimate(0.0, 0.0, 0.0), estimate(0.0, 0.0, 0.0))
    assert (impossible.low, impossible.high) == (0.0, 1.0)


def test_a_whole_is_bounded_from_below_by_its_part():
    unmet = bounded_by_part(estimate(0.0, 0.0, 0.003), estimate(1e-6, 9e-7, 1.1e-6))
    assert (unmet.value, unmet.low, unmet.high) == (1e-6, 9e-7, 0.003) and unmet.confidence == pytest.approx(0.9)
    met = bounded_by_part(estimate(0.04, 0.03, 0.05), estimate(0.02, 0.01, 0.03))
    assert (met.value, met.low, met.high) == (0.04, 0.03, 0.05)
    contradicted = bounded_by_part(estimate(0.01, 0.005, 0.02), estimate(0.04, 0.03, 0.05))
    assert (contradicted.value, contradicted.low, contradicted.high) == (0.03, 0.03, 0.03)
