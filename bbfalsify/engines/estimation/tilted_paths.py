"""Runs of a model under tilted laws, for importance sampling."""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import ELITE, Drawn, NothingToTilt
from bbfalsify.engines.estimation.levels import Levels
from bbfalsify.engines.estimation.path_sampler import PathSampler, Runs
from bbfalsify.kernel import CompiledModel, taped_walk
from bbfalsify.kernel.rng import DRAWN_TIE
from bbfalsify.kernel.tilts import Tilts

BINS = 16
_LOOKS, _LONG, _MOST_STEPS = 30, 1e6, 1000
_MOST_OF_A_ROUND = 2_000_000
"""Steps of the runs of a round that have more time; a goal that takes more may be impossible."""


def labels_of(model: CompiledModel, until: float) -> dict[int, int]:
    """Labels of the random numbers of a few walks, with the most numbers that one walk had."""
    found: dict[int, int] = {}
    for seed in range(_LOOKS):
        _, _, codes = taped_walk(model, seed, np.zeros(0), min(until, _LONG), _MOST_STEPS)
        for code, count in zip(*(a.tolist() for a in np.unique(codes, return_counts=True)), strict=True):
            if code % 8 != DRAWN_TIE:
                found[code] = max(found.get(code, 0), count)
    return dict(sorted(found.items()))


class TiltedPaths:
    """A `TiltedSource`: runs of a model that are judged by a path."""

    def __init__(self, sampler: PathSampler, score: str | None, most_runs: int) -> None:
        """`most_runs`: of training."""
        self.sampler, self.most_runs = sampler, most_runs
        self.levels = None if score is None else Levels(sampler, score)
        limit = sampler.path.limit
        self._own = Tilts.uniform(tuple(labels_of(sampler.model, math.inf if sampler.path.counted else limit)), 1, BINS)
        if not self._own.labels:
            raise NothingToTilt("model")
        self._level = None if self.levels is None else self.levels.first
        self.runs = 0

    def own(self) -> Tilts:
        return self._own

    def draw(self, tilts: Tilts, count: int, seeds: SeedTree) -> Drawn:
        made = self._made(self.sampler, tilts, seeds.words(count))
        return Drawn(made.met, made.met, made.bins, made.endless)

    def train(self, tilts: Tilts, count: int, seeds: SeedTree) -> Drawn:
        """Aim at the goal; where too few runs meet it, at the highest level that a tenth of them reaches.

        Without a score, runs have more time instead: as little more as lets a tenth of them meet the goal.
        """
        words = seeds.words(count)
        made = self._made(self.sampler, tilts, words)
        best = Drawn(made.met, made.met, made.bins)
        if made.met.mean() >= ELITE:
            return best
        if self.levels is None or self._level is None:
            return self._with_more_time(best, tilts, words)
        step = 1
        while self.runs + count <= self.most_runs:
            made = self._made(self.levels.aiming_at(self._level + step), tilts, words)
            if made.met.mean() < ELITE and step > 1:
                return best
            best = Drawn(best.met, made.met, made.bins)
            if made.met.mean() < 2 * ELITE:
                return best
            self._level += step
            step *= 2
        return best

    def _with_more_time(self, best: Drawn, tilts: Tilts, words: np.ndarray) -> Drawn:
        limit, factor, steps = self.sampler.path.limit, 1.0, 0
        while (
            not self.sampler.path.counted
            and limit * factor < _LONG
            and 1.5 * steps < _MOST_OF_A_ROUND
            and self.runs + len(words) <= self.most_runs
        ):
            factor *= 1.5
            made = self._made(self.sampler.limited(limit * factor), tilts, words)
            if made.met.mean() >= ELITE:
                return Drawn(best.met, made.met, made.bins)
            steps = made.steps
        return best

    def _made(self, sampler: PathSampler, tilts: Tilts, words: np.ndarray) -> Runs:
        self.runs += len(words)
        sampler = sampler.tilted(tilts)
        return sampler.runs(words, sampler.start(), np.zeros(len(words), np.int64))
