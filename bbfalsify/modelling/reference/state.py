"""States, transitions and outcomes of the reference interpreter, and how what is left open is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from bbfalsify.modelling.reference.delay_sets import Windows
from bbfalsify.modelling.reference.evaluation import Draw
from bbfalsify.modelling.reference.values import ModelRuntimeError, Value

if TYPE_CHECKING:
    import numpy as np

EdgeName = tuple[int, int]
"""Process, and number of the edge in that process."""
Move = tuple[int, int, int]
"""Process, edge, branch."""
Option = TypeVar("Option")


@dataclass(frozen=True)
class State:
    locations: tuple[int, ...]
    integers: tuple[int, ...]
    reals: tuple[Fraction | float, ...]
    time: Fraction | float = Fraction(0)

    @property
    def exact(self) -> bool:
        """No real comes from an integration, or is still to be drawn."""
        return all(isinstance(r, Fraction) for r in self.reals)


@dataclass(frozen=True)
class Transition:
    sender: EdgeName
    """The internal or sending edge."""
    receivers: tuple[EdgeName, ...] = ()
    """Handshake: the partner.  Broadcast: every receiving edge of an active location; guards decide at the delay."""
    broadcast: bool = False
    windows: Windows = ()
    """The exact set of delays at which it can fire."""


@dataclass(frozen=True)
class Outcome:
    """One way a transition may end: the moves of sender and receivers, and the probability of their branches."""

    moves: tuple[Move, ...]
    probability: Fraction
    state: State | None
    """None where the updates fail."""
    error: ModelRuntimeError | None = None


def pick_weighted(
    options: Sequence[tuple[Option, Fraction]], generator: np.random.Generator | None, what: str
) -> Option:
    """One of the options in proportion to the weights; no generator is needed where there is only one."""
    if not options:
        raise ValueError(f"the {what} asked for cannot be taken here")
    if len(options) == 1:
        return options[0][0]
    if generator is None:
        raise ValueError(f"{what}: {len(options)} are possible; say which, or give a generator")
    left = Fraction(float(generator.random())) * sum(weight for _, weight in options)
    for option, weight in options:
        left -= weight
        if left < 0:
            return option
    return options[-1][0]


def draw_with(generator: np.random.Generator | None) -> Draw:
    """Random draws of updates from a generator."""

    def draw(name: str, arguments: Sequence[Value]) -> Fraction:
        if generator is None:
            raise ValueError(f"{name} needs a generator, or a function that makes the draws")
        numbers = [float(a) for a in arguments]
        if name == "random":
            return Fraction(float(generator.random()) * numbers[0])
        if name == "random_uniform":
            return Fraction(numbers[0] + float(generator.random()) * (numbers[1] - numbers[0]))
        if name == "random_normal":
            return Fraction(float(generator.normal(numbers[0], numbers[1])))
        if name == "random_exponential":
            return Fraction(float(generator.exponential(1 / numbers[0])))
        raise ValueError(f"unknown random draw {name}")

    return draw
