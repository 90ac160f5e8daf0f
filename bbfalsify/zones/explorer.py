"""Explore a zone graph as far as memory and time allow.

explorer = Explorer(tables)
explored = explorer.run(go_on=lambda explorer: True)
explored.outcome, explored.path()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from bbfalsify.zones import zone_exploration as kernel
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.passed_list import fill_rows
from bbfalsify.zones.workspace import Workspace, ZoneProblem, counter
from bbfalsify.zones.zone_tables import ZoneTables

AT_ONCE = 4096
"""States expanded before the caller is asked whether to go on."""
_FIRST = 1024
_LARGE = 2048
"""Lines of an array that is large."""


class Outcome(StrEnum):
    ALL = "all states explored"
    MET = "a target was met"
    MEMORY = "the memory is used up"
    STOPPED = "stopped"


class Order(StrEnum):
    BREADTH = "bfs"
    DEPTH = "dfs"
    RANDOM_DEPTH = "rdfs"
    EARLIEST = "earliest"
    """Least time first; the target that is met is one with the least time of all."""


_ORDERS = dict(zip(Order, (at.BREADTH, at.DEPTH, at.RANDOM_DEPTH, at.EARLIEST), strict=True))


@dataclass(frozen=True)
class Explored:
    """The end of an exploration."""

    outcome: Outcome
    path: tuple[int, ...] | None = None
    """Numbers of the successors that lead to the target."""


class Explorer:
    """Nodes of an exploration, in arrays that grow on demand."""

    def __init__(
        self,
        tables: ZoneTables,
        *,
        order: Order = Order.BREADTH,
        equality: bool = False,
        most_bytes: float = float("inf"),
        targets: bool = True,
        seed: int = 0,
    ) -> None:
        """With `equality`, states are merged with equal ones, not covered by larger ones; a state in which a run may
        last is a target then, and `links` are the transitions."""
        self.tables, self.order, self.most_bytes, self.targets = tables, order, most_bytes, targets
        self.merging = at.EQUALITY if equality else at.INCLUSION
        self.space = Workspace.of(tables)
        self.progress = np.zeros(at.P_SIZE, np.int64)
        self.progress[at.P_FREE], self.progress[at.P_RANDOM] = -1, seed & ((1 << 60) - 1)
        self.progress[at.P_LATEST] = at.NEVER
        size, width = tables.size**2, int(tables.Z[at.Z_WIDTH]) + 1
        first = int(min(_FIRST, most_bytes // bytes_of_state(tables)))
        self.nodes = np.zeros((first, at.NODE_WIDTH), np.int32)
        self.rows = np.zeros((first, width), np.int32)
        self.matrices = np.zeros((first, size), np.int32)
        self.waiting = np.zeros(2 * first, np.int32)
        self.table = np.zeros(4 * first, np.int64)
        self.links = np.zeros((first if equality else 1, 3), np.int32)
        self._begun = False

    # --- figures ---

    visited = counter(at.P_VISITED, "States whose successors were computed.")
    count = counter(at.P_NODES, "Nodes made so far, covered ones included.")
    transitions = counter(at.P_TRANSITIONS)
    depth = counter(at.P_DEPTH)
    node_met = counter(at.P_MET, "The node that met the target, or at which a problem was met.")
    lasts = counter(at.P_KIND, "How a run lasts at that node: LASTS_WAITING or LASTS_STUCK.")

    @property
    def stored(self) -> int:
        """States that are kept: those that no other covers."""
        return self.count - int(self.progress[at.P_COVERED])

    @property
    def left(self) -> int:
        """States that wait for being expanded."""
        place = int(self.progress[at.P_NEXT])
        return self.count - place if self.order is Order.BREADTH else place

    def edges(self) -> np.ndarray:
        """Rows (node, node, number of the successor)."""
        return self.links[: int(self.progress[at.P_LINKS])].copy()  # the array may move

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for a in (self.nodes, self.rows, self.matrices, self.waiting, self.table, self.links))

    @property
    def used_bytes(self) -> int:
        """Bytes of the states themselves, without room for more."""
        nodes, rows, matrices = (int(self.progress[i]) for i in (at.P_NODES, at.P_ROWS, at.P_MATRICES))
        return nodes * self.nodes[0].nbytes + rows * (self.rows[0].nbytes + 32) + matrices * self.matrices[0].nbytes

    # --- the search ---

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        return *self.space.arrays, self.nodes, self.rows, self.matrices, self.table, self.waiting

    def add(self) -> bool:
        """Add the state in the first record of the work space; return True if it meets the target."""
        self._make_room(1)
        how = _ORDERS[self.order], self.merging, int(self.targets)
        outcome = int(kernel.add_state(*self._arrays, self.progress, *how))
        if outcome < 0:
            raise self.space.problem(outcome)
        return outcome == at.MET

    def run(self, go_on: Callable[[Explorer], bool] = lambda explorer: True) -> Explored:
        """Explore until a target is met, nothing is left, memory is used up, or `go_on` says no."""
        if not self._begun and self.count == 0:
            begins = self.space.begin()
            self._begun = True  # unless there was a problem, which is then met again
            if begins and self.add():
                return Explored(Outcome.MET, ())
        limit, how = 64, (_ORDERS[self.order], self.merging, int(self.targets))
        while True:
            outcome = int(kernel.explore(*self._arrays, self.links, self.progress, limit, *how))
            if outcome == at.NO_ROOM:
                if not self._make_room(len(self.space.found) // int(self.tables.Z[at.Z_RECORD])):
                    return Explored(Outcome.MEMORY, self._best())
                continue
            if outcome < 0:
                raise ZoneProblem(f"{self.space.problem(outcome)}")
            if outcome == at.DONE:
                return Explored(Outcome.ALL)
            if outcome == at.MET:
                return Explored(Outcome.MET, self.path(self.node_met))
            if not go_on(self):
                return Explored(Outcome.STOPPED, self._best())
            limit = AT_ONCE

    def _best(self) -> tuple[int, ...] | None:
        """In the order of time: the path to the earliest target so far."""
        return self.path(self.node_met) if self.progress[at.P_LATEST] < at.NEVER else None

    def path(self, node: int) -> tuple[int, ...]:
        """Numbers of the successors from the first state to a node."""
        choices = []
        while self.nodes[node, at.N_PARENT] >= 0:
            choices.append(int(self.nodes[node, at.N_CHOICE]))
            node = int(self.nodes[node, at.N_PARENT])
        return tuple(reversed(choices))

    def root(self, node: int) -> int:
        """The node without parent from which a node was reached."""
        while self.nodes[node, at.N_PARENT] >= 0:
            node = int(self.nodes[node, at.N_PARENT])
        return node

    def state(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Row and matrix of a node that is not covered."""
        n, record = self.tables.size, self.nodes[node]
        return self.rows[record[at.N_ROW], :-1].copy(), self.matrices[record[at.N_MATRIX]].reshape(n, n).copy()

    def kept(self) -> list[int]:
        """The nodes that no other covers."""
        flags = self.nodes[: self.count, at.N_FLAGS]
        return [int(node) for node in np.flatnonzero((flags & at.COVERED) == 0)]

    def _make_room(self, count: int) -> bool:
        """Make room for more; return False if memory does not suffice."""
        used = self.progress
        wanted = []
        for array, place in (
            (self.nodes, at.P_NODES), (self.rows, at.P_ROWS), (self.matrices, at.P_MATRICES),
        ):  # fmt: skip
            wanted.append(len(array) if used[place] + count < len(array) else _grown(len(array), count))
        waiting, links = len(self.waiting), len(self.links)
        if self.merging == at.EQUALITY and used[at.P_LINKS] + count >= links:
            links = _grown(links, count)
        if self.order is not Order.BREADTH and 2 * (used[at.P_NEXT] + count) >= waiting:  # a heap has pairs
            waiting = _grown(waiting, 2 * count)
        grown = wanted[0] * self.nodes[0].nbytes + wanted[1] * self.rows[0].nbytes + 4 * waiting + 12 * links
        if grown + wanted[2] * self.matrices[0].nbytes + 32 * wanted[1] > self.most_bytes:
            return False
        changed = [
            wanted[0] > len(self.nodes), wanted[1] > len(self.rows), wanted[2] > len(self.matrices),
            waiting > len(self.waiting), links > len(self.links),
        ]  # fmt: skip
        self.nodes, self.rows, self.matrices = (
            _longer(array, length) for array, length in zip((self.nodes, self.rows, self.matrices), wanted, strict=True)
        )
        self.waiting, self.links = _longer(self.waiting, waiting), _longer(self.links, links)
        if 2 * len(self.rows) > len(self.table):
            self.table = np.zeros(0, np.int64)  # the smaller one gives way first
            self.table = np.zeros(4 * len(self.rows), np.int64)
            fill_rows(self.tables.Z, self.space.found, self.rows, self.table, self.progress)
        if count > 1 and not any(changed):
            self.space.grow()  # the room for successors was too small
        return True


def bytes_of_state(tables: ZoneTables) -> int:
    """Bytes of a symbolic state with everything that is kept beside it."""
    return 4 * (tables.size**2 + int(tables.Z[at.Z_WIDTH]) + 1 + at.NODE_WIDTH + 2 + 8 + 3)


def _grown(length: int, count: int) -> int:
    """A larger length: small arrays grow by a half, large ones, which cost memory, by an eighth."""
    return length + max(length // 2 if length < _LARGE else length // 8, count)


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    """The array with room for more; large ones are moved by the system, not copied."""
    if length > len(array):
        array.resize((length, *array.shape[1:]), refcheck=False)
    return array
