"""The on-the-fly strategy (section 4.2): try words in the order of their length, and judge each at once.

Every word is read as a finite run, and as a prefix followed by a loop: all the ways to cut it in two.  A cut that would
violate the requirement, repeated for ever, is tried with n rounds of its loop.  Nothing is learned; an error that needs
few symbols is found early, and without one the price is exponential in the size of box times requirement.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bbfalsify.automata.mealy import Word
from bbfalsify.engines.checking.box import Box
from bbfalsify.logic.ltl import Lasso, Property, first_bad_prefix, violates


def search(box: Box, alphabet: Sequence[str], requirement: Property, max_states: int, longest: int) -> Lasso | None:
    """The first violation among the words of at most `longest` symbols, shortest first."""
    for length in range(1, longest + 1):
        for word, outputs in box.all_outputs(itertools.product(alphabet, repeat=length)):
            found = _judge(box, alphabet, requirement, word, outputs, max_states)
            if found is not None:
                return found
    return None


def _judge(
    box: Box, alphabet: Sequence[str], requirement: Property, word: Word, outputs: Word, rounds: int
) -> Lasso | None:
    bad = first_bad_prefix(requirement, word, outputs, inputs=alphabet)
    if bad is not None:
        return Lasso(word[:bad], ())
    letters = list(zip(word, outputs, strict=True))
    for cut in range(len(word)):
        if violates(requirement, letters[:cut], letters[cut:], inputs=alphabet):
            loop = word[cut:]
            seen = box.outputs(word[:cut] + loop * rounds)
            if seen == outputs[:cut] + outputs[cut:] * rounds:
                return Lasso(word[:cut], loop)
    return None
