"""Cross-entropy method over edge weights and quantiles (Rubinstein and Kroese: The Cross-Entropy Method, 2004; for
falsification Sankaranarayanan and Fainekos: Falsification of Temporal Properties of Hybrid Systems Using the
Cross-Entropy Method, HSCC 2012).

The quantiles of a choice, [0, 1), are cut into `LEVELS` equal levels.  Each choice has a distribution over the levels;
runs are drawn from it, and it moves towards the levels of the best runs.  For a choice among edges the levels are the
edges' weights, for a value or a delay a histogram.  In runs of automata the distribution belongs to a place in the run,
not to a name: what is drawn there is known only when the run is made.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import clipped
from bbfalsify.engines.falsification.guides.memory import Memory

LEVELS = 5
GENERATION = 20
ELITE = 5
SMOOTHING = 0.6
"""Share of the elite's levels in the new distribution."""
SMALLEST = 0.02
"""No level ever becomes impossible."""
CONVERGED = 0.9
"""Mean probability of the likeliest levels at which the method starts anew."""


class CrossEntropy:
    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.rng = seed.rng()
        self.memory = Memory(requirements)
        self.weights = np.full((len(space.labels or ()), LEVELS), 1 / LEVELS)
        self.generation: list[int] = []
        self.asked = False

    def ask(self, count: int) -> list[np.ndarray]:
        self.asked = True
        return [self._draw() for _ in range(min(count, GENERATION - len(self.generation)))]

    def _draw(self) -> np.ndarray:
        choices = len(self.weights)
        level = (self.weights.cumsum(axis=1) < self.rng.random((choices, 1))).sum(axis=1)
        return clipped((np.minimum(level, LEVELS - 1) + self.rng.random(choices)) / LEVELS)

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        own, self.asked = self.asked, False
        first, focus = len(self.memory), self.memory.focus
        self.memory.add(sequences, scores)
        if self.memory.focus != focus:
            self.weights[:], self.generation = 1 / LEVELS, []
            return
        if not own:
            return
        self.generation += range(first, len(self.memory))
        if len(self.generation) >= GENERATION:
            self._learn()
            self.generation = []

    def _learn(self) -> None:
        values = self.memory.values[self.generation]
        best = [self.generation[i] for i in np.argsort(values, kind="stable")[:ELITE]]
        self._lengthen(max(len(self.memory.sequences[i]) for i in best))
        counts, seen = np.zeros_like(self.weights), np.zeros((len(self.weights), 1))
        for run in best:
            quantiles = self.memory.sequences[run].quantiles
            counts[np.arange(len(quantiles)), (quantiles * LEVELS).astype(np.int64)] += 1
            seen[: len(quantiles)] += 1
        elite = np.where(seen > 0, counts / np.maximum(seen, 1), self.weights)
        mixed = np.maximum((1 - SMOOTHING) * self.weights + SMOOTHING * elite, SMALLEST)
        self.weights = mixed / mixed.sum(axis=1, keepdims=True)
        if len(self.weights) and self.weights.max(axis=1).mean() > CONVERGED:
            self.weights[:] = 1 / LEVELS
            self.memory.move_on()

    def _lengthen(self, choices: int) -> None:
        """Add places: the best run of an automaton may be longer than a typical one."""
        more = max(choices - len(self.weights), 0)
        self.weights = np.concatenate([self.weights, np.full((more, LEVELS), 1 / LEVELS)])
