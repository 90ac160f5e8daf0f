"""All states of a network in which time passes only by exponential delays, and the rates between them.

The successors of a state are those of the race (`races`), with their probabilities instead of draws: while time may
pass, each component that can act has the rate of its location; where time stands still, one of the components that
cannot wait goes, each with the same probability.  The component takes one of its enabled edges by weight; receivers and
branches follow by weight.  Every combination is fired once.

A state is found again by a hash table in `work`.  All arrays belong to the caller; when one is full, `explore` returns
NO_ROOM and goes on with larger ones at the state whose successors did not fit.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.arithmetic import fail
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.entry_invariants import receiving_edges
from bbfalsify.kernel.firing import apply_moves, edge_weight, number_of, weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.races import component_windows, own_bound
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.walk_frame import stay
from bbfalsify.kernel.windows import receives

DONE, NO_ROOM, FAILED, NOT_MARKOV_EDGE, NOT_MARKOV_PROCESS, BAD_RATE, FULL = range(7)

TANGIBLE, IMMEDIATE, STUCK = range(3)
"""Kinds of states: time passes, no time passes, neither time nor anything else goes on."""

(P_STATES, P_NEXT, P_TRANSITIONS, P_CULPRIT, P_SIZE) = range(5)

_MULTIPLIER = 0x2545F4914F6CDD1D
_MASK = (1 << 62) - 1


@inlined
def mixed(value, word):
    value = ((value ^ word) * _MULTIPLIER) & _MASK
    return value ^ (value >> 31)


@inlined
def hash_of(T, S, X, goal):
    value = 17
    for p in range(T[H_PROCESSES]):
        value = mixed(value, S[T[H_S_LOCATIONS] + p])
    for i in range(T[H_INTEGERS]):
        value = mixed(value, S[INTEGERS + i])
    for i in range(T[H_REALS]):
        if goal[i] and abs(X[CLOCKS + 3 * i]) < 1e12:
            value = mixed(value, int(X[CLOCKS + 3 * i] * 1048576.0))
    return value


@inlined
def same_state(T, S, X, goal, states_locations, states_integers, states_reals, row):
    for p in range(T[H_PROCESSES]):
        if states_locations[row, p] != S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p]:
            return False
    for i in range(T[H_INTEGERS]):
        if states_integers[row, i] != S[INTEGERS + i]:
            return False
    for i in range(T[H_REALS]):
        if goal[i] and states_reals[row, i] != X[CLOCKS + 3 * i]:
            return False
    return True


@compiled
def number_of_state(T, S, X, goal, states_locations, states_integers, states_reals, work, progress):
    """Return the number of the walker's state, maybe a new one; −1: no room.  `goal` marks the reals that count."""
    size = len(work)
    place = hash_of(T, S, X, goal) % size
    while work[place] > 0:
        row = work[place] - 1
        if same_state(T, S, X, goal, states_locations, states_integers, states_reals, row):
            return row
        place = place + 1 if place + 1 < size else 0
    row = progress[P_STATES]
    if row >= len(states_locations) or 2 * row >= size:
        return -1
    for p in range(T[H_PROCESSES]):
        states_locations[row, p] = S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p]
    for i in range(T[H_INTEGERS]):
        states_integers[row, i] = S[INTEGERS + i]
    for i in range(T[H_REALS]):
        states_reals[row, i] = X[CLOCKS + 3 * i] if goal[i] else 0.0
    work[place] = row + 1
    progress[P_STATES] = row + 1
    return row


