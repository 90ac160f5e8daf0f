"""Memories of the exact interpreter, and evaluators: the code of a network on one memory at one sample delay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.exact_code import ExactCode

Draw = Callable[[str, Sequence[exact.Value]], exact.Value]
"""A random draw: name and arguments to value."""
Content = TypeVar("Content")


def no_draw(name: str, arguments: Sequence[exact.Value]) -> exact.Value:
    """Draw nothing: transitions are only listed."""
    return exact.UNKNOWN


class Slots(Protocol[Content]):
    """The part of a list that an evaluator uses."""

    def __getitem__(self, slot: int, /) -> Content: ...

    def __setitem__(self, slot: int, value: Content, /) -> None: ...


class AnyMemory(Protocol):
    """A memory that an evaluator can read and write; `memory_layers` has one that is no list."""

    @property
    def locations(self) -> Slots[int]: ...

    @property
    def integers(self) -> Slots[exact.Value]: ...

    @property
    def reals(self) -> Slots[exact.Value]: ...

    def copy(self) -> Self: ...


@dataclass
class Memory:
    locations: list[int]
    integers: list[exact.Value]
    """Integers, and UNKNOWN."""
    reals: list[exact.Value]

    def copy(self) -> Memory:
        return Memory(list(self.locations), list(self.integers), list(self.reals))


SomeMemory = TypeVar("SomeMemory", bound=AnyMemory, covariant=True)


class Evaluator(Generic[SomeMemory]):
    """Runs code of one network on one memory at one sample delay."""

    __slots__ = ("code", "depth", "draw", "integers", "locations", "memory", "reals", "sample", "turns")

    def __init__(self, code: ExactCode, memory: SomeMemory, sample: exact.Sample, draw: Draw = no_draw) -> None:
        self.code = code
        self.memory = memory
        self.locations, self.integers, self.reals = memory.locations, memory.integers, memory.reals
        self.sample = sample
        self.draw = draw
        self.depth = 0
        """Calls inside each other."""
        self.turns = 0
        """Turns of all loops."""

    def holds(self, expression: ex.Expression | None) -> bool:
        """Evaluate a condition; a missing one is true."""
        if expression is None:
            return True
        test, frame_size = self.code.truth(expression)
        return test(self, [0] * frame_size)

    def value(self, expression: ex.Expression) -> exact.Value:
        closure, frame_size = self.code.value(expression)
        return closure(self, [0] * frame_size)

    def run(self, statements: Sequence[ex.Statement]) -> None:
        """The updates of a branch."""
        action, frame_size = self.code.block(statements)
        action(self, [0] * frame_size)


AnyEvaluator = Evaluator[AnyMemory]
