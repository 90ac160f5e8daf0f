"""Rare violations of a closed loop by splitting over levels of robustness, on choice sequences.

    runs := n uses under the profile
    for level in levels                                    Cérou, Del Moral, Furon, Guyader 2012; Au and Beck 2001
        p := share of the runs with robustness ≤ level
        runs := n copies of those, evenly
        a few times: change some random numbers of each run; keep the change if robustness stays ≤ level
    P(violation) ≈ product of the p, and of the share that violates in the end

Under the profile all random numbers of a use are independent and uniform (`core/choices.py`), so a change that treats
them alike leaves the profile's law, given the level, as it is; then the product is unbiased for levels that are fixed
(`fixed_effort`: a pilot pass chooses them).  `adaptive` lets each pass choose, with a bias that falls with n.  Delays,
choices of edges and branches, parameters and signals change alike.  Every change is a whole use, from reset, and is
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.estimation.splitting import Pass, Passes
from bbfalsify.engines.estimation.uses import VIOLATED, JudgedUses
from bbfalsify.engines.falsification.space import PlayedRun, ProfileSpace

SURVIVE = 0.2
"""Share of the runs between two levels."""
MOVES = 4
MOST_LEVELS = 60
WIDTHS = (0.02, 0.1, 0.5)
"""Largest changes of a random number; one is drawn for each move."""


@dataclass
class UseSplitting:
    uses: JudgedUses
    settings: EstimateSettings
    seeds: SeedTree
    go_on: Callable[[], bool]

    def __post_init__(self) -> None:
        self.space = ProfileSpace(self.uses.usage)
        self.passes = Passes(self.settings.particles, self.settings.confidence)

    def estimate(self) -> Estimate:
        levels = None
        if self.settings.splitting == "fixed_effort":
            before = self.uses.asked
            _, levels = self._one(None, self.seeds.child("pilot"))
            self.passes.pilot_runs = self.uses.asked - before

        def one(number: int) -> Pass:
            return self._one(levels, self.seeds.child("pass", number))[0]

        self.passes.make(self.settings.passes, one, self.go_on)
        return self.passes.estimate(self.settings.splitting)

    def warnings(self) -> list[str]:
        said = self.passes.warnings()
        if self.uses.unknown:
            said.append(f"{self.uses.unknown} uses failed or stood still; they count as not violated")
        return said

    def _one(self, levels: list[float] | None, seeds: SeedTree) -> tuple[Pass, list[float]]:
        """One pass, through these levels or its own; return it with its levels."""
        done, count, before = Pass(), self.settings.particles, self.uses.asked
        words, rng = seeds.child("first").words(count), seeds.child("moves").rng()
        runs = [self.space.run((), int(word)) for word in words]
        scores, roots = self.uses.scores([run.walk for run in runs]), np.arange(count)
        taken: list[float] = []
        while done.levels < MOST_LEVELS and (levels is None or done.levels < len(levels)):
            level = _next_level(scores) if levels is None else levels[done.levels]
            if level == VIOLATED:
                break
            alive = np.flatnonzero(scores <= level)
            if not len(alive) or (levels is None and taken and level >= taken[-1]):
                break
            taken.append(level)
            done.levels += 1
            done.value *= len(alive) / count
            picks = alive[np.floor((np.arange(count) + rng.random()) * len(alive) / count).astype(np.int64)]
            runs, scores, roots = [runs[i] for i in picks], scores[picks], roots[picks]
            for move in range(MOVES):
                self._move(runs, scores, level, seeds.child("level", done.levels, move), rng)
        violating = scores == VIOLATED
        done.value *= float(violating.mean())
        done.roots, done.runs = len(np.unique(roots[violating])), self.uses.asked - before
        return done, taken

    def _move(
        self, runs: list[PlayedRun], scores: np.ndarray, level: float, seeds: SeedTree, rng: np.random.Generator
    ) -> None:
        """Change some random numbers of every run; keep what stays at or below the level."""
        changed: dict[int, PlayedRun] = {}
        for i, (run, word) in enumerate(zip(runs, seeds.words(len(runs)), strict=True)):
            numbers = _changed(run.choices.quantiles, rng)
            if not np.array_equal(numbers, run.choices.quantiles):
                changed[i] = self.space.run(numbers, int(word))
        found = self.uses.scores([run.walk for run in changed.values()])
        for i, score in zip(changed, found.tolist(), strict=True):
            if score <= level:
                runs[i], scores[i] = changed[i], score


def _next_level(scores: np.ndarray) -> float:
    """The score that a fifth of the runs reach; `VIOLATED` once that many violate."""
    return float(np.sort(scores)[max(0, int(SURVIVE * len(scores)) - 1)])


def _changed(quantiles: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move random numbers to both sides alike, round the ends of [0, 1): few far, or many a little.

    What is decided here does not depend on the run, so the change back is as probable.  A run that needs more numbers
    than before draws them, as those that were not used count as drawn anew.
    """
    share, width = rng.choice([0.05, 0.2, 1.0]), rng.choice(WIDTHS)
    moves = rng.random(len(quantiles)) < share
    return np.where(moves, (quantiles + width * (2 * rng.random(len(quantiles)) - 1)) % 1.0, quantiles)
