"""Estimates as JSON, and what they say about their evidence."""

import math

import pytest

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import odds_interval
from bbfalsify.engines.estimation.answering import _complement
from bbfalsify.results.estimate_result import number_in_words

UNSEEN = Estimate(0.0, 0.0, 0.003, 0.95, "importance sampling, none seen: upper bound", 1000, none_seen=True)


@pytest.mark.parametrize(
    "estimate",
    [UNSEEN, Estimate(0.2, 0.1, 0.4, 0.95, "sum over 2 words, at least", 10, at_least=True, unseen=1.0),
     Estimate(math.inf, 3.0, math.inf, 1.0, "chain", 0)],
)  # fmt: skip
def test_an_estimate_is_read_as_it_was_written(estimate):
    written = estimate.as_json()
    assert Estimate.from_json(written) == estimate
    del written["none_seen"], written["at_least"], written["unseen"]  # as older versions wrote it
    assert Estimate.from_json(written) == estimate


def test_both_limits_of_an_older_file_are_no_at_least():
    both = Estimate(0.2, 0.1, 0.4, 0.9, "at least: splitting; at most: confidence sequence", 10).as_json()
    del both["none_seen"], both["at_least"], both["unseen"]
    assert not Estimate.from_json(both).at_least


def test_what_was_never_met_raises_the_upper_limit_of_the_whole():
    part = Estimate(0.2, 0.1, 0.4, 0.95, "sum over 2 words, at least", 10, at_least=True, unseen=0.05)
    assert part.at_most == pytest.approx(0.45) and Estimate.from_json(part.as_json()).at_most == part.at_most
    assert number_in_words(part).endswith("with what was never met at most 0.45")
    unknown = Estimate(0.2, 0.1, 0.4, 0.95, "sum over 2 words, at least", 10, at_least=True, unseen=1.0)
    assert unknown.at_most == 1.0 and "at most" not in number_in_words(unknown)
    assert UNSEEN.at_most == UNSEEN.high


def test_the_opposite_of_what_was_never_seen_was_seen():
    opposite = _complement(UNSEEN)
    assert (opposite.value, opposite.low, opposite.high) == (1.0, 0.997, 1.0) and not opposite.none_seen
    assert odds_interval(UNSEEN) == "less than 1 in 333" and "less than" not in odds_interval(opposite)


def test_an_upper_limit_that_older_versions_told_as_value_is_read_as_none_seen():
    old = {"value": 0.003, "low": 0.0, "high": 0.003, "confidence": 0.95, "samples": 1000, "none_seen": False}
    read = Estimate.from_json({**old, "method": "confidence sequence, upper bound (no violation in 1000)"})
    assert (read.value, read.high, read.none_seen) == (0.0, 0.003, True)
    assert not Estimate.from_json({**old, "method": "confidence sequence"}).none_seen
