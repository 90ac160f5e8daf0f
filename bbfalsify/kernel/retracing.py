"""From a walk to its random numbers: the inverse of `taped_walk`.

    numbers = walk_numbers(model, walk, seed)
    again, _, _ = taped_walk(model, seed, numbers, until, max_steps)      the same walk

Every step of the walk is made again: the numbers of its race and edge (`retraced_races.py`), of receivers and branches
by their weights, and of values that updates draw by bisection, since a drawn variable grows or falls with its number.
(A normal law has two numbers: the second coordinate of Box and Muller's point is drawn, which is independent.)

Walks that the profile's law makes with probability zero have no numbers: an edge or branch of weight 0, a delay beyond
what 53 bits reach (an exponential one longer than 36.7 means).  So have walks whose updates draw where the text does
not show it (in functions, loops, conditions).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.entry_invariants import receiving_edges
from bbfalsify.kernel.firing import branch_at, edge_weight, fire, weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.ode import advance
from bbfalsify.kernel.races import refuse_handshakes
from bbfalsify.kernel.retraced_races import ALL, UNIT, between, edge_numbers, put, race_numbers, share_number
from bbfalsify.kernel.rng import TAPE, TAPE_GIVEN, TAPE_NEXT, TAPE_ROOM, normal, seed_streams, unit
from bbfalsify.kernel.walk_frame import begin_walk, stay
from bbfalsify.kernel.walk_results import Walk
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.kernel.windows import receives
from bbfalsify.modelling.network.draws import drawn_variables

CLOSE = 1e-9
"""Difference of a real value from the walk's, relative to 1 + its size, up to which a step is the same."""
ATTEMPTS = 16
"""Tries to guess what a walk does not say: which of several receiving edges was taken, which summand was drawn."""
NO_ROOM = -(1 << 60)
VARIABLE_WIDTH = 6
V_BRANCH, V_ORDINAL, V_SLOT, V_REAL, V_NUMBERS, V_NORMAL = range(VARIABLE_WIDTH)


# --- branches and receivers -------------------------------------------------------------------------------------------


@compiled
def branch_to(T, F, S, X, R, seeds, e, branch, target):
    """(branch, weight before it, its weight, total weight) of edge e: the one given, or drawn among those to target."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    total = 0.0
    fitting = 0.0
    chosen = -1
    before = 0.0
    own = 0.0
    for b in range(T[edge + E_BRANCH_COUNT]):
        row = T[edge + E_BRANCHES] + BRANCH_WIDTH * b
        weight = 1.0
        if T[edge + E_BRANCH_COUNT] > 1:
            weight = weight_of(T, F, S, X, R, T[row + B_WEIGHT])
        if weight > 0.0 and T[row + B_TARGET] == target and (branch < 0 or branch == b):
            fitting += weight
            if unit(seeds) * fitting < weight:
                chosen = b
                before = total
                own = weight
        total += weight
    return chosen, before, own, total, fitting


@compiled
def branch_number(T, F, S, X, R, seeds, place, e, branch, target):
    """Write the number with which edge e takes a branch (−1: any that leads to target); next place or −1."""
    chosen, before, own, total, _ = branch_to(T, F, S, X, R, seeds, e, branch, target)
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    if chosen < 0 or T[edge + E_BRANCH_COUNT] == 1:
        return place if chosen >= 0 else -1
    first = max(int(before / total * ALL), 0)
    beyond = min(int((before + own) / total * ALL) + 1, ALL)
    for _ in range(ATTEMPTS):
        n = between(seeds, first, beyond)
        if branch_at(T, F, S, X, R, edge, n * UNIT * total) == chosen:
            return put(R, place, n)
    return -1


@compiled
def receiver_numbers(T, F, S, X, R, seeds, place, channel, p, target):
    """Write the numbers with which process p receives and gets to target; (next place or −1, edge or −1: no edge)."""
    chosen = -1
    fitting = 0.0
    enabled = 0
    for k in receiving_edges(T, S, p):
        r = T[k]
        if receives(T, F, S, X, R, r, channel):
            enabled += 1
            _, _, _, total, there = branch_to(T, F, S, X, R, seeds, r, -1, target)
            share = edge_weight(T, F, S, X, R, r) * (there / total if total > 0.0 else 0.0)
            fitting += share
            if share > 0.0 and unit(seeds) * fitting < share:
                chosen = r
    if enabled == 0:
        return place, -1
    if chosen < 0:
        return -1, -1
    total = 0.0
    enabled = 0
    taking = -1
    for k in receiving_edges(T, S, p):
        r = T[k]
        if receives(T, F, S, X, R, r, channel):
            weight = edge_weight(T, F, S, X, R, r)
            total += weight
            enabled += 1
            if enabled > 1:
                place = share_number(R, seeds, place, weight, total, 1 if r == chosen else taking)
                if place < 0:
                    return -1, -1
            if r == chosen:
                taking = 0
    return place, chosen


@compiled
def move_numbers(T, F, S, X, R, seeds, place, e, branch, locations, step):
    """Write the numbers of receivers and branches of a step, at its moment; the next place, or −1."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    moves = T[H_S_MOVES]
    S[moves] = e
    count = 1
    if T[edge + E_KIND] == KIND_BROADCAST_SEND:
        row = T[H_BROADCAST_TABLE] + 2 * T[edge + E_CHANNEL]
        for i in range(T[row + 1]):
            p = T[T[row] + i]
            if p != T[edge + E_PROCESS]:
                target = T[T[H_FIRST_LOCATION] + p] + locations[0, step + 1, p]
                place, r = receiver_numbers(T, F, S, X, R, seeds, place, T[edge + E_CHANNEL], p, target)
                if place < 0:
                    return -1
                if r >= 0:
                    S[moves + 2 * count] = r
                    count += 1
    for i in range(count):
        p = T[T[H_EDGE_TABLE] + EDGE_WIDTH * S[moves + 2 * i] + E_PROCESS]
        target = T[T[H_FIRST_LOCATION] + p] + locations[0, step + 1, p]
        known = branch if i == 0 else -1
        place = branch_number(T, F, S, X, R, seeds, place, S[moves + 2 * i], known, target)
        if place < 0:
            return -1
    return place


