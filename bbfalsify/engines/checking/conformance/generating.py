"""Generate batches of test words from a hypothesis and a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from bbfalsify.automata.equivalence import minimise
from bbfalsify.automata.identification import (
    Separations,
    access_numbers,
    harmonised_numbers,
    identifying_numbers,
    separating_numbers_set,
)
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.automata.words import Words
from bbfalsify.engines.checking.conformance.identifiers import Beam, Pools, empty_beam, empty_pools
from bbfalsify.engines.checking.conformance.ordering import chunks
from bbfalsify.engines.checking.conformance.sketch import MachineTables, Sketch, emit, sketch_of, with_room
from bbfalsify.engines.checking.conformance.suites import (
    Identifiers,
    empty_choice,
    enter_apart,
    enter_sets,
    enter_word,
    flattened,
)

_BATCH = 64
"""Words returned together."""
_MOST_NEW = 200_000
"""Nodes of one chunk, roughly."""
_RANDOM_BATCH = 64
_GIVE_UP = 50
"""Batches of random words in a row without a new word, after which to end."""

Enter = Callable[[np.ndarray], int]
"""A function that enters items and returns for how many there was room."""


class Generator:
    """Generator of the suites for one hypothesis."""

    _sketch: Sketch
    _access: np.ndarray

    def __init__(self, machine: MealyMachine, tree: ObservationTree | None, rng: np.random.Generator | None) -> None:
        access, separations = access_numbers(machine), Separations(machine)
        if len(access) < len(machine) or not separations.complete:  # learners make machines that are minimal
            machine = minimise(machine)
            access, separations = access_numbers(machine), Separations(machine)
        self._machine, self._separations = machine, separations
        self._access_words = [word for _, word in sorted(access.items())]
        successor, answer = self._machine.successor, self._machine.answer
        self._tables = MachineTables(np.ascontiguousarray(successor, np.int32), np.ascontiguousarray(answer, np.int32))
        self._tree, self._rng = tree if tree is not None else ObservationTree(), rng

    # ------------------------------------------------------------------ complete suites

    def complete(self, method: str, levels: Iterable[int]) -> Iterator[Words]:
        self._start()
        for extra in levels:
            for middle, enter in self._passes(method, extra):
                yield from self._chunks(middle, enter)

    def _passes(self, method: str, extra: int) -> Iterator[tuple[int, Enter]]:
        """Yield the lengths of middle parts that are new at this level, each with the function that enters items."""
        if method == "wp":
            yield extra, self._sets(self._characterising, extra)
            yield extra + 1, self._sets(self._identifying, extra + 1)
            return
        for middle in (0, 1) if extra == 0 else (extra + 1,):
            if method == "h":
                yield middle, self._apart(middle)
            else:
                yield middle, self._sets(self._characterising if method == "w" else self._harmonised, middle)

    def _chunks(self, middle: int, enter: Enter) -> Iterator[Words]:
        for items in chunks(self._tables.successor, middle, self._rng):
            while len(items):
                before = self._sketch.size[0]
                while len(items) and self._sketch.size[0] - before < _MOST_NEW:
                    some = items[:256]
                    entered = enter(some)
                    items = items[entered:]
                    if entered < len(some):
                        self._sketch = with_room(self._sketch)
                yield from emit(self._sketch, self._machine.inputs).parts(_BATCH)

    def _sets(self, identifiers: Identifiers, middle: int) -> Enter:
        path = np.zeros(max(1, middle), np.int64)
        return lambda items: enter_sets(self._sketch, self._tables, self._access, identifiers, middle, path, items)

    def _apart(self, middle: int) -> Enter:
        path = np.zeros(max(1, middle), np.int64)
        choice = empty_choice(self._access, middle, int(self._separations.length.max()))
        return lambda items: enter_apart(
            self._sketch, self._tables, self._access, self._pools, self._beam, choice, middle, path, items
        )

    # ------------------------------------------------------------------ random words

    def random(self, method: str, average_middle: float) -> Iterator[Words]:
        """Yield random words, until none was new for a long time, as on a machine of one input."""
        self._start()
        rng = self._rng if self._rng is not None else np.random.default_rng(0)
        sets = {"w": self._characterising, "wp": self._identifying, "hsi": self._harmonised}[method]
        inputs, futile = len(self._machine.inputs), 0
        while futile < _GIVE_UP:
            for _ in range(_RANDOM_BATCH):
                self._enter_random(rng, sets, inputs, average_middle)
            words = emit(self._sketch, self._machine.inputs)
            futile = 0 if len(words) else futile + 1
            if len(words):
                yield words

    def _enter_random(self, rng: np.random.Generator, sets: Identifiers, inputs: int, average_middle: float) -> None:
        state = int(rng.integers(len(self._access)))
        middle = [int(i) for i in rng.integers(inputs, size=rng.geometric(1 / (1 + average_middle)) - 1)]
        reached = state
        for i in middle:
            reached = int(self._machine.successor[reached, i])
        words = range(int(sets.first[reached]), int(sets.first[reached + 1]))
        last: list[int] = []
        if len(words):
            word = words[int(rng.integers(len(words)))]
            last = sets.symbols[sets.start[word] : sets.start[word + 1]].tolist()
        whole = np.array([*self._access_words[state], *middle, *last], np.int32)
        self._enter_word(whole)

    # ------------------------------------------------------------------ common parts

    def _start(self) -> None:
        self._sketch = sketch_of(self._machine, self._tree)
        self._access = np.array([self._enter_word(np.array(w, np.int32)) for w in self._access_words], np.int32)

    def _enter_word(self, word: np.ndarray) -> int:
        while (node := enter_word(self._sketch, self._tables, word)) < 0:
            self._sketch = with_room(self._sketch)
        return int(node)

    @cached_property
    def _characterising_words(self) -> list[tuple[int, ...]]:
        return separating_numbers_set(self._separations)

    @cached_property
    def _characterising(self) -> Identifiers:
        return flattened([self._characterising_words] * len(self._machine))

    @cached_property
    def _identifying(self) -> Identifiers:
        return flattened(identifying_numbers(self._separations, self._characterising_words))

    @cached_property
    def _harmonised(self) -> Identifiers:
        return flattened(harmonised_numbers(self._separations))

    @cached_property
    def _pools(self) -> Pools:
        return empty_pools(self._separations)

    @cached_property
    def _beam(self) -> Beam:
        return empty_beam(len(self._machine))
