"""Rare events by importance sampling: other laws for delays, choices and values, found by cross-entropy.

    tilts := the profile's own laws
    repeat                                                 Rubinstein and Kroese 2004, "The Cross-Entropy Method"
        draw runs, take the tenth that comes closest to the goal (or all that meet it)
        tilts := histograms of their random numbers, each run weighted by its likelihood ratio
    until the goal itself is met by a tenth
    draw runs, one tenth under the own laws and nine tenths under the tilts
    P(goal) ≈ mean of weight × [goal met],   weight = own law / (1/10 own law + 9/10 tilted law)

The tenth under the own laws is a defensive mixture (Hesterberg 1995): no weight exceeds 10, so a goal that the tilts
overlook cannot be underestimated without a sign.  The estimate is unbiased whatever the tilts are; runs that trained
them are not used again.  Training takes at most two thirds of the runs allowed.

Batches may agree by chance, and whoever looks again and again would stop just then (at ± 20 %, 91 % of the intervals
covered instead of 95 %).  So the variance of the mean is no less than that of the single weights says, which scatters
far less than that of 20 batches, and hits are worth at least 150 equally weighted ones before it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import NONE_SEEN, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.kernel.tilts import effective_samples
from bbfalsify.stats.intervals import clopper_pearson, t_interval
from bbfalsify.stats.sequential import Counts

DEFENSIVE = 0.1
"""Share of runs under the own laws."""
ELITE = 0.1
BATCHES = 20
LARGER, LAST = 3, 2
"""Size and number of the rounds that follow when the goal is common: one finds the bins, the next fills them."""
MOST_ROUNDS = 30
"""Rounds of training after which a goal that is never met is given up."""
LEAST = 0.05
"""Share of the uniform law in every histogram."""
ENOUGH, TOGETHER = 150, 2000
"""Effective samples before the precision counts as reached; runs of a batch that are made at once."""
HARDLY = 10
"""Effective samples below which the scatter of weights bounds nothing."""
FEW, HEAVY, LARGEST = 100, 0.5, 0.02
"""Warnings: effective samples, Hill's index, and the share that the largest weight may have of their sum."""
RELATIVE, MOST_RUNS = 0.1, 1_000_000
ROUNDS = 20
"""Sizes of a round of training that have to fit into the runs allowed."""
TRAINING = 2 / 3
"""Share of the runs allowed that training may take."""


def plain_of(size: int) -> int:
    """The runs under the own laws, which come first, of so many."""
    return round(DEFENSIVE * size)


class NothingToTilt(UserError):
    """Nothing is random, so there are no other laws to draw from."""

    def __init__(self, what: str) -> None:
        super().__init__(f"importance sampling needs random choices, and the {what} has none.")


@dataclass(frozen=True, eq=False)
class Drawn:
    """Runs with the bins of their random numbers."""

    met: np.ndarray
    close: np.ndarray
    """Those that came as far as training asks for; of final runs, the same as `met`."""
    counts: np.ndarray
    unknown: int = 0
    """Runs without a verdict; they count as not met, and as met for the upper limit."""

    def joined(self, other: Drawn) -> Drawn:
        return Drawn(
            np.concatenate([self.met, other.met]),
            np.concatenate([self.close, other.close]),
            np.concatenate([self.counts, other.counts]),
            self.unknown + other.unknown,
        )


