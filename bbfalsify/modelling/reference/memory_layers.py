"""Replacements for the lists of a memory: computed on demand, recording reads, or layered over another.

An `Evaluator` reads and writes single slots of its memory only, so that any of these can replace a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from bbfalsify.modelling.network.effects import Place
from bbfalsify.modelling.reference.evaluation import AnyMemory
from bbfalsify.modelling.reference.exact_values import Affine, Exact, Value

Content = TypeVar("Content", covariant=True)
Written = TypeVar("Written")


class Readable(Protocol[Content]):
    def __getitem__(self, slot: int, /) -> Content: ...


class Flowing(Protocol):
    """Reals at constant rates: for each a value, the time at which it had it, and the rate; and the current time."""

    values: list[Exact]
    since: list[Exact]
    rates: list[Exact]
    time: Exact


class At:
    """The reals at a given time."""

    def __init__(self, flowing: Flowing, moment: Exact) -> None:
        self._flowing = flowing
        self._moment = moment

    def __getitem__(self, slot: int) -> Exact:
        flowing = self._flowing
        rate = flowing.rates[slot]
        if not rate:
            return flowing.values[slot]
        passed = self._moment - flowing.since[slot]
        return flowing.values[slot] + (passed if rate == 1 else rate * passed)


class Within:
    """The reals as functions of the delay from now on."""

    def __init__(self, flowing: Flowing) -> None:
        self._now = At(flowing, flowing.time)
        self._rates = flowing.rates

    def __getitem__(self, slot: int) -> Value:
        rate = self._rates[slot]
        return Affine(self._now[slot], rate) if rate else self._now[slot]


class Noting(Generic[Written]):
    """A store that records which slots are read."""

    def __init__(self, store: Readable[Written], kind: str, noted: set[Place]) -> None:
        self._store = store
        self._kind = kind
        self._noted = noted

    def __getitem__(self, number: int) -> Written:
        self._noted.add((self._kind, number))
        return self._store[number]


class Layer(dict[int, Written]):
    """The slots that were written, over a store that does not change."""

    def __init__(self, store: Readable[Written], written: dict[int, Written] | None = None) -> None:
        super().__init__(written or {})
        self.store = store

    def __missing__(self, number: int) -> Written:
        return self.store[number]

    def copy(self) -> Layer[Written]:
        return Layer(self.store, self)


@dataclass
class Layered:
    """A memory of layers."""

    locations: Layer[int]
    integers: Layer[Value]
    reals: Layer[Value]

    def copy(self) -> Layered:
        return Layered(self.locations.copy(), self.integers.copy(), self.reals.copy())

    def places(self) -> Iterator[Place]:
        """Every slot that was written."""
        yield from (("l", number) for number in self.locations)
        yield from (("i", number) for number in self.integers)
        yield from (("r", number) for number in self.reals)


@dataclass
class InPlace:
    """A memory that writes integers where they are, as reading them is faster than through a layer."""

    locations: list[int]
    integers: list[Value]
    reals: Layer[Value]

    def copy(self) -> InPlace:
        return InPlace(list(self.locations), list(self.integers), self.reals.copy())


def noting(memory: AnyMemory, noted: set[Place]) -> Layered:
    """Put a layer over a memory, and record what is read from the memory."""
    return Layered(
        Layer(Noting(memory.locations, "l", noted)),
        Layer(Noting(memory.integers, "i", noted)),
        Layer(Noting(memory.reals, "r", noted)),
    )
