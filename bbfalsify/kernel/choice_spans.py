"""The choices of single steps: which choices of a run each step owns, and those that lead to an edge at a moment.

    spans_of(model, numbers, steps)        per step: where its race and edge begin, what the transition draws, its end
    step = step_towards(model, here, edge, moment, rest, seed)
    step.numbers                           choices with which the next step takes the edge at this moment

The numbers of race and edge are those of retracing (`retraced_races.py`).  What the transition itself draws (receivers,
branches, values) is given, and completed by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.kernel.particles import Particles
from bbfalsify.kernel.races import refuse_handshakes, stochastic_transition
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.retraced_races import UNIT, edge_numbers, race_numbers
from bbfalsify.kernel.rng import (
    DRAWN_DELAY,
    DRAWN_EDGE,
    DRAWN_TIE,
    TAPE,
    TAPE_GIVEN,
    TAPE_NEXT,
    TAPE_ROOM,
    begin_tape,
    seed_streams,
)
from bbfalsify.kernel.walk_frame import begin_walk, stay, write_state
from bbfalsify.kernel.walker import Walker, initial_state, limits

_FIRST_ROOM = 256


@entry_point
def count_numbers(
    T, F, S, X, R, states_locations, states_integers, states_reals, largest, ode_step, seed, ends, winners
):  # fmt: skip
    """Make the walk of the tape again: for each step, the numbers drawn up to its end, and the process that acts."""
    begin_walk(T, F, S, X, R, seed, states_locations, states_integers, states_reals, largest, ode_step)
    for step in range(len(ends)):
        outcome, e, _ = stochastic_transition(T, F, S, X, R, True)
        if outcome != 0 or np.int64(R[TAPE_NEXT]) > np.int64(R[TAPE_GIVEN]):
            return step
        ends[step] = np.int64(R[TAPE_NEXT])
        winners[step] = T[T[H_EDGE_TABLE] + EDGE_WIDTH * e + E_PROCESS]
    return len(ends)


@entry_point
def take_step(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, largest, ode_step, seeds, edge, t,
    given,
):  # fmt: skip
    """Take an edge at t, or shortly before, from a state, in place; return the number of its race's numbers, or −1."""
    time = states_time[0]
    load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, time, largest, ode_step)
    refresh(T, F, S, X, R, False)
    outcome, deadline, strict = stay(T, F, S, X, R)
    if outcome != 0:
        return -1
    winner = T[T[H_EDGE_TABLE] + EDGE_WIDTH * edge + E_PROCESS]
    place, t = race_numbers(T, F, S, X, R, seeds, 0, winner, deadline, strict, t)
    if place >= 0:
        place = edge_numbers(T, F, S, X, R, seeds, place, edge, deadline, strict, t)
    room = np.int64(R[TAPE_ROOM])
    if place < 0 or place >= room:
        return -1
    for i in range(min(len(given), room - place)):
        R[TAPE + place + i] = given[i]
    R[TAPE_GIVEN] = np.uint64(min(place + len(given), room))
    begin_tape(R)
    outcome, taken, t = stochastic_transition(T, F, S, X, R, False)
    if outcome != 0 or taken != edge:
        return -1
    states_time[0] = t
    write_state(T, S, X, t, states_locations, states_integers, states_reals, 0)
    return place


@dataclass(frozen=True, eq=False)
class ChosenStep:
    """One step with all its choices."""

    numbers: np.ndarray
    """Quantiles: those of race and edge, then the rest."""
    rest: int
    """Number of those of race and edge."""
    after: Particles
    """The state after the step."""


def step_towards(
    model: CompiledModel, here: Particles, edge: int, moment: float, rest: np.ndarray, seed: int
) -> ChosenStep | None:
    """Make a step from a state (one particle) by an edge at a moment; None if no choices lead there.

    `rest`: choices of what the transition draws, as far as they are given; others come from the seed.
    """
    refuse_handshakes(model)
    given = np.floor(np.asarray(rest, np.float64) * 2.0**53).astype(np.uint64)
    streams, room = np.zeros((1, 4), np.uint64), _FIRST_ROOM + 8 * len(model.network.processes) + len(given)
    while True:
        walker, after = Walker.of(model, tape=room), here.copy()
        walker.R[TAPE_ROOM] = room
        with np.errstate(over="ignore"):
            words = np.array([seed], np.uint64)
            seed_streams(walker.R, words, streams)  # also the stream of what the rest does not give
            before = take_step(
                *walker.arrays, after.locations, after.integers, after.reals, after.time, *limits(model), streams[0],
                int(edge), float(moment), given,
            )  # fmt: skip
        drawn = int(walker.R[TAPE_NEXT])
        if before < 0:
            return None
        if drawn <= room:
            return ChosenStep(walker.R[TAPE : TAPE + drawn].astype(np.float64) * UNIT, before, after)
        room = 2 * drawn


def spans_of(model: CompiledModel, numbers: np.ndarray, steps: int) -> list[tuple[int, int, int]]:
    """For each step of the walk of these numbers: its first number, the first of the rest, and the one after its last.

    Fewer steps where the numbers have no more.
    """
    refuse_handshakes(model)
    room = max(len(numbers), 1)
    walker, ends, winners = Walker.of(model, tape=room), np.zeros(steps, np.int64), np.zeros(steps, np.int64)
    walker.R[TAPE_GIVEN], walker.R[TAPE_ROOM] = len(numbers), room
    walker.R[TAPE : TAPE + len(numbers)] = np.floor(numbers * 2.0**53).astype(np.uint64)
    with np.errstate(over="ignore"):
        made = count_numbers(*walker.arrays, *initial_state(model), *limits(model), np.uint64(0), ends, winners)
    codes = walker.R[TAPE + room : TAPE + 2 * room].astype(np.int64)
    spans, first = [], 0
    for end, winner in zip(ends[:made].tolist(), winners.tolist(), strict=False):
        own = codes[first:end]
        race = np.isin(own % 8, (DRAWN_DELAY, DRAWN_TIE)) | (own == DRAWN_EDGE + 8 * winner)
        rest = int(np.argmin(race)) if not race.all() else len(own)
        spans.append((first, first + rest, end))
        first = end
    return spans
