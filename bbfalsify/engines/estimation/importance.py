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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import NONE_SEEN, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.kernel.tilts import effective_samples
from bbfalsify.stats.intervals import clopper_pearson, t_interval

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
FEW, HEAVY, LARGEST = 100, 0.5, 0.02
"""Warnings: effective samples, Hill's index, and the share that the largest weight may have of their sum."""
RELATIVE, MOST_RUNS = 0.1, 1_000_000
ROUNDS = 20
"""Sizes of a round of training that have to fit into the runs allowed."""
TRAINING = 2 / 3
"""Share of the runs allowed that training may take."""


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
        values, weighted, drawn = self._final(tilts)
        samples, confidence = self.source.runs, self.confidence
        method = f"importance sampling, cross-entropy tilts, t over {BATCHES} batches"
        plain = int(DEFENSIVE * len(drawn.met))
        if not drawn.met.any():
            high = clopper_pearson(min(drawn.unknown, plain), plain, confidence)[1]
            self.said.append(f"no run met it, under tilted laws or {plain} times under the own ones: an upper bound")
            return Estimate(high, 0.0, high, confidence, f"{method}, {NONE_SEEN}: upper bound", samples, none_seen=True)
        low, high = t_interval(values, confidence)
        if drawn.unknown:
            high = min(1.0, high + clopper_pearson(drawn.unknown, len(drawn.met), confidence)[1] / DEFENSIVE)
            self.said.append(f"{drawn.unknown} runs could not be judged; they count as either")
        self.effective = effective_samples(weighted)
        self._check_tail(weighted)
        return Estimate(float(values.mean()), low, high, confidence, method, samples)

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

    def _final(self, tilts: Any) -> tuple[np.ndarray, np.ndarray, Drawn]:
        """Means of the batches, weights of the runs that met the goal, and all runs."""
        own, sums, count = tilts.as_own(), np.zeros(BATCHES), 0
        weights: list[np.ndarray] = []
        everything: Drawn | None = None
        size = min(max(20, self.particles // 2), (self.most_runs - self.source.runs) // BATCHES)
        if size * DEFENSIVE < 1:
            raise BudgetSpent(StopReason.BUDGET_SIMULATIONS)
        while True:
            try:
                made = [self._batch(own, tilts, size, self.seeds.child("final", count, b)) for b in range(BATCHES)]
            except BudgetSpent as spent:
                if everything is None:
                    raise
                self.said.append(f"stopped after {self.source.runs} runs ({spent.reason.value})")
                break
            for batch, (drawn, found) in enumerate(made):
                sums[batch] += found.sum()
                weights.append(found[drawn.met])
                everything = drawn if everything is None else everything.joined(drawn)
            count += size
            values = sums / count
            mean = float(values.mean())
            low, high = t_interval(values, self.confidence) if mean > 0 else (0.0, 1.0)
            # A few heavy weights may agree by chance, and look precise.
            enough = self.beside > 0 or effective_samples(np.concatenate(weights)) >= FEW
            if mean > 0 and enough and high - low <= 2 * self.relative * (mean + self.beside):
                break
            if not self.go_on() or self.source.runs + BATCHES * size > self.most_runs:
                if mean > 0 or not self.beside:
                    self.said.append(f"stopped after {self.source.runs} runs, before the precision was reached")
                break
        assert everything is not None
        return values, np.concatenate(weights), everything

    def _batch(self, own: Any, tilts: Any, size: int, seeds: SeedTree) -> tuple[Drawn, np.ndarray]:
        """Runs of the mixture, without their counts, and the weights of those that met the goal."""
        plain = round(DEFENSIVE * size)
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
