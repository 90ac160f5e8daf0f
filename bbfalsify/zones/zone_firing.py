"""Fire a cell of a symbolic state, compiled: every way that branches and several receiving edges may be drawn."""

from __future__ import annotations

from bbfalsify.kernel.bytecode import fail
from bbfalsify.kernel.firing import apply_moves, weight_of
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.constraints import load_row
from bbfalsify.zones.dbm import copied
from bbfalsify.zones.entering import enter, require_entry
from bbfalsify.zones.zone_layout import *


@compiled
def list_options(T, F, S, X, R, Z, W, parties):
    """List (party, edge, branch) of everything that may be drawn; return the number of ways, or a problem.

    W[Z_PARTIES:] holds per party the first of its edges in the list of W[Z_CELLS:] and their number; it is replaced by
    the party's first option, one past its last, its current one, and the first one of the current edge.
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
        W[row + 3] = begun
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
def same_edge(Z, W, row, option):
    """Tell whether an option of a party is a branch of its current edge."""
    return option < W[row + 1] and W[Z[Z_OPTIONS] + 2 * option] == W[Z[Z_OPTIONS] + 2 * W[row + 3]]


@inlined
def next_branches(Z, W, parties):
    """Advance to the next combination of branches of the current edges; False after the last, and all begin again."""
    party = parties - 1
    while party >= 0:
        row = Z[Z_PARTIES] + 4 * party
        if same_edge(Z, W, row, W[row + 2] + 1):
            W[row + 2] += 1
            return True
        W[row + 2] = W[row + 3]
        party -= 1
    return False


@inlined
def next_edges(Z, W, parties):
    """Advance to the next combination of edges, each with its first branch; False after the last."""
    for party in range(parties):
        row = Z[Z_PARTIES] + 4 * party
        W[row + 2] = W[row + 3]
    party = parties - 1
    while party >= 0:
        row = Z[Z_PARTIES] + 4 * party
        following = W[row + 3] + 1
        while same_edge(Z, W, row, following):
            following += 1
        if following == W[row + 1]:
            following = W[row]
        W[row + 2] = following
        W[row + 3] = following
        if following != W[row]:
            return True
        party -= 1
    return False


@compiled
def require_branches(T, F, S, X, R, Z, D, W, found, parties, moves):
    """Intersect M_CELL with the states where every branch of the current edges can be entered: 1, 0, or a problem."""
    while True:
        make_moves(T, F, S, X, R, Z, W, parties, moves)
        if S[S_ERROR] != 0:
            return FAILED
        possible = require_entry(T, F, S, X, R, Z, D, W)
        load_row(T, S, X, Z, found, 0)
        if possible <= 0:
            return possible
        if not next_branches(Z, W, parties):
            return 1


@compiled
def fire_cell(T, F, S, X, R, Z, D, W, found, count, parties, detailed):
    """Append the successors of M_CELL in every way that may be drawn; return the new number, or a problem.

    Each choice of receiving edges is a transition.  So is each of its branches in UPPAAL's dialect; else all of them
    can be entered.
    """
    ways = list_options(T, F, S, X, R, Z, W, parties)
    if ways < 0:
        return ways
    n = int(Z[Z_CLOCKS])
    moves = Z[Z_PARTIES] + 4 * T[H_PROCESSES]
    together = T[H_FLAGS] & FLAG_ANY_BRANCH == 0
    narrowed = ways > 1 or detailed  # else entering says the same
    if narrowed:
        copied(D, M_CELL * n * n, M_WHOLE * n * n, n)
    while True:
        if narrowed and together:
            copied(D, M_WHOLE * n * n, M_CELL * n * n, n)
            possible = require_branches(T, F, S, X, R, Z, D, W, found, parties, moves)
            if possible < 0:
                return possible
        else:
            possible = 1
        going = possible == 1
        while going:
            place = Z[Z_RECORD] * (count + 1)  # the first record is the state itself
            if place + Z[Z_RECORD] > len(found):
                return NO_ROOM
            make_moves(T, F, S, X, R, Z, W, parties, moves)
            if S[S_ERROR] != 0:
                return FAILED
            entered = 1
            if narrowed and not together:
                copied(D, M_WHOLE * n * n, M_CELL * n * n, n)
                entered = require_entry(T, F, S, X, R, Z, D, W)
            if entered == 1:
                entered = enter(T, F, S, X, R, Z, D, W, found, place, moves, parties, detailed)
            load_row(T, S, X, Z, found, 0)
            if entered < 0:
                return entered
            count += entered
            going = next_branches(Z, W, parties)
        if not next_edges(Z, W, parties):
            return count
