"""Probabilities as people say them: 1 in 206 rather than 0.00485."""

from __future__ import annotations

import math

from bbfalsify.core.estimate import Estimate

ALL = 1.0 - 1e-12
"""Sums of shares that make a whole are seldom exactly 1."""


def probability(value: float) -> str:
    """9.55e-4 rather than 0.000955 or 9.55e-04."""
    if value == 0 or value >= 0.01:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def odds(value: float) -> str:
    """A probability that people can say: 26 %, 1 in 206, 1 in 1.4 million; 1 in a thousand billion and less: 1e-13."""
    if value >= 0.1:
        return percent(value)
    if value < 1e-12:
        return probability(value) if value > 0 else "0"
    uses = 1 / value
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if uses >= size:
            return f"1 in {uses / size:,.3g}{word}"
    return f"1 in {float(f'{uses:.3g}'):,.0f}"


def odds_interval(estimate: Estimate) -> str:
    """1 in 206 [199, 215]; what is only bounded from above: less than 1 in 640"""
    if estimate.samples == 0:
        return "not estimated"
    if estimate.none_seen or estimate.low == 0 == estimate.value:
        return f"less than {odds(estimate.high)}"
    value, (first, last) = odds(estimate.value), _limits(estimate)
    return f"{value} [{_short(first, value)}, {_short(last, value)}]"


def _limits(estimate: Estimate) -> tuple[str, str]:
    """The limits of an interval, said as its value is and the smaller number first: 1 in 8.3 before 1 in 26."""
    text = odds(estimate.value)
    if text.startswith("1 in "):
        return _one_in(estimate.high), _one_in(estimate.low)
    said = percent if text.endswith("%") else probability
    return said(estimate.low), said(estimate.high)


def _one_in(value: float) -> str:
    """1 in 8.3 rather than 12 %, and 1 in ∞ rather than 0, beside 1 in 15."""
    if value >= 0.1:
        return f"1 in {1 / value:.2g}"
    return odds(value) if value >= 1e-12 else "1 in ∞"


def _short(text: str, beside: str) -> str:
    """Leave out "1 in" where the number beside it says so."""
    return text.removeprefix("1 in ") if beside.startswith("1 in ") else text


def percent(share: float) -> str:
    """26 %, 7.2 %, 0.04 %, and never 100 % of what is not all."""
    if 0.995 <= share < ALL:
        return f"{math.floor(share * 1000) / 10:g} %"
    return f"{float(f'{100 * share:.2g}'):g} %"
