"""Depth-first search that keeps three bits of each visited state (Holzmann), compiled: it finds, but never proves.

    stack := initial state
    while the stack is not empty
        the state on top was expanded:  remove it
        else for each successor, from a random one on
            its three bits are set:     it was visited, or is taken for visited
            else set them; push it; if it meets the target the expanded states below are the path

A line of `stored` is a state of the stack: row, matrix, which successor of its parent, depth, whether it is expanded.
When the stack is full, successors are left out and counted.
"""

from __future__ import annotations

from bbfalsify.kernel.exploration import mixed
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.zones.successors import list_successors
from bbfalsify.zones.target_zones import ends_here, meets
from bbfalsify.zones.waiting_list import shuffled_choice
from bbfalsify.zones.zone_layout import *

HASHES = 3
EXTRA = 3
"""Words of a line of the stack behind row and matrix."""
(B_STACK, B_VISITED, B_TRANSITIONS, B_DEPTH, B_LEFT_OUT, B_SET) = range(6)
"""Places of progress; the random state is at P_RANDOM."""


@inlined
def is_new(Z, found, place, work):
    """Set the bits of the state at found[place:]; return False if they were set."""
    value = 17
    for k in range(Z[Z_WIDTH] + Z[Z_CLOCKS] * Z[Z_CLOCKS]):
        value = mixed(value, int(found[place + k]))
    new = False
    for k in range(HASHES):
        value = mixed(value, k + 1)
        word = (value >> 6) % len(work)
        bit = value & 63
        if (work[word] >> bit) & 1 == 0:
            work[word] |= 1 << bit
            new = True
    return new


@compiled
def push(Z, found, place, choice, depth, stored, progress):
    """Push the state at found[place:]."""
    line = progress[B_STACK]
    words = Z[Z_WIDTH] + Z[Z_CLOCKS] * Z[Z_CLOCKS]
    for k in range(words):
        stored[line, k] = found[place + k]
    stored[line, words] = choice
    stored[line, words + 1] = depth
    stored[line, words + 2] = 0
    progress[B_STACK] = line + 1
    if depth > progress[B_DEPTH]:
        progress[B_DEPTH] = depth


@compiled
def is_target(T, F, S, X, R, Z, D, W, found, place):
    """Look for targets that are no matter of deadlocks: 0, 1, or a problem."""
    if Z[Z_DEADLOCKS] or Z[Z_ALIVE] < 0:
        return 0
    return meets(T, F, S, X, R, Z, D, W, found, place, Z[Z_ALIVE], 0, -1)


@entry_point
def begin_bits(T, F, S, X, R, Z, D, W, found, stored, work, progress):
    """Push the initial state, which is in the first record: MET, DONE, or a problem."""
    S[S_ERROR] = 0
    is_new(Z, found, 0, work)
    push(Z, found, 0, 0, 0, stored, progress)
    met = is_target(T, F, S, X, R, Z, D, W, found, 0)
    return MET if met == 1 else met


@entry_point
def explore_bits(T, F, S, X, R, Z, D, W, found, stored, work, progress, limit):
    """Expand `limit` states (PAUSED), all that are found (DONE), or until a target is on top (MET); or a problem."""
    words = Z[Z_WIDTH] + Z[Z_CLOCKS] * Z[Z_CLOCKS]
    budget = limit
    while progress[B_STACK] > 0:
        top = progress[B_STACK] - 1
        if stored[top, words + 2] == 1:
            progress[B_STACK] = top
            continue
        if budget <= 0:
            return PAUSED
        budget -= 1
        for k in range(words):
            found[k] = stored[top, k]
        count = list_successors(T, F, S, X, R, Z, D, W, found, Z[Z_DEADLOCKS])
        if count < 0:
            return count
        stored[top, words + 2] = 1
        progress[B_VISITED] += 1
        progress[B_TRANSITIONS] += count
        if Z[Z_DEADLOCKS]:
            met = ends_here(T, F, S, X, R, Z, D, W, found, count)
            if met != 0:
                return MET if met == 1 else met
        first = shuffled_choice(progress, 0, count) if count > 0 else 0
        for i in range(count):
            k = (first + i) % count
            place = Z[Z_RECORD] * (k + 1)
            if not is_new(Z, found, place, work):
                continue
            progress[B_SET] += 1
            if progress[B_STACK] >= len(stored):
                progress[B_LEFT_OUT] += 1
                continue
            push(Z, found, place, k, stored[top, words + 1] + 1, stored, progress)
            met = is_target(T, F, S, X, R, Z, D, W, found, place)
            if met != 0:
                return MET if met == 1 else met
    return DONE
