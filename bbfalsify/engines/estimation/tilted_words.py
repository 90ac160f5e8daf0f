"""Uses that follow one word of actions, under tilted laws of their random numbers."""

from __future__ import annotations

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import Drawn
from bbfalsify.engines.estimation.tilted_uses import BINS, training
from bbfalsify.engines.estimation.uses import VIOLATED
from bbfalsify.engines.estimation.word_runs import WordRuns
from bbfalsify.kernel.tilts import Tilts


class TiltedWord:
    """A `TiltedSource`: uses of a word that violate in its last step.

    Moments, edges, parameters and signals are tilted; branches and drawn values keep their own law.
    """

    def __init__(self, population: WordRuns) -> None:
        self.population = population

    @property
    def runs(self) -> int:
        return self.population.uses.asked

    def own(self) -> Tilts:
        return Tilts.uniform(tuple(range(self.population.width)), 1, BINS)

    def train(self, tilts: Tilts, count: int, seeds: SeedTree) -> Drawn:
        return training(*self._scores(tilts, count, seeds))

    def draw(self, tilts: Tilts, count: int, seeds: SeedTree) -> Drawn:
        before = self.population.uses.unknown
        scores, counts = self._scores(tilts, count, seeds)
        met = scores == VIOLATED
        return Drawn(met, met, counts, self.population.uses.unknown - before)

    def _scores(self, tilts: Tilts, count: int, seeds: SeedTree) -> tuple[np.ndarray, np.ndarray]:
        runs, counts = self.population.tilted(count, seeds, tilts)
        return self.population.scores(runs), counts
