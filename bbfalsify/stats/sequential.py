"""Stopping rules for estimating the probability of a violation, and the interval that belongs to each.

fixed              N = ⌈ln(2/α) / (2ε²)⌉ simulations, decided in advance (Chernoff–Hoeffding; Paper D, inequality D.10
                   and table D.1).  Valid, and wasteful when the probability is far from one half.
clopper_pearson    look after every batch, stop when the exact binomial interval is narrow enough, as UPPAAL SMC does.
                   Frugal, but made for one look: at the wanted width it misses a little more often than α (5.1 % for
                   α = 5 %, ε = 0.05, p = 0.1), and whoever stops when it suits misses 46 % of the time within 2,000
                   looks at p = 1/2.
sequence           look as often as you like: a confidence sequence holds at all times at once (default).

The confidence sequence.  For a candidate p, bet against it with the beta distribution centred at p: after S hits and F
misses the capital

    M(p) = B(κp + S, κ(1-p) + F) / B(κp, κ(1-p)) / (p^S (1-p)^F)

is the likelihood ratio of that mixture against p, so under p it is a nonnegative martingale that starts at 1.  Ville's
inequality: it ever reaches 1/α with probability at most α.  The interval is {p : M(p) < 1/α}; the truth is ever left
out with probability at most α, whatever made us stop.  (Robbins 1970, "Statistical methods related to the law of the
iterated logarithm"; Howard, Ramdas, McAuliffe, Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic confidence
sequences", the beta-binomial mixture.)  The concentration κ says for which sample sizes it is tightest (about 3κ to
100κ); the mean of the capitals of several κ is again such a martingale, so we need not know p in advance.

Why it is an interval: log M(p) = Σ_{i<S} log(κ + i/p) + Σ_{j<F} log(κ + j/(1-p)) + constant, where every term is convex
in p, and the logarithm of a sum of log-convex functions is convex.  M(S/n) ≤ 1, as no mixture beats the maximum of the
likelihood, so each limit is found by a search that starts at S/n.  Both limits grow with S: for p ≤ S/n one more hit
multiplies every M(p) by (κ + S/p) / (κ + (F-1)/(1-p)) ≥ 1, and the mirror image holds above.  A single hit leaves the
lower limit at 0, as the first outcome is no evidence against a bet centred at p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.estimate import NONE_SEEN, Estimate
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.rules import HALF_WIDTH, KINDS

LADDER = (30.0, 1e3, 3e4, 1e6)
"""Concentrations for an unknown final sample size."""
_BISECTIONS = 20
"""Each limit is found to a millionth of its distance from the fraction, and rounded outwards."""


def chernoff_hoeffding_samples(epsilon: float, alpha: float) -> int:
    """Number of simulations after which the fraction is within ε of p with confidence 1 - α, for every p."""
    if not (0 < epsilon < 1 and 0 < alpha < 1):
        raise ValueError(f"epsilon and alpha must lie strictly between 0 and 1, got {epsilon} and {alpha}")
    return math.ceil(math.log(2 / alpha) / (2 * epsilon**2))


def hoeffding(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of inequality D.10 for a number of trials that the answers did not choose."""
    if trials == 0:
        return 0.0, 1.0
    half = math.sqrt(math.log(2 / (1 - confidence)) / (2 * trials))
    return max(0.0, hits / trials - half), min(1.0, hits / trials + half)


@dataclass(frozen=True)
class ConfidenceSequence:
    """Intervals for the mean of a Bernoulli stream, valid at all times, from the number of hits and trials."""

    confidence: float = 0.95
    concentrations: Sequence[float] = LADDER

    @staticmethod
    def for_half_width(epsilon: float, confidence: float = 0.95) -> ConfidenceSequence:
        """Make a sequence that is tight at half width ε: a few 1/ε samples for rare events, 1/ε² near one half."""
        return ConfidenceSequence(confidence, (0.3 / epsilon, 0.1 / epsilon**2))

    def log_capital(self, p: float, hits: int, trials: int) -> float:
        """Logarithm of the capital M(p), for 0 < p < 1."""
        return _log_capital(p, hits, trials - hits, self._constants(trials))

    def excludes(self, p: float, hits: int, trials: int) -> bool:
        return self.log_capital(p, hits, trials) >= -math.log(1 - self.confidence)

    def interval(self, hits: int, trials: int) -> tuple[float, float]:
        """The interval of all p that are not excluded; rounding widens it."""
        if not 0 <= hits <= trials:
            raise ValueError(f"hits must lie between 0 and {trials}, got {hits}")
        if trials == 0:
            return 0.0, 1.0
        bound, constants = -math.log(1 - self.confidence), self._constants(trials)

        def limit(end: float) -> float:
            inside, outside = hits / trials, end
            step = math.copysign(1 / trials, end - inside)
            while 0 < inside + step < 1:  # doubling steps until one is excluded, or the end is reached
                if _log_capital(inside + step, hits, trials - hits, constants) >= bound:
                    outside = inside + step
                    break
                inside, step = inside + step, 2 * step
            for _ in range(_BISECTIONS):
                middle = (inside + outside) / 2
                if _log_capital(middle, hits, trials - hits, constants) >= bound:
                    outside = middle
                else:
                    inside = middle
            return outside

        return 0.0 if hits == 0 else limit(0.0), 1.0 if hits == trials else limit(1.0)

    def _constants(self, trials: int) -> list[tuple[float, float]]:
        """Each concentration with the part of its log capital that does not depend on p."""
        share = -math.log(len(self.concentrations))
        return [(k, math.lgamma(k) - math.lgamma(k + trials) + share) for k in self.concentrations]


