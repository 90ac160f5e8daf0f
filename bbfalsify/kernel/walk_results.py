"""Results of walks: batches of recorded walks, single walks, and how a walk ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bbfalsify.kernel.compiled_model import CompiledModel


class WalkStatus(IntEnum):
    RUNNING = 0
    REACHED_END = 1
    DEADLOCK = 2
    """Nothing can ever fire; time may pass for ever."""
    TIMELOCK = 3
    """Time cannot pass and nothing can fire."""
    STEP_LIMIT = 4
    RUNTIME_ERROR = 5
    """The model itself failed: a range, an array bound, a division, a loop; the walk's `error` says which and where."""


@dataclass(frozen=True, eq=False)
class Walk:
    """One recorded walk of n steps; index 0 of the states is the initial one, k the state right after step k."""

    status: WalkStatus
    times: np.ndarray
    edges: np.ndarray
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    error: str | None = None
    branches: np.ndarray | None = None
    """The branch of its edge that each step has taken, if recorded."""
    values: np.ndarray | None = None
    """Quantiles of the profile's parameters and signals, which accompany the walk."""

    @property
    def steps(self) -> int:
        return len(self.times)

    def prefix(self, steps: int) -> Walk:
        """The first `steps` steps."""
        return Walk(
            WalkStatus.REACHED_END,
            self.times[:steps],
            self.edges[:steps],
            self.locations[: steps + 1],
            self.integers[: steps + 1],
            self.reals[: steps + 1],
            branches=None if self.branches is None else self.branches[:steps],
            values=self.values,
        )

    def actions(self, model: CompiledModel) -> tuple[str, ...]:
        labels = model.actions
        return tuple([labels[number] for number in model.edge_action[self.edges].tolist()])


@dataclass(frozen=True, eq=False)
class Walks:
    """B recorded walks, padded to the longest (K steps)."""

    status: np.ndarray
    steps: np.ndarray
    times: np.ndarray
    edges: np.ndarray
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    errors: dict[int, str]
    """Index of the walk → message, for those that ended with RUNTIME_ERROR."""
    branches: np.ndarray

    def __len__(self) -> int:
        return len(self.status)

    def walk(self, i: int) -> Walk:
        n = int(self.steps[i])
        return Walk(
            WalkStatus(int(self.status[i])),
            self.times[i, :n],
            self.edges[i, :n],
            self.locations[i, : n + 1],
            self.integers[i, : n + 1],
            self.reals[i, : n + 1],
            self.errors.get(i),
            self.branches[i, :n],
        )
