"""Intervals for probabilities: binomial, means of passes, and their combination for splitting.

Splitting estimates P = C · f, where C is the probability of the timed cylinder (product of the levels' conditional
probabilities) and f the fraction of its traces that are first violated in their last step.

* C known exactly, traces independent: f has the exact binomial (Clopper–Pearson) interval, and C scales it.
* Otherwise R independent passes give R values C_r · f_r, and Student's t over them is an honest interval as long as
  the values differ by chance.  When nearly all or nearly none of the traces violate, or all passes give the same value,
  that interval collapses for lack of evidence; then f gets the binomial interval and C its own.
* Values of splitting are skewed, like products: the interval is taken on the logarithm's scale.  A few passes may agree
  better than they should: traces that share ancestors vary no less than independent ones, which bounds the variance
  from below.  Passes over levels of a score with few particles are more skewed still (`skewed_interval`).
* Traces with common ancestors are not independent: the binomial interval counts families, not traces.
* Never a hit gives an upper bound, never "0".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from bbfalsify.core.estimate import NONE_SEEN, Estimate

FEW = 10
"""With fewer violating or fewer satisfying traces than this, the binomial interval replaces Student's."""


def clopper_pearson(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact two-sided binomial interval, [0, 1] without trials; counts need not be whole."""
    if not 0 <= hits <= trials:
        raise ValueError(f"hits must lie between 0 and {trials}, got {hits}")
    alpha = 1 - confidence
    low = 0.0 if hits == 0 else float(special.betaincinv(hits, trials - hits + 1, alpha / 2))
    high = 1.0 if hits == trials else float(special.betaincinv(hits + 1, trials - hits, 1 - alpha / 2))
    return low, high


def t_interval(
    values: Sequence[float] | np.ndarray, confidence: float = 0.95, least: float = 0.0
) -> tuple[float, float]:
    """Student's interval for the mean of independent, skewed, positive values: mean · exp(± relative half-width).

    It is [0, 1] for fewer than two values.  `least` is a lower bound for the relative variance of the mean.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean()) if len(values) else 0.0
    if len(values) < 2 or mean <= 0:
        return 0.0, 1.0
    variance = max(float((values / mean).var(ddof=1)) / len(values), least)
    half = float(special.stdtrit(len(values) - 1, (1 + confidence) / 2)) * math.sqrt(variance)
    return mean * math.exp(-half), min(1.0, mean * math.exp(min(half, 700.0)))


def skewed_interval(
    values: Sequence[float] | np.ndarray, confidence: float = 0.95, least: float = 0.0
) -> tuple[float, float]:
    """Student's interval with an upper limit for passes that are as skewed as those of few particles.

    A pass whose successes descend from one or two first runs scatters like a gamma law, near 0 more often than the
    logarithm's scale says: 8 passes of 20 particles were below the truth with their upper limit in 8 % instead of
    2.5 %.  So that is no less than the limit of a gamma law with the same variance, enlarged by Student's quantile.
    """
    low, high = t_interval(values, confidence, least)
    values = np.asarray(values, dtype=float)
    mean = float(values.mean()) if len(values) else 0.0
    if len(values) < 2 or mean <= 0:
        return low, high
    variance = max(float((values / mean).var(ddof=1)) / len(values), least)
    doubt = (1 - confidence) / 2
    student = float(special.stdtrit(len(values) - 1, 1 - doubt)) / float(special.ndtri(1 - doubt))
    if variance * student**2 < _HARDLY_SKEWED:
        return low, high
    shape = 1 / (variance * student**2)
    least_share = float(special.gammaincinv(shape, doubt)) / shape
    return low, min(1.0, max(high, mean / least_share if least_share > 0 else 1.0))


_HARDLY_SKEWED = 1e-6
"""Relative variance of a mean below which the gamma law is the normal one, up to a part in a thousand."""


def _differ(values: Sequence[float] | np.ndarray) -> bool:
    """Tell whether the values differ by more than rounding."""
    return float(np.ptp(values)) > 1e-12 * float(np.max(values))


