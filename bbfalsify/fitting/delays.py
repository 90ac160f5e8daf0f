"""Estimate rates and bounds of waiting times, and test their laws.

The law of a component is a hazard, which applies only while it could act: a constant rate λ if the stay is unbounded,
1/(D - t) if the invariant ends it at D.  So n actions in a total of T units of time in which the component could have
acted give λ = n/T, also if others acted first or the log ended before, and

    2 λ T is chi-square with 2n degrees of freedom   (exactly, if every stay ended with an action)

Stays that ended without an action (another component acted, the session ended) are censored.  Leaving them out would
make delays look short, so the tests go by hazards: put one stay after another, and measure time by the hazard that has
accumulated.  Under the law, actions then happen like a Poisson process of rate 1 (the time-change theorem), whatever
ended the other stays.  So the hazard from one action to the next is exponential, and 1 - e^-hazard is uniform on
[0, 1]; its distance from the uniform law (Kolmogorov–Smirnov) tests the law.  If every stay ended with an action, these
are the probabilities of having acted by the observed delay.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from bbfalsify.core.estimate import Estimate
from bbfalsify.fitting.stays import Stay

_STEPHENS = ((0.926, 0.15), (0.990, 0.10), (1.094, 0.05), (1.190, 0.025), (1.308, 0.01))
"""Stephens (1974), table for the exponential law with its rate estimated: modified distance → p-value."""


def delays_and_waits(stays: Iterable[Stay]) -> tuple[Sequence[float], Sequence[float]]:
    """Split stays into delays up to an action, and waits that ended without one."""
    ended = {True: array("d"), False: array("d")}
    for stay in stays:
        ended[stay.acted].append(stay.delay)
    return ended[True], ended[False]


def fit_rate(stays: Iterable[Stay], confidence: float = 0.95) -> Estimate | None:
    """The rate of an exponential wait; None without an action."""
    acted, exposures = 0, array("d")
    for stay in stays:
        acted += stay.acted
        exposures.append(stay.exposure)
    exposure = math.fsum(exposures)
    if acted == 0 or exposure <= 0:
        return None
    censored = acted < len(exposures)
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


def fit_bounds(
    delays: Sequence[float], confidence: float = 0.95, *, waits: Sequence[float] = ()
) -> FittedBounds | None:
    """Unbiased ends (n·min - max)/(n - 1) and (n·max - min)/(n - 1), never below 0; None for fewer than two delays.

    (end - max)/(max - min) exceeds t with probability (1 + t)^-(n-1), whatever the ends: hence the limits.  With
    `waits` that ended without an action, the upper end is the likeliest one and its limit that of the likelihood ratio.
    """
    n = len(delays)
    if n < 2:
        return None
    least, most = min(delays), max(delays)
    if (seen := _UniformWaits(delays, waits)).waits.size:
        return seen.bounds(confidence)
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


class _UniformWaits:
    """Likelihood of the upper end of a uniform law whose lower end is the least delay, with censored waits.

    A delay has density 1/(end - low), a wait of c without an action the probability (end - c)/(end - low).
    """

    def __init__(self, delays: Sequence[float], waits: Sequence[float]) -> None:
        self.low = min(delays)
        self.waits = np.array([wait for wait in waits if wait > self.low])
        """A shorter wait says nothing: nobody could have acted yet."""
        self.acted = len(delays)
        self.stays = self.acted + len(self.waits)
        self._seen = max(max(delays), float(self.waits.max(initial=0.0)))
        self.high = self._likeliest()

    def log_likelihood(self, high: float) -> float:
        if high <= self.low:
            return math.inf
        with np.errstate(divide="ignore"):
            return float(np.log(high - self.waits).sum()) - self.stays * math.log(high - self.low)

    def _slope(self, high: float) -> float:
        with np.errstate(divide="ignore"):
            return float((1 / (high - self.waits)).sum()) - self.stays / (high - self.low)

    def _likeliest(self) -> float:
        """The slope changes its sign once, from plus to minus, or is negative from the longest wait on."""
        least, width = self._seen, self._seen - self.low
        if width <= 0 or self._slope(least) <= 0:
            return least
        most = least + width
        while self._slope(most) > 0:
            most += most - least
        return float(optimize.brentq(self._slope, least + 1e-12 * width, most))

    def bounds(self, confidence: float) -> FittedBounds:
        width = self.high - self.low
        best = self.log_likelihood(self.high)
        drop = -math.log(1 - confidence)
        most = self.high + width
        while best - self.log_likelihood(most) < drop:
            most += most - self.high
        most = float(optimize.brentq(lambda end: best - self.log_likelihood(end) - drop, self.high, most))
        # Where the longest stay ended with an action, the end lies beyond it by about 1/slope.
        slope = -self._slope(self.high) if self.high == self._seen else math.inf
        beyond = min(1 / slope, width / (self.acted - 1)) if slope > 0 else 0.0
        before = width * ((1 - confidence) ** (-1 / (self.stays - 1)) - 1)
        return FittedBounds(
            max(0.0, self.low - width / (self.stays - 1)),
            max(0.0, self.low - before),
            self.high + beyond,
            max(most, self.high + beyond),
            self.acted,
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


def accumulated_hazard(stay: Stay, rate: float) -> float:
    """Hazard of the law up to the end of the stay: minus the logarithm of the probability of not having acted."""
    if stay.bound is None:
        return rate * stay.exposure
    waiting = 1.0
    for low, high in stay.pieces:
        waiting *= max(0.0, (stay.bound - high) / (stay.bound - low)) if stay.bound > low else 0.0
    return -math.log(waiting) if waiting > 0 else math.inf


def check_law(stays: Iterable[Stay], rate: float | None, *, fitted: bool) -> LawTest | None:
    """Test the law of the stays; None if too few that ended with an action had a choice."""
    gaps, bounded = _between_actions(stays, rate or 1.0)
    if len(gaps) < 5:
        return None
    exponential = bounded == {False}
    law = "exponential" if exponential else "uniform" if bounded == {True} else "mixed"
    hazards = np.array(gaps)
    if exponential and fitted:
        hazards /= hazards.mean()
    return _against_uniform(np.sort(-np.expm1(-hazards)), law, exponential and fitted)


def _between_actions(stays: Iterable[Stay], rate: float) -> tuple[Sequence[float], set[bool]]:
    """Return the hazard accumulated from each action to the next, over stays that ended without one.

    The second result tells whether the stays that ended with an action were bounded.
    """
    gaps, bounded, waited = array("d"), set(), 0.0
    for stay in stays:
        bound = stay.bound
        if bound is not None and not (bound > 0 and any(low < bound for low, _ in stay.pieces)):
            continue  # a wait that may end at one moment only says nothing about a law
        hazard = accumulated_hazard(stay, rate)
        if stay.acted:
            gaps.append(waited + hazard)
            bounded.add(bound is not None)
            waited = 0.0
        elif math.isfinite(hazard):  # else it outlasted its bound, by less than the tolerance
            waited += hazard
    return gaps, bounded


def check_uniform(stays: Iterable[Stay]) -> LawTest | None:
    """Test a uniform law with fitted ends: given the extremes, the delays between them are uniform.

    With censored stays the fitted ends, which the stays have as bounds, are taken as given: a little too lenient.
    """
    if any(not stay.acted and stay.exposure > 0 for stay in stays):
        return check_law(stays, None, fitted=False)
    ordered = np.sort([stay.delay for stay in stays if stay.acted])
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


def exponential_or_uniform(delays: Sequence[float], waits: Sequence[float] = ()) -> tuple[str, float, float]:
    """The more likely law of the delays and of waits without an action, and the Akaike criterion of both laws.

    −2 ln L + 2 k, smaller is better: the exponential law has k = 1 parameter and L = (n/T)^n e^-n, where T includes the
    waits; the uniform one k = 2 and L = (high - low)^-n, times (high - c)/(high - low) for each wait c.
    """
    n, total = len(delays), math.fsum(delays) + math.fsum(waits)
    seen = _UniformWaits(delays, waits)
    exponential = 2 * n * (1 - math.log(n / total)) + 2 if total > 0 else math.inf
    uniform = -2 * seen.log_likelihood(seen.high) + 4
    return ("exponential" if exponential <= uniform else "uniform"), exponential, uniform
