"""Guides that learn nothing: plain runs of the profile, and values at or between the ends of their ranges."""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST, ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.kernel import DELAY_DISTRIBUTIONS

CYCLE = 11
"""Table B.3 has eleven distributions, used one after the other."""


class PlainGuide:
    """Runs drawn by the profile's own law."""

    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        pass

    def ask(self, count: int) -> list[np.ndarray]:
        return [np.zeros(0)] * count

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        pass


class AcceleratorGuide:
    """The randomized accelerator on a space without actions: each choice is at an end of its range, or between."""

    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self._width = len(space.labels or ())
        self._rng = seed.rng()
        self._made = 0

    def ask(self, count: int) -> list[np.ndarray]:
        first, self._made = self._made, self._made + count
        rows = DELAY_DISTRIBUTIONS[np.arange(first, first + count) % CYCLE]
        return [at_ends_or_between(self._rng, self._width, *row) for row in rows]

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        pass


def at_ends_or_between(rng: np.random.Generator, width: int, lower: float, between: float) -> np.ndarray:
    """Draw quantiles: the lower end and a place between with these shares, else the upper end."""
    kind, u = rng.random((2, width))
    ends = np.where(kind < lower, LOWEST, HIGHEST)
    return np.where((kind >= lower) & (kind < lower + between), u, ends)
