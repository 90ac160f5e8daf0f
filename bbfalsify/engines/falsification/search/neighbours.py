"""Generate neighbours of a violating word, which often violate, too, and may be more probable.

The places of the profile before each action of a violating word are known.  A part that ends at the place where it
began is a loop.  The moves: end the violating delay with another action, leave out a loop, insert a short loop of a
violating word, change one action.  The profile decides whether the result is possible, and how probable it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

Key = tuple[str, ...]
Place = tuple[int, ...]
"""A place in the profile: one location per component."""
Walked = tuple[Key, Sequence[Place]]
"""A word, and the places before each action and after the last."""
LONGEST_LOOP = 3
"""Longest loop that is inserted."""
TRIES = 20


def other_endings(word: Key, actions: Sequence[str]) -> list[Key]:
    """Vary the last action of the word: its violating delay may end with any of them."""
    return [(*word[:-1], action) for action in actions if action != word[-1]]


def neighbours(
    words: Sequence[Walked], weights: Sequence[float], actions: Sequence[str], rng: np.random.Generator, count: int
) -> Iterator[Key]:
    """Yield random moves from these words, every second one from a word drawn in proportion to its weight."""
    loops = sorted({loop for word, places in words for loop in _loops(word, places)})
    share = np.asarray(weights) / np.sum(weights) if np.sum(weights) > 0 else None
    for number in range(count):
        word, at = words[int(rng.choice(len(words), p=share if number % 2 else None))]
        move = int(rng.integers(3))
        if move == 0:
            yield _without_loop(word, at, rng)
        elif move == 1 and loops:
            yield _with_loop(word, at, loops, rng)
        else:
            k = int(rng.integers(len(word)))
            yield (*word[:k], actions[int(rng.integers(len(actions)))], *word[k + 1 :])


def _loops(word: Key, places: Sequence[Place]) -> Iterator[tuple[Place, Key]]:
    for start in range(len(word)):
        for end in range(start + 1, min(start + LONGEST_LOOP, len(word)) + 1):
            if places[start] == places[end]:
                yield places[start], word[start:end]


def _without_loop(word: Key, places: Sequence[Place], rng: np.random.Generator) -> Key:
    for _ in range(TRIES):
        first, last = sorted(rng.integers(0, len(word) + 1, size=2).tolist())
        if first < last and last - first < len(word) and places[first] == places[last]:
            return word[:first] + word[last:]
    return word


def _with_loop(word: Key, places: Sequence[Place], loops: list[tuple[Place, Key]], rng: np.random.Generator) -> Key:
    place, loop = loops[int(rng.integers(len(loops)))]
    fitting = [k for k, here in enumerate(places) if here == place]
    k = fitting[int(rng.integers(len(fitting)))] if fitting else int(rng.integers(len(word) + 1))
    return word[:k] + loop + word[k:]
