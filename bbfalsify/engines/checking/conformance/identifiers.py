"""Pools of words that separate a state from many others at once, for the H method.

Each state has a pool of words, found by a beam search over the machine: a good word separates the state from many
others, and leads to a state that can soon be separated from the rest.  A word that separates it from all others (a
unique input/output sequence) ends the search; most states of real machines have one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bbfalsify.automata.identification import Separations
from bbfalsify.jit import jit

POOL = 24
"""Words kept per state."""
BEAM = 10
LONGEST = 14
_MERGED = 20
"""Penalty, in symbols, for two states that cannot be separated any more."""


class Pools(NamedTuple):
    filled: np.ndarray
    """[state]: number of its words, -1 before the search."""
    length: np.ndarray
    """[state, word]"""
    word: np.ndarray
    """[state, word, position]"""
    separates: np.ndarray
    """[state, word, other state] → number of symbols that separates them, 0 for never"""
    needed: np.ndarray
    """[state, other state]: the length of their shortest separating word"""
    first: np.ndarray
    """[state, other state]: its first input"""


def empty_pools(separations: Separations) -> Pools:
    states = len(separations.machine)
    return Pools(
        np.full(states, -1, np.int32),
        np.zeros((states, POOL), np.int32),
        np.zeros((states, POOL, LONGEST), np.int32),
        np.zeros((states, POOL, states), np.uint8),
        separations.length,
        separations.first,
    )


class Beam(NamedTuple):
    """Work space of the search: rows 0…BEAM-1 are the present words, the others the next ones."""

    word: np.ndarray
    now: np.ndarray
    """[row, state]: the state to which the word leads from each state."""
    separated: np.ndarray
    """[row, state]: number of symbols that separates the state from the one in question; 0 for not yet."""
    score: np.ndarray


def empty_beam(states: int) -> Beam:
    rows = 2 * BEAM
    return Beam(
        np.zeros((rows, LONGEST), np.int32),
        np.zeros((rows, states), np.int32),
        np.zeros((rows, states), np.uint8),
        np.zeros(rows, np.int64),
    )


@jit(reference_counting=False, called_from_python=False)
def _score(machine, pools, beam, row, i, state):
    """Compute (number of separated states, cost of the others) after another input."""
    s = beam.now[row, state]
    output, s_next = machine.answer[s, i], machine.successor[s, i]
    separated, left = 0, 0
    for t in range(len(machine.answer)):
        if t == state:
            continue
        u = beam.now[row, t]
        if beam.separated[row, t] or machine.answer[u, i] != output:
            separated += 1
        else:
            needed = pools.needed[s_next, machine.successor[u, i]]
            left += needed if needed else _MERGED
    return separated, left


@jit(reference_counting=False, called_from_python=False)
def _keep(pools, beam, row, length, state):
    """Put a word of the beam into the pool, unless one there is as short and separates as much."""
    count, states = pools.filled[state], pools.separates.shape[2]
    for other in range(count):
        for t in range(states):
            if beam.separated[row, t] and not pools.separates[state, other, t]:
                break
        else:
            return
    if count == POOL:
        return
    pools.length[state, count] = length
    for position in range(length):
        pools.word[state, count, position] = beam.word[row, position]
    for t in range(states):
        pools.separates[state, count, t] = beam.separated[row, t]
    pools.filled[state] = count + 1


@jit(reference_counting=False, called_from_python=False)
def fill_pool(machine, pools, beam, state):
    """Search words for a state, shorter ones first."""
    states, inputs = machine.answer.shape
    pools.filled[state] = 0
    present, rows = 0, 1
    for t in range(states):
        beam.now[0, t] = t
        beam.separated[0, t] = 0
    for length in range(1, LONGEST + 1):
        following, found, complete = BEAM - present, 0, False
        for row in range(present, present + rows):
            before = 0
            for t in range(states):
                before += beam.separated[row, t] != 0
            for i in range(inputs):
                separated, left = _score(machine, pools, beam, row, i, state)
                score = separated * 1000 * _MERGED - left
                if left >= _MERGED * (states - 1 - separated) and separated == before:
                    continue  # nothing gained, and nothing more to gain
                worst = following
                if found < BEAM:
                    worst = following + found
                    found += 1
                else:
                    for candidate in range(following + 1, following + BEAM):
                        if beam.score[candidate] < beam.score[worst]:
                            worst = candidate
                    if beam.score[worst] >= score:
                        continue
                beam.score[worst] = score
                for position in range(length - 1):
                    beam.word[worst, position] = beam.word[row, position]
                beam.word[worst, length - 1] = i
                output = machine.answer[beam.now[row, state], i]
                for t in range(states):
                    u = beam.now[row, t]
                    beam.now[worst, t] = machine.successor[u, i]
                    beam.separated[worst, t] = beam.separated[row, t]
                    if beam.separated[row, t] == 0 and machine.answer[u, i] != output:
                        beam.separated[worst, t] = length
                complete |= separated == states - 1
        # Best words first, so that the pool gets those when it fills up.
        for _ in range(found):
            best = -1
            for row in range(following, following + found):
                if beam.score[row] > -(1 << 60) and (best < 0 or beam.score[row] > beam.score[best]):
                    best = row
            _keep(pools, beam, best, length, state)
            beam.score[best] = -(1 << 61)
        if complete or found == 0 or pools.filled[state] == POOL:
            return
        present, rows = following, found
