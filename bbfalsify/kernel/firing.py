"""Fire a transition, and update all data that depend on the state (`refreshing.py`).

A walker that keeps candidate lists and cached deadlines (`incremental`) updates only what the transition touched: lists
of processes that changed location, rates of those locations, and deadlines that read what was written.  `refresh`
computes the same from scratch, and tests compare both.
"""

from __future__ import annotations

from bbfalsify.kernel.arithmetic import fail
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.candidate_lists import forget_earliest, list_committed, relist
from bbfalsify.kernel.entry_invariants import moves_enter, receiving_edges
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.ode import advance
from bbfalsify.kernel.refreshing import refresh_all_rates, refresh_clock, refresh_deadline, refresh_rates_that_read
from bbfalsify.kernel.rng import DRAWN_BRANCH, DRAWN_EDGE, DRAWN_INITIAL, DRAWN_VALUE, label_draws, unit
from bbfalsify.kernel.windows import receives

MAXIMUM_DRAWS = 10_000
"""Draws of receivers and branches until one can be entered; some can, where the transition is enabled."""


@inlined
def branch_at(T, F, S, X, R, edge, rest):
    """The branch in which the running sum of the weights exceeds `rest`; the last one with a weight if none does."""
    chosen = 0
    for b in range(T[edge + E_BRANCH_COUNT]):
        weight = weight_of(T, F, S, X, R, T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT])
        if weight > 0.0:
            chosen = b
            if rest < weight:
                break
            rest -= weight
    return chosen


@inlined
def pick_branch(T, F, S, X, R, e):
    """Draw one branch of edge e in proportion to the weights."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    count = T[edge + E_BRANCH_COUNT]
    if count == 1:
        return 0
    total = 0.0
    for b in range(count):
        total += weight_of(T, F, S, X, R, T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT])
    if not total > 0.0:
        fail(S, ERROR_WEIGHT, 0, e)
        return 0
    label_draws(R, DRAWN_BRANCH, T[edge + E_PROCESS])
    return branch_at(T, F, S, X, R, edge, unit(R) * total)


@inlined
def number_of(T, F, S, X, R, code, absent):
    """The value of an expression now, or `absent` where there is none (−1)."""
    if code < 0:
        return absent
    execute(T, F, S, X, R, code, MODE_FROZEN, X[X_NOW])
    return X[T[H_X_STACK]]


@inlined
def weight_of(T, F, S, X, R, code):
    return max(number_of(T, F, S, X, R, code, 1.0), 0.0)


@inlined
def edge_weight(T, F, S, X, R, e):
    return weight_of(T, F, S, X, R, T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_WEIGHT])


@inlined
def pick_receiver(T, F, S, X, R, channel, p, by_weight):
    """Draw one enabled receiving edge of process p on a channel, or −1."""
    chosen = -1
    total = 0.0
    for k in receiving_edges(T, S, p):
        r = T[k]
        if receives(T, F, S, X, R, r, channel):
            weight = edge_weight(T, F, S, X, R, r) if by_weight else 1.0
            total += weight
            # the k-th enabled edge replaces the choice with its share, so that one pass is enough
            label_draws(R, DRAWN_EDGE, p)
            if chosen < 0 or unit(R) * total < weight:
                chosen = r
    return chosen


@inlined
def apply_updates(T, F, S, X, R, branch):
    """Execute the updates of one branch, at "now"."""
    fast = T[branch + B_FAST_COUNT]
    if fast < 0:
        label_draws(R, DRAWN_INITIAL if X[X_NOW] == 0.0 else DRAWN_VALUE, branch)
        execute(T, F, S, X, R, T[branch + B_CODE], MODE_FROZEN, X[X_NOW])
        return
    for i in range(fast):
        row = T[branch + B_FAST] + UPDATE_WIDTH * i
        operation = T[row + U_OPERATION]
        slot = T[row + U_SLOT]
        if operation == UPDATE_INTEGER:
            S[INTEGERS + slot] = T[row + U_VALUE]
        elif operation == UPDATE_ADD:
            value = S[INTEGERS + slot] + T[row + U_VALUE]
            if value < T[row + U_LOW] or value > T[row + U_HIGH]:
                fail(S, ERROR_RANGE, T[row + U_SITE], value)
                return
            S[INTEGERS + slot] = value
        else:
            X[CLOCKS + 3 * slot] = F[T[row + U_VALUE]]
            X[CLOCKS + 3 * slot + 1] = X[X_NOW]


@inlined
def draw_moves(T, F, S, X, R, e1, e2, by_weight):
    """Draw receivers in the order of the processes, then branches; list the moves, and return their number."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e1
    moves = T[H_S_MOVES]
    S[moves] = e1
    count = 1
    if e2 >= 0:
        S[moves + 2] = e2
        count = 2
    elif T[edge + E_KIND] == KIND_BROADCAST_SEND:
        row = T[H_BROADCAST_TABLE] + 2 * T[edge + E_CHANNEL]
        bit = 1 << (T[edge + E_CHANNEL] % HEARD_BITS)
        for i in range(T[row + 1]):
            p = T[T[row] + i]
            location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
            if p != T[edge + E_PROCESS] and T[location + L_HEARD] & bit:
                r = pick_receiver(T, F, S, X, R, T[edge + E_CHANNEL], p, by_weight)
                if r >= 0:
                    S[moves + 2 * count] = r
                    count += 1
    for i in range(count):
        S[moves + 2 * i + 1] = pick_branch(T, F, S, X, R, S[moves + 2 * i])
    return count