def _log_capital(p: float, hits: int, misses: int, constants: Sequence[tuple[float, float]]) -> float:
    lgamma, q = math.lgamma, 1 - p
    logs = [
        lgamma(k * p + hits) - lgamma(k * p) + lgamma(k * q + misses) - lgamma(k * q) + constant
        for k, constant in constants
    ]
    largest = max(logs)
    total = largest + math.log(sum([math.exp(x - largest) for x in logs]))
    return total - hits * math.log(p) - misses * math.log(q)


@dataclass(frozen=True)
class Counts:
    """Numbers of simulations: all (`trials`), violating (`hits`), and without a verdict (`failed`)."""

    hits: int = 0
    trials: int = 0
    failed: int = 0

    @property
    def share(self) -> float:
        """The share of the judged ones that violate; 1, the upper limit, where none was judged."""
        return self.hits / (self.trials - self.failed) if self.trials > self.failed else 1.0

    @property
    def none_seen(self) -> bool:
        return not self.hits and self.trials > self.failed


@dataclass(frozen=True)
class StoppingRule:
    """A rule when to stop, with the interval that is valid under it.

    For the lower limit failed simulations count as not violated, for the upper limit as violated.  Limits grow with the
    hits, so the interval contains the one that their true verdicts would give, and keeps its coverage.
    """

    kind: str = "sequence"
    epsilon: float | None = None
    """Wanted half width; HALF_WIDTH if `relative` is None too."""
    relative: float | None = None
    """Wanted half width as a share of the estimate; with `epsilon`, reaching either is enough."""
    confidence: float = 0.95

    def __post_init__(self) -> None:
        problems = [] if self.kind in KINDS else [unknown_name("stopping rule", self.kind, KINDS)]
        for name in ("epsilon", "relative", "confidence"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                problems.append(Problem(f"{name}: {value}; it must lie strictly between 0 and 1."))
        if self.kind == "fixed" and self.relative is not None:
            problems.append(
                Problem("relative: the fixed rule cannot aim at a relative width; use epsilon, or another rule.")
            )
        if problems:
            raise UserError(problems)

    @property
    def half_width(self) -> float | None:
        return HALF_WIDTH if self.epsilon is None and self.relative is None else self.epsilon

    @cached_property
    def samples(self) -> int | None:
        """The number of simulations, where it is fixed in advance."""
        if self.kind != "fixed" or self.half_width is None:
            return None
        return chernoff_hoeffding_samples(self.half_width, 1 - self.confidence)

    @cached_property
    def sequence(self) -> ConfidenceSequence:
        if self.half_width is None or self.relative is not None:
            return ConfidenceSequence(self.confidence)
        return ConfidenceSequence.for_half_width(self.half_width, self.confidence)

    def reached(self, counts: Counts) -> bool:
        """Tell whether the rule allows to stop."""
        if self.samples is not None:
            return counts.trials >= self.samples
        low, high = self.interval(counts)
        half = (high - low) / 2
        if self.half_width is not None and half <= self.half_width:
            return True
        return self.relative is not None and counts.hits > 0 and half <= self.relative * self.estimate(counts).value

    def interval(self, counts: Counts) -> tuple[float, float]:
        most = counts.hits + counts.failed
        if self.kind == "sequence":
            low, high = self.sequence.interval(counts.hits, counts.trials)
            return low, high if counts.failed == 0 else self.sequence.interval(most, counts.trials)[1]
        limits = clopper_pearson if self.kind == "clopper_pearson" else hoeffding
        return limits(counts.hits, counts.trials, self.confidence)[0], limits(most, counts.trials, self.confidence)[1]

    def estimate(self, counts: Counts) -> Estimate:
        """The fraction of violations among the judged simulations; without one only the upper limit is known."""
        if counts.trials == 0:
            return Estimate(1.0, 0.0, 1.0, self.confidence, "not estimated", 0)
        low, high = self.interval(counts)
        value, method, none_seen = counts.share, self.method(counts), counts.none_seen
        if none_seen:
            method += f", {NONE_SEEN}: upper bound (no violation in {counts.trials})"
        if counts.failed:
            method += f"; {counts.failed} failed simulations taken as either"
        return Estimate(value, low, high, self.confidence, method, counts.trials, none_seen)

    def method(self, counts: Counts) -> str:
        if self.kind == "sequence":
            return "confidence sequence"
        if self.kind == "clopper_pearson":
            return "Clopper–Pearson after every batch (nominal coverage is not kept)"
        if self.samples is not None and counts.trials < self.samples:
            return f"Chernoff–Hoeffding, {counts.trials} of {self.samples} simulations"
        return "Chernoff–Hoeffding, fixed number of simulations"
