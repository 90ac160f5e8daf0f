"""Evaluate the conditions of a state, compiled: data at once, clocks as bounds on a matrix."""

from __future__ import annotations

from bbfalsify.kernel.bytecode import compared, execute
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.dbm import INFINITE, LARGEST, constrain
from bbfalsify.zones.zone_layout import *

# --- rows ------------------------------------------------------------------------------------------------------------


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


# --- conditions ------------------------------------------------------------------------------------------------------


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


NO_VALUE = 1 << 61


@compiled
def value_of(T, F, S, X, R, Z, atom):
    """Return the data of an atom in the current state, in steps of 1/scale; NO_VALUE if it is no multiple."""
    source = Z[atom + ZA_SOURCE]
    value = int(Z[atom + ZA_VALUE])
    if source == FROM_SLOT:
        value = S[INTEGERS + value] * Z[Z_SCALE]
    elif source == FROM_NEGATED_SLOT:
        value = -S[INTEGERS + value] * Z[Z_SCALE]
    elif source == FROM_CODE:
        execute(T, F, S, X, R, value, MODE_FROZEN, 0.0)
        scaled = X[T[H_X_STACK]] * Z[Z_SCALE]
        value = int(scaled) if abs(scaled) < 1e15 else NO_VALUE
        if float(value) != scaled:
            value = NO_VALUE
    return value


@inlined
def bound_of(T, F, S, X, R, Z, atom):
    """Return the bound of an atom in the current state; a number beyond INFINITE if it is not representable."""
    value = value_of(T, F, S, X, R, Z, atom)
    if value > LARGEST or value < -LARGEST:
        return 4 * INFINITE
    return 2 * value + (0 if Z[atom + ZA_STRICT] else 1)


@compiled
def list_atoms(T, F, S, X, R, Z, W, case, first):
    """Append the atoms of a case to the list at W[first:]: (left, right, bound); return the new end, or a problem."""
    for k in range(Z[case + CASE_ATOM_COUNT]):
        atom = Z[case + CASE_ATOMS] + ZONE_ATOM_WIDTH * k
        left = clock_named(T, F, S, X, R, Z, Z[atom + ZA_LEFT], Z[atom + ZA_LEFT_CODE], Z[atom + ZA_LEFT_SIZE])
        right = clock_named(T, F, S, X, R, Z, Z[atom + ZA_RIGHT], Z[atom + ZA_RIGHT_CODE], Z[atom + ZA_RIGHT_SIZE])
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
