"""Enter a state after its updates, compiled: invariants, passing time, widening.

Updates run on marked clocks, which tells what each clock becomes; the zone follows.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import constrain_by_case, constrain_by_list, data_holds, list_invariants, store_row
from bbfalsify.zones.dbm import LARGEST, assigned, constrain, copied, extrapolate, fits, let_pass, let_some_pass
from bbfalsify.zones.zone_layout import *

# --- may time pass? --------------------------------------------------------------------------------------------------


@compiled
def guard_without_clocks(T, F, S, X, R, Z, e):
    """Tell whether the guard of an edge holds: 0 no, 1 whatever the clocks are, 2 it depends on them."""
    condition = Z[Z[Z_GUARDS] + e]
    answer = 0
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if data_holds(T, F, S, X, R, Z, case):
            if Z[case + CASE_ATOM_COUNT] == 0:
                return 1
            answer = 2
    return answer


@compiled
def urgent_channel(T, F, S, X, R, Z):
    """Tell whether a transition on an urgent channel is enabled: 0 no, 1 yes, 2 it depends on the clocks."""
    answer = 0
    for i in range(T[H_URGENT_PLACE_COUNT]):
        row = T[H_URGENT_PLACES] + PLACE_WIDTH * i
        if S[T[H_S_LOCATIONS] + T[row]] != T[row + 1]:
            continue
        for k in range(T[row + 3]):
            e = T[T[H_URGENT_EDGES] + T[row + 2] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            mine = guard_without_clocks(T, F, S, X, R, Z, e)
            if mine == 0:
                continue
            if T[edge + E_ENTRY] != ENTRY_FREE:
                mine = 2
            if T[edge + E_KIND] == KIND_BROADCAST_SEND:
                if mine == 1:
                    return 1
                answer = 2
                continue
            for j in range(T[edge + E_PARTNER_COUNT]):
                r = T[T[edge + E_PARTNERS] + j]
                other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                q = T[other + E_PROCESS]
                if q == T[edge + E_PROCESS] or S[T[H_S_LOCATIONS] + q] != T[other + E_SOURCE]:
                    continue
                theirs = guard_without_clocks(T, F, S, X, R, Z, r)
                if theirs == 0:
                    continue
                if mine == 1 and theirs == 1 and T[other + E_ENTRY] == ENTRY_FREE:
                    return 1
                answer = 2
    return answer


@inlined
def time_may_pass(T, F, S, X, R, Z):
    """Tell whether time may pass in the walker's state: 0, 1, or a problem."""
    if S[S_COMMITTED] > 0 or S[S_URGENT] > 0:
        return 0
    if T[H_URGENT_PLACE_COUNT] == 0:
        return 1
    urgent = urgent_channel(T, F, S, X, R, Z)
    if S[S_ERROR] != 0:
        return FAILED
    return CLOCKED_URGENCY if urgent == 2 else 1 - urgent


# --- the state entered -----------------------------------------------------------------------------------------------


@inlined
def find_sources(X, Z, W):
    """Find out from the marks what updates have made of the clocks; return 1, or 0 for values that no zone has."""
    sources = Z[Z_SOURCES]
    shifts = Z[Z_SHIFTS]
    W[sources] = 0
    W[shifts] = 0
    for c in range(1, Z[Z_CLOCKS]):
        value = X[CLOCKS + 3 * Z[Z[Z_SLOT_OF_CLOCK] + c]]
        W[sources + c] = c
        W[shifts + c] = 0
        if value != c * MARK:
            source = int(value / MARK + 0.5)
            shift = (value - source * MARK) * Z[Z_SCALE]
            if source < 0 or source >= Z[Z_CLOCKS] or abs(shift) > LARGEST or shift != float(int(shift)):
                return 0
            if source == 0 and shift < 0.0:
                return 0
            W[sources + c] = source
            W[shifts + c] = int(shift)
    return 1


@inlined
def collect_bounds(T, S, Z, W):
    """Collect the largest constants that matter in the current locations."""
    lower = Z[Z_LOWER]
    upper = Z[Z_UPPER]
    for c in range(Z[Z_CLOCKS]):
        W[lower + c] = Z[Z[Z_LEAST] + 2 * c]
        W[upper + c] = Z[Z[Z_LEAST] + 2 * c + 1]
    for p in range(T[H_PROCESSES]):
        row = Z[Z[Z_BOUNDS] + S[T[H_S_LOCATIONS] + p]]
        for k in range(Z[row]):
            c = Z[row + 1 + 3 * k]
            if Z[row + 2 + 3 * k] > W[lower + c]:
                W[lower + c] = Z[row + 2 + 3 * k]
            if Z[row + 3 + 3 * k] > W[upper + c]:
                W[upper + c] = Z[row + 3 + 3 * k]


@compiled
def widen(T, S, Z, D, W, m):
    """Extrapolate a matrix by the constants that matter in the walker's locations."""
    if Z[Z_EXTRAPOLATION] == NO_EXTRAPOLATION:
        return
    collect_bounds(T, S, Z, W)
    if Z[Z_EXTRAPOLATION] == MAXIMUM:
        for c in range(Z[Z_CLOCKS]):
            larger = max(W[Z[Z_LOWER] + c], W[Z[Z_UPPER] + c])
            W[Z[Z_LOWER] + c] = larger
            W[Z[Z_UPPER] + c] = larger
    extrapolate(D, m, Z[Z_CLOCKS], W, Z[Z_LOWER], Z[Z_UPPER])


