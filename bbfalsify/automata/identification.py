"""Words that reach the states of a machine, and words that tell them apart.

    access_numbers(machine)              # one shortest access word per state
    separations = Separations(machine)   # a shortest separating word of every two states
    separations.word(s, t)
    words = separating_numbers_set(separations)    # W: words that tell all states apart
    identifying_numbers(separations, words)        # Wp: for each state, words that tell it from all others
    harmonised_numbers(separations)                # HSI: the same, and any two states share a separating word

Words are tuples of input numbers.  No word of a set is a prefix of another.  The machine must be minimal (`minimise`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from bbfalsify.automata.mealy import MealyMachine, Word
from bbfalsify.core.errors import InvariantViolated

Numbers = tuple[int, ...]
"""A word as numbers of inputs."""


def access_numbers(machine: MealyMachine) -> dict[int, Numbers]:
    """Map each reachable state to a shortest access word; the set of words is prefix closed."""
    words: dict[int, Numbers] = {machine.initial: ()}
    successor = machine.successor.tolist()
    order = [machine.initial]
    for state in order:
        for i, following in enumerate(successor[state]):
            if following not in words:
                words[following] = (*words[state], i)
                order.append(following)
    return words


class Separations:
    """Shortest separating words of all pairs of states."""

    def __init__(self, machine: MealyMachine) -> None:
        self.machine = machine
        from bbfalsify.automata.walking import separate_states

        states = len(machine)
        self.length = np.zeros((states, states), np.int32)
        """Length of the shortest separating word; 0: equivalent states."""
        self.first = np.zeros((states, states), np.int32)
        """First input of that word."""
        separate_states(machine.successor, machine.answer, self.length, self.first)

    @property
    def complete(self) -> bool:
        """Tell whether every two states are separated, i.e. the machine is minimal."""
        return int(np.count_nonzero(self.length)) == len(self.length) * (len(self.length) - 1)

    def numbers(self, s: int, t: int) -> Numbers:
        if self.length[s, t] == 0:
            raise InvariantViolated(f"no word separates the states {s} and {t}")
        word = []
        for _ in range(int(self.length[s, t])):
            i = int(self.first[s, t])
            word.append(i)
            s, t = int(self.machine.successor[s, i]), int(self.machine.successor[t, i])
        return tuple(word)

    def word(self, s: int, t: int) -> Word:
        return named(self.machine, self.numbers(s, t))

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The separable pairs of states, longest separating words first."""
        s, t = np.nonzero(np.triu(self.length))
        order = np.argsort(-self.length[s, t], kind="stable")
        return list(zip(s[order].tolist(), t[order].tolist(), strict=True))


def separating_numbers_set(separations: Separations) -> list[Numbers]:
    """W: add a word for each pair that no earlier word separates, longest words first."""
    machine, chosen = separations.machine, []
    open_pairs = separations.length > 0
    for s, t in separations.pairs:
        if open_pairs[s, t]:
            word = separations.numbers(s, t)
            chosen.append(word)
            open_pairs &= ~separated_by(machine, word)
    return without_prefixes(chosen)


def identifying_numbers(separations: Separations, words: list[Numbers]) -> list[list[Numbers]]:
    """Wp: choose greedily, for each state, a subset of `words` that tells it from every other state."""
    by_word = [separated_by(separations.machine, word) for word in words]
    identifiers = []
    for state in range(len(separations.machine)):
        left, chosen = separations.length[state] > 0, []
        while left.any():
            gains = [int((table[state] & left).sum()) for table in by_word]
            best = max(range(len(words)), key=lambda j: (gains[j], -len(words[j])))
            chosen.append(words[best])
            left = left & ~by_word[best][state]
        identifiers.append(without_prefixes(chosen))
    return identifiers


def harmonised_numbers(separations: Separations) -> list[list[Numbers]]:
    """HSI: give both states of each pair a common separating word, if possible one that one of them has already."""
    machine = separations.machine
    words: list[dict[Numbers, None]] = [{} for _ in range(len(machine))]
    tables: dict[Numbers, np.ndarray] = {}
    for s, t in separations.pairs:
        if any(tables[word][s, t] for word in words[s] if word in words[t]):
            continue
        had = [word for word in (*words[s], *words[t]) if tables[word][s, t]]
        word = min(had, key=len) if had else separations.numbers(s, t)
        if word not in tables:
            tables[word] = separated_by(machine, word)
        words[s][word] = words[t][word] = None
    return [without_prefixes(chosen) for chosen in words]


def separated_by(machine: MealyMachine, word: Numbers) -> np.ndarray:
    """[s, t]: True if this word separates s from t."""
    states = np.arange(len(machine))
    result = np.zeros((len(machine), len(machine)), bool)
    for i in word:
        output = machine.answer[states, i]
        result |= output[:, None] != output[None, :]
        states = machine.successor[states, i]
    return result


def without_prefixes(words: Iterable[Numbers]) -> list[Numbers]:
    """The words without duplicates and prefixes of others, in their order."""
    unique = list(dict.fromkeys(words))
    prefixes = {word[:i] for word in unique for i in range(len(word))}
    return [word for word in unique if word not in prefixes]


def named(machine: MealyMachine, numbers: Iterable[int]) -> Word:
    return tuple(machine.inputs[i] for i in numbers)
