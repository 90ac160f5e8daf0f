"""Probabilities that people can say."""

import pytest

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import odds, odds_interval, percent
from bbfalsify.reporting.formatting import ranks


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.264, "26 %"), (1 / 18, "1 in 18"), (1 / 206.4, "1 in 206"), (1 / 12345, "1 in 12,300"),
        (7.1e-7, "1 in 1.41 million"), (8e-11, "1 in 12.5 billion"), (3e-14, "3.00e-14"), (0.0, "0"),
    ],
)  # fmt: skip
def test_odds(value, text):
    assert odds(value) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.00485, 0.00465, 0.00503), "1 in 206 [199, 215]"),
        ((0.2, 0.05, 0.3), "20 % [5 %, 30 %]"),
        ((0.067, 0.038, 0.12), "1 in 15 [8.3, 26]"),
        ((0.067, 0.038, 1.0), "1 in 15 [1, 26]"),
        ((4e-6, 0.0, 0.00369), "1 in 250,000 [271, ∞]"),
        ((3e-14, 1e-14, 5e-14), "3.00e-14 [1.00e-14, 5.00e-14]"),
        ((0.0, 0.0, 0.004), "less than 1 in 250"),
    ],
)
def test_intervals_of_odds(numbers, text):
    assert odds_interval(Estimate(*numbers, 0.95, "", 10)) == text


def test_nearly_all_is_not_all():
    assert (percent(0.9984), percent(1.0), percent(0.0718)) == ("99.8 %", "100 %", "7.2 %")
    assert percent(1 / 3 + 1 / 3 + 1 / 3 - 2**-52) == "100 %"


def test_ranks():
    assert ranks([4, 1, 2, 3, 7, 8]) == "1–4, 7, 8"