@compiled
def fire(T, F, S, X, R, e1, e2, t, incremental, by_weight):
    """Let time pass to t and fire e1 (with receiver e2, or −1 for none or for a broadcast).

    All choices are made before the first update, and again if their state cannot be entered.
    """
    advance(T, F, S, X, R, t)
    count = draw_moves(T, F, S, X, R, e1, e2, by_weight)
    if T[H_FLAGS] & FLAG_CHOICES and S[S_ERROR] == 0:
        for _ in range(MAXIMUM_DRAWS):
            if moves_enter(T, F, S, X, R, count):
                break
            count = draw_moves(T, F, S, X, R, e1, e2, by_weight)
    if S[S_ERROR] != 0:
        return
    apply_moves(T, F, S, X, R, count, incremental)


@inlined
def branch_taken(T, S, e):
    """Return the branch of edge e that the transition just fired has taken; e is its internal or sending edge."""
    return (S[T[H_S_MOVES] + 1] - T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_BRANCHES]) // BRANCH_WIDTH


@inlined
def apply_moves(T, F, S, X, R, count, incremental):
    """Execute the moves (edge, branch) listed in the walker, and update what depends on the state."""
    moves = T[H_S_MOVES]
    locations = T[H_S_LOCATIONS]
    rated = T[H_FLAGS] & FLAG_RATES
    for i in range(count):
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[moves + 2 * i]
        branch = T[edge + E_BRANCHES] + BRANCH_WIDTH * S[moves + 2 * i + 1]
        apply_updates(T, F, S, X, R, branch)
        if S[S_ERROR] != 0:
            return
    S[S_GRID] = 0  # a guard of a receiver may have looked at the flow before the updates
    for i in range(count):
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[moves + 2 * i]
        branch = T[edge + E_BRANCHES] + BRANCH_WIDTH * S[moves + 2 * i + 1]
        p = T[edge + E_PROCESS]
        old = S[locations + p]
        new = T[branch + B_TARGET]
        if old != new:
            before = T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * old + L_FLAGS]
            after = T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * new + L_FLAGS]
            if (before | after) & (LOCATION_URGENT | LOCATION_COMMITTED | LOCATION_HURRIES):
                S[S_URGENT] += (after & LOCATION_URGENT) - (before & LOCATION_URGENT)
                S[S_HURRIED] += (after & LOCATION_HURRIES) - (before & LOCATION_HURRIES)
                if (before ^ after) & LOCATION_COMMITTED:
                    list_committed(T, S, p, (after & LOCATION_COMMITTED) != 0)
            S[locations + p] = new
            if incremental:
                relist(T, S, p, old, new, (after & LOCATION_COMMITTED) != 0)
        S[moves + 2 * i + 1] = branch
    if rated:
        all_rates = False
        for i in range(count):
            all_rates = all_rates or T[S[moves + 2 * i + 1] + B_RATES_CHANGE] != 0
        if (all_rates and T[H_RATE_READ_COUNT] < 0) or not incremental:
            refresh_all_rates(T, F, S, X, R, incremental)
        else:
            if all_rates:
                refresh_rates_that_read(T, F, S, X, R)
            for i in range(count):
                branch = S[moves + 2 * i + 1]
                for k in range(T[branch + B_RATED_COUNT]):
                    refresh_clock(T, F, S, X, R, T[T[branch + B_RATED] + k])
    if not incremental:
        return
    for i in range(count):
        branch = S[moves + 2 * i + 1]
        refresh_deadline(T, F, S, X, R, T[branch + B_PROCESS])
        forget_earliest(T, S, X, T[branch + B_PROCESS])
        for k in range(T[branch + B_EARLIEST_COUNT]):
            forget_earliest(T, S, X, T[T[branch + B_EARLIEST] + k])
        for k in range(T[branch + B_REFRESH_COUNT]):
            refresh_deadline(T, F, S, X, R, T[T[branch + B_REFRESH] + k])
