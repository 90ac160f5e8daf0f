"""Rare violations of a closed loop by splitting over levels of robustness, on choice sequences.

    runs := n uses under the profile
    for level in levels                                    Cérou, Del Moral, Furon, Guyader 2012; Au and Beck 2001
        p := share of the runs with robustness ≤ level
        runs := n copies of those, evenly
        a few times: change some random numbers of each run; keep the change if robustness stays ≤ level
    P(violation) ≈ product of the p, and of the share that violates in the end

Under the profile all random numbers of a use are independent and uniform (`core/choices.py`), so a change that treats
them alike leaves the profile's law, given the level, as it is; then the product is unbiased for levels that are fixed
(`fixed_effort`: a pilot pass chooses them, and how far numbers move at each).  `adaptive` lets each pass choose: the
score of the best run that does not go on.  Delays, choices of edges and branches, parameters and signals change alike.

Every change is a use and is counted.  Half of the changes leave the random numbers before some place as they are, so
the use begins as before: a system that can save its state goes on from there (`systems/continued.py`), any other one
simulates the beginning again.  The result is the same; the time that was simulated is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bbfalsify.core.choices import HIGHEST
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.splitting import Pass, Passes, PassPlan
from bbfalsify.engines.estimation.uses import VIOLATED, JudgedUses
from bbfalsify.engines.falsification.space import NumberedRun, ProfileSpace

SURVIVE = 0.2
"""Share of the runs between two levels."""
MOVES = 6
MOST_LEVELS = 60
FINEST, FEW = 1e-12, 5


@dataclass(frozen=True, eq=False)
class Level:
    score: float
    widths: np.ndarray = field(default_factory=lambda: np.ones(0))
    """How far each random number may move; beyond them, anywhere."""


class Population(Protocol):
    """Runs with uniform random numbers, that can be drawn, changed and judged."""

    uses: JudgedUses

    def drawn(self, count: int, seeds: SeedTree) -> list[Any]: ...

    def numbers(self, run: Any) -> np.ndarray:
        """The random numbers of a run."""

    def changed(self, runs: list[Any], rng: np.random.Generator, seeds: SeedTree, widths: np.ndarray) -> dict[int, Any]:
        """Runs with changed random numbers (`moved`), by the places of those that they replace."""

    def scores(self, runs: list[Any]) -> np.ndarray: ...


class ProfileRuns:
    """A `Population`: all uses of a profile."""

    def __init__(self, uses: JudgedUses) -> None:
        self.uses, self.space = uses, ProfileSpace(uses.usage)

    def drawn(self, count: int, seeds: SeedTree) -> list[NumberedRun]:
        return self.space.numbered([np.zeros(0)] * count, seeds.words(count))

    def numbers(self, run: NumberedRun) -> np.ndarray:
        return run.numbers

    def changed(
        self, runs: list[NumberedRun], rng: np.random.Generator, seeds: SeedTree, widths: np.ndarray
    ) -> dict[int, NumberedRun]:
        words, numbers = seeds.words(len(runs)), [moved(run.numbers, rng, widths) for run in runs]
        new = [i for i, run in enumerate(runs) if not np.array_equal(numbers[i], run.numbers)]
        return dict(zip(new, self.space.numbered([numbers[i] for i in new], words[new]), strict=True))

    def scores(self, runs: list[NumberedRun]) -> np.ndarray:
        return self.uses.scores([run.walk for run in runs])


@dataclass
class UseSplitting:
    population: Population
    variant: str
    particles: int
    plan: PassPlan
    confidence: float
    seeds: SeedTree

    def __post_init__(self) -> None:
        # Changed uses keep part of the random numbers of the first ones.
        self.passes = Passes(self.particles, self.confidence, independent_roots=True)
        self.population.uses.continues = True

    def estimate(self) -> Estimate:
        levels: list[Level] | None = None
        uses = self.population.uses
        if self.variant == "fixed_effort":
            before = uses.asked
            _, levels = self._one(None, self.seeds.child("pilot"))
            self.passes.pilot_runs = uses.asked - before

        def one(number: int) -> Pass:
            return self._one(levels, self.seeds.child("pass", number))[0]

        self.passes.make(self.plan, one)
        return self.passes.estimate(self.variant)

    def warnings(self) -> list[str]:
        said, unknown = self.passes.warnings(), self.population.uses.unknown
        if unknown:
            said.append(f"{unknown} uses failed or stood still; they count as not violated")
        return said

    def _one(self, levels: list[Level] | None, seeds: SeedTree) -> tuple[Pass, list[Level]]:
        """One pass, through these levels or its own; return it with its levels."""
        done, count, before = Pass(), self.particles, self.population.uses.asked
        rng = seeds.child("moves").rng()
        runs = self.population.drawn(count, seeds.child("first"))
        scores, roots = self.population.scores(runs), np.arange(count)
        self.population.uses.count_plain(scores == VIOLATED)
        taken: list[Level] = []
        while done.levels < MOST_LEVELS and (levels is None or done.levels < len(levels)):
            level = (
                levels[done.levels] if levels is not None else Level(_next_level(scores, self.variant == "adaptive"))
            )
            alive = np.flatnonzero(scores <= level.score)
            if (
                level.score == VIOLATED
                or not len(alive)
                or (levels is None and taken and level.score >= taken[-1].score)
            ):
                break
            if levels is None:
                level = Level(level.score, _widths([self.population.numbers(runs[i]) for i in alive]))
            taken.append(level)
            done.levels += 1
            done.value *= len(alive) / count
            picks = alive[np.floor((np.arange(count) + rng.random()) * len(alive) / count).astype(np.int64)]
            runs, scores, roots = [runs[i] for i in picks], scores[picks], roots[picks]
            for move in range(MOVES):
                self._move(runs, scores, level, seeds.child("level", done.levels, move), rng)
        violating = scores == VIOLATED
        done.value *= float(violating.mean())
        done.roots, done.runs = len(np.unique(roots[violating])), self.population.uses.asked - before
        return done, taken

    def _move(
        self, runs: list[Any], scores: np.ndarray, level: Level, seeds: SeedTree, rng: np.random.Generator
    ) -> None:
        """Change some random numbers of every run; keep what stays at or below the level."""
        changed = self.population.changed(runs, rng, seeds, level.widths)
        found = self.population.scores(list(changed.values()))
        for i, score in zip(changed, found.tolist(), strict=True):
            if score <= level.score:
                runs[i], scores[i] = changed[i], score


def _next_level(scores: np.ndarray, unbiased: bool) -> float:
    """The score that a fifth of the runs reach; `VIOLATED` once that many violate.

    A pass that goes on from k of n runs is unbiased if they lie strictly below the next one (Bréhier et al. 2016): the
    run that sets the level is not among them.  Otherwise the product is too large by k / (k - 1) for every level.
    """
    ordered, count = np.sort(scores), max(1, int(SURVIVE * len(scores)))
    if unbiased and count < len(ordered) and ordered[0] < ordered[count] < np.inf:
        return float(np.nextafter(ordered[count], VIOLATED))
    return float(ordered[count - 1])


def _widths(numbers: list[np.ndarray]) -> np.ndarray:
    """The range over which each random number scatters: the width of a uniform law with the same deviation."""
    longest = max(len(one) for one in numbers)
    table = np.array([np.append(one, np.full(longest - len(one), np.nan)) for one in numbers])
    known = (~np.isnan(table)).sum(axis=0) >= FEW
    return np.where(known, np.clip(np.sqrt(12.0) * np.nanstd(table, axis=0), FINEST, 1.0), 1.0)


def moved(numbers: np.ndarray, rng: np.random.Generator, widths: np.ndarray) -> np.ndarray:
    """Move random numbers to both sides alike, round the ends of [0, 1): few far, or many a little, all or the later.

    What is decided here does not depend on the run, so the change back is as probable.  A run that needs more numbers
    than before draws them, as those that were not used count as drawn anew.
    """
    share, scale = (0.1, 0.3, 1.0)[rng.integers(3)], (0.1, 0.4, 1.0)[rng.integers(3)]
    kept = int(rng.integers(2)) * int(rng.integers(max(1, len(widths))))
    chosen = rng.random(len(numbers)) < share
    chosen[:kept] = False
    reach, known = np.full(len(numbers), scale), min(len(widths), len(numbers))
    reach[:known] *= widths[:known]
    turned = (numbers + reach * (2 * rng.random(len(numbers)) - 1)) % 1.0
    return np.where(chosen, np.minimum(turned, HIGHEST), numbers)
