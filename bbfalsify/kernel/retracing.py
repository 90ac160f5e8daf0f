"""From a walk to its random numbers: the inverse of `taped_walk`.

    numbers = walk_numbers(model, walk, seed)
    again, _, _ = taped_walk(model, seed, numbers, until, max_steps)      the same walk

Every step of the walk is made again: the numbers of its race and edge (`retraced_races.py`), of receivers and branches
by their weights (`retraced_moves.py`), and of values that updates draw (`retraced_values.py`) by bisection, since a
drawn variable grows or falls with its number.
(A normal law has two numbers: the second coordinate of Box and Muller's point is drawn, which is independent.)

Walks that the profile's law makes with probability zero have no numbers: an edge or branch of weight 0, a delay beyond
what 53 bits reach (an exponential one longer than 36.7 means).  So have walks whose updates draw where the text does
not show it (in functions, loops, conditions).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, entry_point
from bbfalsify.kernel.ode import advance
from bbfalsify.kernel.races import refuse_handshakes
from bbfalsify.kernel.retraced_moves import move_numbers
from bbfalsify.kernel.retraced_races import ATTEMPTS, UNIT, edge_numbers, race_numbers
from bbfalsify.kernel.retraced_values import CLOSE, NO_ROOM, current, keep, value_numbers
from bbfalsify.kernel.rng import TAPE, TAPE_ROOM, seed_streams
from bbfalsify.kernel.walk_frame import begin_walk, stay
from bbfalsify.kernel.walk_results import Walk
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.modelling.network.draws import drawn_variables


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
