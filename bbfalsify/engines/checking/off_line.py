"""The off-line strategy (section 4.1): find out everything, then model-check.

Two machines of at most n states that differ are told apart by some word of at most 2n - 1 symbols, so a box of at most
n states is known completely once all p^(2n-1) words of that length have been tried.  It is the baseline: sound, simple,
and far too expensive for all but the smallest boxes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.engines.checking.box import Box


def identify(box: Box, alphabet: Sequence[str], max_states: int) -> MealyMachine | None:
    """The box, if it has at most so many states; None if what was seen needs more of them."""
    for _ in box.all_outputs(itertools.product(alphabet, repeat=2 * max_states - 1)):
        pass
    suffixes = list(itertools.product(alphabet, repeat=max(1, max_states - 1)))

    def fingerprint(access: Word) -> tuple[Word, ...]:
        """States of a machine of n states that answer all words of n - 1 symbols alike are the same."""
        return tuple(box.outputs(access + suffix)[len(access) :] for suffix in suffixes)

    states: dict[tuple[Word, ...], Word] = {fingerprint(()): ()}
    transitions, waiting = {}, [()]
    for access in waiting:  # grows while it is walked
        for symbol in alphabet:
            word = (*access, symbol)
            mark = fingerprint(word)
            if mark not in states:
                if len(states) == max_states:
                    return None
                states[mark] = word
                waiting.append(word)
            target = "".join(f"/{s}" for s in states[mark]) or "start"
            source = "".join(f"/{s}" for s in access) or "start"
            transitions[source, symbol] = (target, box.outputs(word)[-1])
    return MealyMachine.from_transitions(transitions, "start", inputs=alphabet, name="identified")
