"""Symbolic successors of a state of a network, compiled.

    cell      a transition together with one case of every guard that takes part: a zone of states that fire it
    fire      run the updates on marked clocks, which tells what each clock becomes; the zone follows
    enter     all invariants of the state entered; then time passes where it may; then extrapolation

The semantics is that of `modelling/network/network.py`: a transition whose outcome is drawn (branches, several
receiving edges) can fire where every outcome can be entered.
"""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled
from bbfalsify.zones.broadcasts import fire_broadcast
from bbfalsify.zones.constraints import constrain_by_case, constrain_by_list, data_holds, list_invariants, load_row
from bbfalsify.zones.dbm import copied
from bbfalsify.zones.zone_firing import fire_cell
from bbfalsify.zones.zone_layout import *


@compiled
def fire_pair(T, F, S, X, R, Z, D, W, found, count, e, r, detailed):
    """Append the successors by an internal edge (r = −1) or by a handshake; return the new number, or a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    mine = Z[Z[Z_GUARDS] + e]
    theirs = Z[Z[Z_GUARDS] + r] if r >= 0 else mine
    for k in range(Z[mine]):
        case = mine + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        for j in range(Z[theirs] if r >= 0 else 1):
            other = theirs + 1 + CASE_WIDTH * j
            if r >= 0 and not data_holds(T, F, S, X, R, Z, other):
                continue
            copied(D, M_STATE * size, M_CELL * size, Z[Z_CLOCKS])
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left == 1 and r >= 0:
                left = constrain_by_case(T, F, S, X, R, Z, D, W, other, M_CELL * size)
            if left < 0:
                return left
            if left == 0:
                continue
            cells = Z[Z_CELLS]
            W[cells] = e
            W[cells + 1] = r
            W[Z[Z_PARTIES]] = cells
            W[Z[Z_PARTIES] + 1] = 1
            W[Z[Z_PARTIES] + 4] = cells + 1
            W[Z[Z_PARTIES] + 5] = 1
            count = fire_cell(T, F, S, X, R, Z, D, W, found, count, 2 if r >= 0 else 1, detailed)
            if count < 0:
                return count
    return FAILED if S[S_ERROR] != 0 else count


@compiled
def restore_invariants(T, F, S, X, R, Z, D, W, found):
    """Intersect M_STATE and the first record with the invariants, beyond which widening may have gone: 0 or a problem.

    What is cut off is no state of the model, and would seem to be deadlocked, or to wait for a guard that never holds.
    """
    n = int(Z[Z_CLOCKS])
    end = list_invariants(T, F, S, X, R, Z, W)
    if end > 0:
        constrain_by_list(D, M_STATE * n * n, n, W, Z[Z_ATOMS], end)
        for k in range(n * n):
            found[Z[Z_WIDTH] + k] = D[M_STATE * n * n + k]
    return min(end, 0)


@compiled
def list_successors(T, F, S, X, R, Z, D, W, found, detailed):
    """List the symbolic successors of the state in the first record; return their number, or a problem.

    Records: row, matrix, moves (number, then edge and branch of each); with details also whether the successor is kept
    (1) and time may pass in it (2), the states that fire, the states entered before time passes, and what became of the
    clocks.
    """
    n = int(Z[Z_CLOCKS])
    S[S_ERROR] = 0
    load_row(T, S, X, Z, found, 0)
    for k in range(n * n):
        D[M_STATE * n * n + k] = found[Z[Z_WIDTH] + k]
    if Z[Z_DEADLOCKS] and Z[Z_EXTRAPOLATION] == LOWER_UPPER:
        problem = restore_invariants(T, F, S, X, R, Z, D, W, found)
        if problem < 0:
            return problem
    committed = S[S_COMMITTED] > 0
    count = 0
    for p in range(T[H_PROCESSES]):
        location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
        leaves = not committed or T[location + L_FLAGS] & LOCATION_COMMITTED != 0
        for k in range(T[location + L_OUTPUTS]):
            e = T[T[location + L_EDGES] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            if T[edge + E_KIND] == KIND_INTERNAL:
                if leaves:
                    count = fire_pair(T, F, S, X, R, Z, D, W, found, count, e, -1, detailed)
            elif T[edge + E_KIND] == KIND_BROADCAST_SEND:
                count = fire_broadcast(T, F, S, X, R, Z, D, W, found, count, e, detailed)
            else:
                for j in range(T[edge + E_PARTNER_COUNT]):
                    r = T[T[edge + E_PARTNERS] + j]
                    other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                    q = T[other + E_PROCESS]
                    if q == p or S[T[H_S_LOCATIONS] + q] != T[other + E_SOURCE]:
                        continue
                    source = T[H_LOCATION_TABLE] + LOCATION_WIDTH * T[other + E_SOURCE]
                    if leaves or T[source + L_FLAGS] & LOCATION_COMMITTED != 0:
                        count = fire_pair(T, F, S, X, R, Z, D, W, found, count, e, r, detailed)
                        if count < 0:
                            return count
            if count < 0:
                return count
    return count
