"""Find the first moment at which a target is met while time passes, deadlocks included.

A predicate over clocks is searched within the whole stay that the invariants allow, as waiting is a behaviour of the
model.  `deadlock` holds once no transition can ever fire any more: behind the last window of all transitions.  So a
predicate about deadlocks is *split* into one for before that moment and one for after it, either of which may never
hold.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.accelerated_walk import APPROACH, candidate_windows
from bbfalsify.kernel.analysis import Flow
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.heuristics import list_candidates
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.windows import scan, slack

# places of a goal's array: codes of the two predicates (−1: never), their kind of change with time, a quick filter, and
# whether they are two (1), or the first one holds for the dead, too (0)
(GOAL_ALIVE, GOAL_ALIVE_FLOW, GOAL_DEAD, GOAL_DEAD_FLOW, GOAL_DEAD_FILTER, GOAL_SPLIT, GOAL_SIZE) = range(7)
FLOW_DISCRETE, FLOW_NUMERIC = int(Flow.DISCRETE), int(Flow.NUMERIC)


@compiled
def first_moment(T, F, S, X, R, code, flow, low, low_strict, high, high_strict):
    """Find the first moment of an interval at which the predicate holds (or one just after it); inf: none."""
    if low > high or (low == high and (low_strict or high_strict)):
        return math.inf
    if flow == FLOW_DISCRETE:
        if execute(T, F, S, X, R, code, MODE_FROZEN, X[X_NOW]) == 0:
            return math.inf
        return low + min(APPROACH, (high - low) / 4.0) if low_strict else low
    if flow == FLOW_NUMERIC:
        if scan(T, F, S, X, R, -1, -1, code, low, high, True, 0) == 0:
            return math.inf
        return X[T[H_X_WINDOWS]]
    t = low
    for step in range(MAXIMUM_BREAKPOINTS):
        if not (step == 0 and low_strict) and not (t == high and high_strict):
            if execute(T, F, S, X, R, code, MODE_AT, t) != 0:
                return t
        if t >= high:
            break
        X[X_BREAKPOINT] = math.inf
        holds = execute(T, F, S, X, R, code, MODE_AFTER, t) != 0
        following = min(X[X_BREAKPOINT], high)
        if holds:
            return t + min(APPROACH, (following - t) / 4.0)
        if following == math.inf:
            break
        t = following
    return math.inf


@inlined
def reaches(T, X, count, deadline, strict):
    """Tell whether the last of the windows in the buffer ends with the stay itself, up to rounding."""
    last = T[H_X_WINDOWS] + 5 * (count - 1)
    high = X[last + 2]
    if high == deadline:
        return strict == 1 or X[last + 3] == 0.0
    return high >= deadline - slack(deadline)


@compiled
def end_of_life(T, F, S, X, R, total, deadline, strict, work):
    """Find the last moment at which anything can fire: (moment, strict); −inf if nothing can.

    It is inf if something can fire until the end of the stay.
    """
    end = -math.inf
    end_strict = 0
    for i in range(total):
        count = candidate_windows(T, F, S, X, R, work[2 * i], work[2 * i + 1], deadline, strict)
        if count == 0:
            continue
        if reaches(T, X, count, deadline, strict):
            return math.inf, 0
        last = T[H_X_WINDOWS] + 5 * (count - 1)
        if X[last + 2] > end or (X[last + 2] == end and X[last + 3] == 0.0):
            end = X[last + 2]
            end_strict = int(X[last + 3])
    return end, end_strict


@compiled
def split_moment(T, F, S, X, R, goal, alive_to_the_end, deadline, strict, work):
    """Find the first moment of the stay that meets a goal with different predicates for alive and dead; inf: none.

    `end_of_life` looks at all transitions, so it is called last.
    """
    now = X[X_NOW]
    met = math.inf
    while_alive = goal[GOAL_ALIVE] >= 0
    if while_alive:
        met = first_moment(T, F, S, X, R, goal[GOAL_ALIVE], goal[GOAL_ALIVE_FLOW], now, 0, deadline, strict)
        if alive_to_the_end:
            return met
        while_alive = met < math.inf
    once_dead = goal[GOAL_DEAD] >= 0 and not alive_to_the_end
    if once_dead and goal[GOAL_DEAD_FILTER] >= 0:
        once_dead = execute(T, F, S, X, R, goal[GOAL_DEAD_FILTER], MODE_FROZEN, now) != 0
    if S[S_ERROR] != 0 or not (while_alive or once_dead):
        return math.inf
    end, end_strict = end_of_life(T, F, S, X, R, list_candidates(T, F, S, X, R, work), deadline, strict, work)
    if end == math.inf:
        return met
    if while_alive and end > -math.inf:
        met = first_moment(T, F, S, X, R, goal[GOAL_ALIVE], goal[GOAL_ALIVE_FLOW], now, 0, end, end_strict)
        if met < math.inf:
            return met
    if not once_dead:
        return math.inf
    low_strict = 1 if end >= now and end_strict == 0 else 0
    return first_moment(
        T, F, S, X, R, goal[GOAL_DEAD], goal[GOAL_DEAD_FLOW], max(now, end), low_strict, deadline, strict
    )
