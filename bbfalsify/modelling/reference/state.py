"""States, transitions and outcomes of the reference interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from bbfalsify.modelling.reference.delay_sets import Windows
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError, Real

EdgeName = tuple[int, int]
"""Process, and number of the edge in it."""
Move = tuple[int, int, int]
"""Process, edge, branch."""


class AnyState(Protocol):
    """A state as the interpreter uses it; `long_replay` has one that changes in place."""

    @property
    def locations(self) -> Sequence[int]: ...

    @property
    def integers(self) -> Sequence[int]: ...

    @property
    def reals(self) -> Sequence[Real]: ...

    @property
    def time(self) -> Real: ...


@dataclass(frozen=True)
class State:
    locations: tuple[int, ...]
    integers: tuple[int, ...]
    reals: tuple[Real, ...]
    time: Real = Fraction(0)

    @property
    def exact(self) -> bool:
        """Tell whether every real is a fraction: not integrated, and not an unknown draw."""
        return all(isinstance(r, Fraction) for r in self.reals)


@dataclass(frozen=True)
class Transition:
    sender: EdgeName
    """The internal or sending edge."""
    receivers: tuple[EdgeName, ...] = ()
    """Handshake: the partner.  Broadcast: every receiving edge of a current location; guards decide at the delay."""
    broadcast: bool = False
    windows: Windows = ()
    """The exact set of delays at which it can fire."""
    moves: tuple[Move, ...] = ()
    """The way to fire it; without, any."""


@dataclass(frozen=True)
class FiringOutcome:
    """One way to fire a transition: the moves of sender and receivers, and the probability of their branches."""

    moves: tuple[Move, ...]
    probability: Fraction
    state: State | None
    """None if an update fails."""
    error: ModelRuntimeError | None = None
