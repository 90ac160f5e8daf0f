"""Accelerated walks, compiled (Algorithm 2 and Algorithm 4, heuristic RET).

The choice is uniform among the eventually enabled transitions: a candidate is drawn from the lists of active edges (and
pairs of a handshake) and rejected if it has no window before the deadline; after as many rejections as there are
candidates, all are examined.  Then a moment in its window is chosen: the lower bound, the upper bound, or uniformly
between.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.candidate_lists import comes_later, fall_asleep
from bbfalsify.kernel.firing import fire
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.refreshing import refresh
from bbfalsify.kernel.rng import unit
from bbfalsify.kernel.walk_frame import begin_walk, ends_well, record_end, record_step, stay, write_state
from bbfalsify.kernel.windows import slack, transition_windows

APPROACH = 2.0**-10
CLOSEST = 256.0
"""Distance of a moment from a strict end of its window, as a multiple of the slack of rounding."""


@inlined
def group_of_value(T, S, key):
    """Return the group that the current value of an integer selects, or −1."""
    value = S[INTEGERS + T[key + KEY_SLOT]]
    if value < T[key + KEY_LOW] or value > T[key + KEY_HIGH]:
        return -1
    return T[T[key + KEY_GROUPS] + value - T[key + KEY_LOW]]


@inlined
def key_group(T, S, k):
    """Return the candidate group that the current value of the k-th indexed variable selects, or −1."""
    return group_of_value(T, S, T[H_KEY_TABLE] + KEY_WIDTH * k)


@inlined
def hub_group(T, S, k):
    """Return the group of edges that find their partner in the k-th place of a hub now, or −1."""
    hub = T[H_HUB_TABLE] + HUB_WIDTH * k
    if S[T[H_S_LOCATIONS] + T[hub + HUB_PROCESS]] != T[hub + HUB_LOCATION]:
        return -1
    if T[hub + HUB_SLOT] < 0:
        return T[T[hub + HUB_GROUPS]]
    return group_of_value(T, S, hub + HUB_SLOT)


@inlined
def hub_pair(T, e, k):
    """Return (sender, receiver) of a listed edge and its only partner in the k-th place of a hub."""
    hub = T[H_HUB_TABLE] + HUB_WIDTH * k
    place = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PARTNERS]
    while T[T[H_EDGE_TABLE] + EDGE_WIDTH * T[place] + E_SOURCE] != T[hub + HUB_LOCATION]:
        place += 1
    return (e, int(T[place])) if T[hub + HUB_SENDS] != 0 else (int(T[place]), e)


@compiled
def candidates(T, S):
    """Number of transitions in the lists now."""
    counts = T[H_S_GROUP_COUNT]
    total = S[counts]
    for k in range(T[H_KEYS]):
        group = key_group(T, S, k)
        if group >= 0:
            total += S[counts + group]
    for k in range(T[H_HUBS]):
        group = hub_group(T, S, k)
        if group >= 0:
            total += S[counts + group]
    for c in range(T[H_HANDSHAKES]):
        row = T[H_HANDSHAKE_TABLE] + HANDSHAKE_WIDTH * c
        total += S[counts + T[row]] * T[row + 1]
    return total


@inlined
def handshake_pair(T, S, e, index, sends):
    """Return (sender, receiver) of a listed edge and its partner of a number; (−1, −1) if that is elsewhere."""
    r = T[T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PARTNERS] + index]
    other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
    if S[T[H_S_LOCATIONS] + T[other + E_PROCESS]] != T[other + E_SOURCE]:
        return -1, -1
    return (e, r) if sends != 0 else (r, e)


@compiled
def candidate(T, S, index):
    """Return the candidate of a number: (edge, receiver or −1); (−1, −1): none."""
    counts = T[H_S_GROUP_COUNT]
    members = T[H_S_GROUP_MEMBERS]
    starts = T[H_GROUP_START]
    if index < S[counts]:
        return S[members + index], -1
    index -= S[counts]
    for k in range(T[H_KEYS]):
        group = key_group(T, S, k)
        if group >= 0:
            if index < S[counts + group]:
                return S[members + T[starts + group] + index], -1
            index -= S[counts + group]
    for k in range(T[H_HUBS]):
        group = hub_group(T, S, k)
        if group >= 0:
            if index < S[counts + group]:
                return hub_pair(T, S[members + T[starts + group] + index], k)
            index -= S[counts + group]
    for c in range(T[H_HANDSHAKES]):
        row = T[H_HANDSHAKE_TABLE] + HANDSHAKE_WIDTH * c
        partners = T[row + 1]
        pairs = S[counts + T[row]] * partners
        if index < pairs:
            listed = index // partners
            e = S[members + T[starts + T[row]] + listed]
            return handshake_pair(T, S, e, index - partners * listed, T[row + 2])
        index -= pairs
    return -1, -1


@inlined
def candidate_windows(T, F, S, X, R, e1, e2, deadline, strict):
    """Compute the windows of a candidate into the buffer; return their number.  No process shakes hands with itself."""
    if e2 >= 0 and T[T[H_EDGE_TABLE] + EDGE_WIDTH * e1 + E_PROCESS] == T[T[H_EDGE_TABLE] + EDGE_WIDTH * e2 + E_PROCESS]:
        return 0
    if comes_later(T, X, e1, deadline) or (e2 >= 0 and comes_later(T, X, e2, deadline)):
        return 0
    return transition_windows(T, F, S, X, R, e1, e2, deadline, strict, 0)


@inlined
def window_end(X, low, high, largest):
    """Return the end of a window; an unbounded one ends the largest constant and one after its start."""
    return low + largest + 1.0 if high == math.inf else high


@inlined
def kept_off(t, low, low_strict, high, high_strict):
    """Move a moment away from a strict end of its window, so that rounding does not decide what can happen after it.

    Walks that always wait as long as possible would else get there in a dozen steps.
    """
    if high_strict != 0.0 and t > high - CLOSEST * slack(high):
        t = high - CLOSEST * slack(high)
        if t <= low:
            t = low + (high - low) / 4.0 if low_strict != 0.0 else low
    return t


@inlined
def choose_moment(T, X, R, count, share_lower, share_uniform):
    """Draw a moment in the windows of the buffer: lower bound, between, or upper bound."""
    windows = T[H_X_WINDOWS]
    largest = X[X_LARGEST]
    u = unit(R)
    if u < share_lower:
        low = X[windows]
        high = window_end(X, low, X[windows + 2], largest)
        if X[windows + 1] != 0.0:
            return low + min(APPROACH, (high - low) / 4.0)
        return low
    last = windows + 5 * (count - 1)
    if u >= share_lower + share_uniform:
        low = X[last]
        high = window_end(X, low, X[last + 2], largest)
        if X[last + 3] != 0.0 and X[last + 2] != math.inf:
            return kept_off(high - min(APPROACH, (high - low) / 4.0), low, X[last + 1], high, 1.0)
        return high
    measure = 0.0
    for i in range(count):
        w = windows + 5 * i
        measure += window_end(X, X[w], X[w + 2], largest) - X[w]
    if measure == 0.0:
        return X[windows + 5 * int(unit(R) * count)]
    rest = unit(R) * measure
    for i in range(count):
        w = windows + 5 * i
        low = X[w]
        high = window_end(X, low, X[w + 2], largest)
        if rest < high - low or i == count - 1:
            t = low + rest
            if t >= high and high > low:
                t = high - min(APPROACH, (high - low) / 4.0) if X[w + 3] != 0.0 else high
            if t <= low:
                t = low + min(APPROACH, (high - low) / 4.0) if X[w + 1] != 0.0 else low
            return kept_off(t, low, X[w + 1], high, X[w + 3])
        rest -= high - low
    return X[windows]


@inlined
def draw_transition(T, F, S, X, R, deadline, strict, share, sleeping):
    """Draw candidates until one has a window, at most total / share + 4 times; return (edge, receiver, windows).

    With `sleeping`, edges that come later than the deadline leave the lists until they do not.
    """
    total = candidates(T, S)
    e1 = -1
    e2 = -1
    count = 0
    for _ in range(total // share + 4):
        if total == 0:
            break
        e1, e2 = candidate(T, S, int(unit(R) * total))
        if e1 < 0:
            continue
        count = candidate_windows(T, F, S, X, R, e1, e2, deadline, strict)
        if count > 0:
            break
        if sleeping and fall_asleep(T, S, X, e1, deadline):
            total = candidates(T, S)
    return e1, e2, count


@inlined
def look_at_all(T, F, S, X, R, total, deadline, strict, preferred):
    """Draw among all candidates that have a window (preferred ones if any); return (edge, receiver, windows)."""
    for only_preferred in range(1, -1, -1):
        if only_preferred and len(preferred) == 0:
            continue
        found = 0
        for index in range(total):
            e1, e2 = candidate(T, S, index)
            if e1 < 0 or only_preferred and not preferred[T[T[H_EDGE_TABLE] + EDGE_WIDTH * e1 + E_ACTION]]:
                continue
            if candidate_windows(T, F, S, X, R, e1, e2, deadline, strict) > 0:
                found += 1
        if found == 0:
            continue
        chosen = int(unit(R) * found)
        for index in range(total):
            e1, e2 = candidate(T, S, index)
            if e1 < 0 or only_preferred and not preferred[T[T[H_EDGE_TABLE] + EDGE_WIDTH * e1 + E_ACTION]]:
                continue
            count = candidate_windows(T, F, S, X, R, e1, e2, deadline, strict)
            if count > 0:
                if chosen == 0:
                    return e1, e2, count
                chosen -= 1
    return -1, -1, 0


@inlined
def ret_walk(
    T, F, S, X, R, share_lower, share_uniform, until, max_steps, full, preferred,
    b, capacity, times, edges, branches, locations, integers, reals,
):  # fmt: skip
    """Walk from the loaded state; return (status, steps); RUNNING (0): no room left to record."""
    if capacity > 0:
        write_state(T, S, X, X[X_NOW], locations[b], integers[b], reals[b], 0)
    steps = 0
    while steps < max_steps:
        if full:
            refresh(T, F, S, X, R, False)
        now = X[X_NOW]
        status, deadline, strict = stay(T, F, S, X, R)
        if status != 0:
            return (REACHED_END if ends_well(status, steps, now, until) else status), steps
        e1 = -1
        e2 = -1
        count = 0
        if len(preferred) == 0:
            e1, e2, count = draw_transition(T, F, S, X, R, deadline, strict, 1, False)
        if count == 0:
            e1, e2, count = look_at_all(T, F, S, X, R, candidates(T, S), deadline, strict, preferred)
        if S[S_ERROR] != 0:
            return RUNTIME_ERROR, steps
        if count == 0:
            status = DEADLOCK if deadline == math.inf else TIMELOCK
            return (REACHED_END if ends_well(status, steps, now, until) else status), steps
        if capacity > 0 and steps == capacity:
            return 0, steps
        t = choose_moment(T, X, R, count, share_lower, share_uniform)
        fire(T, F, S, X, R, e1, e2, t, True, False)
        if S[S_ERROR] != 0:
            return RUNTIME_ERROR, steps
        if capacity > 0:
            record_step(T, S, X, e1, t, times, edges, branches, locations, integers, reals, b, steps)
        steps += 1
        if t > until:
            return REACHED_END, steps
    return STEP_LIMIT, steps


@entry_point
def ret_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, seeds, shares, until, max_steps,
    full, preferred, first, capacity, status, steps, errors, times, edges, branches, locations, integers, reals,
):  # fmt: skip
    """Make walks first, first + 1, … from the initial state; return the walk that found no room, or their number."""
    for b in range(first, len(seeds)):
        begin_walk(T, F, S, X, R, seeds[b], states_locations, states_integers, states_reals, largest, ode_step)
        outcome, taken = ret_walk(
            T, F, S, X, R, shares[b, 0], shares[b, 1], until, max_steps, full, preferred,
            b, capacity, times, edges, branches, locations, integers, reals,
        )  # fmt: skip
        if outcome == 0:
            return b
        record_end(S, outcome, taken, status, steps, errors, b)
    return len(seeds)
