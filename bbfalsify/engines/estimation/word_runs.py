"""Uses that follow one word of actions, for splitting inside a word whose violations are rare.

Where the law of every step depends on the word alone (`falsification/estimates/exact.py`), the probability of
following the word is a product, and a use given the word has two uniform numbers per step: for the moment, and for
the edge.  Splitting changes those; branches and drawn values are drawn anew with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.use_splitting import moved
from bbfalsify.engines.estimation.uses import JudgedUses
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy
from bbfalsify.engines.falsification.instants import whole_moments
from bbfalsify.kernel import Particles, Walk, conditional_step
from bbfalsify.kernel.tilts import Tilts


@dataclass(frozen=True, eq=False)
class WordRun:
    numbers: np.ndarray
    """Two for each step, then the quantiles of parameters and signals."""
    streams: np.ndarray
    """A seed for the start and one for each step: what their transitions draw."""
    walk: Walk


class WordRuns:
    """A `Population`: uses that follow a word."""

    def __init__(self, uses: JudgedUses, word: Sequence[str], seeds: SeedTree) -> None:
        self.uses, self.word, self._moments = uses, tuple(word), seeds.child("moments")
        self._labels = [uses.usage.model.actions.index(action) for action in word]

    def drawn(self, count: int, seeds: SeedTree) -> list[WordRun]:
        return self.tilted(count, seeds, Tilts.uniform(tuple(range(self.width)), 1, 1))[0]

    @property
    def width(self) -> int:
        """Random numbers of a use."""
        return 2 * len(self.word) + self.uses.usage.values.width

    def tilted(self, count: int, seeds: SeedTree, tilts: Tilts) -> tuple[list[WordRun], np.ndarray]:
        """Uses whose numbers have these laws, and the bins of the numbers."""
        rng = seeds.rng()
        streams = rng.integers(0, 2**64, size=(count, len(self.word) + 1), dtype=np.uint64)
        numbers, counts = tilts.moved(rng.random((count, self.width)))
        return self._made(numbers, streams), counts

    def numbers(self, run: WordRun) -> np.ndarray:
        return run.numbers

    def changed(
        self, runs: list[WordRun], rng: np.random.Generator, seeds: SeedTree, widths: np.ndarray
    ) -> dict[int, WordRun]:
        numbers = np.array([moved(run.numbers, rng, widths) for run in runs])
        streams = np.array([run.streams for run in runs])
        again = rng.random(streams.shape) < 0.1
        streams[again] = seeds.rng().integers(0, 2**64, size=int(again.sum()), dtype=np.uint64)
        return dict(enumerate(self._made(numbers, streams)))

    def scores(self, runs: list[WordRun]) -> np.ndarray:
        return self.uses.scores([run.walk for run in runs], whole=len(self.word))

    def _made(self, numbers: np.ndarray, streams: np.ndarray) -> list[WordRun]:
        model, rows, steps = self.uses.usage.model, np.arange(len(numbers)), len(self.word)
        family = Genealogy(Particles.initial(model, np.ascontiguousarray(streams[:, 0])))
        for level, label in enumerate(self._labels):
            particles = family.particles.take(rows, np.ascontiguousarray(streams[:, level + 1]))
            family.append(rows, conditional_step(model, particles, label, numbers[:, 2 * level : 2 * level + 2]), rows)
        walks = whole_moments(model, family.walks(), self._moments)
        if self.uses.usage.values.width:
            walks = [replace(walk, values=row) for walk, row in zip(walks, numbers[:, 2 * steps :], strict=True)]
        return [WordRun(*parts) for parts in zip(numbers, streams, walks, strict=True)]