@compiled
def list_stopped(T, F, S, X, R, Z, W):
    """Mark the clocks that stop in the walker's state; return their number, or a problem."""
    stopped = Z[Z_STOPPED]
    for c in range(Z[Z_CLOCKS]):
        W[stopped + c] = 0
    if Z[Z_STOPWATCHES] == 0:
        return 0
    for p in range(T[H_PROCESSES]):  # a later process decides, as in the interpreter
        row = Z[Z[Z_RATES] + S[T[H_S_LOCATIONS] + p]]
        for k in range(Z[row]):
            code = Z[row + 2 + 2 * k]
            rate = 0.0 if code == RATE_ZERO else 1.0
            if code >= 0:
                execute(T, F, S, X, R, code, MODE_FROZEN, 0.0)
                rate = X[T[H_X_STACK]]
                if S[S_ERROR] != 0:
                    return FAILED
                if rate != 0.0 and rate != 1.0:
                    return BAD_RATE
            W[stopped + Z[row + 1 + 2 * k]] = 1 if rate == 0.0 else 0
    count = 0
    for c in range(Z[Z_CLOCKS]):
        count += W[stopped + c]
    return count


@compiled
def keep(T, F, S, X, R, Z, D, W, m):
    """Intersect with the condition that a run keeps: 1, 0 if nothing is left, or a problem."""
    condition = Z[Z_KEPT]
    if condition < 0:
        return 1
    chosen = -1
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if data_holds(T, F, S, X, R, Z, case):
            if Z[case + CASE_ATOM_COUNT] == 0:
                return 1
            if chosen >= 0:
                return SPLIT_INVARIANT
            chosen = case
        if S[S_ERROR] != 0:
            return FAILED
    if chosen < 0:
        return 0
    return constrain_by_case(T, F, S, X, R, Z, D, W, chosen, m)


@compiled
def settle(T, F, S, X, R, Z, D, W, end):
    """Turn M_FIRED, which satisfies the listed invariants, into the symbolic state M_NEXT: 1, 0: nothing is kept."""
    n = int(Z[Z_CLOCKS])
    size = n * n
    copied(D, M_FIRED * size, M_NEXT * size, n)
    passes = time_may_pass(T, F, S, X, R, Z)
    if passes < 0:
        return passes
    W[Z[Z_PASSES]] = passes
    kept = keep(T, F, S, X, R, Z, D, W, M_NEXT * size)
    if kept != 1:
        return kept
    stopped = list_stopped(T, F, S, X, R, Z, W)
    if stopped < 0:
        return stopped
    if passes == 1:
        if stopped > 0:
            let_some_pass(D, M_NEXT * size, n, W, Z[Z_STOPPED])
        else:
            let_pass(D, M_NEXT * size, n)
        if Z[Z_KEPT] >= 0:  # it used the list of atoms
            end = list_invariants(T, F, S, X, R, Z, W)
        constrain_by_list(D, M_NEXT * size, n, W, Z[Z_ATOMS], end)
        keep(T, F, S, X, R, Z, D, W, M_NEXT * size)
    if Z[Z_EXTRAPOLATION] == NO_EXTRAPOLATION and not fits(D, M_NEXT * size, n):
        return WIDE_BOUND
    widen(T, S, Z, D, W, M_NEXT * size)
    return 1


@compiled
def enter(T, F, S, X, R, Z, D, W, found, place, moves, parties, detailed):
    """Enter the state after the updates with the clocks of M_CELL; write the record: 1, 0 if impossible, a problem.

    `moves` is the place in W of (edge, branch) of all that took part.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    if find_sources(X, Z, W) == 0:
        return BAD_CLOCK
    assigned(D, M_CELL * size, M_FIRED * size, n, W, Z[Z_SOURCES], Z[Z_SHIFTS])
    end = list_invariants(T, F, S, X, R, Z, W)
    if end <= 0:
        return end
    if not constrain_by_list(D, M_FIRED * size, n, W, Z[Z_ATOMS], end):
        return 0
    outcome = settle(T, F, S, X, R, Z, D, W, end)
    if outcome < 0 or (outcome == 0 and detailed == 0):
        return outcome
    if store_row(T, S, Z, found, place) == 0:
        return WIDE_INTEGER
    for k in range(size):
        found[place + Z[Z_WIDTH] + k] = D[M_NEXT * size + k]
    record = place + Z[Z_MOVES]
    found[record] = parties
    for k in range(2 * parties):
        found[record + 1 + k] = W[moves + k]
    if detailed:
        record = place + Z[Z_DETAILS]
        found[record] = outcome + 2 * W[Z[Z_PASSES]]
        for k in range(size):
            found[record + 1 + k] = D[M_CELL * size + k]
            found[record + 1 + size + k] = D[M_FIRED * size + k]
        for c in range(n):
            found[record + 1 + 2 * size + c] = W[Z[Z_SOURCES] + c]
            found[record + 1 + 2 * size + n + c] = W[Z[Z_SHIFTS] + c]
            found[record + 1 + 2 * size + 2 * n + c] = W[Z[Z_STOPPED] + c]
    return 1


@compiled
def require_entry(T, F, S, X, R, Z, D, W):
    """Intersect M_CELL with the states from which the walker's state can be entered: 1, 0 if none, a problem."""
    n = int(Z[Z_CLOCKS])
    if find_sources(X, Z, W) == 0:
        return BAD_CLOCK
    end = list_invariants(T, F, S, X, R, Z, W)
    if end <= 0:
        return end
    atom = int(Z[Z_ATOMS])
    while atom < end:
        i = W[atom]
        j = W[atom + 1]
        shift = W[Z[Z_SHIFTS] + i] - W[Z[Z_SHIFTS] + j]
        bound = W[atom + 2] - 2 * shift
        if not constrain(D, M_CELL * n * n, n, W[Z[Z_SOURCES] + i], W[Z[Z_SOURCES] + j], bound):
            return 0
        atom += 3
    return 1
