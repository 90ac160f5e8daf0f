"""Parts of a symbolic state, compiled: targets, deadlocks, and where a run may last for ever."""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import constrain_by_case, data_holds, list_invariants, load_row
from bbfalsify.zones.dbm import INFINITE, before, constrain, copied, subtract, tighten
from bbfalsify.zones.entering import time_may_pass
from bbfalsify.zones.zone_layout import *

LASTS_WAITING, LASTS_STUCK = 1, 2


@compiled
def meets(T, F, S, X, R, Z, D, W, found, place, condition, pieces, count):
    """Tell whether a state of found[place:] satisfies a condition, and lies in one of `count` matrices at `pieces`.

    0 or 1, or a problem; M_CELL is the zone of such states.  `count` −1 stands for all states.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    load_row(T, S, X, Z, found, place)
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        for i in range(1 if count < 0 else count):
            if count < 0:
                for j in range(size):
                    D[M_CELL * size + j] = found[place + Z[Z_WIDTH] + j]
            else:
                copied(D, pieces + size * i, M_CELL * size, n)
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left != 0:
                return left
    return FAILED if S[S_ERROR] != 0 else 0


@compiled
def list_living(T, F, S, X, R, Z, D, W, found, count):
    """Write the states of the first record from which one of `count` detailed successors fires: their number.

    The matrices are M_PIECES and following; dead states are all others.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    load_row(T, S, X, Z, found, 0)
    passes = time_may_pass(T, F, S, X, R, Z)
    living = 0
    for k in range(count):
        record = Z[Z_RECORD] * (k + 1) + Z[Z_DETAILS] + 1
        place = (M_PIECES + living) * size
        if living >= Z[Z_PIECES]:
            return TOO_MANY_PIECES
        for i in range(size):
            D[place + i] = found[record + i]
        if passes == 1:
            before(D, place, n)
        known = False
        for i in range(living):
            other = (M_PIECES + i) * size
            same = True
            for j in range(size):
                if D[other + j] < D[place + j]:
                    same = False
                    break
            known = known or same
        if not known:
            living += 1
    return living


