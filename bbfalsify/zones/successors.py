"""Symbolic successors of a state of a network, compiled.

    cell      a transition together with one case of every guard that takes part: a zone of states that fire it
    fire      run the updates on marked clocks, which tells what each clock becomes; the zone follows
    enter     all invariants of the state entered; then time passes where it may; then extrapolation

The semantics is that of `modelling/network/network.py`: a transition whose outcome is drawn (branches, several
receiving edges) can fire where every outcome can be entered.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import compared, execute, fail
from bbfalsify.kernel.firing import apply_moves, weight_of
from bbfalsify.kernel.layout import (
    B_WEIGHT,
    BRANCH_WIDTH,
    CLOCKS,
    E_BRANCH_COUNT,
    E_BRANCHES,
    E_CHANNEL,
    E_ENTRY,
    E_KIND,
    E_PARTNER_COUNT,
    E_PARTNERS,
    E_PROCESS,
    E_SOURCE,
    EDGE_WIDTH,
    ENTRY_FREE,
    ERROR_WEIGHT,
    H_BROADCAST_TABLE,
    H_EDGE_TABLE,
    H_FIRST_LOCATION,
    H_LOCATION_TABLE,
    H_PROCESSES,
    H_S_LOCATIONS,
    H_S_MOVES,
    H_URGENT_EDGES,
    H_URGENT_PLACE_COUNT,
    H_URGENT_PLACES,
    H_X_STACK,
    INTEGERS,
    KIND_BROADCAST_SEND,
    KIND_INTERNAL,
    L_EDGES,
    L_FLAGS,
    L_INPUTS,
    L_OUTPUTS,
    LOCATION_COMMITTED,
    LOCATION_URGENT,
    LOCATION_WIDTH,
    MODE_FROZEN,
    S_COMMITTED,
    S_ERROR,
    S_URGENT,
)
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.dbm import INFINITE, LARGEST, assigned, constrain, copied, extrapolate, let_pass
from bbfalsify.zones.layout import *

# --- rows -------------------------------------------------------------------------------------------------------------


@compiled
def load_row(T, S, X, Z, found, place):
    """Load the row at found[place:] into the walker, and mark the clocks."""
    S[S_COMMITTED] = 0
    S[S_URGENT] = 0
    processes = T[H_PROCESSES]
    for p in range(processes):
        location = T[T[H_FIRST_LOCATION] + p] + found[place + p]
        S[T[H_S_LOCATIONS] + p] = location
        flags = T[T[H_LOCATION_TABLE] + LOCATION_WIDTH * location + L_FLAGS]
        if flags & LOCATION_COMMITTED:
            S[S_COMMITTED] += 1
        if flags & LOCATION_URGENT:
            S[S_URGENT] += 1
    integers = Z[Z_INTEGERS]
    for k in range(Z[Z_INTEGER_COUNT]):
        S[INTEGERS + Z[integers + k]] = found[place + processes + k]
    for c in range(1, Z[Z_CLOCKS]):
        X[CLOCKS + 3 * Z[Z[Z_SLOT_OF_CLOCK] + c]] = c * MARK


@inlined
def store_row(T, S, Z, found, place):
    """Write the walker's row to found[place:]; return 0 if an integer does not fit."""
    processes = T[H_PROCESSES]
    for p in range(processes):
        found[place + p] = S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p]
    for k in range(Z[Z_INTEGER_COUNT]):
        value = S[INTEGERS + Z[Z[Z_INTEGERS] + k]]
        if value > 2147483647 or value < -2147483648:
            return 0
        found[place + processes + k] = value
    return 1


# --- conditions -------------------------------------------------------------------------------------------------------


@compiled
def data_holds(T, F, S, X, R, Z, case):
    """Evaluate the part of a case without clocks."""
    rows = Z[case + CASE_INTEGERS]
    for k in range(Z[case + CASE_INTEGER_COUNT]):
        row = rows + INTEGER_WIDTH * k
        value = S[INTEGERS + Z[row + I_SLOT]]
        bound = Z[row + I_VALUE]
        if compared(Z[row + I_OPERATOR], -1 if value < bound else (1 if value > bound else 0)) == 0:
            return False
    code = Z[case + CASE_CODE]
    return code < 0 or execute(T, F, S, X, R, code, MODE_FROZEN, 0.0) != 0


