"""Check whether the state after a transition satisfies all invariants, by executing the updates on a copy.

The copy is executed with affine reals (or plain values, where windows are scanned), so the result has its own
breakpoints and the sweep of `windows` stays exact.  Some choice of receiving edges must satisfy the invariants: with
every branch that may be drawn, in UPPAAL's dialect with one.  An update that fails does not disable its transition
(firing it is the error), and an invariant that depends on a random draw does not restrict.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.ode import values_at

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
    """Check every branch of the current edge of every participant beside the first ones of the others."""
    choice = T[H_S_CHOICE]
    for k in range(participants):
        entry = choice + 4 * k
        for i in range(participants):
            S[choice + 4 * i + 2] = S[choice + 4 * i + 3]
        while next_of_edge(S, entry):
            if not outcome_holds(T, F, S, X, R, participants, mode, t):
                return False
    return True


@inlined
def next_of_edge(S, entry):
    """Go on to the next branch of the participant's current edge; return to the first after the last."""
    following = S[entry + 2] + 1
    if following < S[entry + 1] and S[S[entry] + 2 * following] == S[S[entry] + 2 * S[entry + 3]]:
        S[entry + 2] = following
        return True
    S[entry + 2] = S[entry + 3]
    return False


@inlined
def next_branches(T, S, participants):
    """Go on to the next combination of branches of the current edges."""
    for k in range(participants):
        if next_of_edge(S, T[H_S_CHOICE] + 4 * k):
            return True
    return False


@inlined
def next_edges(T, S, participants):
    """Go on to the next combination of edges, each with its first branch."""
    choice = T[H_S_CHOICE]
    for k in range(participants):
        S[choice + 4 * k + 2] = S[choice + 4 * k + 3]
    for k in range(participants):
        entry = choice + 4 * k
        following = S[entry + 3]
        while following < S[entry + 1] and S[S[entry] + 2 * following] == S[S[entry] + 2 * S[entry + 3]]:
            following += 1
        if following < S[entry + 1]:
            S[entry + 2] = following
            S[entry + 3] = following
            return True
        S[entry + 2] = 0
        S[entry + 3] = 0
    return False


@inlined
def edges_enter(T, F, S, X, R, participants, mode, t):
    """Tell whether the current edges satisfy the invariants: with all their branches, in UPPAAL's dialect with one."""
    enough = T[H_FLAGS] & FLAG_ANY_BRANCH != 0
    for _ in range(MAXIMUM_OUTCOMES):
        if outcome_holds(T, F, S, X, R, participants, mode, t) == enough:
            return enough
        if not next_branches(T, S, participants):
            return not enough
    return not enough and options_hold(T, F, S, X, R, participants, mode, t)


@inlined
def list_ways(T, F, S, X, R, e1, e2, mode, t):
    """List what may be drawn for each participant of a transition: the number of participants, 0 if no branch may."""
    choice = T[H_S_CHOICE]  # per participant: first option, number of options, current option, first of its edge
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
    for k in range(participants):
        S[choice + 4 * k + 2] = 0
        S[choice + 4 * k + 3] = 0
        if S[choice + 4 * k + 1] == 0:
            return 0
    return participants


@compiled
def entry_holds(T, F, S, X, R, e1, e2, mode, t):
    """Tell whether the transition at t (or just after it) satisfies the invariants with some receiving edges."""
    participants = list_ways(T, F, S, X, R, e1, e2, mode, t)
    if participants == 0:
        return True  # no branch has a weight: firing is the error
    for _ in range(MAXIMUM_OUTCOMES):
        if edges_enter(T, F, S, X, R, participants, mode, t):
            return True
        if not next_edges(T, S, participants):
            return False
    return False


@compiled
def moves_enter(T, F, S, X, R, participants):
    """Tell whether the moves (edge, branch) listed in the walker, of the sender first, satisfy the invariants now."""
    entry = ENTRY_FREE
    for k in range(participants):
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * S[T[H_S_MOVES] + 2 * k]
        entry = max(entry, T[edge + E_ENTRY])
    if entry == ENTRY_FREE:
        return True
    mode = MODE_NUMERIC if entry == ENTRY_NUMERIC else MODE_AT
    t = X[X_NOW]
    choice = T[H_S_CHOICE]
    moves = T[H_S_MOVES]
    place = choice + 4 * T[H_PROCESSES]
    if mode == MODE_NUMERIC:
        values_at(T, F, S, X, R, t)
    for k in range(participants):
        entry = choice + 4 * k
        S[entry] = place
        if T[H_FLAGS] & FLAG_ANY_BRANCH:
            S[place] = S[moves + 2 * k]
            S[place + 1] = S[moves + 2 * k + 1]
            place += 2
        else:
            place = add_options(T, F, S, X, R, S[moves + 2 * k], place, mode, t)
        S[entry + 1] = (place - S[entry]) // 2
        S[entry + 2] = 0
        S[entry + 3] = 0
    return edges_enter(T, F, S, X, R, participants, mode, t)
