"""Black box deadlock detection (section 3): is there a state in which no input is possible?

An input that is not possible is answered with one of the `refused` outputs and changes nothing.  A box of at most n
states reaches each of them by a word of at most n - 1 symbols, so all words up to that length are tried, without those
that go on after a refusal: p^(n-1) of them in the worst case, which no deterministic strategy can avoid (Theorem 1).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bbfalsify.automata.mealy import Word
from bbfalsify.engines.checking.box import Box


def find_deadlock(box: Box, alphabet: Sequence[str], max_states: int, refused: Collection[str]) -> Word | None:
    """A shortest word after which every input is refused; None if there is none in a box of at most so many states."""
    reached: list[Word] = [()]
    for _ in range(max_states):
        longer: list[Word] = []
        possible: dict[Word, int] = dict.fromkeys(reached, 0)
        for word, outputs in box.all_outputs((*word, symbol) for word in reached for symbol in alphabet):
            if outputs[-1] not in refused:
                possible[word[:-1]] += 1
                longer.append(word)
        for word, inputs in possible.items():
            if not inputs:
                return word
        reached = longer
    return None
