"""Symbolic successors of a state of a network, compiled.

    cell      a transition together with one case of every guard that takes part: a zone of states that fire it
    fire      run the updates on marked clocks, which tells what each clock becomes; the zone follows
    enter     all invariants of the state entered; then time passes where it may; then extrapolation

The semantics is that of `modelling/network/network.py`: a transition whose outcome is drawn (branches, several
receiving edges) can fire where every outcome can be entered.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import fail
from bbfalsify.kernel.firing import apply_moves, weight_of
from bbfalsify.kernel.layout import (
    B_WEIGHT,
    BRANCH_WIDTH,
    E_BRANCH_COUNT,
    E_BRANCHES,
    E_CHANNEL,
    E_KIND,
    E_PARTNER_COUNT,
    E_PARTNERS,
    E_PROCESS,
    E_SOURCE,
    EDGE_WIDTH,
    ERROR_WEIGHT,
    H_BROADCAST_TABLE,
    H_EDGE_TABLE,
    H_LOCATION_TABLE,
    H_PROCESSES,
    H_S_LOCATIONS,
    H_S_MOVES,
    KIND_BROADCAST_SEND,
    KIND_INTERNAL,
    L_EDGES,
    L_FLAGS,
    L_INPUTS,
    L_OUTPUTS,
    LOCATION_COMMITTED,
    LOCATION_WIDTH,
    S_COMMITTED,
    S_ERROR,
)
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import constrain_by_case, data_holds, load_row
from bbfalsify.zones.dbm import copied
from bbfalsify.zones.entering import enter, guard_without_clocks, require_entry
from bbfalsify.zones.layout import *


@compiled
def list_options(T, F, S, X, R, Z, W, parties):
    """List (party, edge, branch) of everything that may be drawn; return the number of ways, or a problem.

    W[Z_PARTIES:] holds per party the first of its edges in the list of W[Z_CELLS:] and their number; it is replaced by
    the party's first option, one past its last, and its current one.
    """
    options = 0
    ways = 1
    for party in range(parties):
        row = Z[Z_PARTIES] + 4 * party
        begun = options
        for k in range(W[row + 1]):
            e = W[W[row] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            for b in range(T[edge + E_BRANCH_COUNT]):
                code = T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT]
                if T[edge + E_BRANCH_COUNT] == 1 or weight_of(T, F, S, X, R, code) > 0.0:
                    W[Z[Z_OPTIONS] + 2 * options] = e
                    W[Z[Z_OPTIONS] + 2 * options + 1] = b
                    options += 1
        if options == begun:
            fail(S, ERROR_WEIGHT, 0, W[W[row]])
        if S[S_ERROR] != 0:
            return FAILED
        ways *= options - begun
        W[row] = begun
        W[row + 1] = options
        W[row + 2] = begun
    return ways


@inlined
def make_moves(T, F, S, X, R, Z, W, parties, moves):
    """Execute the current option of every party; keep the moves at W[moves:]."""
    for party in range(parties):
        option = Z[Z_OPTIONS] + 2 * W[Z[Z_PARTIES] + 4 * party + 2]
        for k in range(2):
            S[T[H_S_MOVES] + 2 * party + k] = W[option + k]
            W[moves + 2 * party + k] = W[option + k]
    apply_moves(T, F, S, X, R, parties, False)


@inlined
def next_way(Z, W, parties):
    """Advance to the next combination of options; False after the last, and all begin again."""
    party = parties - 1
    while party >= 0:
        row = Z[Z_PARTIES] + 4 * party
        W[row + 2] += 1
        if W[row + 2] < W[row + 1]:
            return True
        W[row + 2] = W[row]
        party -= 1
    return False


@compiled
def fire_cell(T, F, S, X, R, Z, D, W, found, count, parties, detailed):
    """Append the successors of M_CELL in every way that may be drawn; return the new number, or a problem."""
    ways = list_options(T, F, S, X, R, Z, W, parties)
    if ways < 0:
        return ways
    moves = Z[Z_PARTIES] + 4 * T[H_PROCESSES]
    if ways > 1 or detailed:
        going = True
        while going:
            make_moves(T, F, S, X, R, Z, W, parties, moves)
            if S[S_ERROR] != 0:
                return FAILED
            possible = require_entry(T, F, S, X, R, Z, D, W)
            load_row(T, S, X, Z, found, 0)
            if possible <= 0:
                return possible if possible < 0 else count
            going = next_way(Z, W, parties)
    going = True
    while going:
        place = Z[Z_RECORD] * (count + 1)  # the first record is the state itself
        if place + Z[Z_RECORD] > len(found):
            return NO_ROOM
        make_moves(T, F, S, X, R, Z, W, parties, moves)
        if S[S_ERROR] != 0:
            return FAILED
        entered = enter(T, F, S, X, R, Z, D, W, found, place, moves, parties, detailed)
        load_row(T, S, X, Z, found, 0)
        if entered < 0:
            return entered
        count += entered
        going = next_way(Z, W, parties)
    return count


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
        location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
        first = T[location + L_EDGES] + T[location + L_OUTPUTS]
        for k in range(T[location + L_INPUTS]):
            r = T[first + k]
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