@dataclass
class Weighted:
    """Runs of the mixture with their weights, in batches of the same size."""

    sums: np.ndarray = field(default_factory=lambda: np.zeros(BATCHES))
    count: int = 0
    """Runs of a batch."""
    weights: list[np.ndarray] = field(default_factory=list)
    unknown: int = 0
    own: Counts = Counts()
    """The runs under the own laws among them."""

    def add(self, batches: Sequence[tuple[Drawn, np.ndarray]], size: int) -> None:
        for batch, (drawn, found) in enumerate(batches):
            self.sums[batch] += found.sum()
            self.weights.append(found[drawn.met])
            self.unknown += drawn.unknown
            met = drawn.met[: plain_of(len(drawn.met))]
            self.own = Counts(self.own.hits + int(met.sum()), self.own.trials + len(met))
        self.count += size

    @property
    def runs(self) -> int:
        return BATCHES * self.count

    @property
    def values(self) -> np.ndarray:
        """The mean of each batch."""
        return self.sums / max(1, self.count)

    @property
    def of_hits(self) -> np.ndarray:
        """The weights of the runs that met the goal."""
        return np.concatenate(self.weights) if self.weights else np.zeros(0)

    @property
    def effective(self) -> float:
        return effective_samples(self.of_hits)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Student's over the batches, but no narrower than the scatter of single weights says.

        Where every run met the goal, no weight tells of those that do not: independent runs under the own laws do.
        Where a few weights make the sum, their scatter says nothing of those that were not met: then the mean is at
        least as small a share of what it was as an unbiased estimate allows (Markov), and the upper limit is no less
        than that of the runs under the own laws.
        """
        least = 1 / self.effective - 1 / self.runs if self.sums.any() else 0.0
        low, high = t_interval(self.values, confidence, least)
        if len(self.of_hits) == self.runs:
            own = self.runs if np.allclose(self.of_hits, 1.0, rtol=1e-9) else int(DEFENSIVE * self.runs)
            low, high = min(low, clopper_pearson(own, own, confidence)[0]), max(high, 1.0)
        elif len(self.of_hits) and self.effective < HARDLY:
            low = min(low, (1 - confidence) / 2 * float(self.values.mean()))
            high = max(high, clopper_pearson(self.own.hits, self.own.trials, confidence)[1])
        return low, high


class TiltedSource(Protocol):
    """Runs under tilted laws."""

    @property
    def runs(self) -> int:
        """Runs made so far."""

    def own(self) -> Any:
        """The laws as they are."""

    def train(self, tilts: Any, count: int, seeds: SeedTree) -> Drawn:
        """Draw runs; `close` are about a tenth of them, or those that met the goal if they are that many."""

    def draw(self, tilts: Any, count: int, seeds: SeedTree) -> Drawn: ...


@dataclass
class ImportanceSampling:
    source: TiltedSource
    seeds: SeedTree
    confidence: float
    relative: float
    particles: int
    most_runs: int
    go_on: Callable[[], bool]
    beside: float = 0.0
    """A probability that the result is added to: the precision is a share of both together."""
    trusted: bool = True
    """False where few weights make the sum."""
    said: list[str] = field(default_factory=list)
    effective: float = 0.0
    """Effective sample size of the runs that met the goal."""

    def estimate(self) -> Estimate:
        tilts = self.trained()
        final = self._final(tilts)
        samples, confidence = self.source.runs, self.confidence
        method = f"importance sampling, cross-entropy tilts, t over {BATCHES} batches"
        plain = int(DEFENSIVE * final.runs)
        if not len(final.of_hits):
            high = clopper_pearson(min(final.unknown, plain), plain, confidence)[1]
            self.said.append(f"no run met it, under tilted laws or {plain} times under the own ones: an upper bound")
            return Estimate(0.0, 0.0, high, confidence, f"{method}, {NONE_SEEN}: upper bound", samples, none_seen=True)
        low, high = final.interval(confidence)
        if final.unknown:
            high = min(1.0, high + clopper_pearson(final.unknown, final.runs, confidence)[1] / DEFENSIVE)
            self.said.append(f"{final.unknown} runs could not be judged; they count as either")
        self.effective = final.effective
        self._check_tail(final.of_hits)
        return Estimate(float(final.values.mean()), low, high, confidence, method, samples)

    def trained(self) -> Any:
        """The tilts under which the goal is common."""
        tilts, size, last = self.source.own(), self.particles, LAST
        for number in range(MOST_ROUNDS):
            if not self.go_on() or self.source.runs + size > TRAINING * self.most_runs:
                break
            drawn = self.source.train(tilts, size, self.seeds.child("training", number))
            if not drawn.close.any():
                break
            weights = _tempered(tilts.log_ratios(drawn.counts[drawn.close]))
            tilts = tilts.fitted(drawn.counts[drawn.close], weights, least=LEAST)
            if size > self.particles:
                last -= 1
            if last == 0:
                return tilts
            if drawn.met.mean() >= ELITE:  # larger rounds: the noise of the histograms ends up in the weights
                size = LARGER * self.particles
        else:
            self.said.append(f"the goal was still rare after {MOST_ROUNDS} rounds of training: does the score rise?")
        return tilts

    def _final(self, tilts: Any) -> Weighted:
        """Runs until the precision is reached, or no more are allowed."""
        own, found = tilts.as_own(), Weighted()
        least = min(max(20, self.particles // 2), (self.most_runs - self.source.runs) // BATCHES)
        if least * DEFENSIVE < 1:
            raise BudgetSpent(StopReason.BUDGET_SIMULATIONS)
        while not self._reached(found):
            size = min(max(least, found.count // 4), TOGETHER, (self.most_runs - self.source.runs) // BATCHES)
            if size < least or (found.count and not self.go_on()):
                if found.sums.any() or not self.beside:
                    self.said.append(f"stopped after {self.source.runs} runs, before the precision was reached")
                break
            seeds = self.seeds.child("final", found.count)
            try:
                found.add([self._batch(own, tilts, size, seeds.child(b)) for b in range(BATCHES)], size)
            except BudgetSpent as spent:
                if not found.count:
                    raise
                self.said.append(f"stopped after {self.source.runs} runs ({spent.reason.value})")
                break
        return found

    def _reached(self, found: Weighted) -> bool:
        mean = float(found.values.mean())
        if mean == 0 or (not self.beside and found.effective < ENOUGH):
            return False
        low, high = found.interval(self.confidence)
        return high - low <= 2 * self.relative * (mean + self.beside)

    def _batch(self, own: Any, tilts: Any, size: int, seeds: SeedTree) -> tuple[Drawn, np.ndarray]:
        """Runs of the mixture, without their counts, and the weights of those that met the goal."""
        plain = plain_of(size)
        drawn = self.source.draw(own, plain, seeds.child("own"))
        drawn = drawn.joined(self.source.draw(tilts, size - plain, seeds.child("tilted")))
        inverse = DEFENSIVE + (1 - DEFENSIVE) * np.exp(_bounded(-tilts.log_ratios(drawn.counts)))
        return replace(drawn, counts=np.zeros((0, 0))), drawn.met / inverse

    def _check_tail(self, weighted: np.ndarray) -> None:
        if self.effective < FEW:
            self.trusted = False
            self.said.append(f"heavy tails: the runs that met it are worth {self.effective:.0f} equally weighted ones")
            return
        largest = np.sort(weighted)[-max(20, int(3 * np.sqrt(len(weighted)))) :]
        index = float(np.log(largest / largest[0]).mean())
        self.trusted = bool(weighted.max() <= LARGEST * weighted.sum())
        if index > HEAVY:
            self.said.append(
                f"heavy tails: the largest weights fall off slowly (Hill {index:.2f}, at most {HEAVY:g} is safe); "
                "the interval may be too narrow"
            )


def importance_sampling(
    source: TiltedSource, settings: EstimateSettings, seeds: SeedTree, go_on: Callable[[], bool]
) -> ImportanceSampling:
    """Importance sampling as the settings say; a half width that is no share of the value means `RELATIVE`."""
    return ImportanceSampling(
        source, seeds, settings.confidence, settings.relative or RELATIVE, fitting(settings),
        settings.runs or MOST_RUNS, go_on,
    )  # fmt: skip


def fitting(settings: EstimateSettings) -> int:
    """The particles of the settings, or as many as fit into their runs."""
    return min(settings.particles, max(20, (settings.runs or MOST_RUNS) // ROUNDS))


def _tempered(logs: np.ndarray) -> np.ndarray:
    """Likelihood ratios, to a power below 1 where else a few runs would outweigh all others and teach only noise."""
    for power in (1.0, 0.75, 0.5, 0.25):
        weights = np.exp(power * (logs - logs.max()))
        if effective_samples(weights) >= len(logs) / 3:
            break
    return weights


def _bounded(logs: np.ndarray) -> np.ndarray:
    return np.clip(logs, -700.0, 700.0)
