"""Runs that follow a word as one wants them: each delay early, late, at a given moment, or as before.

A run of the profile along a word is described by one number in [0, 1) per action: its *quantile*, the place of its
delay in the profile's law of the delay given this action (0 is as early as possible, ½ the median, near 1 as late as
possible).  Whatever the quantiles are, the result is a run that the profile allows; so delays may be moved, and actions
left out, without ever making an input that no user can produce.

What a transition draws besides its delay (which edge, which branch, random updates) is drawn several times, and what is
most like a given state is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.genealogy import Genealogy
from bbfalsify.engines.falsification.walk_extension import joined, where_they_end
from bbfalsify.kernel import (
    CompiledModel,
    Particles,
    StepResult,
    Walk,
    WalkStatus,
    conditional_step,
    step_probability,
    stochastic_step,
    supports_conditional,
)

DRAWS = 16
"""Of everything but the delay, per step; and points per round of looking for a quantile."""
ROUNDS = 4
"""Of looking for the quantile of a delay: 16⁴ places are told apart."""
LATEST = 1 - 2.0**-53
MANY = 200
"""Draws per step where the law is not known: the quantiles are those of what was drawn."""
CLOSE = 1e-6


@dataclass(frozen=True)
class Wish:
    """One action, and how it should come about."""

    action: str
    quantile: float = 0.5
    moment: float | None = None
    """If possible at this time; the quantile is only the first guess then."""
    like: tuple[Walk, int] | None = None
    """If possible into the state that this walk has after so many steps."""


@dataclass(frozen=True, eq=False)
class Followed:
    walk: Walk
    quantiles: tuple[float, ...]
    """Where in its law each delay lies."""


class Follower:
    def __init__(self, model: CompiledModel) -> None:
        self.model = model
        self._exact = supports_conditional(model) is None
        clocks = {slot for store, slot in model.analysis.clocks if store == "r"}
        self._drawn = np.array([slot for slot in range(model.network.real_count) if slot not in clocks], int)
        """Reals that keep what an update has drawn; clocks say how late it is."""

    def follow(self, wishes: Sequence[Wish], seeds: SeedTree, *, after: Followed | None = None) -> Followed | None:
        """A run that makes these actions (after another run); None where the profile does not allow it."""
        numbers = seeds.rng()
        start = Particles.initial(self.model, seeds.words(1))
        if after is not None and after.walk.steps:
            start = where_they_end(self.model, [after.walk], seeds)
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
        """The run with these actions at these times, as near as the profile allows, and like the walk if known."""
        return self.follow(
            [
                Wish(action, moment=time, like=None if walk is None else (walk, k))
                for k, (time, action) in enumerate(word, start=1)
            ],
            seeds,
        )

    # ------------------------------------------------------------------ one step

    def _step(self, here: Particles, wish: Wish, numbers: np.random.Generator) -> tuple[StepResult, int, float] | None:
        """The step, the row of it that was chosen, and its quantile."""
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
        rows = np.flatnonzero(step.status == WalkStatus.RUNNING)
        return (step, self._most_like(step, rows, wish.like), quantile) if len(rows) else None

    def _at(self, here: Particles, label: int, quantiles: np.ndarray, numbers: np.random.Generator) -> StepResult:
        count = len(quantiles)
        copies = here.take(np.zeros(count, int), numbers.integers(0, 2**64, size=count, dtype=np.uint64))
        points = np.column_stack([np.clip(quantiles, 0.0, LATEST), (np.arange(count) + 0.5) / count])
        return conditional_step(self.model, copies, label, points)

    def _quantile(self, here: Particles, label: int, delay: float, numbers: np.random.Generator) -> float:
        """Delays grow with their quantiles: close in on the one that comes closest."""
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
        """Where the law of the next action is not computed: draw many steps, and take one that fits."""
        words = numbers.integers(0, 2**64, size=MANY, dtype=np.uint64)
        step = stochastic_step(self.model, here.take(np.zeros(MANY, int), words))
        rows = np.flatnonzero((step.status == WalkStatus.RUNNING) & (step.action == label))
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