@compiled
def list_components(T, F, S, X, R, deadline, strict, affects, moments, progress):
    """List the edges that may be next: (problem, number); edges in `affects`, rates or probabilities in `moments`."""
    now = X[X_NOW]
    timeless = deadline == now
    members = T[H_EDGES]  # after the edges: per edge the number of its component
    count = 0
    components = 0
    forced = 0
    for p in range(T[H_PROCESSES]):
        windows = component_windows(T, F, S, X, R, p, deadline, strict)
        if windows == 0:
            continue
        bound = own_bound(T, S, X, p)
        rate = 0.0
        must = 1 if bound == now else 0
        if not timeless:
            if bound != math.inf:
                progress[P_CULPRIT] = p
                return NOT_MARKOV_PROCESS, 0
            location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
            rate = number_of(T, F, S, X, R, T[location + L_EXPONENTIAL], 1.0)
            if not (rate >= 0.0 and rate < math.inf):
                progress[P_CULPRIT] = p
                return BAD_RATE, 0
            if rate == 0.0:
                continue
        first = count
        total = 0.0
        for k in range(windows):
            w = T[H_X_WINDOWS] + 5 * k
            e = int(X[w + 4])
            if X[w] != now or X[w + 1] != 0.0 or X[w + 2] != deadline or X[w + 3] != 0.0:
                if X[w + 2] != math.inf or X[w] != now:
                    progress[P_CULPRIT] = e
                    return NOT_MARKOV_EDGE, 0
            for i in range(T[H_URGENT_COUNT]):
                if T[T[H_URGENT_EDGES] + i] == e:
                    must = 1
            affects[count] = e
            affects[members + count] = components
            moments[count] = weight_of(T, F, S, X, R, T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_WEIGHT])
            total += moments[count]
            count += 1
        for k in range(first, count):
            share = moments[k] / total if total > 0.0 else (1.0 if k == first else 0.0)
            moments[k] = share if timeless else share * rate
        affects[2 * members + components] = must
        forced += must
        components += 1
    if timeless:  # who must go at once goes; where time stands still for one that cannot move, anybody
        for k in range(count):
            if forced > 0 and affects[2 * members + affects[members + k]] == 0:
                moments[k] = 0.0
            else:
                moments[k] /= forced if forced > 0 else components
    return DONE, count


