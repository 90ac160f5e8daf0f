"""Make runs of the profile along a word with chosen delays: early, late, at a given moment, or as before.

A run of the profile along a word is described by one number in [0, 1) per action: its *quantile*, the place of its
delay in the profile's law of the delay given this action (0 is as early as possible, ½ the median, near 1 as late as
possible).  Any quantiles give a run that the profile allows; so delays may be moved, and actions left out, without
making an input that no user can produce.

The other random choices of a transition (edge, branch, random updates) are drawn several times, and the result most
similar to a given state is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy
from bbfalsify.engines.falsification.search.walk_extension import joined, where_they_end
from bbfalsify.kernel import (
    CompiledModel,
    Particles,
    StepResult,
    Walk,
    conditional_step,
    step_probability,
    stochastic_step,
    supports_conditional,
)

DRAWS = 16
"""Draws per step of everything but the delay; and points per round of the search for a quantile."""
ROUNDS = 4
"""Rounds of the search for the quantile of a delay, which distinguish 16⁴ places."""
LATEST = 1 - 2.0**-53
MANY = 200
"""Draws per step if the law is unknown; quantiles are those of the draws."""
CLOSE = 1e-6


@dataclass(frozen=True)
class Wish:
    """One action with its wanted delay and state."""

    action: str
    quantile: float = 0.5
    moment: float | None = None
    """Wanted time, if possible; the quantile is only the first guess then."""
    like: tuple[Walk, int] | None = None
    """Wanted state, if possible: that of this walk after so many steps."""


@dataclass(frozen=True, eq=False)
class Followed:
    walk: Walk
    quantiles: tuple[float, ...]
    """Place of each delay in its law."""


class WordFollower:
    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        self._exact = supports_conditional(model) is None
        clocks = {slot for store, slot in model.analysis.clocks if store == "r"}
        self._drawn = np.array([slot for slot in range(model.network.real_count) if slot not in clocks], int)
        """Reals with values that updates have drawn; the others are clocks."""

    def follow(self, wishes: Sequence[Wish], seeds: SeedTree, *, after: Followed | None = None) -> Followed | None:
        """Make a run with these actions (after another run); None if the profile does not allow it."""
        numbers = seeds.rng()
        start = Particles.initial(self.model, seeds.words(1))
        if after is not None and after.walk.steps:
            start = where_they_end(self.model, [after.walk], seeds.words(1))
        family = Genealogy(start)
        quantiles = [] if after is None else list(after.quantiles)
        for wish in wishes:
            found = self._step(family.particles, wish, numbers)
            if found is None or found[0].errors:  # a model that fails there does not allow it either
                return None
            step, row, quantile = found
            family.append(np.zeros(len(step.status), int), step, np.array([row]))
            quantiles.append(quantile)
        if not wishes:
            return after
        [walk] = family.walks()
        return Followed(walk if after is None or not after.walk.steps else joined(after.walk, walk), tuple(quantiles))

    def retrace(self, word: Sequence[tuple[float, str]], seeds: SeedTree, walk: Walk | None = None) -> Followed | None:
        """Make the run with these actions at these times, as near as the profile allows, and like the walk if known."""
        return self.follow(
            [
                Wish(action, moment=time, like=None if walk is None else (walk, k))
                for k, (time, action) in enumerate(word, start=1)
            ],
            seeds,
        )

    # ------------------------------------------------------------------ one step

    def _step(self, here: Particles, wish: Wish, numbers: np.random.Generator) -> tuple[StepResult, int, float] | None:
        """Make the step; return it with the chosen row and its quantile."""
        label = self.model.actions.index(wish.action)
        delay = None if wish.moment is None else wish.moment - float(here.time[0])
        if not self._exact:
            return self._drawn_step(here, label, wish, delay, numbers)
        if step_probability(self.model, here, label)[0] <= 0.0:
            return None
        quantile = wish.quantile
        step = self._at(here, label, np.full(DRAWS, quantile), numbers)
        if delay is not None and abs(float(step.delay[0]) - delay) > CLOSE:
            quantile = self._quantile(here, label, delay, numbers)
            step = self._at(here, label, np.full(DRAWS, quantile), numbers)
        rows = np.flatnonzero(step.made)
        return (step, self._most_like(step, rows, wish.like), quantile) if len(rows) else None

    def _at(self, here: Particles, label: int, quantiles: np.ndarray, numbers: np.random.Generator) -> StepResult:
        count = len(quantiles)
        copies = here.take(np.zeros(count, int), numbers.integers(0, 2**64, size=count, dtype=np.uint64))
        points = np.column_stack([np.clip(quantiles, 0.0, LATEST), (np.arange(count) + 0.5) / count])
        return conditional_step(self.model, copies, label, points)

    def _quantile(self, here: Particles, label: int, delay: float, numbers: np.random.Generator) -> float:
        """Find the quantile with the closest delay; delays grow with their quantiles."""
        low, high, best = 0.0, LATEST, (np.inf, 0.5)
        for _ in range(ROUNDS):
            points = np.linspace(low, high, DRAWS)
            reached = self._at(here, label, points, numbers).delay
            nearest = int(np.argmin(np.abs(reached - delay)))
            best = min(best, (abs(float(reached[nearest]) - delay), float(points[nearest])))
            if best[0] <= CLOSE:
                break
            right = int(np.searchsorted(reached, delay))
            low, high = points[max(right - 1, 0)], points[min(right, DRAWS - 1)]
        return best[1]

    def _drawn_step(
        self, here: Particles, label: int, wish: Wish, delay: float | None, numbers: np.random.Generator
    ) -> tuple[StepResult, int, float] | None:
        """Draw many steps and choose a fitting one, if the law of the next action is not computed."""
        words = numbers.integers(0, 2**64, size=MANY, dtype=np.uint64)
        step = stochastic_step(self.model, here.take(np.zeros(MANY, int), words))
        rows = np.flatnonzero(step.made & (step.action == label))
        if not len(rows):
            return None
        rows = rows[np.argsort(step.delay[rows], kind="stable")]
        wanted = int(min(wish.quantile, LATEST) * len(rows))
        if delay is not None:
            wanted = int(np.argmin(np.abs(step.delay[rows] - delay)))
        near = rows[max(0, wanted - DRAWS // 4) : wanted + DRAWS // 4 + 1] if wish.like else rows[wanted : wanted + 1]
        chosen = self._most_like(step, near, wish.like)
        return step, chosen, (int(np.flatnonzero(rows == chosen)[0]) + 0.5) / len(rows)

    def _most_like(self, step: StepResult, rows: np.ndarray, like: tuple[Walk, int] | None) -> int:
        if like is None or len(rows) == 1:
            return int(rows[0])
        walk, k = like
        after = step.particles
        differs = (
            np.abs(after.reals[rows][:, self._drawn] - walk.reals[k][self._drawn]).sum(axis=1),
            np.sum(after.integers[rows] != walk.integers[k], axis=1),
            np.sum(after.locations[rows] != walk.locations[k], axis=1),
        )
        return int(rows[np.lexsort(differs)[0]])
