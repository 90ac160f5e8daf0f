"""Stretch mutation: local search that changes one stretch of one signal.

A stretch of geometric length is set to an end of the range, set to a random level, shifted a little, or given the level
of its neighbour, which moves a switch.  A run that is not worse replaces the incumbent.  After `PATIENCE` runs in vain
the search starts again from the best run from which it has not started yet.

In runs of automata a stretch is one of the delays, edges or draws of one process: what follows is another run where the
change leads elsewhere.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST, ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import Layout, clipped
from bbfalsify.engines.falsification.guides.memory import Memory

PATIENCE = 32
SHIFT = 0.15
MEAN_LENGTH = 2.0
TO_AN_END, TO_A_LEVEL, SHIFTED, AS_NEIGHBOUR = range(4)


def mutants(runs: np.ndarray, layout: Layout, rng: np.random.Generator) -> np.ndarray:
    """Change one stretch of each run (runs × choices)."""
    count = len(runs)
    row = rng.integers(0, len(layout.rows), count)
    lengths = layout.lengths[row]
    length = np.minimum(rng.geometric(1 / MEAN_LENGTH, count), lengths)
    begin = rng.integers(0, lengths - length + 1)
    kind = rng.integers(0, 4, count)
    before = np.where(begin == 0, False, np.where(begin + length == lengths, True, rng.random(count) < 0.5))
    neighbour = np.where(before, begin - 1, np.minimum(begin + length, lengths - 1))
    level = np.select(
        [kind == TO_AN_END, kind == TO_A_LEVEL],
        [np.where(rng.random(count) < 0.5, LOWEST, HIGHEST), rng.random(count)],
        runs[np.arange(count), layout.table[row, neighbour]],
    )
    shift = rng.normal(0.0, SHIFT, count)
    shifted = (kind == SHIFTED) | ((kind == AS_NEIGHBOUR) & (length == lengths))
    inside = (layout.row_of == row[:, None]) & (layout.place_of >= begin[:, None])
    inside &= layout.place_of < (begin + length)[:, None]
    changed = np.where(shifted[:, None], clipped(runs + shift[:, None]), level[:, None])
    return np.where(inside, changed, runs)


class StretchMutation:
    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.rng = seed.rng()
        self.memory = Memory(requirements)
        self.incumbent: int | None = None
        self.started: set[int] = set()
        self.idle = 0
        self.asked = False

    def ask(self, count: int) -> list[np.ndarray]:
        self.asked = True
        if self.incumbent is None or self.idle >= PATIENCE:
            self._start()
        if self.incumbent is None:
            return [np.empty(0)] * count
        sequence = self.memory.sequences[self.incumbent]
        layout = Layout.of_labels(sequence.labels)
        return list(mutants(np.tile(sequence.quantiles, (count, 1)), layout, self.rng))

    def _start(self) -> None:
        if self.incumbent is not None:
            self.memory.move_on()
        self.idle = 0
        self.incumbent = self.memory.best(without=self.started)
        if self.incumbent is not None:
            self.started.add(self.incumbent)

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        own, self.asked = self.asked, False
        first, focus = len(self.memory), self.memory.focus
        self.memory.add(sequences, scores)
        if self.memory.focus != focus:
            self.incumbent = None
        values = self.memory.values
        for number, new in enumerate(values[first:], start=first):
            if self.incumbent is None:
                continue
            old = values[self.incumbent]
            self.idle = 0 if new < old else self.idle + own
            if new < old or (own and new == old):
                self.incumbent = number
                self.started.add(number)
