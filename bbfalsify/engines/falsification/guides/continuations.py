"""Continuations: keep the beginning of one of the best runs, up to a random moment, and draw what follows.

Where a system takes stages one after the other (modes of a controller, gears), a run that came far has begun well, and
nearly every step that changes its beginning loses that.  Parameters belong to the beginning, and so do the signals of
runs of automata.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import Layout
from bbfalsify.engines.falsification.guides.memory import Memory

SAME = 0.01
"""Relative difference up to which scores are as good as the best."""


class Continuations:
    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.layout = Layout.of_labels(space.labels or ()) if space.fixed else None
        self.rng, self.memory = seed.rng(), Memory(requirements)

    def ask(self, count: int) -> list[np.ndarray]:
        values = self.memory.values
        lowest = float(values.min(initial=np.inf))
        if lowest == np.inf:
            return [np.zeros(0)] * count
        best = np.flatnonzero(values <= lowest + SAME * abs(lowest))
        return [self._continued(self.memory.sequences[int(self.rng.choice(best))].quantiles) for _ in range(count)]

    def _continued(self, kept: np.ndarray) -> np.ndarray:
        if self.layout is None:
            return kept[: int(np.ceil(self.rng.random() * len(kept)))]  # what is missing is drawn
        until = np.ceil(self.rng.random() * self.layout.lengths)[self.layout.row_of]
        return np.where(self.layout.place_of < until, kept, self.rng.random(self.layout.size))

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        self.memory.add(sequences, scores)