@inlined
def begin_pieces(Z, D, found):
    """Make the zone of the first record the only piece; return the places of the pieces and of the next ones."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    here = (M_PIECES + Z[Z_PIECES]) * size
    for k in range(size):
        D[here + k] = found[Z[Z_WIDTH] + k]
    return here, here + Z[Z_PIECES] * size


@compiled
def list_dead(Z, D, found, living):
    """Write the states of the first record outside the `living` matrices; return (place, number) of disjoint pieces."""
    n = int(Z[Z_CLOCKS])
    size = n * n
    here, there = begin_pieces(Z, D, found)
    count = 1
    for k in range(living):
        count = subtract(D, (M_PIECES + k) * size, n, here, count, M_SPARE * size, there, Z[Z_PIECES])
        if count <= 0:
            break
        here, there = there, here
    return here, count


@compiled
def ends_here(T, F, S, X, R, Z, D, W, found, count):
    """Look for a target among the states of the first record, given its detailed successors: 0, 1, or a problem."""
    living = list_living(T, F, S, X, R, Z, D, W, found, count)
    if living < 0:
        return living
    if Z[Z_DEAD] >= 0:
        pieces, dead = list_dead(Z, D, found, living)
        if dead < 0:
            return TOO_MANY_PIECES
        if dead > 0:
            met = meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_DEAD], pieces, dead)
            if met != 0:
                return met
    if Z[Z_ALIVE] >= 0 and living > 0:
        n = int(Z[Z_CLOCKS])
        for k in range(living):  # M_PIECES reach beyond the state where time passes backwards
            place = (M_PIECES + k) * n * n
            for i in range(n):
                for j in range(n):
                    constrain(D, place, n, i, j, int(found[Z[Z_WIDTH] + n * i + j]))
        return meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_ALIVE], M_PIECES * n * n, living)
    return 0


@compiled
def waits_for_ever(T, F, S, X, R, Z, found):
    """Tell whether time may pass for ever in the state of the first record, which may be cut to what is kept."""
    n = int(Z[Z_CLOCKS])
    load_row(T, S, X, Z, found, 0)
    if time_may_pass(T, F, S, X, R, Z) != 1:
        return False
    for i in range(1, n):
        if found[Z[Z_WIDTH] + n * i] != INFINITE:
            return False
    return True


@compiled
def move_to_limit(D, m, n):
    """Turn a matrix into what its states approach while time passes: upper bounds are met, lower ones exceeded."""
    for i in range(1, n):
        if D[m + n * i] != INFINITE:
            D[m + n * i] |= 1
        D[m + i] &= -2
    return tighten(D, m, n)


@compiled
def stuck_at(Z, D, found, count, i, limit):
    """Look for states in which nothing fires at the end of the stay that clock i bounds; i = 0: at any time.

    The end is where the clock meets the bound; for a strict one, what the states approach.  Return the place of a
    matrix of such states, 0 if there is none, or a problem.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    here, there = begin_pieces(Z, D, found)
    strict = i > 0 and limit & 1 == 0
    if strict and not move_to_limit(D, here, n):
        return 0
    if i > 0 and not constrain(D, here, n, 0, i, -2 * (limit >> 1) + 1):
        return 0
    pieces = 1
    for k in range(count):
        record = Z[Z_RECORD] * (k + 1) + Z[Z_DETAILS] + 1
        for j in range(size):
            D[M_PIECES * size + j] = found[record + j]
        if strict and not move_to_limit(D, M_PIECES * size, n):
            continue
        pieces = subtract(D, M_PIECES * size, n, here, pieces, M_SPARE * size, there, Z[Z_PIECES])
        if pieces < 0:
            return TOO_MANY_PIECES
        if pieces == 0:
            return 0
        here, there = there, here
    return here


@compiled
def run_ends(T, F, S, X, R, Z, D, W, found, count):
    """Look for states of the first record where neither time passes nor anything fires, given its detailed successors.

    Return the place of a matrix of such states (for a strict invariant, what they approach), 0, or a problem.
    """
    load_row(T, S, X, Z, found, 0)
    if time_may_pass(T, F, S, X, R, Z) != 1:
        return stuck_at(Z, D, found, count, 0, 0)
    end = list_invariants(T, F, S, X, R, Z, W)
    atom = int(Z[Z_ATOMS])
    while atom < end:
        if W[atom] > 0 and W[atom + 1] == 0:
            stuck = stuck_at(Z, D, found, count, W[atom], W[atom + 2])
            if stuck != 0:
                return stuck
        atom += 3
    return 0


@compiled
def run_lasts(T, F, S, X, R, Z, D, W, found, count):
    """Tell how a run may last in the first record: LASTS_WAITING, LASTS_STUCK, 0: only by firing, or a problem."""
    if waits_for_ever(T, F, S, X, R, Z, found):
        return LASTS_WAITING
    ends = run_ends(T, F, S, X, R, Z, D, W, found, count)
    return ends if ends <= 0 else LASTS_STUCK


@compiled
def ending_zone(T, F, S, X, R, Z, D, W, found, count):
    """Write states of the first record, in which a run ends, to M_CELL: 1, 0 if there are none, or a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    place = run_ends(T, F, S, X, R, Z, D, W, found, count)
    if place <= 0:
        return place
    copied(D, place, M_CELL * size, Z[Z_CLOCKS])
    for k in range(size):  # what states approach may lie outside the zone: then any from which nothing fires
        if D[M_CELL * size + k] > found[Z[Z_WIDTH] + k]:
            living = list_living(T, F, S, X, R, Z, D, W, found, count)
            if living < 0:
                return living
            place, dead = list_dead(Z, D, found, living)
            if dead > 0:
                copied(D, place, M_CELL * size, Z[Z_CLOCKS])
            return 1 if dead > 0 else 0
    return 1
