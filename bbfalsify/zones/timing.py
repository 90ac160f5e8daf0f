"""Turn a path of the zone graph into a run: moments of its transitions that satisfy every bound.

The value of a clock is the difference of two moments, plus a constant: now, and when it was set last.  So the zones
along a path, computed without widening, are bounds on differences of moments.  The least solution is found by longest
paths (Bellman and Ford): every transition fires as early as any run along this path allows.  Strict bounds are kept by
a distance of 1/(number of moments).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bbfalsify.zones import exploration
from bbfalsify.zones import layout as at
from bbfalsify.zones.dbm import INFINITE
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


def timed_path(tables: ZoneTables, path: tuple[int, ...], *, targets: bool = True) -> TimedPath | None:
    """Find a run along a path of the explorer, to a target if `targets`; None: there is none (the path is spurious)."""
    exact = _exact(tables)
    wanted = _followed(tables, path)
    space = Workspace.of(exact)
    space.begin()
    passes = bool(space.W[exact.Z[at.Z_PASSES]])
    for steps, end in _runs(exact, wanted, targets):
        moments = _solve(exact, steps, end, passes)
        if moments is not None:
            return TimedPath(tuple(moves for moves, _ in steps), tuple(moments[:-1]), moments[-1])
    return None


def _exact(tables: ZoneTables) -> ZoneTables:
    """The same tables without widening."""
    from dataclasses import replace

    Z = tables.Z.copy()
    Z[at.Z_EXTRAPOLATION] = at.NO_EXTRAPOLATION
    return replace(tables, Z=Z)


def _followed(tables: ZoneTables, path: tuple[int, ...]) -> list[tuple[Moves, bytes]]:
    """Moves and row of each transition of a path."""
    space = Workspace.of(tables)
    space.begin()
    found = []
    for choice in path:
        detailed = bool(tables.Z[at.Z_DEADLOCKS])
        space.expand(detailed=detailed)
        row, matrix = space.state(choice + 1)
        found.append((space.moves(choice + 1), row.tobytes()))
        space.load(row, matrix)
    return found


def _runs(
    tables: ZoneTables, wanted: list[tuple[Moves, bytes]], targets: bool
) -> Iterator[tuple[list[_Step], np.ndarray]]:
    """Sequences of exact zones with these moves, each with the zone in which it may end."""
    space = Workspace.of(tables)
    space.begin()
    pending: list[tuple[int, tuple[np.ndarray, np.ndarray], _Step | None]] = [(0, space.state(0), None)]
    steps: list[_Step] = []
    for _ in range(MOST_TRIES):
        if not pending:
            return
        depth, state, step = pending.pop()
        del steps[max(depth - 1, 0) :]
        if step is not None:
            steps.append(step)
        space.load(*state)
        if depth == len(wanted):
            end = _ending(space, targets)
            if end is not None:
                yield steps, end
            continue
        moves, row = wanted[depth]
        alike = [
            k for k in range(1, space.expand(detailed=True) + 1)
            if space.moves(k) == moves and space.state(k)[0].tobytes() == row
        ]  # fmt: skip
        for k in reversed(alike):
            pending.append((depth + 1, space.state(k), (moves, space.details(k))))


def _ending(space: Workspace, targets: bool) -> np.ndarray | None:
    """A zone of targets in the state of the first record; the whole zone without targets."""
    if not targets:
        return space.state(0)[1]
    count = space.expand(detailed=True) if space.tables.Z[at.Z_DEADLOCKS] else -1
    outcome = int(exploration.target_zone(*space.arrays, count))
    if outcome < 0:
        raise space.problem(outcome)
    size = space.tables.size
    return space.D[at.M_CELL * size**2 : (at.M_CELL + 1) * size**2].reshape(size, size).copy() if outcome else None


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
