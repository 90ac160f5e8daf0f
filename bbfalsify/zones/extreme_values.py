"""Largest values of an expression over symbolic states, compiled.

An expression is x − y + data, and what the zone of a state (cut by the target) says of x − y is a bound on it.  A clock
that is measured is widened only beyond a horizon, so a bound up to there is exact, and whether it is met, too.
"""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled, entry_point
from bbfalsify.zones.constraints import (
    NO_VALUE,
    clock_named,
    constrain_by_case,
    data_holds,
    list_invariants,
    load_row,
    value_of,
)
from bbfalsify.zones.dbm import INFINITE
from bbfalsify.zones.entering import time_may_pass
from bbfalsify.zones.passed_list import fetch_node
from bbfalsify.zones.zone_layout import *

(X_NODE, X_LARGEST, X_FAR_NODE, X_FAR_PLACE, X_FAR_BOUND, X_SIZE) = range(6)
"""Of all states: the node with the largest value (−1: no state satisfies the target); twice the value, plus 1 if it is
met; a node beyond the horizon (−1: none); FAR_BOUNDED or FAR_WAITING; its bound on the clocks."""

FAR_BOUNDED, FAR_WAITING = 1, 2
"""Beyond the horizon: after some steps; where time may pass for ever."""


@compiled
def waits_without_limit(T, F, S, X, R, Z, W):
    """Tell whether time may pass for ever in the walker's state: 0, 1, or a problem."""
    passes = time_may_pass(T, F, S, X, R, Z)
    if passes != 1:
        return passes
    end = list_invariants(T, F, S, X, R, Z, W)
    atom = int(Z[Z_ATOMS])
    while atom < end:
        if W[atom] > 0 and W[atom + 1] == 0:
            return 0
        atom += 3
    return min(end, 1)


@compiled
def largest_here(T, F, S, X, R, Z, D, W, found, k, horizon, work):
    """Take the state in the first record into account for expression k, up to `horizon`: 1 if it is a target, 0, or a
    problem.

    work[X_FAR_PLACE] tells whether it is beyond the horizon: 0 no, FAR_BOUNDED, FAR_WAITING.
    """
    n = int(Z[Z_CLOCKS])
    atom = Z[Z_MEASURED] + 1 + ZONE_ATOM_WIDTH * k
    condition = Z[Z_ALIVE]
    met = 0
    work[X_FAR_PLACE] = 0
    if condition < 0:
        return 0
    load_row(T, S, X, Z, found, 0)
    for c in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * c
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        for j in range(n * n):
            D[M_CELL * n * n + j] = found[Z[Z_WIDTH] + j]
        left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * n * n)
        if left < 0:
            return left
        if left == 0:
            continue
        met = 1
        x = clock_named(T, F, S, X, R, Z, Z[atom + ZA_LEFT], Z[atom + ZA_LEFT_CODE], Z[atom + ZA_LEFT_SIZE])
        y = clock_named(T, F, S, X, R, Z, Z[atom + ZA_RIGHT], Z[atom + ZA_RIGHT_CODE], Z[atom + ZA_RIGHT_SIZE])
        value = value_of(T, F, S, X, R, Z, atom)
        if S[S_ERROR] != 0:
            return FAILED
        if x < 0 or y < 0:
            return BAD_CLOCK
        if value == NO_VALUE:
            return BAD_BOUND
        bound = int(D[M_CELL * n * n + n * x + y])
        if bound == INFINITE or (bound >> 1) > horizon:
            waits = waits_without_limit(T, F, S, X, R, Z, W)
            if waits < 0:
                return waits
            work[X_FAR_PLACE] = FAR_WAITING if waits == 1 else max(work[X_FAR_PLACE], FAR_BOUNDED)
            work[X_FAR_BOUND] = max(work[X_FAR_BOUND], bound)
        elif 2 * value + bound > work[X_LARGEST]:
            work[X_LARGEST] = 2 * value + bound
    return FAILED if S[S_ERROR] != 0 else met


@entry_point
def largest_in_state(T, F, S, X, R, Z, D, W, found, k, horizon, work):
    """Take the state in the first record into account; see `largest_here`."""
    S[S_ERROR] = 0
    return largest_here(T, F, S, X, R, Z, D, W, found, k, horizon, work)


@entry_point
def largest_of_nodes(T, F, S, X, R, Z, D, W, found, nodes, discrete, stored, progress, k, horizon, work):
    """Find the largest value of expression k over all nodes that no other covers: DONE or a problem."""
    S[S_ERROR] = 0
    work[X_NODE] = -1
    work[X_FAR_NODE] = -1
    work[X_LARGEST] = -NO_VALUE
    shown = 0
    for node in range(progress[P_NODES]):
        if nodes[node, N_FLAGS] & COVERED:
            continue
        fetch_node(Z, found, node, nodes, discrete, stored)
        before = work[X_LARGEST]
        met = largest_here(T, F, S, X, R, Z, D, W, found, k, horizon, work)
        if met < 0:
            return met
        if met == 1 and work[X_LARGEST] > before:
            work[X_NODE] = node
        if work[X_FAR_PLACE] > shown:
            shown = work[X_FAR_PLACE]
            work[X_FAR_NODE] = node
    work[X_FAR_PLACE] = shown
    return DONE
