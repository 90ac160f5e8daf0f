"""Recognise bad prefixes: finite words after which the requirement is violated whatever follows.

Either the watch follows an automaton of the requirement's own words, and a prefix is bad when no state is left; or it
follows one of the violating words, and a prefix is bad when it reaches a state that accepts everything.
"""

from __future__ import annotations

from collections.abc import Iterable

from bbfalsify.logic.ltl.automaton import Automaton


class Watch:
    """A deterministic automaton, built as far as words are followed.  States are numbers, `initial` first."""

    def __init__(self, automaton: Automaton, *, of_violations: bool) -> None:
        self._automaton = automaton
        self._of_violations = of_violations
        self._sets: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._steps: list[dict[int, int]] = []
        self.bad: list[bool] = []
        """True for each state so far whose words are bad prefixes."""
        self.letters = automaton.letters
        self.initial = self._number(frozenset(automaton.initial))

    def __len__(self) -> int:
        """The number of states met so far."""
        return len(self._sets)

    def _number(self, members: frozenset[int]) -> int:
        found = self._numbers.get(members)
        if found is None:
            found = self._numbers[members] = len(self._sets)
            self._sets.append(members)
            self._steps.append({})
            met = bool(members & self._automaton.everything) if self._of_violations else not members
            self.bad.append(met)
        return found

    def step(self, state: int, letter: int) -> int:
        """Return the next state."""
        steps = self._steps[state]
        target = steps.get(letter)
        if target is None:
            table = self._automaton.table
            target = steps[letter] = self._number(frozenset(t for s in self._sets[state] for t in table[s][letter]))
        return target

    def first_bad(self, word: Iterable[int]) -> int | None:
        """The length of the first bad prefix of a word of letter classes."""
        state = self.initial
        if self.bad[state]:
            return 0
        for length, letter in enumerate(word, start=1):
            state = self.step(state, letter)
            if self.bad[state]:
                return length
        return None
