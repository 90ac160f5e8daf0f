"""Values of a measured expression at the end of a path of the zone graph, without widening."""

from __future__ import annotations

import numpy as np

from bbfalsify.zones import extreme_values as kernel
from bbfalsify.zones.constraints import NO_VALUE
from bbfalsify.zones.dbm import INFINITE, LARGEST
from bbfalsify.zones.explorer import Explorer
from bbfalsify.zones.timing import Move, exact_tables, followed
from bbfalsify.zones.workspace import Workspace
from bbfalsify.zones.zone_tables import ZoneTables

MOST_WAYS = 1000
NO_LIMIT = 4 * LARGEST


def largest_of(explorer: Explorer, k: int, horizon: int) -> np.ndarray:
    """Find the largest value of expression k in an exploration, by the places of `zones/extreme_values.py`."""
    best = np.zeros(kernel.X_SIZE, np.int64)
    outcome = int(kernel.largest_of_nodes(
        *explorer.space.arrays, explorer.nodes, explorer.rows, explorer.matrices, explorer.progress, k, horizon, best
    ))  # fmt: skip
    if outcome < 0:
        raise explorer.space.problem(outcome)
    return best


def grows_along(tables: ZoneTables, path: tuple[int, ...], k: int) -> bool | int:
    """True if expression k has no bound at the end of this path; else its largest value there, in steps of 1/scale."""
    space = Workspace.of(exact_tables(tables))
    ways = [Move(space, *move) for move in followed(tables, path)]
    best = np.zeros(kernel.X_SIZE, np.int64)
    best[kernel.X_LARGEST] = -NO_VALUE
    space.begin()
    pending = [(0, space.state(0))]
    for _ in range(MOST_WAYS):
        if not pending:
            break
        depth, state = pending.pop()
        if depth < len(ways):
            pending += [(depth + 1, after) for after, _ in reversed(ways[depth].taken(state))]
            continue
        space.load(*state)
        outcome = int(kernel.largest_in_state(*space.arrays, k, NO_LIMIT, best))
        if outcome < 0:
            raise space.problem(outcome)
        if best[kernel.X_FAR_BOUND] == INFINITE:
            return True
    return int(best[kernel.X_LARGEST] >> 1)
