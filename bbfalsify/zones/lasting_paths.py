"""Paths of the zone graph on which a run lasts for ever: where it begins, its cycle, and its moments."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.zones import zone_exploration as exploration
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.explorer import Explorer
from bbfalsify.zones.timing import Cut, Move, TimedPath, exact_tables, find_run, followed
from bbfalsify.zones.workspace import Workspace
from bbfalsify.zones.zone_tables import ZoneTables


def without_condition(tables: ZoneTables) -> ZoneTables:
    """The same tables for all runs, not only those that keep the condition."""
    Z = tables.Z.copy()
    Z[at.Z_KEPT] = -1
    return replace(tables, Z=Z)


def starting_states(explorer: Explorer, lasting: Explorer) -> dict[int, tuple[int, int]]:
    """Add the states that satisfy the target and the condition to `lasting`: its nodes → (node, case of the target)."""
    space, starts = lasting.space, {}
    cases = int(lasting.tables.Z[lasting.tables.Z[at.Z_ALIVE]]) if lasting.tables.Z[at.Z_ALIVE] >= 0 else 0
    for node in explorer.kept():
        for case in range(cases):
            space.load(*explorer.state(node))
            outcome = int(exploration.cut_and_settle(*space.arrays, case))
            if outcome < 0:
                raise space.problem(outcome)
            if outcome == 1:
                space.load(*space.state(1))
                number = lasting.count
                lasting.add()
                if lasting.count > number:
                    starts[number] = node, case
    return starts


def shortest_cycle(edges: np.ndarray) -> list[tuple[int, int]] | None:
    """A cycle through one node, as (node, number of the successor); None: there is none."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not len(edges):
        return None
    nodes = int(edges[:, :2].max()) + 1
    graph = coo_matrix((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(nodes, nodes)).tocsr()
    _, component = connected_components(graph, connection="strong")
    inside = component[edges[:, 0]] == component[edges[:, 1]]
    cyclic = edges[inside]
    if not len(cyclic):
        return None
    first = int(cyclic[:, 0].min())
    leaving: dict[int, list[tuple[int, int]]] = {}
    for source, target, choice in cyclic.tolist():
        leaving.setdefault(source, []).append((target, choice))
    came: dict[int, tuple[int, int]] = {}
    pending = deque([first])
    while pending:
        node = pending.popleft()
        for target, choice in leaving.get(node, ()):
            if target == first:
                cycle = [(node, choice)]
                while cycle[0][0] != first:
                    cycle.insert(0, came[cycle[0][0]])
                return cycle
            if target not in came:
                came[target] = node, choice
                pending.append(target)
    return None


@dataclass(frozen=True)
class LastingPath:
    """A path to a state in which a run lasts, or to a cycle."""

    tables: ZoneTables
    start: tuple[tuple[int, ...], int] | None
    """Path from the initial state to where the condition begins to be kept, and the case of the target there."""
    path: tuple[int, ...]
    cycle: tuple[int, ...]
    stuck: bool = False
    """The run ends at the end of the path, maybe after a wait."""

    def timed(self, repetitions: int) -> TimedPath | None:
        """Find a run along the path, with the cycle so many times; None: there is none."""
        choices = self.path + repetitions * self.cycle
        exact = Workspace.of(exact_tables(self.tables))
        if self.start is None:
            ways = [Move(exact, *move) for move in followed(self.tables, choices)]
            return find_run(exact, ways, self._end)
        free = without_condition(self.tables)
        path, case = self.start
        before = Workspace.of(exact_tables(free))
        reaching = [Move(before, *move) for move in followed(free, path)]
        first = _cut(self.tables, free, path, case)
        going_on = [Move(exact, *move) for move in followed(self.tables, choices, first)]
        return find_run(before, [*reaching, Cut(exact, case), *going_on], self._end)

    def _end(self, space: Workspace) -> np.ndarray | None:
        """The states in which the run may end: where nothing happens any more, or all."""
        if not self.stuck:
            return space.state(0)[1]
        outcome = int(exploration.stuck_zone(*space.arrays, space.expand(detailed=True)))
        if outcome < 0:
            raise space.problem(outcome)
        return space.matrix(at.M_CELL) if outcome else None


def _cut(tables: ZoneTables, free: ZoneTables, path: tuple[int, ...], case: int) -> tuple[np.ndarray, np.ndarray]:
    """The state in which the condition begins to be kept."""
    space = Workspace.of(free)
    space.begin()
    for choice in path:
        space.expand()
        space.load(*space.state(choice + 1))
    cutting = Workspace.of(tables)
    cutting.load(*space.state(0))
    exploration.cut_and_settle(*cutting.arrays, case)
    return cutting.state(1)
