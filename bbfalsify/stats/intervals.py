"""Intervals for probabilities: binomial, means of passes, and their combination for splitting.

Splitting estimates P = C · f, where C is the probability of the timed cylinder (product of the levels' conditional
probabilities) and f the fraction of its traces that are first violated in their last step.  R independent passes give R
values C_r · f_r, and Student's t over the passes is an honest interval as long as the values differ.  When nearly all
or nearly none of the traces violate, the passes agree by lack of evidence and that interval collapses; then f gets the
exact binomial (Clopper–Pearson) interval and is multiplied with the cylinder's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from bbfalsify.core.estimate import Estimate

FEW = 10
"""Fewer violating (or satisfying) traces than this and the binomial interval takes over from Student's."""


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact two-sided binomial interval; with no trials it is [0, 1]."""
    if not 0 <= hits <= trials:
        raise ValueError(f"hits must lie between 0 and {trials}, got {hits}")
    alpha = 1 - confidence
    low = 0.0 if hits == 0 else float(special.betaincinv(hits, trials - hits + 1, alpha / 2))
    high = 1.0 if hits == trials else float(special.betaincinv(hits + 1, trials - hits, 1 - alpha / 2))
    return low, high


def t_interval(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval for the mean of independent values, cut to [0, 1]; [0, 1] where there are fewer than two."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return 0.0, 1.0
    mean = float(values.mean())
    half = float(special.stdtrit(len(values) - 1, (1 + confidence) / 2) * values.std(ddof=1) / math.sqrt(len(values)))
    return max(0.0, mean - half), min(1.0, mean + half)


@dataclass(frozen=True)
class Passes:
    """What R independent passes saw: pass r had cylinder `cylinders[r]`, and `hits[r]` of `traces[r]` violated.

    A pass that lost all its particles has cylinder 0 and no traces; it counts as the value 0 (leaving it out would be
    biased).
    """

    cylinders: tuple[float, ...]
    hits: tuple[int, ...]
    traces: tuple[int, ...]

    @property
    def values(self) -> np.ndarray:
        c, h, n = (np.asarray(a, dtype=float) for a in (self.cylinders, self.hits, self.traces))
        return np.where(n > 0, c * h / np.maximum(n, 1), 0.0)

    @property
    def total_hits(self) -> int:
        return sum(self.hits)

    @property
    def total_traces(self) -> int:
        return sum(self.traces)

    @property
    def enough(self) -> bool:
        """Whether the passes differ because of chance, and not agree for lack of evidence."""
        return min(self.total_hits, self.total_traces - self.total_hits) >= FEW

    def cylinder(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Value, low and high of the cylinder's probability; low = high where every pass agrees to rounding."""
        c = np.asarray(self.cylinders, dtype=float)
        mean = float(c.mean())
        if float(np.ptp(c)) <= 1e-12 * float(c.max(initial=0.0)):
            return mean, mean, mean
        return mean, *t_interval(c, confidence)


def splitting_estimate(passes: Passes, *, method: str, confidence: float = 0.95) -> Estimate:
    """The probability that a run follows the word and is first violated in its last step.

    Without a single hit the value is the upper bound itself, never 0: the counterexample exists.
    """
    mean, n = float(passes.values.mean()), passes.total_traces
    if passes.enough:
        low, high = t_interval(passes.values, confidence)
        return Estimate(mean, low, high, confidence, f"{method}, t over {len(passes.values)} passes", n)
    # Each factor gets half of the error, unless the cylinder is known exactly.
    _, c_low, c_high = passes.cylinder((1 + confidence) / 2)
    f_low, f_high = clopper_pearson(passes.total_hits, n, confidence if c_low == c_high else (1 + confidence) / 2)
    # Where no particle survived, nothing is known but that the value is a probability.
    high = min(1.0, c_high * f_high) if n else 1.0
    if passes.total_hits == 0:
        return Estimate(high, 0.0, high, confidence, f"{method}, upper bound (no violating trace in {n})", n)
    low = min(mean, c_low * f_low)
    return Estimate(mean, low, max(mean, high), confidence, f"{method}, Clopper–Pearson × cylinder", n)


def total_estimate(items: Sequence[Passes], *, method: str, confidence: float = 0.95) -> Estimate:
    """The sum over disjoint counterexamples: sum per pass, then t over passes.

    Counterexamples whose passes agree for lack of evidence would make that interval collapse; they add their own
    limits instead, which can only widen it.
    """
    enough = [p.values for p in items if p.enough]
    others = [splitting_estimate(p, method=method, confidence=confidence) for p in items if not p.enough]
    sums = np.sum(enough, axis=0) if enough else np.zeros(2)
    low, high = t_interval(sums, confidence)
    value = float(sum(p.values.mean() for p in items))
    high = min(1.0, max(value, high + sum(e.high for e in others)))
    if items and not any(p.total_hits for p in items):
        value = high  # an upper bound, as in `splitting_estimate`
    return Estimate(
        min(1.0, value),
        max(0.0, min(value, low + sum(e.low for e in others))),
        high,
        confidence,
        f"{method}, sum per pass",
        sum(p.total_traces for p in items),
    )
