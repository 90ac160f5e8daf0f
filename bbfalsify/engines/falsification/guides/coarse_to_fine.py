"""Coarse to fine: constant signals at the ends of their ranges first, then few stretches, ends before middles.

Corners are the runs whose signals and parameters are all constant at an end of their range, in random order.  They take
turns with few-stretch draws: a random number of constant stretches per signal, each at an end of the range with
probability one half, else anywhere.  Requirements that need a signal to stay high, or low, for a long time are met by
these long before independent draws per piece meet them.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST, ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import Layout, fixed_layout

MOST_CORNERS = 16
END = 0.5
"""Probability that a stretch lies at an end of its range."""


def all_sides(layout: Layout, rng: np.random.Generator) -> np.ndarray:
    """The end at which each signal rests, one row per combination, in random order; a sample where there are many."""
    count = len(layout.rows)
    if 2**count <= MOST_CORNERS:
        sides = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    else:
        sides = np.concatenate([[np.zeros(count), np.ones(count)], rng.integers(0, 2, (MOST_CORNERS - 2, count))])
    return rng.permutation(sides)


def corner(layout: Layout, sides: np.ndarray) -> np.ndarray:
    """The run whose signals are all constant at these ends."""
    run = np.empty(layout.size)
    for row, high in zip(layout.rows, sides, strict=True):
        run[row] = HIGHEST if high else LOWEST
    return run


def one_moves(layout: Layout, rng: np.random.Generator) -> list[np.ndarray]:
    """Runs in which one signal moves and the others rest at ends, each combination once; a sample where there are many.

    They meet what needs one signal to rest while another one changes, as a car that never brakes.
    """
    combinations = [(sides, row) for sides in all_sides(layout, rng) for row in np.flatnonzero(sides == 0)]
    runs = []
    for place in rng.permutation(len(combinations))[:MOST_CORNERS]:
        sides, row = combinations[place]
        run = corner(layout, sides)
        run[layout.rows[row]] = levels(len(layout.rows[row]), rng)
        runs.append(run)
    return runs


def few_stretches(layout: Layout, rng: np.random.Generator) -> np.ndarray:
    """Draw a run of few constant stretches per signal."""
    run = np.empty(layout.size)
    for row in layout.rows:
        run[row] = few_levels(len(row), rng)
    return run


def few_levels(pieces: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the pieces of one signal: one or two constant stretches as often as three or more."""
    count = round(pieces ** rng.random())
    begins = np.zeros(pieces, np.int64)
    begins[rng.choice(np.arange(1, pieces), count - 1, replace=False)] = 1
    return levels(count, rng)[np.cumsum(begins)]


def levels(count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw levels of stretches: an end of the range, or anywhere in it."""
    ends = np.where(rng.random(count) < 0.5, LOWEST, HIGHEST)
    return np.where(rng.random(count) < END, ends, rng.random(count))


class Unlearning:
    any_length = True

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        """Nothing is learned."""


class Corners(Unlearning):
    """The constant runs at the ends of all ranges, once each."""

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.left = self.runs(fixed_layout(space, "coarse_to_fine"), seed.rng())

    def runs(self, layout: Layout, rng: np.random.Generator) -> list[np.ndarray]:
        return [corner(layout, sides) for sides in all_sides(layout, rng)]

    def ask(self, count: int) -> list[np.ndarray]:
        proposals, self.left = self.left[:count], self.left[count:]
        return proposals


class OneMoves(Corners):
    """One signal moves, the others rest at the ends of their ranges; each combination once."""

    def runs(self, layout: Layout, rng: np.random.Generator) -> list[np.ndarray]:
        return one_moves(layout, rng)


class FewStretches(Unlearning):
    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.layout = fixed_layout(space, "coarse_to_fine")
        self.rng = seed.rng()

    def ask(self, count: int) -> list[np.ndarray]:
        return [few_stretches(self.layout, self.rng) for _ in range(count)]


class Constants(FewStretches):
    """Constant signals at any level."""

    def ask(self, count: int) -> list[np.ndarray]:
        return [self.rng.random(len(self.layout.rows))[self.layout.row_of] for _ in range(count)]


class ManyStretches(FewStretches):
    """Independent pieces, half of them at an end of the range."""

    def ask(self, count: int) -> list[np.ndarray]:
        return [levels(self.layout.size, self.rng) for _ in range(count)]


class CoarseToFine:
    """Corners and few stretches in turn; few stretches alone, once the corners are used up."""

    any_length = True

    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.corners = Corners(space, requirements, seed.child("corners"))
        self.few_stretches = FewStretches(space, requirements, seed.child("few_stretches"))
        self.made = 0

    def ask(self, count: int) -> list[np.ndarray]:
        return [self._next() for _ in range(count)]

    def _next(self) -> np.ndarray:
        self.made += 1
        corner = self.corners.ask(1) if self.made % 2 else []
        return (corner or self.few_stretches.ask(1))[0]

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        """Nothing is learned."""
