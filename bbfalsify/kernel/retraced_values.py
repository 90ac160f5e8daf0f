"""Random numbers with which the updates of a step draw the values of a walk; see `retracing.py`."""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.kernel.firing import fire
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.retraced_races import ALL, ATTEMPTS, between
from bbfalsify.kernel.rng import TAPE, TAPE_GIVEN, TAPE_NEXT, TAPE_ROOM, normal

CLOSE = 1e-9
"""Difference of a real value from the walk's, relative to 1 + its size, up to which a step is the same."""
NO_ROOM = -(1 << 60)
VARIABLE_WIDTH = 6
V_BRANCH, V_ORDINAL, V_SLOT, V_REAL, V_NUMBERS, V_NORMAL = range(VARIABLE_WIDTH)


@compiled
def keep(S, X, kept_S, kept_X, back):
    """Keep the state of a walker, or go back to it."""
    for i in range(len(S)):
        if back:
            S[i] = kept_S[i]
        else:
            kept_S[i] = S[i]
    for i in range(len(X)):
        if back:
            X[i] = kept_X[i]
        else:
            kept_X[i] = X[i]


@compiled
def redo(T, F, S, X, R, place, e, t, kept_S, kept_X):
    """Go back to the kept state and fire edge e at t with the numbers on the tape."""
    keep(S, X, kept_S, kept_X, 1)
    R[TAPE_NEXT] = np.uint64(place)
    fire(T, F, S, X, R, e, -1, t, True, True)


@inlined
def current(S, X, slot, real):
    if real == 0:
        return float(S[INTEGERS + slot])
    clock = CLOCKS + 3 * slot
    return X[clock] + X[clock + 2] * (X[X_NOW] - X[clock + 1])


@compiled
def value_with(T, F, S, X, R, place, e, t, n, j, row, fields, kept_S, kept_X):
    """The value of a drawn variable if number j of the tape is n; NaN if the model fails then."""
    R[TAPE + j] = np.uint64(n)
    redo(T, F, S, X, R, place, e, t, kept_S, kept_X)
    if S[S_ERROR] != 0:
        return math.nan
    return current(S, X, fields[row + V_SLOT], fields[row + V_REAL])


@compiled
def find_number(T, F, S, X, R, seeds, place, e, t, j, row, wanted, fields, kept_S, kept_X):
    """Give number j of the tape the value with which a drawn variable is as wanted; return whether it is close."""
    low_value = value_with(T, F, S, X, R, place, e, t, 0, j, row, fields, kept_S, kept_X)
    high_value = value_with(T, F, S, X, R, place, e, t, ALL - 1, j, row, fields, kept_S, kept_X)
    sign = 1.0 if high_value >= low_value else -1.0
    best = math.inf
    chosen = 0
    first = -1
    for over in range(2):
        lowest = max(first, 0)
        highest = ALL
        while lowest < highest:
            middle = (lowest + highest) // 2
            found = value_with(T, F, S, X, R, place, e, t, middle, j, row, fields, kept_S, kept_X)
            if abs(found - wanted) < best:
                best = abs(found - wanted)
                chosen = middle
            if sign * (found - wanted) > 0.0 or (found == wanted and over == 0):
                highest = middle
            else:
                lowest = middle + 1
        if best > 0.0:
            break
        if over == 1:
            chosen = between(seeds, first, lowest)
        first = lowest
    R[TAPE + j] = np.uint64(chosen)
    return 1 if best <= CLOSE * (1.0 + abs(wanted)) else 0


@compiled
def draw_angle(T, F, S, X, R, seeds, place, e, t, j, row, wanted, fields, kept_S, kept_X):
    """Give the second number of a normal draw its value: the angle of (z, w) with w drawn, z the draw itself."""
    R[TAPE + j + 1] = np.uint64(0)
    middle = value_with(T, F, S, X, R, place, e, t, 0, j, row, fields, kept_S, kept_X)
    one = int((1.0 - math.exp(-0.5)) * ALL)
    spread = value_with(T, F, S, X, R, place, e, t, one, j, row, fields, kept_S, kept_X) - middle
    z = (wanted - middle) / spread if spread != 0.0 else 0.0
    angle = math.atan2(normal(seeds), z) / (2.0 * math.pi)
    n = int((angle - math.floor(angle)) * ALL)
    R[TAPE + j + 1] = np.uint64(min(max(n, 0), ALL - 1))


@compiled
def find_row(fields, branch, ordinal):
    """The row of the k-th variable that the updates of a branch draw; −1: unknown."""
    for row in range(0, len(fields), VARIABLE_WIDTH):
        if fields[row + V_BRANCH] == branch and fields[row + V_ORDINAL] == ordinal:
            return row
    return -1


@compiled
def value_numbers(T, F, S, X, R, seeds, place, known, e, t, fields, integers, reals, step, kept_S, kept_X):
    """Fire e with numbers with which drawn variables are as after the step; next place, −1 or NO_ROOM.

    The numbers of receivers and branches stand from `place` on, and up to `known`.
    """
    room = np.int64(R[TAPE_ROOM])
    R[TAPE_GIVEN] = np.uint64(min(known, room))
    redo(T, F, S, X, R, place, e, t, kept_S, kept_X)
    beyond = np.int64(R[TAPE_NEXT])
    if beyond > room:
        return NO_ROOM
    R[TAPE_GIVEN] = np.uint64(beyond)
    j = known
    before = np.int64(-1)
    ordinal = 0
    while j < beyond:
        label = np.int64(R[TAPE + room + j])
        ordinal = ordinal + 1 if label == before else 0
        before = label
        row = find_row(fields, label // 8, ordinal)
        if row < 0:
            return -1
        slot = fields[row + V_SLOT]
        wanted = float(integers[0, step + 1, slot]) if fields[row + V_REAL] == 0 else reals[0, step + 1, slot]
        numbers_of = fields[row + V_NUMBERS]
        found = 0
        for _ in range(ATTEMPTS if numbers_of > 1 else 1):
            if fields[row + V_NORMAL] != 0:
                draw_angle(T, F, S, X, R, seeds, place, e, t, j, row, wanted, fields, kept_S, kept_X)
            else:
                for k in range(j + 1, j + numbers_of):
                    R[TAPE + k] = np.uint64(between(seeds, 0, ALL))
            found = find_number(T, F, S, X, R, seeds, place, e, t, j, row, wanted, fields, kept_S, kept_X)
            if found:
                break
        if found == 0:
            return -1
        j += numbers_of
    redo(T, F, S, X, R, place, e, t, kept_S, kept_X)
    return beyond
