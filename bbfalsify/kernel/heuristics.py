"""Heuristics of randomized reachability beside RET that choose the next transition (table B.2; RCF of paper A).

All of them choose among the *eventually enabled* transitions.  `work` holds the candidates of the step as pairs
(edge, receiver or −1), and behind them the stamps and the list that RCF needs; `pool` holds the windows that SEM draws
its delay from, rows of low, strict, high, strict, candidate.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.accelerated_walk import (
    APPROACH,
    candidate_windows,
    handshake_pair,
    hub_group,
    hub_pair,
    kept_off,
    key_group,
    window_end,
)
from bbfalsify.kernel.arithmetic import fail
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.candidate_lists import fall_asleep, list_unlisted
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.rng import unit

MAXIMUM_COVERAGE = 2**62


@inlined
def list_pairs(T, S, e, work, total):
    """List an edge that leaves a committed location, with each partner that is there; return the number listed."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    kind = T[edge + E_KIND]
    if kind == KIND_INTERNAL or kind == KIND_BROADCAST_SEND:
        work[2 * total] = e
        work[2 * total + 1] = -1
        return total + 1
    for m in range(T[edge + E_PARTNER_COUNT]):
        other = T[T[edge + E_PARTNERS] + m]
        partner = T[H_EDGE_TABLE] + EDGE_WIDTH * other
        source = T[partner + E_SOURCE]
        q = T[partner + E_PROCESS]
        if q == T[edge + E_PROCESS] or S[T[H_S_LOCATIONS] + q] != source:
            continue
        if kind == KIND_HANDSHAKE_SEND:
            work[2 * total] = e
            work[2 * total + 1] = other
            total += 1
        elif not T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * source + L_FLAGS] & LOCATION_COMMITTED:
            work[2 * total] = other  # a committed sender lists the pair itself
            work[2 * total + 1] = e
            total += 1
    return total


@inlined
def list_committed_candidates(T, F, S, X, R, work):
    """List the candidates that leave a committed location; −1 if a broadcast may do so by its receiver."""
    total = 0
    for i in range(S[S_COMMITTED]):
        row = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + S[T[H_S_COMMITTED] + i]]
        if T[row + L_FLAGS] & LOCATION_HEARS:
            return -1
        first = T[row + L_EDGES]
        count = T[row + L_OUTPUTS] + T[row + L_INPUTS]
        family = T[row + L_FAMILY]
        if family >= 0:  # of the edges that compare one value, only those of the present value
            execute(T, F, S, X, R, T[family + FAMILY_CODE], MODE_FROZEN, X[X_NOW])
            if S[S_ERROR] != 0:
                S[S_ERROR] = 0
            else:
                value = X[T[H_X_STACK]]
                if T[family + FAMILY_LOW] <= value <= T[family + FAMILY_HIGH]:
                    start = T[family + FAMILY_STARTS] + int(value) - T[family + FAMILY_LOW]
                    for k in range(T[start], T[start + 1]):
                        total = list_pairs(T, S, T[family + FAMILY_EDGES + k], work, total)
                first = family + FAMILY_EDGES
                count = T[family + FAMILY_OTHERS]
        for k in range(count):
            total = list_pairs(T, S, T[first + k], work, total)
    return total


@compiled
def list_candidates(T, F, S, X, R, work):
    """List every candidate that is awake once; return their number."""
    if S[S_COMMITTED] > 0:
        committed = list_committed_candidates(T, F, S, X, R, work)
        if committed >= 0:
            return committed
        list_unlisted(T, S)
    counts = T[H_S_GROUP_COUNT]
    members = T[H_S_GROUP_MEMBERS]
    starts = T[H_GROUP_START]
    total = 0
    for k in range(-1, T[H_KEYS]):
        group = 0 if k < 0 else key_group(T, S, k)
        if group >= 0:
            for i in range(S[counts + group]):
                work[2 * total] = S[members + T[starts + group] + i]
                work[2 * total + 1] = -1
                total += 1
    for k in range(T[H_HUBS]):
        group = hub_group(T, S, k)
        if group >= 0:
            for i in range(S[counts + group]):
                work[2 * total], work[2 * total + 1] = hub_pair(T, S[members + T[starts + group] + i], k)
                total += 1
    for c in range(T[H_HANDSHAKES]):
        row = T[H_HANDSHAKE_TABLE] + HANDSHAKE_WIDTH * c
        for i in range(S[counts + T[row]]):
            e = S[members + T[starts + T[row]] + i]
            for k in range(T[row + 1]):
                e1, e2 = handshake_pair(T, S, e, k, T[row + 2])
                if e1 >= 0:
                    work[2 * total] = e1
                    work[2 * total + 1] = e2
                    total += 1
    return total


