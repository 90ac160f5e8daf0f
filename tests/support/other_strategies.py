"""The paper's other strategies of black box checking (sections 4.1 and 4.2), as oracles for small boxes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.engines.checking.box import Box
from bbfalsify.logic.ltl import Lasso, Property, first_bad_prefix, violates


def identify(box: Box, alphabet: Sequence[str], max_states: int) -> MealyMachine | None:
    """Identify a box of at most n states by all p^(2n-1) words; None if it has more states."""
    for _ in box.all_outputs(itertools.product(alphabet, repeat=2 * max_states - 1)):
        pass
    suffixes = list(itertools.product(alphabet, repeat=max(1, max_states - 1)))

    def fingerprint(access: Word) -> tuple[Word, ...]:
        """States of a machine of n states that answer all words of n - 1 symbols alike are the same."""
        return tuple(box.outputs(access + suffix)[len(access) :] for suffix in suffixes)

    states: dict[tuple[Word, ...], Word] = {fingerprint(()): ()}
    transitions: dict[tuple[str, str], tuple[str, str]] = {}
    waiting: list[Word] = [()]
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


def search(box: Box, alphabet: Sequence[str], requirement: Property, max_states: int, longest: int) -> Lasso | None:
    """Find the first violation among the words of at most `longest` symbols, shortest first, without learning."""
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
