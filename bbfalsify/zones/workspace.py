"""Memory of one computation with zones, and the meaning of its problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bbfalsify.core.errors import BBFalsifyError
from bbfalsify.kernel.walker import Walker
from bbfalsify.zones import zone_exploration as exploration
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.dbm import AT_MOST_ZERO
from bbfalsify.zones.zone_tables import ZoneTables

_WHY = {
    at.CLOCKED_URGENCY: "whether an urgent channel can fire depends on clocks; move the clock to another edge",
    at.SPLIT_INVARIANT: "an invariant (or the condition to keep) is a disjunction over clocks: time could pass from "
    "one part to the other; split the location",
    at.BAD_CLOCK: "a clock gets a value that is no natural number, or an index is outside an array of clocks",
    at.TOO_MANY_PIECES: "the deadlocks of one state fall into too many zones",
    at.BAD_BOUND: "a clock is compared with a value that is no multiple of the model's unit, or too large",
    at.WIDE_INTEGER: "an integer leaves 32 bits",
    at.BAD_RATE: "a clock has a rate other than 0 and 1; 'bbfalsify reach' searches such models by random walks",
    at.WIDE_BOUND: "the bounds of a zone, which is kept exact because two clocks are compared, leave 32 bits",
}


def counter(place: int, meaning: str | None = None) -> Any:
    """Make a property: the number at this place of the `progress` of a search."""
    return property(lambda search: int(search.progress[place]), doc=meaning)


class ZoneProblem(BBFalsifyError):
    """Something that was met during an exploration and has no zones, or is an error of the model."""


class Details(NamedTuple):
    """Details of a successor, beside its state."""

    kept: bool
    passes: bool
    """Time may pass in the state entered."""
    firing: np.ndarray
    entered: np.ndarray
    """States entered, before time passes."""
    sources: list[int]
    """Clock of which each clock has the value, after the updates; 0: none."""
    shifts: list[int]
    """What is added to it."""
    stopped: list[int] = []
    """1 for each clock that stands still in the state entered."""


@dataclass(eq=False)
class Workspace:
    tables: ZoneTables
    walker: Walker
    D: np.ndarray
    W: np.ndarray
    found: np.ndarray
    """The state to expand, and its successors."""

    @classmethod
    def of(cls, tables: ZoneTables) -> Workspace:
        walker, Z, n = Walker.of(tables.model), tables.Z, tables.size
        S, X, T, network = walker.S, walker.X, tables.model.T, tables.network
        S[at.S_INTEGER_BASE], S[at.S_CLOCK_BASE] = at.INTEGERS, at.CLOCKS
        S[at.S_LOCATION_BASE] = T[at.H_S_LOCATIONS]
        S[at.INTEGERS : at.INTEGERS + network.integer_count] = network.initial_integers()
        for slot, value in enumerate(network.initial_reals()):
            X[at.CLOCKS + 3 * slot] = float(value)
        pieces = 3 * int(Z[at.Z_PIECES]) if Z[at.Z_DEADLOCKS] or Z[at.Z_KEPT] >= 0 else 0
        D = np.zeros((at.M_PIECES + pieces + 1) * n * n, np.int32)
        return cls(tables, walker, D, np.zeros(tables.work, np.int64), np.zeros(int(Z[at.Z_RECORD]) * 32, np.int32))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return *self.walker.arrays, self.tables.Z, self.D, self.W, self.found

    def load(self, row: np.ndarray, matrix: np.ndarray) -> None:
        """Put a state into the first record."""
        width = len(row)
        self.found[:width] = row
        self.found[width : width + matrix.size] = matrix.reshape(-1)

    def state(self, record: int) -> tuple[np.ndarray, np.ndarray]:
        """Row and matrix of a record."""
        Z, n = self.tables.Z, self.tables.size
        place, width = record * int(Z[at.Z_RECORD]), int(Z[at.Z_WIDTH])
        return (
            self.found[place : place + width].copy(),
            self.found[place + width : place + width + n * n].reshape(n, n).copy(),
        )

    def matrix(self, number: int) -> np.ndarray:
        """A copy of one of the matrices that are worked with."""
        n = self.tables.size
        return self.D[number * n * n : (number + 1) * n * n].reshape(n, n).copy()

    def moves(self, record: int) -> tuple[tuple[int, int], ...]:
        """Edges, by their number in the network, and branches of all that took part."""
        place = record * int(self.tables.Z[at.Z_RECORD]) + int(self.tables.Z[at.Z_MOVES])
        flat = self.found[place + 1 : place + 1 + 2 * int(self.found[place])].tolist()
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    def details(self, record: int) -> Details:
        """The details of a record."""
        n = self.tables.size
        place = record * int(self.tables.Z[at.Z_RECORD]) + int(self.tables.Z[at.Z_DETAILS])
        part = self.found[place : place + 1 + 2 * n * n + 3 * n].copy()
        end = 1 + 2 * n * n
        return Details(
            bool(part[0] & 1), bool(part[0] & 2), part[1 : 1 + n * n].reshape(n, n),
            part[1 + n * n : end].reshape(n, n), part[end : end + n].tolist(), part[end + n : end + 2 * n].tolist(),
            part[end + 2 * n :].tolist(),
        )  # fmt: skip

    def begin(self) -> int:
        """Compute the initial state into the first record: 1, or 0 if an invariant forbids it."""
        network, tables = self.tables.network, self.tables
        integers = network.initial_integers()
        row = [p.initial for p in network.processes] + [integers[slot] for slot in tables.integers]
        reals = network.initial_reals()
        values = [0, *(int(reals[slot] * tables.scale) for slot in tables.slots[1:])]
        matrix = [2 * (a - b) + AT_MOST_ZERO for a in values for b in values]
        self.load(np.array(row, np.int32), np.array(matrix, np.int32))
        outcome = exploration.begin(*self.arrays)
        if outcome < 0:
            raise self.problem(int(outcome))
        if outcome:
            self.load(*self.state(1))
        return int(outcome)

    @property
    def stopped(self) -> list[int]:
        """1 for each clock that stands still in the state that was computed last."""
        first = int(self.tables.Z[at.Z_STOPPED])
        stopped: list[int] = self.W[first : first + self.tables.size].tolist()
        return stopped

    def expand(self, *, detailed: bool = False) -> int:
        """List the successors of the first record; return their number."""
        count: Any = exploration.expand(*self.arrays, int(detailed))
        while count == at.NO_ROOM:
            self.grow()
            count = exploration.expand(*self.arrays, int(detailed))
        if count < 0:
            raise self.problem(int(count))
        return int(count)

    def grow(self) -> None:
        """Make room for twice as many successors."""
        longer = np.zeros(2 * len(self.found), np.int32)
        longer[: len(self.found)] = self.found
        self.found = longer

    def problem(self, outcome: int) -> ZoneProblem:
        if outcome == at.FAILED:
            return ZoneProblem(f"the model fails: {self.walker.error()}")
        return ZoneProblem(_WHY[outcome])