@compiled
def add_options(T, F, S, X, R, e, factor, party, coverage, factors, first):
    """Append the branches of edge e, each with its probability times `factor`; return the new end, −1: no weight."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    branches = T[edge + E_BRANCH_COUNT]
    total = 0.0
    for b in range(branches):
        total += weight_of(T, F, S, X, R, T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT])
    if not total > 0.0 and branches > 1:
        fail(S, ERROR_WEIGHT, 0, e)
        return -1
    for b in range(branches):
        weight = weight_of(T, F, S, X, R, T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT])
        if branches == 1 or weight > 0.0:
            coverage[3 * first] = party
            coverage[3 * first + 1] = e
            coverage[3 * first + 2] = b
            factors[first] = factor * (1.0 if branches == 1 else weight / total)
            first += 1
    return first


@compiled
def list_options(T, F, S, X, R, e, e2, coverage, factors):
    """List the moves of everybody who takes part in edge e, with receiver e2 or −1: (parties, options)."""
    options = add_options(T, F, S, X, R, e, 1.0, 0, coverage, factors, 0)
    parties = 1
    if options >= 0 and e2 >= 0:
        options = add_options(T, F, S, X, R, e2, 1.0, 1, coverage, factors, options)
        parties = 2
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    if options < 0 or T[edge + E_KIND] != KIND_BROADCAST_SEND:
        return parties, options
    channel = T[edge + E_CHANNEL]
    row = T[H_BROADCAST_TABLE] + 2 * channel
    for i in range(T[row + 1]):
        p = T[T[row] + i]
        if p == T[edge + E_PROCESS]:
            continue
        total = 0.0
        able = 0
        for k in receiving_edges(T, S, p):
            r = T[k]
            if receives(T, F, S, X, R, r, channel):
                total += edge_weight(T, F, S, X, R, r)
                able += 1
        if able == 0:
            continue
        seen = 0
        for k in receiving_edges(T, S, p):
            r = T[k]
            if receives(T, F, S, X, R, r, channel):
                weight = edge_weight(T, F, S, X, R, r)
                share = weight / total if total > 0.0 else (1.0 if seen == 0 else 0.0)
                seen += 1
                if share > 0.0:
                    options = add_options(T, F, S, X, R, r, share, parties, coverage, factors, options)
                    if options < 0:
                        return parties, options
        parties += 1
    return parties, options


@inlined
def first_choice(affects, coverage, choice, options):
    """Enter the first combination of options: per party its first option, one past the last, and the current one."""
    for k in range(options):
        party = coverage[3 * k]
        if k == 0 or coverage[3 * (k - 1)] != party:
            affects[choice + 3 * party] = k
            affects[choice + 3 * party + 2] = k
        affects[choice + 3 * party + 1] = k + 1


@inlined
def next_choice(affects, choice, parties):
    """Go on to the next combination of options; return False after the last."""
    party = parties - 1
    while party >= 0:
        affects[choice + 3 * party + 2] += 1
        if affects[choice + 3 * party + 2] < affects[choice + 3 * party + 1]:
            return True
        affects[choice + 3 * party + 2] = affects[choice + 3 * party]
        party -= 1
    return False


@compiled
def expand_edge(
    T, F, S, X, R, states_locations, states_integers, states_reals, row, largest, ode_step, e, factor, goal, codes,
    affects, coverage, factors, work, rows, numbers, more_numbers, progress,
):  # fmt: skip
    """Fire edge e of state `row` in every way; `factor` is its rate or probability."""
    parties, options = list_options(T, F, S, X, R, e, -1, coverage, factors)
    if S[S_ERROR] != 0:
        return FAILED
    choice = 3 * T[H_EDGES]
    first_choice(affects, coverage, choice, options)
    first = True
    while True:
        if not first:
            load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, 0.0, largest, ode_step)
        first = False
        probability = factor
        cost = 0.0
        for party in range(parties):
            k = affects[choice + 3 * party + 2]
            S[T[H_S_MOVES] + 2 * party] = coverage[3 * k + 1]
            S[T[H_S_MOVES] + 2 * party + 1] = coverage[3 * k + 2]
            probability *= factors[k]
            cost += number_of(T, F, S, X, R, codes[coverage[3 * k + 1]], 0.0)
        apply_moves(T, F, S, X, R, parties, False)
        if S[S_ERROR] != 0:
            return FAILED
        target = number_of_state(T, S, X, goal, states_locations, states_integers, states_reals, work, progress)
        place = progress[P_TRANSITIONS]
        if target < 0 or place >= len(numbers):
            return NO_ROOM
        rows[2 * place] = row
        rows[2 * place + 1] = target
        numbers[place] = probability
        more_numbers[row] += probability * cost
        progress[P_TRANSITIONS] = place + 1
        if not next_choice(affects, choice, parties):
            return DONE


@entry_point
def explore(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, until, goal, codes, affects,
    moments, coverage, factors, work, rows, numbers, more_numbers, status, progress,
):  # fmt: skip
    """Expand states until all are (DONE), `until` states are (FULL), an array is full, or something is wrong.

    affects, moments, coverage, factors: scratch.  Out come rows (source, target), numbers (rate, or probability where
    no time passes), status (kind of each state), more_numbers (expected cost of the next transition times its rate).
    """
    if progress[P_STATES] == 0:
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, 0.0, largest, ode_step)
        number_of_state(T, S, X, goal, states_locations, states_integers, states_reals, work, progress)
    while progress[P_NEXT] < progress[P_STATES]:
        row = progress[P_NEXT]
        if row >= until:
            return FULL
        begun = progress[P_TRANSITIONS]
        more_numbers[row] = 0.0
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, 0.0, largest, ode_step)
        refresh(T, F, S, X, R, False)
        outcome, deadline, strict = stay(T, F, S, X, R)
        if outcome == RUNTIME_ERROR:
            return FAILED
        if outcome != 0:
            status[row] = STUCK
            progress[P_NEXT] += 1
            continue
        if deadline != X[X_NOW] and deadline != math.inf:
            progress[P_CULPRIT] = S[T[H_S_TREE] + 1]
            return NOT_MARKOV_PROCESS
        problem, count = list_components(T, F, S, X, R, deadline, strict, affects, moments, progress)
        if S[S_ERROR] != 0:
            return FAILED
        if problem != DONE:
            return problem
        timeless = deadline == X[X_NOW]
        status[row] = (STUCK if count == 0 else IMMEDIATE) if timeless else TANGIBLE
        for k in range(count):
            if moments[k] <= 0.0:
                continue
            load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, 0.0, largest, ode_step)
            problem = expand_edge(
                T, F, S, X, R, states_locations, states_integers, states_reals, row, largest, ode_step, affects[k],
                moments[k], goal, codes, affects, coverage, factors, work, rows, numbers, more_numbers, progress,
            )  # fmt: skip
            if problem == NO_ROOM:
                progress[P_TRANSITIONS] = begun
            if problem != DONE:
                return problem
        progress[P_NEXT] += 1
    return DONE


@entry_point
def fill_table(T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, goal, work, progress):
    """Enter all known states into an empty, larger hash table."""
    for row in range(progress[P_STATES]):
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, 0.0, largest, ode_step)
        place = hash_of(T, S, X, goal) % len(work)
        while work[place] > 0:
            place = place + 1 if place + 1 < len(work) else 0
        work[place] = row + 1


@entry_point
def evaluate_states(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, code, mode, numbers
):  # fmt: skip
    """Evaluate compiled code in every state, a condition (mode 0) or a number; return DONE or FAILED."""
    for row in range(len(numbers)):
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, 0.0, largest, ode_step)
        value = execute(T, F, S, X, R, code, MODE_FROZEN, X[X_NOW])
        numbers[row] = float(value) if mode == 0 else X[T[H_X_STACK]]
        if S[S_ERROR] != 0:
            return FAILED
    return DONE
