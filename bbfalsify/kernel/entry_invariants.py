"""Check whether the state after a transition satisfies all invariants, by executing the updates on a copy.

The copy is executed with affine reals (or plain values, where windows are scanned), so the result has its own
breakpoints and the sweep of `windows` stays exact.  Where branches or receiving edges are drawn, every possible outcome
must satisfy the invariants.  An update that fails does not disable its transition (firing it is the error), and an
invariant that depends on a random draw does not restrict.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined

MAXIMUM_OUTCOMES = 4096
"""If there are more outcomes, only so many are checked, and every option by itself."""


@inlined
def receiving_edges(T, S, p):
    """The places in T of the receiving edges of the location of process p."""
    location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
    first = T[location + L_EDGES] + T[location + L_OUTPUTS]
    return range(first, first + T[location + L_INPUTS])


@inlined
def add_options(T, F, S, X, R, e, place, mode, t):
    """Append (edge, branch) for every branch of e with a positive weight; return the next free place."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    for b in range(T[edge + E_BRANCH_COUNT]):
        weight = T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT]
        if weight >= 0:
            execute(T, F, S, X, R, weight, mode, t)
            top = T[H_X_STACK]
            if X[top] + X[top + 1] * (t - X[top + 2]) <= 0.0:
                continue
        S[place] = e
        S[place + 1] = b
        place += 2
    return place


@compiled
def copy_state(T, S, X, participants, mode):
    """Copy what the updates of the participants, and the invariants that they may break, read and write."""
    choice = T[H_S_CHOICE]
    integers = T[H_S_SCRATCH_INTEGERS]
    clocks = T[H_X_SCRATCH_CLOCKS]
    for k in range(participants):
        option = S[choice + 4 * k] + 2 * S[choice + 4 * k + 2]
        place = T[T[H_EDGE_TABLE] + EDGE_WIDTH * S[option] + E_COPIED]
        after = place + 1 + 2 * T[place]
        while place + 1 < after:
            first = T[place + 1]
            for i in range(first, first + T[place + 2]):
                S[integers + i] = S[INTEGERS + i]
            place += 2
        if mode != MODE_NUMERIC:
            for i in range(after + 1, after + 1 + T[after]):
                clock = 3 * T[i]
                X[clocks + clock] = X[CLOCKS + clock]
                X[clocks + clock + 1] = X[CLOCKS + clock + 1]
                X[clocks + clock + 2] = X[CLOCKS + clock + 2]
    locations = T[H_S_SCRATCH_LOCATIONS]
    for p in range(T[H_PROCESSES]):
        S[locations + p] = S[T[H_S_LOCATIONS] + p]
    if mode == MODE_NUMERIC:
        for i in range(T[H_REALS]):
            X[clocks + i] = X[T[H_X_VALUES] + i]


@inlined
def invariant_broken(T, F, S, X, R, p, mode, t):
    location = S[T[H_S_SCRATCH_LOCATIONS] + p]
    code = T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * location + L_INVARIANT]
    if code < 0:
        return False
    S[S_TAINT] = 0
    holds = execute(T, F, S, X, R, code, mode, t) != 0
    failed = S[S_ERROR] != 0
    S[S_ERROR] = 0
    return not holds and not failed and S[S_TAINT] == 0


