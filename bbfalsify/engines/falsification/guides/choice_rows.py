"""The choices of a space as rows: one row per signal, in order of time, and one per parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST, Label, Space
from bbfalsify.core.errors import UserError


@dataclass(frozen=True, eq=False)
class Layout:
    """Indices of the choices that belong together: the pieces of one signal, the delays of one process."""

    rows: tuple[np.ndarray, ...]

    @classmethod
    def of_labels(cls, labels: Sequence[Label]) -> Layout:
        rows: dict[tuple[str, str], list[int]] = {}
        for index, label in enumerate(labels):
            rows.setdefault((label.kind, label.name), []).append(index)
        return cls(tuple(np.array(row) for row in rows.values()))

    @cached_property
    def size(self) -> int:
        return sum(len(row) for row in self.rows)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(row) for row in self.rows])

    @cached_property
    def row_of(self) -> np.ndarray:
        """The row of each choice."""
        found = np.empty(self.size, np.int64)
        for number, row in enumerate(self.rows):
            found[row] = number
        return found

    @cached_property
    def place_of(self) -> np.ndarray:
        """The place of each choice in its row."""
        found = np.empty(self.size, np.int64)
        for row in self.rows:
            found[row] = np.arange(len(row))
        return found

    @cached_property
    def table(self) -> np.ndarray:
        """Index of the choice at each row and place; short rows repeat their last one."""
        longest = int(self.lengths.max(initial=1))
        return np.array([row[np.minimum(np.arange(longest), len(row) - 1)] for row in self.rows])


def fixed_layout(space: Space, guide: str, most: int | None = None) -> Layout:
    """The layout of a space whose runs all have the same choices, at most so many; refuse others for a guide."""
    if not space.fixed or not space.labels:
        raise UserError(
            f"the guide '{guide}' searches signals and parameters, whose choices are the same in every run; in runs of "
            "automata they are not."
        )
    if most is not None and len(space.labels) > most:
        raise UserError(
            f"the guide '{guide}' manages at most {most} choices per run, and there are {len(space.labels)}."
        )
    return Layout.of_labels(space.labels)


def clipped(quantiles: np.ndarray) -> np.ndarray:
    """Move quantiles into [0, 1)."""
    return np.clip(quantiles, LOWEST, HIGHEST)
