"""Fire a cell of a symbolic state, compiled: every way that branches and several receiving edges may be drawn."""

from __future__ import annotations

from bbfalsify.kernel.bytecode import fail
from bbfalsify.kernel.firing import apply_moves, weight_of
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import load_row
from bbfalsify.zones.entering import enter, require_entry
from bbfalsify.zones.zone_layout import *


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