@inlined
def outcome_holds(T, F, S, X, R, participants, mode, t):
    """Check one outcome: the current option of each participant, executed in order on a copy."""
    choice = T[H_S_CHOICE]
    copy_state(T, S, X, participants, mode)
    S[S_INTEGER_BASE] = T[H_S_SCRATCH_INTEGERS]
    S[S_LOCATION_BASE] = T[H_S_SCRATCH_LOCATIONS]
    S[S_CLOCK_BASE] = T[H_X_SCRATCH_CLOCKS]
    result = True
    failed = False
    for k in range(participants):
        option = S[choice + 4 * k] + 2 * S[choice + 4 * k + 2]
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[option]
        branch = T[edge + E_BRANCHES] + BRANCH_WIDTH * S[option + 1]
        if T[branch + B_CODE] >= 0:
            execute(T, F, S, X, R, T[branch + B_CODE], mode, t)
            if S[S_ERROR] != 0:
                S[S_ERROR] = 0
                failed = True
                break
    if not failed:
        for k in range(participants):  # locations change when all updates are done
            option = S[choice + 4 * k] + 2 * S[choice + 4 * k + 2]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[option]
            branch = T[edge + E_BRANCHES] + BRANCH_WIDTH * S[option + 1]
            S[T[H_S_SCRATCH_LOCATIONS] + T[edge + E_PROCESS]] = T[branch + B_TARGET]
        for k in range(participants):
            option = S[choice + 4 * k] + 2 * S[choice + 4 * k + 2]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[option]
            branch = T[edge + E_BRANCHES] + BRANCH_WIDTH * S[option + 1]
            if invariant_broken(T, F, S, X, R, T[edge + E_PROCESS], mode, t):
                result = False
                break
            for i in range(T[branch + B_REFRESH_COUNT]):
                if invariant_broken(T, F, S, X, R, T[T[branch + B_REFRESH] + i], mode, t):
                    result = False
                    break
    S[S_INTEGER_BASE] = INTEGERS
    S[S_LOCATION_BASE] = T[H_S_LOCATIONS]
    S[S_CLOCK_BASE] = CLOCKS
    if mode == MODE_NUMERIC:
        for i in range(T[H_REALS]):
            X[T[H_X_VALUES] + i] = X[T[H_X_SCRATCH_CLOCKS] + i]
    return result


@inlined
def options_hold(T, F, S, X, R, participants, mode, t):
    """Check every option of every participant beside the first options of the others."""
    choice = T[H_S_CHOICE]
    for k in range(participants):
        for option in range(1, S[choice + 4 * k + 1]):
            S[choice + 4 * k + 2] = option
            if not outcome_holds(T, F, S, X, R, participants, mode, t):
                return False
        S[choice + 4 * k + 2] = 0
    return True


@compiled
def entry_holds(T, F, S, X, R, e1, e2, mode, t):
    """Tell whether every outcome of the transition at t (or just after it) satisfies the invariants of its state."""
    choice = T[H_S_CHOICE]  # per participant: first option, number of options, current option, (unused)
    place = choice + 4 * T[H_PROCESSES]
    S[choice] = place
    place = add_options(T, F, S, X, R, e1, place, mode, t)
    S[choice + 1] = (place - S[choice]) // 2
    participants = 1
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e1
    if e2 >= 0:
        S[choice + 4] = place
        place = add_options(T, F, S, X, R, e2, place, mode, t)
        S[choice + 5] = (place - S[choice + 4]) // 2
        participants = 2
    elif T[edge + E_KIND] == KIND_BROADCAST_SEND:
        row = T[H_BROADCAST_TABLE] + 2 * T[edge + E_CHANNEL]
        for i in range(T[row + 1]):
            p = T[T[row] + i]
            if p == T[edge + E_PROCESS]:
                continue
            entry = choice + 4 * participants
            S[entry] = place
            for k in receiving_edges(T, S, p):
                r = T[k]
                other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                if T[other + E_CHANNEL] != T[edge + E_CHANNEL]:
                    continue
                guard = T[other + E_GUARD]
                if guard < 0 or execute(T, F, S, X, R, guard, mode, t) != 0:
                    place = add_options(T, F, S, X, R, r, place, mode, t)
            S[entry + 1] = (place - S[entry]) // 2
            if place > S[entry]:
                participants += 1
    S[S_ERROR] = 0
    outcomes = 1
    for k in range(participants):
        S[choice + 4 * k + 2] = 0
        outcomes = min(outcomes * S[choice + 4 * k + 1], MAXIMUM_OUTCOMES + 1)
    if outcomes == 0:
        return True  # no branch has a weight: firing is the error
    if outcomes > MAXIMUM_OUTCOMES and not options_hold(T, F, S, X, R, participants, mode, t):
        return False
    for _ in range(MAXIMUM_OUTCOMES):
        if not outcome_holds(T, F, S, X, R, participants, mode, t):
            return False
        k = 0
        while k < participants:
            S[choice + 4 * k + 2] += 1
            if S[choice + 4 * k + 2] < S[choice + 4 * k + 1]:
                break
            S[choice + 4 * k + 2] = 0
            k += 1
        if k == participants:
            return True
    return True