# --- values -----------------------------------------------------------------------------------------------------------


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


@compiled
def arrived(T, S, X, locations, integers, reals, step):
    """Tell whether the walker is where the walk is after a step."""
    for p in range(T[H_PROCESSES]):
        if S[T[H_S_LOCATIONS] + p] - T[T[H_FIRST_LOCATION] + p] != locations[0, step + 1, p]:
            return False
    for i in range(T[H_INTEGERS]):
        if S[INTEGERS + i] != integers[0, step + 1, i]:
            return False
    for i in range(T[H_REALS]):
        wanted = reals[0, step + 1, i]
        if abs(current(S, X, i, 1) - wanted) > CLOSE * (1.0 + abs(wanted)):
            return False
    return S[S_ERROR] == 0


# --- walks ------------------------------------------------------------------------------------------------------------


@entry_point
def retrace(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, seeds, fields, times, edges,
    branches, locations, integers, reals, kept_S, kept_X,
):  # fmt: skip
    """Write the numbers of a walk onto the tape; how many, or −1 − k if step k has none, or NO_ROOM."""
    begin_walk(T, F, S, X, R, seeds[0], states_locations, states_integers, states_reals, largest, ode_step)
    place = 0
    for step in range(times.shape[1]):
        e = edges[0, step]
        outcome, deadline, strict = stay(T, F, S, X, R)
        if outcome != 0:
            return -1 - step
        winner = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]
        place, t = race_numbers(T, F, S, X, R, seeds, place, winner, deadline, strict, times[0, step])
        if place >= 0:
            place = edge_numbers(T, F, S, X, R, seeds, place, e, deadline, strict, t)
        if place < 0:
            return -1 - step
        keep(S, X, kept_S, kept_X, 0)
        reached = -1
        for _ in range(ATTEMPTS):
            advance(T, F, S, X, R, t)
            reached = move_numbers(T, F, S, X, R, seeds, place, e, branches[0, step], locations, step)
            if reached >= 0:
                reached = value_numbers(
                    T, F, S, X, R, seeds, place, reached, e, t, fields, integers, reals, step, kept_S, kept_X
                )
            if reached == NO_ROOM or reached >= np.int64(R[TAPE_ROOM]):
                return NO_ROOM
            if reached >= 0 and arrived(T, S, X, locations, integers, reals, step):
                break
            keep(S, X, kept_S, kept_X, 1)
            reached = -1
        if reached < 0:
            return -1 - step
        place = reached
    return place


def walk_numbers(model: CompiledModel, walk: Walk, seed: int = 0) -> np.ndarray | None:
    """Quantiles with which `taped_walk` makes this walk, which begins in the initial state; None if there are none.

    Where many would do (components that lost a race, ties, atoms of a law) the seed draws them.
    """
    refuse_handshakes(model)
    streams = np.zeros((1, 4), np.uint64)
    branches = np.full(walk.steps, -1, np.int32) if walk.branches is None else walk.branches
    arrays = [np.ascontiguousarray(a)[None] for a in (walk.times, walk.edges, branches)]
    states = [np.ascontiguousarray(a)[None] for a in (walk.locations, walk.integers, walk.reals)]
    room = 64 + 8 * walk.steps * (1 + len(model.network.processes))
    while True:
        walker = Walker.of(model, tape=room)
        walker.R[TAPE_ROOM] = room
        with np.errstate(over="ignore"):
            seed_streams(np.zeros(4, np.uint64), np.array([seed], np.uint64), streams)
            count = retrace(
                *walker.arrays, *initial_state(model), *limits(model), streams[0], _drawn(model), *arrays, *states,
                np.zeros_like(walker.S), np.zeros_like(walker.X),
            )  # fmt: skip
        if count >= 0:
            return walker.R[TAPE : TAPE + count].astype(np.float64) * UNIT
        if count != NO_ROOM:
            return None
        room *= 4


@lru_cache(maxsize=16)
def _drawn(model: CompiledModel) -> np.ndarray:
    """The variables that updates draw, by the places of their branches in the tables."""
    network, rows = model.network, []
    for p, process in enumerate(network.processes):
        for e, edge in enumerate(process.edges):
            table = int(model.T[at.H_EDGE_TABLE]) + at.EDGE_WIDTH * model.edge_number(p, e)
            for b, branch in enumerate(edge.branches):
                place = int(model.T[table + at.E_BRANCHES]) + at.BRANCH_WIDTH * b
                for ordinal, v in enumerate(drawn_variables(network, branch) or ()):
                    rows.append((place, ordinal, v.slot, v.real, v.numbers, v.normal))
    return np.array(rows, np.int64).reshape(-1)
