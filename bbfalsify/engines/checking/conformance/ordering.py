"""Order items (access word and middle part) so that errors are found early.

Items whose middle parts change the state at every input come first, because errors are where a machine does something.
Items that lead to the same state (an error state, a closed connection) are often alike, so the target states take
turns.  On models of protocols this needs about half of the symbols of a random order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.jit import jit

_FIRST_CHUNK = 128
_LARGEST_CHUNK = 32768
"""Items that are entered before their words are returned: few at first, because the first answers may end the test."""
_BLOCK = 2**20
"""Items that are sorted together."""
_MOST_ITEMS = 2**62
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


def chunks(successor: np.ndarray, middle: int, rng: np.random.Generator | None) -> Iterator[np.ndarray]:
    """Yield the numbers of all items with middle parts of this length, each once, in growing chunks."""
    states, inputs = successor.shape
    count = states * inputs**middle
    if count > _MOST_ITEMS:
        raise UserError(f"middle parts of {middle} inputs: there are more of them than numbers.")
    # Equal steps through all numbers, evenly spread (or random), mix items that are alike in all other respects.
    first, step = 0, round(count * _GOLDEN_RATIO)
    if rng is not None:
        first, step = int(rng.integers(count)), int(rng.integers(count))
    while math.gcd(step := max(1, step), count) > 1:
        step += 1
    chunk = _FIRST_CHUNK
    for begin in range(0, count, _BLOCK):
        size = min(_BLOCK, count - begin)
        items, arranged = np.empty(size, np.int64), np.empty(size, np.int64)
        changes, target, turn = (np.empty(size, np.int32) for _ in range(3))
        _describe(successor, middle, (first + step * begin) % count, step, count, items, changes, target)
        turns, starts = np.zeros(states, np.int64), np.zeros(size + 1, np.int64)
        _arrange(items, changes, target, middle, turn, turns, starts, arranged)
        done = 0
        while done < size:
            yield arranged[done : done + chunk]
            done += chunk
            chunk = min(4 * chunk, _LARGEST_CHUNK)


@jit(reference_counting=False)
def _describe(successor, middle, first, step, count, items, changes, target):
    """Compute the items of a block, how often each changes the state, and its target state."""
    inputs = successor.shape[1]
    power = inputs**middle
    item = first
    for index in range(len(items)):
        items[index] = item
        state, rest, place = item // power, item % power, power
        changes[index] = 0
        for _ in range(middle):
            place //= inputs
            following = successor[state, rest // place]
            rest %= place
            changes[index] += following != state
            state = following
        target[index] = state
        item += step
        if item >= count:
            item -= count


@jit(reference_counting=False)
def _arrange(items, changes, target, middle, turn, turns, starts, arranged):
    """Sort items by turns of their target states, most changes first; two counting sorts keep the order otherwise."""
    for wanted in range(middle, -1, -1):
        for index in range(len(items)):
            if changes[index] == wanted:
                turn[index] = turns[target[index]]
                turns[target[index]] += 1
                starts[turn[index] + 1] += 1
    for t in range(1, len(starts)):
        starts[t] += starts[t - 1]
    for wanted in range(middle, -1, -1):
        for index in range(len(items)):
            if changes[index] == wanted:
                arranged[starts[turn[index]]] = items[index]
                starts[turn[index]] += 1