@compiled
def clock_named(T, F, S, X, R, Z, clock, code, size):
    """Return the clock of an atom; of an array, the element that `code` chooses.  −1: there is no such element."""
    if code < 0:
        return clock
    execute(T, F, S, X, R, code, MODE_FROZEN, 0.0)
    index = int(X[T[H_X_STACK]])
    if index < 0 or index >= size:
        return -1
    return Z[Z[Z_CLOCK_OF_SLOT] + clock + index]


@compiled
def bound_of(T, F, S, X, R, Z, atom):
    """Return the bound of an atom in the current state; a number beyond INFINITE if it is not representable."""
    source = Z[atom + A_SOURCE]
    value = int(Z[atom + A_VALUE])
    if source == BOUND_SLOT:
        value = S[INTEGERS + value] * Z[Z_SCALE]
    elif source == BOUND_NEGATED_SLOT:
        value = -S[INTEGERS + value] * Z[Z_SCALE]
    elif source == BOUND_CODE:
        execute(T, F, S, X, R, value, MODE_FROZEN, 0.0)
        scaled = X[T[H_X_STACK]] * Z[Z_SCALE]
        value = int(scaled) if abs(scaled) < 1e15 else 1 << 50
        if float(value) != scaled:
            value = 1 << 50
    if value > LARGEST or value < -LARGEST:
        return 4 * INFINITE
    return 2 * value + (0 if Z[atom + A_STRICT] else 1)


@compiled
def list_atoms(T, F, S, X, R, Z, W, case, first):
    """Append the atoms of a case to the list at W[first:]: (left, right, bound); return the new end, or a problem."""
    for k in range(Z[case + CASE_ATOM_COUNT]):
        atom = Z[case + CASE_ATOMS] + ZONE_ATOM_WIDTH * k
        left = clock_named(T, F, S, X, R, Z, Z[atom + A_LEFT], Z[atom + A_LEFT_CODE], Z[atom + A_LEFT_SIZE])
        right = clock_named(T, F, S, X, R, Z, Z[atom + A_RIGHT], Z[atom + A_RIGHT_CODE], Z[atom + A_RIGHT_SIZE])
        if S[S_ERROR] != 0:
            return FAILED
        if left < 0 or right < 0:
            return BAD_CLOCK
        bound = bound_of(T, F, S, X, R, Z, atom)
        if S[S_ERROR] != 0:
            return FAILED
        if bound > INFINITE:
            return BAD_BOUND
        W[first] = left
        W[first + 1] = right
        W[first + 2] = bound
        first += 3
    return first


@inlined
def constrain_by_list(D, m, n, W, first, end):
    """Intersect a matrix with listed atoms; return False if nothing is left."""
    while first < end:
        if not constrain(D, m, n, W[first], W[first + 1], W[first + 2]):
            return False
        first += 3
    return True


@compiled
def constrain_by_case(T, F, S, X, R, Z, D, W, case, m):
    """Intersect matrix m with the clocks of a case: 1, 0 if nothing is left, or a problem."""
    if Z[case + CASE_ATOM_COUNT] == 0:
        return 1
    first = int(Z[Z_ATOMS])
    end = list_atoms(T, F, S, X, R, Z, W, case, first)
    if end < 0:
        return end
    return 1 if constrain_by_list(D, m, Z[Z_CLOCKS], W, first, end) else 0


@compiled
def list_invariants(T, F, S, X, R, Z, W):
    """List the atoms of all invariants; return their end, 0 if one cannot hold, or a problem."""
    end = int(Z[Z_ATOMS])
    for p in range(T[H_PROCESSES]):
        condition = Z[Z[Z_INVARIANTS] + S[T[H_S_LOCATIONS] + p]]
        if condition < 0:
            continue
        chosen = -1
        free = False
        several = False
        for k in range(Z[condition]):
            case = condition + 1 + CASE_WIDTH * k
            if data_holds(T, F, S, X, R, Z, case):
                if Z[case + CASE_ATOM_COUNT] == 0:
                    free = True
                several = several or chosen >= 0
                chosen = case
            if S[S_ERROR] != 0:
                return FAILED
        if free:
            continue
        if chosen < 0:
            return 0
        if several:
            return SPLIT_INVARIANT
        end = list_atoms(T, F, S, X, R, Z, W, chosen, end)
        if end < 0:
            return end
    return end


