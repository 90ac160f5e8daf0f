"""Turn a path of the zone graph into a run: moments of its transitions that satisfy every bound.

The value of a clock is the difference of two moments, plus a constant: now, and when it was set last.  So the zones
along a path, computed without widening, are bounds on differences of moments.  The least solution is found by longest
paths (Bellman and Ford): every transition fires as early as any run along this path allows.  Strict bounds are kept by
a distance of 1/(number of moments).

Where clocks stop, their values are sums of such differences: see `stopwatch_timing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bbfalsify.zones import zone_exploration as exploration
from bbfalsify.zones import zone_layout as at
from bbfalsify.zones.dbm import INFINITE
from bbfalsify.zones.stopwatch_timing import moments_with_stops
from bbfalsify.zones.workspace import Details, Workspace
from bbfalsify.zones.zone_tables import ZoneTables

MOST_TRIES = 100_000
Moves = tuple[tuple[int, int], ...]
"""(edge, branch) of all that take part; edges by their number in the network."""


@dataclass(frozen=True)
class TimedPath:
    moves: tuple[Moves, ...]
    times: tuple[Fraction, ...]
    end: Fraction
    """When the target is met."""


_Step = tuple[Moves, Details]
State = tuple[np.ndarray, np.ndarray]
"""Row and matrix."""


def timed_path(tables: ZoneTables, path: tuple[int, ...], aim: ZoneTables | None = None) -> TimedPath | None:
    """Find a run along a path of the explorer to a target; None: there is none (the path is spurious).

    `aim` are tables of the same network with another target.
    """
    exact = Workspace.of(exact_tables(tables if aim is None else aim))
    ways = [Move(exact, *move) for move in followed(tables, path)]
    return find_run(exact, ways, _ending)


@dataclass(frozen=True)
class Move:
    """A transition that a run must take."""

    space: Workspace
    moves: Moves
    row: bytes

    def taken(self, state: State) -> list[tuple[State, _Step]]:
        """Every way to take it from a state: the state after it, and what it requires of the moments."""
        space = self.space
        space.load(*state)
        return [
            (space.state(k), (self.moves, space.details(k)))
            for k in range(1, space.expand(detailed=True) + 1)
            if space.moves(k) == self.moves and space.state(k)[0].tobytes() == self.row
        ]


@dataclass(frozen=True)
class Cut:
    """A moment at which a run must satisfy a case of the target; from then on it keeps the condition of the tables."""

    space: Workspace
    case: int

    def taken(self, state: State) -> list[tuple[State, _Step]]:
        space, n = self.space, self.space.tables.size
        space.load(*state)
        outcome = int(exploration.cut_and_settle(*space.arrays, self.case))
        if outcome < 0:
            raise space.problem(outcome)
        if outcome == 0:
            return []
        cell, same = space.matrix(at.M_CELL), list(range(n))
        passes = bool(space.W[space.tables.Z[at.Z_PASSES]])
        return [(space.state(1), ((), Details(True, passes, cell, cell, same, [0] * n)))]


def find_run(
    space: Workspace, ways: Sequence[Move | Cut], ending: Callable[[Workspace], np.ndarray | None]
) -> TimedPath | None:
    """Find moments for a run from the initial state that goes these ways; `space` works without widening."""
    space.begin()
    passes, stopped = bool(space.W[space.tables.Z[at.Z_PASSES]]), space.stopped
    last = ways[-1].space if ways else space
    pending: list[tuple[int, State, _Step | None]] = [(0, space.state(0), None)]
    steps: list[_Step] = []
    for _ in range(MOST_TRIES):
        if not pending:
            return None
        depth, state, step = pending.pop()
        del steps[max(depth - 1, 0) :]
        if step is not None:
            steps.append(step)
        if depth < len(ways):
            pending += [(depth + 1, *taken) for taken in reversed(ways[depth].taken(state))]
            continue
        last.load(*state)
        end = ending(last)
        if end is None:
            continue
        if space.tables.stopwatch is None:
            moments = _solve(space.tables, steps, end, passes)
        else:
            moments = moments_with_stops(space.tables, [step for _, step in steps], end, passes, stopped)
        if moments is not None:
            timed = [(moves, time) for (moves, _), time in zip(steps, moments, strict=False) if moves]
            return TimedPath(tuple(moves for moves, _ in timed), tuple(time for _, time in timed), moments[-1])
    return None


def exact_tables(tables: ZoneTables) -> ZoneTables:
    """The same tables without widening."""
    Z = tables.Z.copy()
    Z[at.Z_EXTRAPOLATION] = at.NO_EXTRAPOLATION
    return replace(tables, Z=Z)


def followed(tables: ZoneTables, path: tuple[int, ...], first: State | None = None) -> list[tuple[Moves, bytes]]:
    """Moves and row of each transition of a path of the explorer, from the initial state or another."""
    space = Workspace.of(tables)
    if first is None:
        space.begin()
    else:
        space.load(*first)
    found = []
    for choice in path:
        space.expand(detailed=bool(tables.Z[at.Z_DEADLOCKS] or tables.Z[at.Z_KEPT] >= 0))
        row, matrix = space.state(choice + 1)
        found.append((space.moves(choice + 1), row.tobytes()))
        space.load(row, matrix)
    return found


def _ending(space: Workspace) -> np.ndarray | None:
    """A zone of targets in the state of the first record."""
    count = space.expand(detailed=True) if space.tables.Z[at.Z_DEADLOCKS] else -1
    outcome = int(exploration.target_zone(*space.arrays, count))
    if outcome < 0:
        raise space.problem(outcome)
    return space.matrix(at.M_CELL) if outcome else None


def _solve(tables: ZoneTables, steps: list[_Step], end: np.ndarray, time_passes_first: bool) -> list[Fraction] | None:
    """The least moments of all transitions and of the end; None if there are none."""
    count = len(steps) + 2  # moment 0 is the beginning, moment i + 1 that of step i
    bounds = _Bounds()
    for later in range(1, count):
        bounds.add(later - 1, later, 1)  # they are in this order
    reals = tables.network.initial_reals()
    since = [0] * tables.size
    value = [0, *(int(reals[slot] * tables.scale) for slot in tables.slots[1:])]
    passes = time_passes_first
    for place, (_, step) in enumerate(steps, start=1):
        if not passes:
            bounds.add(place, place - 1, 1)
        passes = step.passes
        bounds.add_zone(step.firing, place, since, value)
        since, value = (
            [place if source == 0 else since[source] for source in step.sources],
            [(value[source] if source else 0) + shift for source, shift in zip(step.sources, step.shifts, strict=True)],
        )
        bounds.add_zone(step.entered, place, since, value)
    if not passes:
        bounds.add(count - 1, count - 2, 1)
    bounds.add_zone(end, count - 1, since, value)
    return bounds.least(count, tables.scale)


class _Bounds:
    """Bounds on differences of moments: moment u − moment v ≺ bound."""

    def __init__(self) -> None:
        self._u: list[int] = []
        self._v: list[int] = []
        self._bound: list[int] = []

    def add(self, u: int, v: int, bound: int) -> None:
        self._u.append(u)
        self._v.append(v)
        self._bound.append(bound)

    def add_zone(self, zone: np.ndarray, now: int, since: list[int], value: list[int]) -> None:
        """Require that the clocks, set at `since` to `value`, are in a zone at moment `now`."""
        size = len(zone)
        for i in range(size):
            for j in range(size):
                bound = int(zone[i, j])
                if i == j or bound == INFINITE:
                    continue
                # xᵢ = now − sinceᵢ + valueᵢ, and x₀ = 0
                if i == 0:
                    self.add(since[j], now, bound + 2 * value[j])
                elif j == 0:
                    self.add(now, since[i], bound - 2 * value[i])
                else:
                    self.add(since[j], since[i], bound - 2 * value[i] + 2 * value[j])

    def least(self, count: int, scale: int) -> list[Fraction] | None:
        steps = 1 << (count + 1).bit_length()
        u, v = np.array(self._u), np.array(self._v)
        packed = np.array(self._bound)
        weight = (packed >> 1) * steps - (1 - (packed & 1))  # a strict bound is missed by one small step
        order = np.lexsort((weight, v, u))
        u, v, weight = u[order], v[order], weight[order]
        first = np.ones(len(u), bool)
        first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
        u, v, weight = u[first], v[first], weight[first]
        moments = np.zeros(count, np.int64)
        for _ in range(count + 1):
            before = moments.copy()
            np.maximum.at(moments, v, moments[u] - weight)
            if moments[0] > 0:
                return None
            if np.array_equal(before, moments):
                return [Fraction(int(m), steps * scale) for m in moments[1:]]
        return None
