"""Common parts of all compiled walks: their beginning, deadlines, records and end."""

from __future__ import annotations

from bbfalsify.kernel.firing import branch_taken
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import inlined
from bbfalsify.kernel.refreshing import load_state, refresh, refresh_numeric_deadlines
from bbfalsify.kernel.rng import begin_tape, seed_stream
from bbfalsify.kernel.windows import integers_hold, slack, transition_windows


@inlined
def begin_walk(T, F, S, X, R, seed, states_locations, states_integers, states_reals, largest, ode_step):
    """Load the first of some states at time 0, and seed the random stream."""
    seed_stream(R, seed)
    begin_tape(R)
    load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, 0.0, largest, ode_step)
    refresh(T, F, S, X, R, True)


@inlined
def urgent_deadline(T, F, S, X, R, deadline, strict):
    """Lower a deadline to the first moment at which a transition on an urgent channel is enabled."""
    place = 0
    index = -1
    last = -1
    while deadline > X[X_NOW]:
        index += 1
        while index >= last:  # the next location that sends on an urgent channel and is active
            if place == T[H_URGENT_PLACE_COUNT]:
                return deadline, strict
            row = T[H_URGENT_PLACES] + PLACE_WIDTH * place
            place += 1
            if S[T[H_S_LOCATIONS] + T[row + PLACE_PROCESS]] != T[row + PLACE_LOCATION]:
                continue
            index = int(T[row + PLACE_FIRST])
            last = index + T[row + PLACE_COUNT]
            if T[row + PLACE_SLOT] >= 0:
                value = S[INTEGERS + T[row + PLACE_SLOT]] - T[row + PLACE_LOW]
                last = index
                if 0 <= value <= T[row + PLACE_HIGH] - T[row + PLACE_LOW]:
                    index = int(T[T[row + PLACE_STARTS] + value])
                    last = int(T[T[row + PLACE_STARTS] + value + 1])
        e = T[T[H_URGENT_EDGES] + index]
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
        if not integers_hold(T, F, S, X, R, e):
            continue
        if T[edge + E_KIND] != KIND_HANDSHAKE_SEND:
            if transition_windows(T, F, S, X, R, e, -1, deadline, strict, 0) > 0 and X[T[H_X_WINDOWS]] <= deadline:
                deadline = X[T[H_X_WINDOWS]]
                strict = 0
            continue
        for k in range(T[edge + E_PARTNER_COUNT]):
            r = T[T[edge + E_PARTNERS] + k]
            other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
            q = T[other + E_PROCESS]
            if q != T[edge + E_PROCESS] and S[T[H_S_LOCATIONS] + q] == T[other + E_SOURCE]:
                count = transition_windows(T, F, S, X, R, e, r, deadline, strict, 0)
                if count > 0 and X[T[H_X_WINDOWS]] <= deadline:
                    deadline = X[T[H_X_WINDOWS]]
                    strict = 0
    return deadline, strict


@inlined
def global_deadline(T, F, S, X, R):
    """Compute until when time may pass: (moment, strict); below "now" if some invariant is violated."""
    first = S[T[H_S_TREE] + 1]  # with one process the only leaf is the root
    deadline = X[T[H_X_DEADLINE] + 2 * first]
    strict = int(X[T[H_X_DEADLINE] + 2 * first + 1])
    now = X[X_NOW]
    if deadline < now and deadline >= now - slack(now):
        deadline = now
    if deadline > now and (S[S_COMMITTED] > 0 or S[S_URGENT] > 0):
        deadline = now
        strict = 0
    if deadline > now and S[S_HURRIED] > 0:
        deadline, strict = urgent_deadline(T, F, S, X, R, deadline, strict)
    return deadline, strict


@inlined
def stay(T, F, S, X, R):
    """Compute at the begin of a step until when time may pass: (0, moment, strict), or the status of a walk's end."""
    if T[H_NUMERIC_COUNT] > 0:
        refresh_numeric_deadlines(T, F, S, X, R)
    deadline, strict = global_deadline(T, F, S, X, R)
    status = 0
    if S[S_ERROR] != 0:
        status = RUNTIME_ERROR
    elif deadline < X[X_NOW] or (deadline == X[X_NOW] and strict):
        status = TIMELOCK
    return status, deadline, strict


@inlined
def ends_well(outcome, taken, time, until):
    """A walk that cannot go on after its last moment is whole; only before that it is stuck."""
    return outcome != RUNTIME_ERROR and taken > 0 and time >= until


@inlined
def write_state(T, S, X, t, states_locations, states_integers, states_reals, row):
    """Write the walker's state at t into a row."""
    for p in range(T[H_PROCESSES]):
        states_locations[row, p] = S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p]
    for i in range(T[H_INTEGERS]):
        states_integers[row, i] = S[INTEGERS + i]
    for i in range(T[H_REALS]):
        clock = CLOCKS + 3 * i
        states_reals[row, i] = X[clock] + X[clock + 2] * (t - X[clock + 1])


@inlined
def record_step(T, S, X, e, t, times, edges, branches, locations, integers, reals, b, k):
    """Record step k (from 0) of walk b, which has just fired the internal or sending edge e, and the state entered."""
    times[b, k] = t
    edges[b, k] = e
    branches[b, k] = branch_taken(T, S, e)
    write_state(T, S, X, X[X_NOW], locations[b], integers[b], reals[b], k + 1)


@inlined
def record_end(S, outcome, taken, status, steps, errors, b):
    status[b] = outcome
    steps[b] = taken
    if outcome == RUNTIME_ERROR:
        for i in range(3):
            errors[b, i] = S[S_ERROR + i]
