"""All successors of states of a network in which nothing depends on time, compiled, for searches that keep the states.

A state is a short row of bytes: per process its location, then the integers, each above its lower bound in as few bytes
as its range needs.  Python compares and hashes such rows as `bytes`, so searches are written in Python and only the
steps are compiled; many states are expanded in one call.

All arrays belong to the caller.  If there are more successors than rows, `expand_untimed` returns NO_ROOM and goes on
at the state whose successors did not fit.
"""

from __future__ import annotations

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.exploration import DONE, FAILED, NO_ROOM, first_choice, list_options, next_choice
from bbfalsify.kernel.firing import apply_moves
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.walk_frame import stay
from bbfalsify.kernel.windows import transition_windows

(P_ROW, P_ENDS, P_HITS, P_MET, P_SIZE) = range(5)
"""Next state to expand, successors so far, targets among them, targets among the states expanded."""

(GOAL_ALIVE, GOAL_DEAD, GOAL_SIZE) = range(3)
"""Code of the target predicate where something can fire, and where nothing can; −1: never met."""


@inlined
def unpack_state(T, packed, row, fields, states_locations, states_integers):
    """Write row `row` into the first of some states."""
    place = 0
    processes = T[H_PROCESSES]
    for i in range(processes + T[H_INTEGERS]):
        value = 0
        for k in range(fields[2 * i]):
            value |= int(packed[row, place]) << (8 * k)
            place += 1
        value += fields[2 * i + 1]
        if i < processes:
            states_locations[0, i] = value
        else:
            states_integers[0, i - processes] = value


@inlined
def pack_state(T, S, fields, packed_ends, row):
    """Write the walker's state into row `row`."""
    place = 0
    processes = T[H_PROCESSES]
    for i in range(processes + T[H_INTEGERS]):
        if i < processes:
            value = S[T[H_S_LOCATIONS] + i] - T[T[H_FIRST_LOCATION] + i]
        else:
            value = S[INTEGERS + i - processes]
        value -= fields[2 * i + 1]
        for _ in range(fields[2 * i]):
            packed_ends[row, place] = value & 255
            value >>= 8
            place += 1


@compiled
def list_steps(T, F, S, X, R, deadline, strict, work):
    """List the transitions that can fire as pairs (edge, receiver or −1); return their number."""
    count = 0
    for p in range(T[H_PROCESSES]):
        location = T[H_LOCATION_TABLE] + LOCATION_WIDTH * S[T[H_S_LOCATIONS] + p]
        for i in range(T[location + L_OUTPUTS]):
            e = T[T[location + L_EDGES] + i]
            edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
            handshake = T[edge + E_KIND] == KIND_HANDSHAKE_SEND
            for k in range(T[edge + E_PARTNER_COUNT] if handshake else 1):
                r = -1
                if handshake:
                    r = T[T[edge + E_PARTNERS] + k]
                    other = T[H_EDGE_TABLE] + EDGE_WIDTH * r
                    q = T[other + E_PROCESS]
                    if q == p or S[T[H_S_LOCATIONS] + q] != T[other + E_SOURCE]:
                        continue
                if transition_windows(T, F, S, X, R, e, r, deadline, strict, 0) > 0:
                    work[2 * count] = e
                    work[2 * count + 1] = r
                    count += 1
                if S[S_ERROR] != 0:
                    return count
    return count


@inlined
def holds(T, F, S, X, R, code):
    return code >= 0 and execute(T, F, S, X, R, code, MODE_FROZEN, X[X_NOW]) != 0


@compiled
def fire_in_every_way(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, e1, e2, fields, goal, affects,
    coverage, factors, packed_ends, rows, hits, progress,
):  # fmt: skip
    """Fire a transition of the loaded state with every choice of branches and receivers, and pack where it leads."""
    parties, options = list_options(T, F, S, X, R, e1, e2, coverage, factors)
    if S[S_ERROR] != 0:
        return FAILED
    first_choice(affects, coverage, 0, options)
    while True:
        for party in range(parties):
            k = affects[3 * party + 2]
            S[T[H_S_MOVES] + 2 * party] = coverage[3 * k + 1]
            S[T[H_S_MOVES] + 2 * party + 1] = coverage[3 * k + 2]
        apply_moves(T, F, S, X, R, parties, False)
        if S[S_ERROR] != 0:
            return FAILED
        place = progress[P_ENDS]
        if place >= len(packed_ends):
            return NO_ROOM
        pack_state(T, S, fields, packed_ends, place)
        rows[place] = e1
        alive = holds(T, F, S, X, R, goal[GOAL_ALIVE])
        same = goal[GOAL_ALIVE] == goal[GOAL_DEAD]
        hits[place] = 1 if alive and (same or holds(T, F, S, X, R, goal[GOAL_DEAD])) else 0
        progress[P_HITS] += hits[place]
        if S[S_ERROR] != 0:
            return FAILED
        progress[P_ENDS] = place + 1
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, 0.0, largest, ode_step)
        if not next_choice(affects, 0, parties):
            return DONE


@entry_point
def expand_untimed(
    T, F, S, X, R, packed, fields, states_locations, states_integers, states_reals, largest, ode_step, goal, work,
    affects, coverage, factors, packed_ends, rows, hits, offsets, status, progress,
):  # fmt: skip
    """Find the successors of all rows of `packed`, of each in the order of processes, edges and choices.

    work, affects, coverage, factors, and the states of one row: scratch.  Out come packed_ends, rows (the edge fired),
    hits (1: a target, whatever can fire there); per state expanded, offsets (one past its last successor) and status
    (1: a target, now that its steps are known).
    """
    while progress[P_ROW] < len(packed):
        row = progress[P_ROW]
        begun = progress[P_ENDS]
        unpack_state(T, packed, row, fields, states_locations, states_integers)
        load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, 0.0, largest, ode_step)
        refresh(T, F, S, X, R, False)
        outcome, deadline, strict = stay(T, F, S, X, R)
        if outcome == RUNTIME_ERROR:
            return FAILED
        count = 0
        if outcome == 0:
            count = list_steps(T, F, S, X, R, deadline, strict, work)
        if S[S_ERROR] != 0:
            return FAILED
        status[row] = 1 if holds(T, F, S, X, R, goal[GOAL_ALIVE] if count > 0 else goal[GOAL_DEAD]) else 0
        progress[P_MET] += status[row]
        for k in range(count):
            problem = fire_in_every_way(
                T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, work[2 * k],
                work[2 * k + 1], fields, goal, affects, coverage, factors, packed_ends, rows, hits, progress,
            )  # fmt: skip
            if problem == NO_ROOM:
                progress[P_ENDS] = begun
            if problem != DONE:
                return problem
        offsets[row] = progress[P_ENDS]
        progress[P_ROW] = row + 1
    return DONE
