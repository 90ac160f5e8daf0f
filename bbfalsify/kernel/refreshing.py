"""Load a state into a walker, and keep its deadlines and rates up to date.

`refresh` computes everything from scratch; `firing.py` calls the others for what a transition touched.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.candidate_lists import forget_earliest, list_committed, list_edges
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.windows import invariant_deadline, slack

# --- the tournament of deadlines --------------------------------------------------------------------------------------


@inlined
def earlier(T, X, p, q):
    """Return the process with the earlier deadline; −1 is none."""
    if q < 0:
        return p
    if p < 0:
        return q
    deadlines = T[H_X_DEADLINE]
    a = X[deadlines + 2 * p]
    b = X[deadlines + 2 * q]
    if a < b or (a == b and X[deadlines + 2 * p + 1] >= X[deadlines + 2 * q + 1]):
        return p
    return q


@compiled
def refresh_deadline(T, F, S, X, R, p):
    """Recompute the deadline of process p and its matches in the tournament."""
    moment, strict = invariant_deadline(T, F, S, X, R, p)
    X[T[H_X_DEADLINE] + 2 * p] = moment
    X[T[H_X_DEADLINE] + 2 * p + 1] = strict
    tree = T[H_S_TREE]
    node = (T[H_TREE_LEAVES] + p) >> 1
    while node > 0:
        winner = earlier(T, X, S[tree + 2 * node], S[tree + 2 * node + 1])
        if S[tree + node] == winner and winner != p:
            break  # nothing above depends on p
        S[tree + node] = winner
        node >>= 1


# --- rates ------------------------------------------------------------------------------------------------------------


@inlined
def refresh_readers(T, F, S, X, R, slot):
    """Refresh the deadlines that depend on the rate of a clock, and forget earliest moments that do."""
    clock = T[H_CLOCK_TABLE] + CLOCK_WIDTH * slot
    for i in range(T[clock + C_READER_COUNT]):
        refresh_deadline(T, F, S, X, R, T[T[clock + C_READERS] + i])
    for i in range(T[clock + C_GUARDED_COUNT]):
        forget_earliest(T, S, X, T[T[clock + C_GUARDED] + i])


@inlined
def settled(v, t):
    """Round a stopped clock to a whole number if it is close: it would else stay beyond its bound."""
    nearest = math.floor(v + 0.5)
    return nearest if abs(v - nearest) <= 64.0 * slack(t) else v


@inlined
def refresh_rate(T, F, S, X, R, slot):
    """Give a clock the rate of the current locations (of the last process that has one); return True if it changed."""
    row = T[H_CLOCK_TABLE] + CLOCK_WIDTH * slot
    code = -1
    constant = -1
    for i in range(T[row + C_RATER_COUNT]):
        rater = T[row + C_RATERS] + RATER_WIDTH * i
        p = T[rater + RATER_PROCESS]
        given = T[T[rater + RATER_ROWS] + S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p]]
        if given >= 0:
            code = T[given + RATE_CODE]
            constant = T[given + RATE_CONSTANT]
    if T[row + C_IS_ODE]:
        code = code if code >= 0 else T[H_DEFAULT_RATE]
        if S[T[H_S_RATE_CODE] + slot] != code:
            S[T[H_S_RATE_CODE] + slot] = code
            S[S_GRID] = 0
        return False
    if code >= 0:
        execute(T, F, S, X, R, code, MODE_FROZEN, X[X_NOW])
        rate = X[T[H_X_STACK]]
    elif constant >= 0:
        rate = F[constant]
    else:
        rate = 1.0
    clock = CLOCKS + 3 * slot
    if rate == X[clock + 2]:
        return False
    X[clock] = settled(X[clock] + X[clock + 2] * (X[X_NOW] - X[clock + 1]), X[X_NOW])
    X[clock + 1] = X[X_NOW]
    X[clock + 2] = rate
    return True


@compiled
def refresh_clock(T, F, S, X, R, slot):
    """Refresh the rate of a clock, and the deadlines that read it if it has changed."""
    if refresh_rate(T, F, S, X, R, slot):
        refresh_readers(T, F, S, X, R, slot)


@compiled
def refresh_rates_that_read(T, F, S, X, R):
    """Refresh the rates that read an integer which has changed since the last call, and the deadlines that follow."""
    for i in range(T[H_RATE_READ_COUNT]):
        read = T[H_RATE_READS] + READ_WIDTH * i
        value = S[INTEGERS + T[read + READ_SLOT]]
        if value != S[T[H_S_RATE_VALUES] + i]:
            before = S[T[H_S_RATE_VALUES] + i]
            S[T[H_S_RATE_VALUES] + i] = value
            for k in range(T[read + READ_CLOCK_COUNT]):
                refresh_clock(T, F, S, X, R, T[T[read + READ_CLOCKS] + k])
            for special in (before, value):
                if T[read + READ_LOW] <= special <= T[read + READ_HIGH]:
                    start = T[read + READ_STARTS] + special - T[read + READ_LOW]
                    for k in range(T[start], T[start + 1]):
                        refresh_clock(T, F, S, X, R, T[k])


@compiled
def refresh_all_rates(T, F, S, X, R, with_deadlines):
    for i in range(T[H_RATED_COUNT]):
        slot = T[T[H_RATED_SLOTS] + i]
        if with_deadlines:
            refresh_clock(T, F, S, X, R, slot)
        else:
            refresh_rate(T, F, S, X, R, slot)


# --- the walker -------------------------------------------------------------------------------------------------------


@compiled
def load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, time, largest, ode_step):
    """Load row `row` of some states into a walker, and reset everything else."""
    S[S_ERROR] = 0
    S[S_INTEGER_BASE] = INTEGERS
    S[S_LOCATION_BASE] = T[H_S_LOCATIONS]
    S[S_CLOCK_BASE] = CLOCKS
    S[S_COMMITTED] = 0
    S[S_URGENT] = 0
    S[S_HURRIED] = 0
    S[S_GRID] = 0
    S[S_ASLEEP] = 0
    X[X_WAKE] = math.inf
    X[X_NOW] = time
    X[X_LARGEST] = largest
    X[X_ODE_STEP] = ode_step
    for i in range(T[H_INTEGERS]):
        S[INTEGERS + i] = states_integers[row, i]
        S[T[H_S_SCRATCH_INTEGERS] + i] = states_integers[row, i]  # constants stay there
    for p in range(T[H_PROCESSES]):
        location = T[T[H_FIRST_LOCATION] + p] + states_locations[row, p]
        S[T[H_S_LOCATIONS] + p] = location
        flags = T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * location + L_FLAGS]
        if flags & LOCATION_COMMITTED:
            list_committed(T, S, p, True)
        S[S_URGENT] += flags & LOCATION_URGENT
        S[S_HURRIED] += flags & LOCATION_HURRIES
    for i in range(T[H_REALS]):
        X[CLOCKS + 3 * i] = states_reals[row, i]
        X[CLOCKS + 3 * i + 1] = time
        X[CLOCKS + 3 * i + 2] = float(T[T[H_CLOCK_TABLE] + CLOCK_WIDTH * i + C_DEFAULT])
    if T[H_FLAGS] & FLAG_RATES:
        for i in range(T[H_RATE_READ_COUNT]):
            S[T[H_S_RATE_VALUES] + i] = S[INTEGERS + T[T[H_RATE_READS] + READ_WIDTH * i + READ_SLOT]]
        refresh_all_rates(T, F, S, X, R, False)


@compiled
def refresh(T, F, S, X, R, lists):
    """Compute candidate lists (if wanted), rates and deadlines from scratch."""
    if lists:
        for group in range(T[H_GROUPS]):
            S[T[H_S_GROUP_COUNT] + group] = 0
        for p in range(T[H_PROCESSES]):
            S[T[H_S_UNLISTED] + p] = 0
            list_edges(T, S, S[T[H_S_LOCATIONS] + p], True)
    if T[H_FLAGS] & FLAG_RATES:
        refresh_all_rates(T, F, S, X, R, False)
    leaves = T[H_TREE_LEAVES]
    tree = T[H_S_TREE]
    for p in range(leaves):
        S[tree + leaves + p] = p if p < T[H_PROCESSES] else -1
        if p < T[H_PROCESSES]:
            forget_earliest(T, S, X, p)
            moment, strict = invariant_deadline(T, F, S, X, R, p)
            X[T[H_X_DEADLINE] + 2 * p] = moment
            X[T[H_X_DEADLINE] + 2 * p + 1] = strict
    for node in range(leaves - 1, 0, -1):
        S[tree + node] = earlier(T, X, S[tree + 2 * node], S[tree + 2 * node + 1])


@inlined
def refresh_numeric_deadlines(T, F, S, X, R):
    """Recompute deadlines found by scanning, which hold from "now" only."""
    for i in range(T[H_NUMERIC_COUNT]):
        refresh_deadline(T, F, S, X, R, T[T[H_NUMERIC_PROCESSES] + i])