# --- may time pass? ---------------------------------------------------------------------------------------------------


@compiled
def guard_without_clocks(T, F, S, X, R, Z, e):
    """Tell whether the guard of an edge holds: 0 no, 1 whatever the clocks are, 2 it depends on them."""
    condition = Z[Z[Z_GUARDS] + e]
    answer = 0
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if data_holds(T, F, S, X, R, Z, case):
            if Z[case + CASE_ATOM_COUNT] == 0:
                return 1
            answer = 2
    return answer


@compiled
def urgent_channel(T, F, S, X, R, Z):
    """Tell whether a transition on an urgent channel is enabled: 0 no, 1 yes, 2 it depends on the clocks."""
    answer = 0
    for i in range(T[H_URGENT_PLACE_COUNT]):
        row = T[H_URGENT_PLACES] + 4 * i
        if S[T[H_S_LOCATIONS] + T[row]] != T[row + 1]:
            continue
        for k in range(T[row + 3]):
            e = T[T[H_URGENT_EDGES] + T[row + 2] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            mine = guard_without_clocks(T, F, S, X, R, Z, e)
            if mine == 0:
                continue
            if T[edge + E_ENTRY] != ENTRY_FREE:
                mine = 2
            if T[edge + E_KIND] == KIND_BROADCAST_SEND:
                if mine == 1:
                    return 1
                answer = 2
                continue
            for j in range(T[edge + E_PARTNER_COUNT]):
                r = T[T[edge + E_PARTNERS] + j]
                other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                q = T[other + E_PROCESS]
                if q == T[edge + E_PROCESS] or S[T[H_S_LOCATIONS] + q] != T[other + E_SOURCE]:
                    continue
                theirs = guard_without_clocks(T, F, S, X, R, Z, r)
                if theirs == 0:
                    continue
                if mine == 1 and theirs == 1 and T[other + E_ENTRY] == ENTRY_FREE:
                    return 1
                answer = 2
    return answer


@inlined
def time_may_pass(T, F, S, X, R, Z):
    """Tell whether time may pass in the walker's state: 0, 1, or a problem."""
    if S[S_COMMITTED] > 0 or S[S_URGENT] > 0:
        return 0
    if T[H_URGENT_PLACE_COUNT] == 0:
        return 1
    urgent = urgent_channel(T, F, S, X, R, Z)
    if S[S_ERROR] != 0:
        return FAILED
    return CLOCKED_URGENCY if urgent == 2 else 1 - urgent


# --- the state entered ------------------------------------------------------------------------------------------------


@inlined
def find_sources(X, Z, W):
    """Find out from the marks what updates have made of the clocks; return 1, or 0 for values that no zone has."""
    sources = Z[Z_SOURCES]
    shifts = Z[Z_SHIFTS]
    W[sources] = 0
    W[shifts] = 0
    for c in range(1, Z[Z_CLOCKS]):
        value = X[CLOCKS + 3 * Z[Z[Z_SLOT_OF_CLOCK] + c]]
        W[sources + c] = c
        W[shifts + c] = 0
        if value != c * MARK:
            source = int(value / MARK + 0.5)
            shift = (value - source * MARK) * Z[Z_SCALE]
            if source < 0 or source >= Z[Z_CLOCKS] or abs(shift) > LARGEST or shift != float(int(shift)):
                return 0
            if source == 0 and shift < 0.0:
                return 0
            W[sources + c] = source
            W[shifts + c] = int(shift)
    return 1


@inlined
def collect_bounds(T, S, Z, W):
    """Collect the largest constants that matter in the current locations."""
    lower = Z[Z_LOWER]
    upper = Z[Z_UPPER]
    for c in range(Z[Z_CLOCKS]):
        W[lower + c] = Z[Z[Z_LEAST] + 2 * c]
        W[upper + c] = Z[Z[Z_LEAST] + 2 * c + 1]
    for p in range(T[H_PROCESSES]):
        row = Z[Z[Z_BOUNDS] + S[T[H_S_LOCATIONS] + p]]
        for k in range(Z[row]):
            c = Z[row + 1 + 3 * k]
            if Z[row + 2 + 3 * k] > W[lower + c]:
                W[lower + c] = Z[row + 2 + 3 * k]
            if Z[row + 3 + 3 * k] > W[upper + c]:
                W[upper + c] = Z[row + 3 + 3 * k]


@compiled
def widen(T, S, Z, D, W, m):
    """Extrapolate a matrix by the constants that matter in the walker's locations."""
    if Z[Z_EXTRAPOLATION] == NO_EXTRAPOLATION:
        return
    collect_bounds(T, S, Z, W)
    if Z[Z_EXTRAPOLATION] == MAXIMUM:
        for c in range(Z[Z_CLOCKS]):
            larger = max(W[Z[Z_LOWER] + c], W[Z[Z_UPPER] + c])
            W[Z[Z_LOWER] + c] = larger
            W[Z[Z_UPPER] + c] = larger
    extrapolate(D, m, Z[Z_CLOCKS], W, Z[Z_LOWER], Z[Z_UPPER])


@compiled
def keep(T, F, S, X, R, Z, D, W, m):
    """Intersect with the condition that a run keeps: 1, 0 if nothing is left, or a problem."""
    condition = Z[Z_KEPT]
    if condition < 0:
        return 1
    chosen = -1
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if data_holds(T, F, S, X, R, Z, case):
            if Z[case + CASE_ATOM_COUNT] == 0:
                return 1
            if chosen >= 0:
                return SPLIT_INVARIANT
            chosen = case
        if S[S_ERROR] != 0:
            return FAILED
    if chosen < 0:
        return 0
    return constrain_by_case(T, F, S, X, R, Z, D, W, chosen, m)


@compiled
def settle(T, F, S, X, R, Z, D, W, end):
    """Turn M_FIRED, which satisfies the listed invariants, into the symbolic state M_NEXT: 1, 0: nothing is kept."""
    n = int(Z[Z_CLOCKS])
    size = n * n
    copied(D, M_FIRED * size, M_NEXT * size, n)
    passes = time_may_pass(T, F, S, X, R, Z)
    if passes < 0:
        return passes
    W[Z[Z_PASSES]] = passes
    kept = keep(T, F, S, X, R, Z, D, W, M_NEXT * size)
    if kept != 1:
        return kept
    if passes == 1:
        let_pass(D, M_NEXT * size, n)
        if Z[Z_KEPT] >= 0:  # it used the list of atoms
            end = list_invariants(T, F, S, X, R, Z, W)
        constrain_by_list(D, M_NEXT * size, n, W, Z[Z_ATOMS], end)
        keep(T, F, S, X, R, Z, D, W, M_NEXT * size)
    widen(T, S, Z, D, W, M_NEXT * size)
    return 1


@compiled
def enter(T, F, S, X, R, Z, D, W, found, place, moves, parties, detailed):
    """Enter the state after the updates with the clocks of M_CELL; write the record: 1, 0 if impossible, a problem.

    `moves` is the place in W of (edge, branch) of all that took part.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    if find_sources(X, Z, W) == 0:
        return BAD_CLOCK
    assigned(D, M_CELL * size, M_FIRED * size, n, W, Z[Z_SOURCES], Z[Z_SHIFTS])
    end = list_invariants(T, F, S, X, R, Z, W)
    if end <= 0:
        return end
    if not constrain_by_list(D, M_FIRED * size, n, W, Z[Z_ATOMS], end):
        return 0
    outcome = settle(T, F, S, X, R, Z, D, W, end)
    if outcome < 0 or (outcome == 0 and detailed == 0):
        return outcome
    if store_row(T, S, Z, found, place) == 0:
        return WIDE_INTEGER
    for k in range(size):
        found[place + Z[Z_WIDTH] + k] = D[M_NEXT * size + k]
    record = place + Z[Z_MOVES]
    found[record] = parties
    for k in range(2 * parties):
        found[record + 1 + k] = W[moves + k]
    if detailed:
        record = place + Z[Z_DETAILS]
        found[record] = outcome + 2 * W[Z[Z_PASSES]]
        for k in range(size):
            found[record + 1 + k] = D[M_CELL * size + k]
            found[record + 1 + size + k] = D[M_FIRED * size + k]
        for c in range(n):
            found[record + 1 + 2 * size + c] = W[Z[Z_SOURCES] + c]
            found[record + 1 + 2 * size + n + c] = W[Z[Z_SHIFTS] + c]
    return 1


@compiled
def require_entry(T, F, S, X, R, Z, D, W):
    """Intersect M_CELL with the states from which the walker's state can be entered: 1, 0 if none, a problem."""
    n = int(Z[Z_CLOCKS])
    if find_sources(X, Z, W) == 0:
        return BAD_CLOCK
    end = list_invariants(T, F, S, X, R, Z, W)
    if end <= 0:
        return end
    atom = int(Z[Z_ATOMS])
    while atom < end:
        i = W[atom]
        j = W[atom + 1]
        shift = W[Z[Z_SHIFTS] + i] - W[Z[Z_SHIFTS] + j]
        bound = W[atom + 2] - 2 * shift
        if not constrain(D, M_CELL * n * n, n, W[Z[Z_SOURCES] + i], W[Z[Z_SOURCES] + j], bound):
            return 0
        atom += 3
    return 1


# --- firing -----------------------------------------------------------------------------------------------------------


@compiled
def list_options(T, F, S, X, R, Z, W, parties):
    """List (party, edge, branch) of everything that may be drawn; return the number of ways, or a problem.

    W[Z_PARTIES:] holds per party the first of its edges in the list of W[Z_CELLS:] and their number; it is replaced by
    the party's first option, one past its last, and its current one.
    """
    options = 0
    ways = 1
    for party in range(parties):
        row = Z[Z_PARTIES] + 4 * party
        begun = options
        for k in range(W[row + 1]):
            e = W[W[row] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            for b in range(T[edge + E_BRANCH_COUNT]):
                code = T[T[edge + E_BRANCHES] + BRANCH_WIDTH * b + B_WEIGHT]
                if T[edge + E_BRANCH_COUNT] == 1 or weight_of(T, F, S, X, R, code) > 0.0:
                    W[Z[Z_OPTIONS] + 2 * options] = e
                    W[Z[Z_OPTIONS] + 2 * options + 1] = b
                    options += 1
        if options == begun:
            fail(S, ERROR_WEIGHT, 0, W[W[row]])
        if S[S_ERROR] != 0:
            return FAILED
        ways *= options - begun
        W[row] = begun
        W[row + 1] = options
        W[row + 2] = begun
    return ways


@inlined
def make_moves(T, F, S, X, R, Z, W, parties, moves):
    """Execute the current option of every party; keep the moves at W[moves:]."""
    for party in range(parties):
        option = Z[Z_OPTIONS] + 2 * W[Z[Z_PARTIES] + 4 * party + 2]
        for k in range(2):
            S[T[H_S_MOVES] + 2 * party + k] = W[option + k]
            W[moves + 2 * party + k] = W[option + k]
    apply_moves(T, F, S, X, R, parties, False)


@inlined
def next_way(Z, W, parties):
    """Advance to the next combination of options; False after the last, and all begin again."""
    party = parties - 1
    while party >= 0:
        row = Z[Z_PARTIES] + 4 * party
        W[row + 2] += 1
        if W[row + 2] < W[row + 1]:
            return True
        W[row + 2] = W[row]
        party -= 1
    return False


@compiled
def fire_cell(T, F, S, X, R, Z, D, W, found, count, parties, detailed):
    """Append the successors of M_CELL in every way that may be drawn; return the new number, or a problem."""
    ways = list_options(T, F, S, X, R, Z, W, parties)
    if ways < 0:
        return ways
    moves = Z[Z_PARTIES] + 4 * T[H_PROCESSES]
    if ways > 1 or detailed:
        going = True
        while going:
            make_moves(T, F, S, X, R, Z, W, parties, moves)
            if S[S_ERROR] != 0:
                return FAILED
            possible = require_entry(T, F, S, X, R, Z, D, W)
            load_row(T, S, X, Z, found, 0)
            if possible <= 0:
                return possible if possible < 0 else count
            going = next_way(Z, W, parties)
    going = True
    while going:
        place = Z[Z_RECORD] * (count + 1)  # the first record is the state itself
        if place + Z[Z_RECORD] > len(found):
            return NO_ROOM
        make_moves(T, F, S, X, R, Z, W, parties, moves)
        if S[S_ERROR] != 0:
            return FAILED
        entered = enter(T, F, S, X, R, Z, D, W, found, place, moves, parties, detailed)
        load_row(T, S, X, Z, found, 0)
        if entered < 0:
            return entered
        count += entered
        going = next_way(Z, W, parties)
    return count


@compiled
def fire_pair(T, F, S, X, R, Z, D, W, found, count, e, r, detailed):
    """Append the successors by an internal edge (r = −1) or by a handshake; return the new number, or a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    mine = Z[Z[Z_GUARDS] + e]
    theirs = Z[Z[Z_GUARDS] + r] if r >= 0 else mine
    for k in range(Z[mine]):
        case = mine + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        for j in range(Z[theirs] if r >= 0 else 1):
            other = theirs + 1 + CASE_WIDTH * j
            if r >= 0 and not data_holds(T, F, S, X, R, Z, other):
                continue
            copied(D, M_STATE * size, M_CELL * size, Z[Z_CLOCKS])
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left == 1 and r >= 0:
                left = constrain_by_case(T, F, S, X, R, Z, D, W, other, M_CELL * size)
            if left < 0:
                return left
            if left == 0:
                continue
            cells = Z[Z_CELLS]
            W[cells] = e
            W[cells + 1] = r
            W[Z[Z_PARTIES]] = cells
            W[Z[Z_PARTIES] + 1] = 1
            W[Z[Z_PARTIES] + 4] = cells + 1
            W[Z[Z_PARTIES] + 5] = 1
            count = fire_cell(T, F, S, X, R, Z, D, W, found, count, 2 if r >= 0 else 1, detailed)
            if count < 0:
                return count
    return FAILED if S[S_ERROR] != 0 else count


@compiled
def list_receivers(T, F, S, X, R, Z, W, e):
    """List the edges that may receive the broadcast of e: (edge, choice, whether it receives); return their number.

    Choice k is case k of the edge's guard, and behind these case k of its negation; −1: the guard holds anyway.
    """
    channel = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_CHANNEL]
    row = T[H_BROADCAST_TABLE] + 2 * channel
    count = 0
    for i in range(T[row + 1]):
        p = T[T[row] + i]
        if p == T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]:
            continue
        location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
        first = T[location + L_EDGES] + T[location + L_OUTPUTS]
        for k in range(T[location + L_INPUTS]):
            r = T[first + k]
            if T[T[H_EDGE_TABLE] + EDGE_WIDTH * r + E_CHANNEL] != channel:
                continue
            accepts = guard_without_clocks(T, F, S, X, R, Z, r)
            if accepts > 0:
                W[Z[Z_CELLS] + 3 * count] = r
                W[Z[Z_CELLS] + 3 * count + 1] = -1 if accepts == 1 else 0
                count += 1
    return count


@compiled
def choose_receivers(T, F, S, X, R, Z, D, W, receivers):
    """Intersect M_CELL with what the choices say about each receiving edge: 1, 0 if nothing is left, a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    for i in range(receivers):
        row = Z[Z_CELLS] + 3 * i
        r = W[row]
        k = W[row + 1]
        accepted = Z[Z[Z_GUARDS] + r]
        W[row + 2] = 1 if k < Z[accepted] else 0
        if k < 0:
            continue
        if k < Z[accepted]:
            case = accepted + 1 + CASE_WIDTH * k
        else:
            case = Z[Z[Z_REFUSALS] + r] + 1 + CASE_WIDTH * (k - Z[accepted])
        if not data_holds(T, F, S, X, R, Z, case):
            return 0
        left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
        if left != 1:
            return left
    return 1


@inlined
def next_choice(Z, W, receivers):
    i = receivers - 1
    while i >= 0:
        row = Z[Z_CELLS] + 3 * i
        r = W[row]
        i -= 1
        if W[row + 1] < 0:
            continue
        W[row + 1] += 1
        if W[row + 1] < Z[Z[Z[Z_GUARDS] + r]] + Z[Z[Z[Z_REFUSALS] + r]]:
            return True
        W[row + 1] = 0
    return False


@compiled
def list_parties(T, S, Z, W, e, receivers):
    """Make a party of the sender and one of each process that receives; return their number, 0: none may leave."""
    edges = Z[Z_CELLS] + 3 * receivers
    W[edges] = e
    W[Z[Z_PARTIES]] = edges
    W[Z[Z_PARTIES] + 1] = 1
    edges += 1
    parties = 1
    last = -1
    table = T[H_EDGE_TABLE]
    locations = T[H_LOCATION_TABLE]
    leaves = T[locations + LOCATION_WIDTH * T[table + EDGE_WIDTH * e + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED
    for i in range(receivers):
        row = Z[Z_CELLS] + 3 * i
        if W[row + 2] == 0:
            continue
        edge = table + EDGE_WIDTH * W[row]
        leaves |= T[locations + LOCATION_WIDTH * T[edge + E_SOURCE] + L_FLAGS] & LOCATION_COMMITTED
        if T[edge + E_PROCESS] != last:
            last = T[edge + E_PROCESS]
            W[Z[Z_PARTIES] + 4 * parties] = edges
            W[Z[Z_PARTIES] + 4 * parties + 1] = 0
            parties += 1
        W[edges] = W[row]
        edges += 1
        W[Z[Z_PARTIES] + 4 * (parties - 1) + 1] += 1
    return 0 if S[S_COMMITTED] > 0 and leaves == 0 else parties


@compiled
def fire_broadcast(T, F, S, X, R, Z, D, W, found, count, e, detailed):
    """Append the successors by a broadcast; return the new number, or a problem."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    condition = Z[Z[Z_GUARDS] + e]
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        receivers = list_receivers(T, F, S, X, R, Z, W, e)
        going = True
        while going:
            copied(D, M_STATE * size, M_CELL * size, Z[Z_CLOCKS])
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left == 1:
                left = choose_receivers(T, F, S, X, R, Z, D, W, receivers)
            if left < 0:
                return left
            if left == 1:
                parties = list_parties(T, S, Z, W, e, receivers)
                if parties > 0:
                    count = fire_cell(T, F, S, X, R, Z, D, W, found, count, parties, detailed)
                    if count < 0:
                        return count
            going = next_choice(Z, W, receivers)
    return FAILED if S[S_ERROR] != 0 else count


@compiled
def list_successors(T, F, S, X, R, Z, D, W, found, detailed):
    """List the symbolic successors of the state in the first record; return their number, or a problem.

    Records: row, matrix, moves (number, then edge and branch of each); with details also whether the successor is kept
    (1) and time may pass in it (2), the states that fire, the states entered before time passes, and what became of the
    clocks.
    """
    n = int(Z[Z_CLOCKS])
    S[S_ERROR] = 0
    load_row(T, S, X, Z, found, 0)
    for k in range(n * n):
        D[M_STATE * n * n + k] = found[Z[Z_WIDTH] + k]
    committed = S[S_COMMITTED] > 0
    count = 0
    for p in range(T[H_PROCESSES]):
        location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
        leaves = not committed or T[location + L_FLAGS] & LOCATION_COMMITTED != 0
        for k in range(T[location + L_OUTPUTS]):
            e = T[T[location + L_EDGES] + k]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            if T[edge + E_KIND] == KIND_INTERNAL:
                if leaves:
                    count = fire_pair(T, F, S, X, R, Z, D, W, found, count, e, -1, detailed)
            elif T[edge + E_KIND] == KIND_BROADCAST_SEND:
                count = fire_broadcast(T, F, S, X, R, Z, D, W, found, count, e, detailed)
            else:
                for j in range(T[edge + E_PARTNER_COUNT]):
                    r = T[T[edge + E_PARTNERS] + j]
                    other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                    q = T[other + E_PROCESS]
                    if q == p or S[T[H_S_LOCATIONS] + q] != T[other + E_SOURCE]:
                        continue
                    source = T[H_LOCATION_TABLE] + LOCATION_WIDTH * T[other + E_SOURCE]
                    if leaves or T[source + L_FLAGS] & LOCATION_COMMITTED != 0:
                        count = fire_pair(T, F, S, X, R, Z, D, W, found, count, e, r, detailed)
                        if count < 0:
                            return count
            if count < 0:
                return count
    return count
