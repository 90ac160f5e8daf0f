"""Is there a box with at most so many states that passes these words and is wrong?  Decided by search.

The box is built while the words run through it: where a word meets a transition that is not decided yet, its output is
the one expected, and each state there is, or one more, is tried as its target.  New states are numbered as they appear,
so no box is tried twice under other names.  What remains when every word has passed is a box that the words cannot tell
from the hypothesis.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.automata.equivalence import difference
from bbfalsify.automata.mealy import MealyMachine


class TooMany(Exception):
    """The search would take too long."""


def wrong_box(hypothesis: MealyMachine, words: list[tuple[str, ...]], most_states: int, patience: int = 20_000):
    """A box that passes and is not equivalent, or None; TooMany when that is not decided after so many steps."""
    number = {symbol: i for i, symbol in enumerate(hypothesis.inputs)}
    tests = []
    for word in words:
        outputs = [hypothesis.outputs.index(o) for o in hypothesis.run(word)]
        tests.append([(number[symbol], output) for symbol, output in zip(word, outputs, strict=True)])
    search = _Search(hypothesis, tests, most_states, patience)
    return search.found(1)


class _Search:
    def __init__(self, hypothesis, tests, most_states, patience):
        self.hypothesis, self.tests, self.most, self.patience = hypothesis, tests, most_states, patience
        self.table = {}
        """(state, input) → (target, output), as far as decided"""

    def found(self, states):
        self.patience -= 1
        if self.patience < 0:
            raise TooMany
        stuck = self._run()
        if stuck == "fails":
            return None
        if stuck is None:
            return self._wrong(states)
        *place, output = stuck
        for target in range(min(states + 1, self.most)):
            self.table[tuple(place)] = target, output
            box = self.found(max(states, target + 1))
            if box is not None:
                return box
        del self.table[tuple(place)]
        return None

    def _run(self):
        """ "fails", the first (state, input, output) that is not decided, or None when every word passes."""
        stuck = None
        for test in self.tests:
            state = 0
            for i, output in test:
                decided = self.table.get((state, i))
                if decided is None:
                    stuck = stuck or (state, i, output)
                    break
                if decided[1] != output:
                    return "fails"
                state = decided[0]
        return stuck

    def _wrong(self, states):
        """The box with what is left undecided filled in as nobody would expect; None where it is equivalent."""
        hypothesis = self.hypothesis
        inputs = len(hypothesis.inputs)
        successor = np.zeros((states, inputs), np.int32)
        answer = np.full((states, inputs), len(hypothesis.outputs), np.int32)
        for place, (target, output) in self.table.items():
            successor[place], answer[place] = target, output
        box = MealyMachine(hypothesis.inputs, (*hypothesis.outputs, "unexpected"), successor, answer)
        return None if difference(hypothesis, box) is None else box
