"""Stores that a memory may read from instead of lists: lazily, with notes of what was read, in layers.

A `Machine` only ever reads and writes single places of its memory, so that any of these can stand for a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol

from bbfalsify.modelling.reference.evaluation import Memory
from bbfalsify.modelling.reference.values import Value, affine

Place = tuple[str, int]
"""Something that can be read: "location", "integer" or "real", and its number."""


class Flowing(Protocol):
    """Reals at constant rates: of each a value, the moment it had it, and the rate; and what time it is."""

    values: list[Fraction]
    since: list[Fraction]
    rates: list[Fraction]
    time: Fraction


class At:
    """The reals at a moment."""

    def __init__(self, flowing: Flowing, moment: Fraction) -> None:
        self._flowing = flowing
        self._moment = moment

    def __getitem__(self, slot: int) -> Fraction:
        flowing = self._flowing
        rate = flowing.rates[slot]
        if not rate:
            return flowing.values[slot]
        passed = self._moment - flowing.since[slot]
        return flowing.values[slot] + (passed if rate == 1 else rate * passed)


class Within(At):
    """The reals as functions of the delay from now on."""

    def __init__(self, flowing: Flowing) -> None:
        super().__init__(flowing, flowing.time)

    def __getitem__(self, slot: int) -> Value:
        return affine(super().__getitem__(slot), self._flowing.rates[slot])


class Noting:
    """A store that notes what is read from it."""

    def __init__(self, store: Any, kind: str, noted: set[Place]) -> None:
        self._store = store
        self._kind = kind
        self._noted = noted

    def __getitem__(self, number: int) -> Value:
        self._noted.add((self._kind, number))
        return self._store[number]


class Layer(dict):
    """What was written, over a store that stays as it is."""

    def __init__(self, store: Any, written: dict[int, Value] | None = None) -> None:
        super().__init__(written or {})
        self.store = store

    def __missing__(self, number: int) -> Value:
        return self.store[number]


class Layered(Memory):
    """A memory of layers."""

    def __init__(self, locations: Layer, integers: Layer, reals: Layer) -> None:
        super().__init__(locations, integers, reals)

    def copy(self) -> Layered:
        return Layered(*(Layer(layer.store, layer) for layer in (self.locations, self.integers, self.reals)))

    def places(self) -> Iterator[Place]:
        """Everything that was written."""
        for kind, layer in (("location", self.locations), ("integer", self.integers), ("real", self.reals)):
            for number in layer:
                yield kind, number


def noting(memory: Memory, noted: set[Place]) -> Layered:
    """A layer over a memory, with notes of what is read from below."""
    stores = (("location", memory.locations), ("integer", memory.integers), ("real", memory.reals))
    return Layered(*(Layer(Noting(store, kind, noted)) for kind, store in stores))
