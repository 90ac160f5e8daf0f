"""Weights from choices: counts where sets agree, the likelihood's maximum where they do not."""

import numpy as np
import pytest
from scipy import optimize

from bbfalsify.fitting.weights import fit_weights


def choices(*rows):
    """("a", "abc", 3): a was taken three times when a, b and c were possible."""
    return {(taken, tuple((e, 1) for e in possible)): count for taken, possible, count in rows}


def given(edges):
    return dict.fromkeys(edges, 1.0)


def test_counts_where_the_same_edges_are_always_possible():
    fitted = fit_weights(choices(("a", "abc", 10), ("b", "abc", 30), ("c", "abc", 60)), given("abc"))
    assert [fitted[e].weight for e in "abc"] == pytest.approx([0.3, 0.9, 1.8])
    assert fitted["b"].share.value == pytest.approx(0.3) and fitted["b"].share.method == "Clopper–Pearson"
    assert [fitted[e].variance_of_log for e in "abc"] == pytest.approx([1 / 10, 1 / 30, 1 / 60])


def test_choices_without_a_rival_say_nothing():
    few = fit_weights(choices(("a", "ab", 20), ("b", "ab", 10)), given("ab"))
    many = fit_weights(choices(("a", "ab", 20), ("b", "ab", 10), ("a", "a", 1000)), given("ab"))
    assert few["a"].weight == many["a"].weight and few["b"].share == many["b"].share
    assert (many["a"].taken, many["a"].possible, many["a"].contested) == (1020, 1030, 20)
    assert fit_weights(choices(("a", "a", 5)), given("a")) == {}


def test_changing_sets_give_the_maximum_of_the_likelihood():
    """Against a general optimiser of the same likelihood."""
    seen = choices(
        ("a", "abc", 12),
        ("b", "abc", 30),
        ("c", "abc", 8),
        ("a", "ab", 9),
        ("b", "ab", 14),
        ("c", "bc", 5),
        ("b", "bc", 21),
    )
    fitted = fit_weights(seen, given("abc"))

    def minus_log_likelihood(logs):
        w = dict(zip("abc", np.exp([*logs, 0.0]), strict=True))
        return -sum(n * np.log(w[t] / sum(w[e] for e, _ in s)) for (t, s), n in seen.items())

    best = optimize.minimize(minus_log_likelihood, [0.0, 0.0], tol=1e-12).x
    ratios = [np.log(fitted[e].weight / fitted["c"].weight) for e in "ab"]
    assert ratios == pytest.approx(best, abs=1e-5)
    assert sum(fitted[e].weight for e in "abc") == pytest.approx(3.0)
    assert fitted["a"].share.method == "delta method" and fitted["a"].share.low < fitted["a"].share.value


def test_variances_of_ratios_are_those_of_the_information():
    """Two pairs that meet only rarely: the rare meetings decide how well the pairs are known to each other."""
    seen = choices(
        ("a", "ab", 500), ("b", "ab", 500), ("a", "abcd", 10), ("b", "abcd", 10), ("c", "abcd", 10), ("d", "abcd", 10)
    )
    fitted = fit_weights(seen, given("abcd"))
    within = 2 / 510
    between = 1 / 20 + 1 / 20 + 0.5 / 510 + 0.5 / 10  # pairs against each other, then within each pair
    assert fitted["a"].variance_of_log + fitted["b"].variance_of_log >= within
    assert fitted["a"].variance_of_log + fitted["c"].variance_of_log == pytest.approx(between, rel=0.15)


def test_what_was_never_taken_stays_possible():
    fitted = fit_weights(choices(("a", "ab", 99)), given("ab"))
    assert fitted["b"].half_counts and fitted["b"].share.value == pytest.approx(0.5 / 100)
    assert fitted["b"].share.low == 0 and fitted["b"].share.high == pytest.approx(1 - 0.025 ** (1 / 99))
    assert fitted["b"].variance_of_log == pytest.approx(2.0)


def test_one_way_preferences_do_not_run_away():
    """b wins against c only, a always wins against b: without help b's weight would tend to zero."""
    fitted = fit_weights(choices(("a", "ab", 50), ("b", "bc", 20), ("c", "bc", 20)), given("abc"))
    assert all(np.isfinite(f.weight) and f.weight > 0 and f.half_counts for f in fitted.values())
    assert fitted["a"].weight > 10 * fitted["b"].weight


def test_groups_that_never_meet_keep_their_own_sums():
    before = {"a": 3.0, "b": 1.0, "c": 5.0, "d": 5.0}
    fitted = fit_weights(choices(("a", "ab", 1), ("b", "ab", 1), ("c", "cd", 9), ("d", "cd", 1)), before)
    assert [fitted[e].weight for e in "abcd"] == pytest.approx([2.0, 2.0, 9.0, 1.0])


def test_an_edge_that_is_possible_twice_counts_twice():
    seen = {("a", (("a", 2), ("b", 1))): 40, ("b", (("a", 2), ("b", 1))): 20}
    fitted = fit_weights(seen, given("ab"))
    assert fitted["a"].weight == pytest.approx(fitted["b"].weight)