@inlined
def least_covered(T, F, S, X, R, total, deadline, strict, coverage, work):
    """RLC and RLC-A: choose the transition whose internal or sending edge was taken least often; ties uniformly."""
    best = MAXIMUM_COVERAGE
    ties = 0
    e1 = -1
    e2 = -1
    for i in range(total):
        taken = coverage[work[2 * i]]
        if taken > best:
            continue
        if candidate_windows(T, F, S, X, R, work[2 * i], work[2 * i + 1], deadline, strict) == 0:
            fall_asleep(T, S, X, work[2 * i], deadline)
            continue
        if taken < best:
            best = taken
            ties = 0
        ties += 1
        if ties == 1 or unit(R) * ties < 1.0:
            e1 = work[2 * i]
            e2 = work[2 * i + 1]
    return e1, e2


@inlined
def channel_first(T, F, S, X, R, total, deadline, strict, work, stamps, actions):
    """RCF: draw a channel uniformly, then one of its transitions; a channel without any is not drawn again.

    Channels without a listed candidate are left out beforehand, which changes no probability.  `stamps` is the place in
    `work` of the stamp of the step and one stamp per action, followed by room for a list of actions.
    """
    work[stamps] += 1
    listed = stamps + 1 + actions
    count = 0
    for i in range(total):
        action = T[T[H_EDGE_TABLE] + EDGE_WIDTH * work[2 * i] + E_ACTION]
        if work[stamps + 1 + action] != work[stamps]:
            work[stamps + 1 + action] = work[stamps]
            work[listed + count] = action
            count += 1
    while count > 0:
        drawn = listed + int(unit(R) * count)
        action = work[drawn]
        count -= 1
        work[drawn] = work[listed + count]
        found = 0
        e1 = -1
        e2 = -1
        for i in range(total):
            if T[T[H_EDGE_TABLE] + EDGE_WIDTH * work[2 * i] + E_ACTION] != action:
                continue
            if candidate_windows(T, F, S, X, R, work[2 * i], work[2 * i + 1], deadline, strict) > 0:
                found += 1
                if found == 1 or unit(R) * found < 1.0:
                    e1 = work[2 * i]
                    e2 = work[2 * i + 1]
            else:
                fall_asleep(T, S, X, work[2 * i], deadline)
        if found > 0:
            return e1, e2
    return -1, -1


@inlined
def collect_windows(T, F, S, X, R, total, deadline, strict, work, pool):
    """Put all windows of all candidates into the pool; return their number."""
    rows = 0
    for i in range(total):
        count = candidate_windows(T, F, S, X, R, work[2 * i], work[2 * i + 1], deadline, strict)
        if count == 0:
            fall_asleep(T, S, X, work[2 * i], deadline)
        if rows + count > len(pool):
            fail(S, ERROR_WINDOWS, 0, rows)
            return 0
        for k in range(count):
            w = T[H_X_WINDOWS] + 5 * k
            pool[rows, 0] = X[w]
            pool[rows, 1] = X[w + 1]
            pool[rows, 2] = window_end(X, X[w], X[w + 2], X[X_LARGEST])
            pool[rows, 3] = X[w + 3]
            pool[rows, 4] = float(i)
            rows += 1
    return rows


@compiled
def next_stretch(pool, count, t):
    """Find the next connected stretch of the union of the windows that ends after t: (low, high); low inf: none."""
    low = math.inf
    high = -math.inf
    for r in range(count):
        if pool[r, 2] > t and pool[r, 0] < low:
            low = pool[r, 0]
            high = pool[r, 2]
    grown = low < math.inf
    while grown:
        grown = False
        for r in range(count):
            if pool[r, 0] <= high and pool[r, 2] > high:
                high = pool[r, 2]
                grown = True
    return low, high


@inlined
def uniform_moment(R, pool, count):
    """Draw a moment uniformly from the union of the windows; if it has no length, one of its points."""
    measure = 0.0
    low, high = next_stretch(pool, count, -math.inf)
    while low < math.inf:
        measure += high - low
        low, high = next_stretch(pool, count, high)
    if measure == 0.0:
        return pool[int(unit(R) * count), 0]
    rest = unit(R) * measure
    low, high = next_stretch(pool, count, -math.inf)
    while rest >= high - low:
        rest -= high - low
        following, end = next_stretch(pool, count, high)
        if following == math.inf:  # rounding
            rest = 0.5 * (high - low)
            break
        low = following
        high = end
    return low + rest


@inlined
def semantic_choice(R, pool, count, work):
    """SEM: draw a delay at which something is enabled, then uniformly one of the transitions enabled then."""
    t = uniform_moment(R, pool, count)
    chosen = -1
    found = 0
    for r in range(count):
        above = t > pool[r, 0] or (t == pool[r, 0] and pool[r, 1] == 0.0)
        below = t < pool[r, 2] or (t == pool[r, 2] and pool[r, 3] == 0.0)
        if above and below:
            found += 1
            if found == 1 or unit(R) * found < 1.0:
                chosen = r
    if chosen < 0:  # exactly on a strict bound: just inside one of the windows
        chosen = int(unit(R) * count)
        width = pool[chosen, 2] - pool[chosen, 0]
        t = pool[chosen, 0] + min(APPROACH, width / 4.0)
    t = kept_off(t, pool[chosen, 0], pool[chosen, 1], pool[chosen, 2], pool[chosen, 3])
    i = int(pool[chosen, 4])
    return work[2 * i], work[2 * i + 1], t
