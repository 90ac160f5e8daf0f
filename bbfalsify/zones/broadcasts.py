"""Symbolic successors by broadcasts, compiled: a cell for every set of edges that may receive together."""

from __future__ import annotations

from bbfalsify.kernel.entry_invariants import receiving_edges
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import constrain_by_case, data_holds
from bbfalsify.zones.dbm import copied
from bbfalsify.zones.entering import guard_without_clocks
from bbfalsify.zones.zone_firing import fire_cell
from bbfalsify.zones.zone_layout import *


@compiled
def list_receivers(T, F, S, X, R, Z, W, e):
    """List the edges that may receive the broadcast of e: (edge, choice, whether it receives); return their number.

    Choice k is case k of the edge's guard, and behind these case k of its negation; −1: the guard holds anyway.
    """
    channel = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_CHANNEL]
    row = T[H_BROADCAST_TABLE] + 2 * channel
    count = 0
    for i in range(T[row + 1]):
        p = T[T[row] + i]
        if p == T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]:
            continue
        for k in receiving_edges(T, S, p):
            r = T[k]
            if T[T[H_EDGE_TABLE] + EDGE_WIDTH * r + E_CHANNEL] != channel:
                continue
            accepts = guard_without_clocks(T, F, S, X, R, Z, r)
            if accepts > 0:
                W[Z[Z_CELLS] + 3 * count] = r
                W[Z[Z_CELLS] + 3 * count + 1] = -1 if accepts == 1 else 0
                count += 1
    return count


@compiled
def choose_receivers(T, F, S, X, R, Z, D, W, receivers):
    """Intersect M_CELL with what the choices say about each receiving edge: 1, 0 if nothing is left, a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    for i in range(receivers):
        row = Z[Z_CELLS] + 3 * i
        r = W[row]
        k = W[row + 1]
        accepted = Z[Z[Z_GUARDS] + r]
        W[row + 2] = 1 if k < Z[accepted] else 0
        if k < 0:
            continue
        if k < Z[accepted]:
            case = accepted + 1 + CASE_WIDTH * k
        else:
            case = Z[Z[Z_REFUSALS] + r] + 1 + CASE_WIDTH * (k - Z[accepted])
        if not data_holds(T, F, S, X, R, Z, case):
            return 0
        left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
        if left != 1:
            return left
    return 1


@inlined
def next_choice(Z, W, receivers):
    i = receivers - 1
    while i >= 0:
        row = Z[Z_CELLS] + 3 * i
        r = W[row]
        i -= 1
        if W[row + 1] < 0:
            continue
        W[row + 1] += 1
        if W[row + 1] < Z[Z[Z[Z_GUARDS] + r]] + Z[Z[Z[Z_REFUSALS] + r]]:
            return True
        W[row + 1] = 0
    return False


@compiled
def list_parties(T, S, Z, W, e, receivers):
    """Make a party of the sender and one of each process that receives; return their number, 0: none may leave."""
    edges = Z[Z_CELLS] + 3 * receivers
    W[edges] = e
    W[Z[Z_PARTIES]] = edges
    W[Z[Z_PARTIES] + 1] = 1
    edges += 1
    parties = 1
    last = -1
    table = T[H_EDGE_TABLE]
    locations = T[H_LOCATION_TABLE]
    leaves = T[locations + LOCATION_WIDTH * T[table + EDGE_WIDTH * e + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED
    for i in range(receivers):
        row = Z[Z_CELLS] + 3 * i
        if W[row + 2] == 0:
            continue
        edge = table + EDGE_WIDTH * W[row]
        leaves |= T[locations + LOCATION_WIDTH * T[edge + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED
        if T[edge + E_PROCESS] != last:
            last = T[edge + E_PROCESS]
            W[Z[Z_PARTIES] + 4 * parties] = edges
            W[Z[Z_PARTIES] + 4 * parties + 1] = 0
            parties += 1
        W[edges] = W[row]
        edges += 1
        W[Z[Z_PARTIES] + 4 * (parties - 1) + 1] += 1
    return 0 if S[S_COMMITTED] > 0 and leaves == 0 else parties


@compiled
def fire_broadcast(T, F, S, X, R, Z, D, W, found, count, e, detailed):
    """Append the successors by a broadcast; return the new number, or a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    condition = Z[Z[Z_GUARDS] + e]
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        receivers = list_receivers(T, F, S, X, R, Z, W, e)
        going = True
        while going:
            copied(D, M_STATE * size, M_CELL * size, Z[Z_CLOCKS])
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left == 1:
                left = choose_receivers(T, F, S, X, R, Z, D, W, receivers)
            if left < 0:
                return left
            if left == 1:
                parties = list_parties(T, S, Z, W, e, receivers)
                if parties > 0:
                    count = fire_cell(T, F, S, X, R, Z, D, W, found, count, parties, detailed)
                    if count < 0:
                        return count
            going = next_choice(Z, W, receivers)
    return FAILED if S[S_ERROR] != 0 else count
