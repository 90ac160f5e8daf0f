"""Memory of a guide: all simulations with one number each, the score of the requirement in focus."""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import ChoiceSequence


class Memory:
    """Simulations seen, and the requirement in focus.

    The focus moves on when a guide starts anew (`move_on`), over the requirements that no simulation has violated yet;
    over all of them, once each is violated.  It also leaves a requirement that is violated while others are open.
    """

    def __init__(self, requirements: int) -> None:
        self.sequences: list[ChoiceSequence] = []
        self._scores = np.empty((64, max(requirements, 1)))
        self.violated = np.zeros(max(requirements, 1), np.bool_)
        self.focus = 0

    def __len__(self) -> int:
        return len(self.sequences)

    def add(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        first = len(self)
        self.sequences += sequences
        while len(self) > len(self._scores):
            self._scores = np.concatenate([self._scores, np.empty_like(self._scores)])
        self._scores[first : len(self)] = scores
        self.violated |= (scores < 0).any(axis=0)
        if self.violated[self.focus] and not self.violated.all():
            self.move_on()

    def move_on(self) -> None:
        """Move the focus to the next requirement that is still open."""
        candidates = np.flatnonzero(~self.violated)
        if not len(candidates):
            candidates = np.arange(len(self.violated))
        later = candidates[candidates > self.focus]
        self.focus = int(later[0]) if len(later) else int(candidates[0])

    @property
    def values(self) -> np.ndarray:
        """Scores of the requirement in focus, in the order of the simulations."""
        return self._scores[: len(self), self.focus]

    def best(self, without: set[int]) -> int | None:
        """The simulation with the lowest finite score, other than some; None if there is none."""
        values = self.values
        return next(
            (int(i) for i in np.argsort(values, kind="stable") if i not in without and values[i] < np.inf), None
        )
