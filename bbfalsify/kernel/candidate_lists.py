"""Lists of what may happen next, kept up to date step by step: candidates, processes in committed locations, sleepers.

An edge that clocks are known not to allow before the end of the stay *sleeps*: it is in no candidate group until time
has come near, or until one of its clocks has changed.  Walks with many processes that wait then cost what happens, not
what waits.  Only the walks of `target_walks` let edges sleep.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.windows import slack


@inlined
def list_member(S, members, places, count, one, adding):
    """Append one to the list at S[members:], or let the last of it take its place; places are at S[places:]."""
    if adding:
        S[members + S[count]] = one
        S[places + one] = S[count]
        S[count] += 1
    else:
        S[count] -= 1
        last = S[members + S[count]]
        S[members + S[places + one]] = last
        S[places + last] = S[places + one]


@inlined
def list_candidate(T, S, e, adding):
    """Put an edge into its candidate group, or take it out."""
    group = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_GROUP]
    count = T[H_S_GROUP_COUNT] + group
    members = T[H_S_GROUP_MEMBERS] + T[T[H_GROUP_START] + group]
    list_member(S, members, T[H_S_EDGE_POSITION], count, e, adding)


@compiled
def list_edges(T, S, location, adding):
    """Put the edges of a location into their candidate groups, or take them out (if asleep, out of that list)."""
    row = T[H_LOCATION_TABLE] + LOCATION_WIDTH * location
    edges = T[row + L_LISTED]
    for i in range(T[row + L_LISTED_COUNT]):
        e = T[edges + i]
        if not adding and S[S_ASLEEP] > 0 and is_asleep(T, S, e):
            list_member(S, T[H_S_ASLEEP], T[H_S_ASLEEP_PLACE], S_ASLEEP, e, False)
        else:
            list_candidate(T, S, e, adding)


@inlined
def relist(T, S, p, old, new, lazily):
    """List the edges of the location that a process enters, not those that it leaves.

    A lazy walker lists those of a committed location only when it asks for them (`list_unlisted`).
    """
    unlisted = T[H_S_UNLISTED] + p
    if S[unlisted] != 0:
        S[unlisted] = 0
    else:
        list_edges(T, S, old, False)
    if lazily and S[S_LAZY] != 0:
        S[unlisted] = 1
    else:
        list_edges(T, S, new, True)


@inlined
def list_unlisted(T, S):
    for i in range(S[S_COMMITTED]):
        p = S[T[H_S_COMMITTED] + i]
        if S[T[H_S_UNLISTED] + p] != 0:
            S[T[H_S_UNLISTED] + p] = 0
            list_edges(T, S, S[T[H_S_LOCATIONS] + p], True)


@inlined
def list_committed(T, S, p, adding):
    """Put a process into the list of those in a committed location, or take it out."""
    list_member(S, T[H_S_COMMITTED], T[H_S_COMMITTED_PLACE], S_COMMITTED, p, adding)


# --- sleeping edges --------------------------------------------------------------------------------------------------


@inlined
def is_asleep(T, S, e):
    place = S[T[H_S_ASLEEP_PLACE] + e]
    return place < S[S_ASLEEP] and S[T[H_S_ASLEEP] + place] == e


@inlined
def comes_later(T, X, e, deadline):
    """Tell whether clocks are known not to allow an edge before a deadline."""
    earliest = X[T[H_X_EARLIEST] + e]
    return earliest > deadline and earliest - deadline > slack(earliest)


@compiled
def fall_asleep(T, S, X, e, deadline):
    """Take a listed edge that comes later out of its candidate group; return True if it was there."""
    if T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_GROUP] < 0 or not comes_later(T, X, e, deadline) or is_asleep(T, S, e):
        return False
    list_candidate(T, S, e, False)
    list_member(S, T[H_S_ASLEEP], T[H_S_ASLEEP_PLACE], S_ASLEEP, e, True)
    earliest = X[T[H_X_EARLIEST] + e]
    X[X_WAKE] = min(X[X_WAKE], earliest - 2.0 * slack(earliest))
    return True


@inlined
def wake(T, S, e):
    list_member(S, T[H_S_ASLEEP], T[H_S_ASLEEP_PLACE], S_ASLEEP, e, False)
    list_candidate(T, S, e, True)


@compiled
def wake_edges(T, S, X, deadline):
    """Wake the edges that do not come later than a deadline; X_WAKE says when to look again."""
    first = math.inf
    for i in range(S[S_ASLEEP] - 1, -1, -1):
        e = S[T[H_S_ASLEEP] + i]
        if comes_later(T, X, e, deadline):
            earliest = X[T[H_X_EARLIEST] + e]
            first = min(first, earliest - 2.0 * slack(earliest))
        else:
            wake(T, S, e)
    X[X_WAKE] = first


@inlined
def forget_earliest(T, S, X, p):
    """Forget the moments before which clocks do not allow the edges of process p: a clock or its rate has changed."""
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    for i in range(T[location + L_CLOCKED_COUNT]):
        e = T[T[location + L_CLOCKED] + i]
        X[T[H_X_EARLIEST] + e] = -math.inf
        if S[S_ASLEEP] > 0 and is_asleep(T, S, e):
            wake(T, S, e)
