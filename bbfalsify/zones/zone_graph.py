"""The zone graph as an explicit transition system, for searches that are not compiled.

graph = ZoneGraph(zone_tables(network, Question(alive=target)))
for state in graph.initial():
    for label, successor in graph.successors(state):
        graph.is_target(successor)
"""

from __future__ import annotations

import sys

import numpy as np

from bbfalsify.zones import zone_exploration as exploration
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.workspace import Workspace
from bbfalsify.zones.zone_tables import ZoneTables

Label = tuple[tuple[int, int], ...]
"""(edge, branch) of all that take part in a transition, edges by their number in the network."""


class SymbolicState:
    """Locations, integers and a zone; equal states are equal."""

    __slots__ = ("graph", "key")

    def __init__(self, key: bytes, graph: ZoneGraph) -> None:
        self.key, self.graph = key, graph

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicState) and self.key == other.key

    def __repr__(self) -> str:
        return f"SymbolicState({', '.join(self.locations)})"

    def __sizeof__(self) -> int:
        """Bytes of the state with its zone, for searches that count their memory."""
        return object.__sizeof__(self) + sys.getsizeof(self.key)

    @property
    def row(self) -> np.ndarray:
        return np.frombuffer(self.key, np.int32)[: int(self.graph.tables.Z[at.Z_WIDTH])]

    @property
    def matrix(self) -> np.ndarray:
        n = self.graph.tables.size
        return np.frombuffer(self.key, np.int32)[int(self.graph.tables.Z[at.Z_WIDTH]) :].reshape(n, n)

    @property
    def locations(self) -> tuple[str, ...]:
        network = self.graph.tables.network
        return tuple(p.locations[int(i)].name for p, i in zip(network.processes, self.row, strict=False))


class ZoneGraph:
    def __init__(self, tables: ZoneTables) -> None:
        self.tables = tables
        self._space = Workspace.of(tables)

    def initial(self) -> list[SymbolicState]:
        return [self._state(0)] if self._space.begin() else []

    def successors(self, state: SymbolicState) -> list[tuple[Label, SymbolicState]]:
        self._space.load(state.row, state.matrix)
        count = self._space.expand()
        return [(self._space.moves(k), self._state(k)) for k in range(1, count + 1)]

    def is_target(self, state: SymbolicState) -> bool:
        """Tell whether the state contains a target of the question."""
        self._space.load(state.row, state.matrix)
        count = self._space.expand(detailed=True) if self.tables.Z[at.Z_DEADLOCKS] else -1
        outcome = int(exploration.target_zone(*self._space.arrays, count))
        if outcome < 0:
            raise self._space.problem(outcome)
        return outcome == 1

    def _state(self, record: int) -> SymbolicState:
        row, matrix = self._space.state(record)
        return SymbolicState(row.tobytes() + matrix.tobytes(), self)
