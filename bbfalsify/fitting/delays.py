"""Estimate rates and bounds of waiting times, and test their laws.

The law of a component is a hazard, which applies only while it could act: a constant rate λ if the stay is unbounded,
1/(D - t) if the invariant ends it at D.  So n actions in a total of T units of time in which the component could have
acted give λ = n/T, also if others acted first or the log ended before, and

    2 λ T is chi-square with 2n degrees of freedom   (exactly, if every stay ended with an action)

Under the law, the probability of having acted by the observed delay is uniform on [0, 1]; the distance of these values
from the uniform law (Kolmogorov–Smirnov) tests it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from bbfalsify.core.estimate import Estimate
from bbfalsify.fitting.stays import Stay

_STEPHENS = ((0.926, 0.15), (0.990, 0.10), (1.094, 0.05), (1.190, 0.025), (1.308, 0.01))
"""Stephens (1974), table for the exponential law with its rate estimated: modified distance → p-value."""


def fit_rate(stays: Sequence[Stay], confidence: float = 0.95) -> Estimate | None:
    """The rate of an exponential wait; None without an action."""
    acted = sum(stay.acted for stay in stays)
    exposure = math.fsum(stay.exposure for stay in stays)
    if acted == 0 or exposure <= 0:
        return None
    censored = any(not stay.acted for stay in stays)
    tail = (1 - confidence) / 2
    low = float(special.gammaincinv(acted, tail)) / exposure
    high = float(special.gammaincinv(acted + censored, 1 - tail)) / exposure
    return Estimate(acted / exposure, low, high, confidence, "gamma", acted)


@dataclass(frozen=True)
class FittedBounds:
    """Unbiased ends of a uniform wait."""

    low: float
    low_least: float
    """With the given confidence, the end lies between this and the smallest delay."""
    high: float
    high_most: float
    count: int
    confidence: float


def fit_bounds(delays: Sequence[float], confidence: float = 0.95) -> FittedBounds | None:
    """Unbiased ends (n·min - max)/(n - 1) and (n·max - min)/(n - 1), never below 0; None for fewer than two delays.

    (end - max)/(max - min) exceeds t with probability (1 + t)^-(n-1), whatever the ends: hence the limits.
    """
    n = len(delays)
    if n < 2:
        return None
    least, most = min(delays), max(delays)
    width = most - least
    beyond = width * ((1 - confidence) ** (-1 / (n - 1)) - 1)
    return FittedBounds(
        max(0.0, least - width / (n - 1)),
        max(0.0, least - beyond),
        most + width / (n - 1),
        most + beyond,
        n,
        confidence,
    )


@dataclass(frozen=True)
class LawTest:
    """Test of a law; `p` is the probability of at least this distance under the law."""

    law: str
    count: int
    distance: float
    p: float
    p_text: str

    @property
    def doubtful(self) -> bool:
        return self.p <= 0.01

    def __str__(self) -> str:
        verdict = "DOES NOT FIT" if self.doubtful else "fits"
        return f"{self.law} {verdict} ({self.count} delays, distance {self.distance:.3g}, {self.p_text})"


def probability_of_having_acted(stay: Stay, rate: float | None) -> float:
    """Probability under the law of acting no later than the end of the stay."""
    if stay.bound is None:
        return -math.expm1(-(rate or 1.0) * stay.exposure)
    waiting = 1.0
    for low, high in stay.pieces:
        waiting *= max(0.0, (stay.bound - high) / (stay.bound - low)) if stay.bound > low else 0.0
    return 1 - waiting


def check_law(stays: Sequence[Stay], rate: float | None, *, fitted: bool) -> LawTest | None:
    """Test the law of the stays that ended with an action; None if too few of them had a choice."""
    acted = [s for s in stays if s.acted and (s.bound is None or s.bound > 0)]
    # A wait that may end at one moment only says nothing about a law.
    acted = [s for s in acted if s.bound is None or s.exposure > 0 or any(low < s.bound for low, _ in s.pieces)]
    if len(acted) < 5:
        return None
    exponential = all(s.bound is None for s in acted)
    law = "exponential" if exponential else "uniform" if all(s.bound is not None for s in acted) else "mixed"
    values = np.sort([probability_of_having_acted(s, rate) for s in acted])
    return _against_uniform(values, law, exponential and fitted)


def check_uniform(delays: Sequence[float]) -> LawTest | None:
    """Test a uniform law with fitted ends: given the extremes, the delays between them are uniform."""
    ordered = np.sort(np.asarray(delays, dtype=float))
    if len(ordered) < 7 or ordered[0] == ordered[-1]:
        return None
    inner = (ordered[1:-1] - ordered[0]) / (ordered[-1] - ordered[0])
    return _against_uniform(inner, "uniform", False)


def _against_uniform(values: np.ndarray, law: str, rate_fitted: bool) -> LawTest:
    n = len(values)
    steps = np.arange(1, n + 1) / n
    distance = float(max(np.max(steps - values), np.max(values - (steps - 1 / n))))
    if rate_fitted:
        modified = (distance - 0.2 / n) * (math.sqrt(n) + 0.26 + 0.5 / math.sqrt(n))
        below = [p for limit, p in _STEPHENS if modified >= limit]
        p = below[-1] if below else 1.0
        return LawTest(law, n, distance, p, f"p <= {p:g}" if below else "p > 0.15")
    p = float(special.kolmogorov((math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance))
    return LawTest(law, n, distance, p, f"p = {p:.2g}" if p >= 0.001 else "p < 0.001")


def exponential_or_uniform(delays: Sequence[float]) -> tuple[str, float, float]:
    """The more likely law of the delays, and the Akaike criterion of both (smaller is better).

    −2 ln L + 2 k: the exponential law has k = 1 parameter and L = (n/T)^n e^-n, the uniform one k = 2 and
    L = (max - min)^-n.
    """
    n, total = len(delays), math.fsum(delays)
    width = max(delays) - min(delays)
    exponential = 2 * n * (1 - math.log(n / total)) + 2 if total > 0 else math.inf
    uniform = 2 * n * math.log(width) + 4 if width > 0 else -math.inf
    return ("exponential" if exponential <= uniform else "uniform"), exponential, uniform
