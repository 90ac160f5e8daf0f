"""Shares, ratios and differences of estimates, and distributions of times."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from scipy import special

from bbfalsify.core.estimate import BOTH, LEVELS, Estimate, TimeDistribution


def share_explained(part: Estimate, whole: Estimate) -> Estimate:
    """P(part) / P(whole), where the part's event is contained in the whole's.

    The intervals are divided; both hold together with confidence at least 1 - (α₁ + α₂), which is reported.  A whole
    whose lower limit is 0 bounds the share by 1 only.
    """
    low = min(1.0, part.low / whole.high) if whole.high > 0 else 0.0
    high = min(1.0, part.high / whole.low) if whole.low > 0 else 1.0
    value = min(high, max(low, part.value / whole.value if whole.value > 0 else 1.0))
    confidence = max(0.0, part.confidence + whole.confidence - 1)
    method = "quotient of intervals"
    if whole.low == 0.0:
        method += ", lower bound (the whole is known from above only)"
    return Estimate(value, low, high, confidence, method, part.samples + whole.samples)


def bounded_by_part(whole: Estimate, part: Estimate) -> Estimate:
    """P(whole) from above by its own estimate and from below by that of a part contained in it.

    Both hold together with confidence at least 1 - (α₁ + α₂), which is reported.  The value is the whole's, but no less
    than the part's.
    """
    low = max(whole.low, part.low)
    high = max(whole.high, low)
    confidence = max(0.0, part.confidence + whole.confidence - 1)
    method = f"at least: {part.method}; at most: {whole.method}"
    return Estimate(
        min(high, max(low, whole.value, part.value)), low, high, confidence, method, part.samples + whole.samples
    )


HARDLY = 4.0
"""An interval whose limits differ by more than this factor tells the order of magnitude alone."""


def half_each(confidence: float) -> float:
    """Confidence of each of two intervals whose intersection has at least this one (Bonferroni)."""
    return 1 - (1 - confidence) / 2


def intersection(part: Estimate, whole: Estimate, confidence: float) -> Estimate:
    """The whole, known from what is certainly part of it and from itself, both at `half_each` of the confidence.

    The part bounds it from below alone: the whole may have more.  Intervals that exclude each other leave that of the
    whole.  Where the whole is hardly known, the part is returned: both hold at once, so either may be told.
    """
    if whole.high > HARDLY * whole.low:
        return replace(part, confidence=confidence)
    low = part.low if part.low < whole.high else 0.0
    low, high = max(low, whole.low), whole.high
    sharper = part if part.high - part.low < whole.high - whole.low else whole
    value = min(max(sharper.value, low), high)
    return Estimate(value, low, high, confidence, part.method + BOTH, part.samples + whole.samples)


def part_of(part: Estimate, whole: Estimate) -> Estimate:
    """P(part) / P(whole) at the confidence of both, where the part's event is contained in the whole's.

    Relative distances to the limits add up like standard deviations (Zou and Donner 2008), as for independent
    estimates; that two estimates of a part and its whole go together makes the interval wider than needed.
    """
    samples = part.samples + whole.samples
    if part.value <= 0 or whole.value <= 0:
        # Where the part was met and the whole never without it, all that is known of the whole is the part.
        return Estimate(float(part.value > 0), 0.0, 1.0, part.confidence, "quotient, nothing known", samples)
    value = min(1.0, part.value / whole.value)
    below = _distance(part.value, part.low, whole.high, whole.value)
    above = _distance(part.high, part.value, whole.value, whole.low)
    return Estimate(
        value, value * math.exp(-below), min(1.0, value * math.exp(above)), part.confidence, "quotient", samples
    )


def _distance(upper: float, lower: float, other_upper: float, other_lower: float) -> float:
    if lower <= 0 or other_lower <= 0:
        return math.inf
    return min(700.0, math.hypot(math.log(upper / lower), math.log(other_upper / other_lower)))  # exp can take it


def ratio_of_means(numerators: np.ndarray, denominators: np.ndarray, confidence: float) -> tuple[np.ndarray, ...]:
    """Values [k] and half widths [k] of k ratios, from R passes: numerators [R, k], denominators [R].

    Half widths are infinite where there is only one pass.
    """
    mean = float(denominators.mean())
    values = numerators.mean(axis=0) / mean
    passes = len(denominators)
    if passes < 2:
        return values, np.full(len(values), math.inf)
    residuals = (numerators - values * denominators[:, None]) / mean
    quantile = float(special.stdtrit(passes - 1, (1 + confidence) / 2))
    return values, quantile * residuals.std(axis=0, ddof=1) / math.sqrt(passes)


METHOD = "square-and-add of two intervals"


def difference(old: Estimate, new: Estimate, comparisons: int = 1) -> Estimate | None:
    """New minus old, with an interval; None if the confidences differ or an estimate has no samples.

    With several comparisons the confidence holds for all of them together (Bonferroni; half widths grow as for a
    normal law).
    """
    if old.samples == 0 or new.samples == 0 or not math.isclose(old.confidence, new.confidence):
        return None
    doubt, normal = 1 - new.confidence, NormalDist()
    wider = normal.inv_cdf(1 - doubt / (2 * comparisons)) / normal.inv_cdf(1 - doubt / 2)
    value = new.value - old.value
    low = value - wider * math.hypot(new.value - new.low, old.high - old.value)
    high = value + wider * math.hypot(new.high - new.value, old.value - old.low)
    method = METHOD if comparisons == 1 else f"{METHOD}, Bonferroni for {comparisons} comparisons"
    return Estimate(value, low, high, new.confidence, method, min(old.samples, new.samples))


def explained(shift: Estimate) -> bool:
    """Tell whether the interval of the difference contains 0."""
    return shift.low <= 0 <= shift.high


MOST_BINS = 40


def common_bins(times: list[np.ndarray], period: float) -> np.ndarray | None:
    """The ends of at most MOST_BINS bins over all times; None without times.

    Most times are multiples of the sampling period.  Bins span a whole number of periods and end between two samples,
    so that each covers equally many samples; other bins would show a false comb pattern.
    """
    together = np.concatenate([np.zeros(0), *times])
    if not len(together):
        return None
    first, last = (round(float(t) / period) for t in (together.min(), together.max()))
    periods = -(-(last - first + 1) // MOST_BINS)
    return (first - 0.5 + periods * np.arange(-(-(last - first + 1) // periods) + 1)) * period


def distribution(times: np.ndarray, weights: np.ndarray, bins: np.ndarray) -> TimeDistribution | None:
    """The weighted distribution of the times over the bins; None without samples or weight."""
    total = float(weights.sum())
    if not len(times) or not total > 0:
        return None
    order = np.argsort(times, kind="stable")
    running = np.cumsum(weights[order]) / total
    places = np.minimum(np.searchsorted(running, np.array(LEVELS) - 1e-12), len(times) - 1)
    # A time that rounds to the last period may lie just behind its end.
    bars, _ = np.histogram(np.clip(times, bins[0], bins[-1]), bins=bins, weights=weights)
    return TimeDistribution(
        len(times), total, tuple(float(t) for t in times[order][places]), tuple(float(b) for b in bars)
    )