@dataclass(frozen=True)
class Passes:
    """Counts of R independent passes: pass r had cylinder `cylinders[r]`, and `hits[r]` of `traces[r]` violated.

    A pass that lost all its particles has cylinder 0 and no traces; its value is 0 (omitting it would be biased).
    """

    cylinders: tuple[float, ...]
    hits: tuple[int, ...]
    traces: tuple[int, ...]
    exact: bool = False
    """True: the cylinders are known, not sampled."""
    families: tuple[float, ...] | None = None
    """Number of independent traces that those of each pass are worth; None: all of them."""
    even: bool = False
    """True: the traces of a pass are quasi-random and vary less than the binomial law says."""
    least_scatter: float = 0.0
    """Lower bound of the relative variance of the mean of the cylinders, where more is known than their scatter."""
    unknown: tuple[int, ...] | None = None
    """Traces of each pass without a verdict; they count as satisfied, and as violated for the upper limit."""

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
    def independence(self) -> float:
        """Share of the traces that counts as independent."""
        return 1.0 if self.families is None else sum(self.families) / max(1, self.total_traces)

    @property
    def spread(self) -> bool:
        """Tell whether there is enough evidence, from enough passes, for the passes to differ by chance."""
        misses = [n - h for n, h in zip(self.traces, self.hits, strict=True)]
        enough = all(sum(seen) >= FEW and 2 * np.count_nonzero(seen) >= len(seen) for seen in (self.hits, misses))
        return enough and _differ(self.values)

    @property
    def over_passes(self) -> bool:
        """Tell whether to use Student's interval over the passes."""
        return self.spread and (self.even or not self.exact)

    @property
    def least_variance(self) -> float:
        """Lower bound of the mean's relative variance: binomial fraction plus scatter of cylinders; 0 if unknown."""
        if self.even or not self.total_hits or len(self.cylinders) < 2:
            return 0.0
        share, cylinders = self.total_hits / self.total_traces, np.asarray(self.cylinders)
        following = max(self.least_scatter, float((cylinders / cylinders.mean()).var(ddof=1)) / len(cylinders))
        return (1 - share) / (share * self.total_traces) + following

    def cylinder(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Value, low and high of the cylinder's probability."""
        mean = float(np.mean(self.cylinders))
        if self.exact:
            return mean, mean, mean
        low, high = t_interval(self.cylinders, confidence, self.least_scatter)
        if _differ(self.cylinders) or len(self.cylinders) < 2 or not self.total_traces:
            return mean, low, high if self.total_traces else 1.0
        # All passes gave the same cylinder: use a binomial interval with as many trials as there are traces.
        worth = self.total_traces * self.independence
        return mean, *clopper_pearson(mean * worth, worth, confidence)


def splitting_estimate(passes: Passes, *, method: str, confidence: float = 0.95) -> Estimate:
    """The probability that a run follows the word and is first violated in its last step.

    Without a single hit the value counts half a hit (the mean under Jeffreys' prior) and is never 0: the counterexample
    exists.
    """
    low, high, how = _limits(passes, confidence)
    if passes.unknown is not None and any(passes.unknown):
        hits = tuple(h + u for h, u in zip(passes.hits, passes.unknown, strict=True))
        high = _limits(replace(passes, hits=hits, unknown=None), confidence)[1]
        how += f", {sum(passes.unknown)} traces could not be judged"
    value = float(passes.values.mean()) if passes.total_hits else _half_a_hit(passes, high, confidence)
    none_seen = bool(passes.total_traces) and not passes.total_hits
    return Estimate(value, low, high, confidence, f"{method}, {how}", passes.total_traces, none_seen)


def _half_a_hit(passes: Passes, high: float, confidence: float) -> float:
    """The value of an estimate without hits; the upper limit where not even a trace was seen."""
    if not passes.total_traces:
        return high
    return min(high, passes.cylinder(confidence)[0] * 0.5 / (passes.total_traces * passes.independence + 1))


def _limits(passes: Passes, confidence: float) -> tuple[float, float, str]:
    """Lower limit, upper limit, and a description of the method."""
    mean, n = float(passes.values.mean()), passes.total_traces
    if n == 0:  # no particle survived, so nothing is known but that the value is a probability
        return 0.0, 1.0, "all passes lost"
    if passes.over_passes:
        low, high = t_interval(passes.values, confidence, passes.least_variance)
        return low, high, f"t over {len(passes.values)} passes"
    share, worth = passes.total_hits / n, n * passes.independence
    cylinder, c_low, c_high = passes.cylinder(confidence)
    f_low, f_high = clopper_pearson(share * worth, worth, confidence)
    how = "exact cylinder × Clopper–Pearson" if passes.exact else "Clopper–Pearson × cylinder"
    if passes.total_hits == 0:
        how = f"{NONE_SEEN}: upper bound (no violating trace in {n})"
        return 0.0, min(1.0, c_high * f_high), how
    # Independent factors: relative distances to their limits add up like standard deviations (Zou and Donner 2008).
    below = math.hypot(math.log(share / f_low), math.log(cylinder / c_low)) if c_low > 0 else math.inf
    above = math.hypot(math.log(f_high / share), math.log(c_high / cylinder))
    return mean * math.exp(-below), min(1.0, mean * math.exp(above)), how


def total_estimate(items: Sequence[Passes], *, method: str, confidence: float = 0.95) -> Estimate:
    """The sum over disjoint counterexamples, estimated independently of each other.

    Those whose passes differ by chance are summed per pass, then t over passes.  Each other one brings its own limits.
    Distances from the value to the limits add up like standard deviations (Zou and Donner 2008), which keeps the
    coverage that the parts have.
    """
    summed = [p for p in items if p.over_passes]
    sums = np.sum([p.values for p in summed], axis=0) if summed else np.zeros(1)
    parts: list[tuple[float, float, float]] = []
    unseen: list[float] = []
    if summed and _differ(sums):
        parts.append((float(sums.mean()), *t_interval(sums, confidence, _least_of_sum(summed))))
    else:
        summed = []
    for p in (p for p in items if not any(p is s for s in summed)):
        own = splitting_estimate(p, method=method, confidence=confidence)
        parts.append((float(p.values.mean()), own.low, own.high))
        if not p.total_hits:
            unseen.append(own.value)
    value = sum(v for v, _, _ in parts)
    low = value - math.sqrt(sum((v - lowest) ** 2 for v, lowest, _ in parts))
    high = min(1.0, value + math.sqrt(sum((highest - v) ** 2 for v, _, highest in parts)))
    met = not items or any(p.total_hits for p in items)
    how = "sum per pass" if summed else "sum of independent estimates"
    return Estimate(
        # Unseen ones add nothing to a sum that has hits, which keeps it unbiased; but it is no less than any of them.
        min(1.0, high, max([value, *unseen]) if met else sum(unseen)),
        max(0.0, min(1.0, low)),
        high,
        confidence,
        f"{method}, {how}" if met else f"{method}, {NONE_SEEN}: {how}",
        sum(p.total_traces for p in items),
        none_seen=not met,
    )


def _least_of_sum(items: Sequence[Passes]) -> float:
    """The least relative variance of a sum."""
    means = np.array([p.values.mean() for p in items])
    return float(((means / means.sum()) ** 2) @ [p.least_variance for p in items])


def levels_estimate(
    levels: Sequence[Passes], *, method: str, confidence: float = 0.95, bound_unseen: bool = True
) -> Estimate:
    """The sum over the levels of one word, seen by the same passes (equations D.8 and D.9).

    Levels with enough evidence are summed per pass, then t over passes; levels with little add their own limits, as
    their errors may go together.  Levels without a hit share one upper bound: were the sum of their shares larger than
    it, a hit in one of them would have been seen with the given confidence (the rule of three).  Where a sum is asked
    for that is not the probability of an event, `bound_unseen` leaves that out if there are hits at all.
    """
    n = sum(p.total_traces for p in levels)
    value = float(sum(p.values.mean() for p in levels))
    if not levels or not levels[0].total_traces:
        return Estimate(1.0, 0.0, 1.0, confidence, f"{method}, all passes lost", 0)
    low = high = 0.0
    summed = [p for p in levels if p.spread]
    sums = np.sum([p.values for p in summed], axis=0) if summed else np.zeros(1)
    if summed and _differ(sums):
        low, high = t_interval(sums, confidence, _least_of_sum(summed))
    else:
        summed = []
    for p in levels:
        if p.total_hits and not any(p is s for s in summed):
            own = splitting_estimate(p, method=method, confidence=confidence)
            low, high = low + own.low, high + own.high
    unseen = -math.log((1 - confidence) / 2)
    reached = [p for p in levels if p.total_traces]
    bounds = [p.cylinder(confidence)[2] / (p.total_traces * p.independence) for p in reached if not p.total_hits]
    met = any(p.total_hits for p in levels)
    if bound_unseen or not met:
        high += unseen * max(bounds, default=0.0)
    if len(reached) < len(levels):  # all passes were lost on the way: what comes after is at most the last cylinder
        high += reached[-1].cylinder(confidence)[2]
    high = min(1.0, max(value, high))
    how = (
        f"t over {len(sums)} passes" if summed else "limits of the levels added" if met else f"{NONE_SEEN}: upper bound"
    )
    if not met:
        value = max(_half_a_hit(p, high, confidence) for p in reached)
    return Estimate(value, max(0.0, min(value, low)), high, confidence, f"{method}, {how}", n, none_seen=not met)
