"""Choices and stays: what the replay of a log records for the estimates."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from bbfalsify.modelling.network.network import Network

EdgeKey = tuple[int, int]
"""Process and number of the edge."""
LocationKey = tuple[int, int]
"""Process and number of the location."""
Pieces = tuple[tuple[float, float], ...]
"""Intervals of delays."""


class Stay(NamedTuple):
    """One component in one location, from entering the state to the next action of any component."""

    pieces: Pieces
    """The delays up to the end of the stay at which the component could have acted."""
    bound: float | None
    """Longest wait that its invariant allows; None: unbounded."""
    acted: bool
    delay: float
    clocks: tuple[float, ...] = ()
    """Values of the deciding clocks at the beginning of the stay."""

    @property
    def exposure(self) -> float:
        return math.fsum(high - low for low, high in self.pieces)


@dataclass(frozen=True, eq=False)
class Wait:
    """A component about to wait: all that stays which begin alike have in common."""

    pieces: Pieces
    """The delays at which the component can act."""
    bound: float | None
    clocks: tuple[float, ...]

    def until(self, delay: float, acted: bool) -> Stay:
        """The stay that ends after this delay."""
        pieces = tuple([(low, high if high < delay else delay) for low, high in self.pieces if low < delay])
        return Stay(pieces, self.bound, acted, delay, self.clocks)


class Stays:
    """The stays in one location, in the order of the log: a few bytes for each, because logs have millions."""

    def __init__(self) -> None:
        self._waits: list[Wait] = []
        self._numbers: dict[Wait, int] = {}
        self._wait, self._acted, self._delay = array("i"), bytearray(), array("d")

    def add(self, wait: Wait, delay: float, acted: bool) -> None:
        self._wait.append(self._number(wait))
        self._acted.append(acted)
        self._delay.append(delay)

    def __len__(self) -> int:
        return len(self._delay)

    def __iter__(self) -> Iterator[Stay]:
        waits = self._waits
        for wait, delay, acted in zip(self._wait, self._delay, self._acted, strict=True):
            yield waits[wait].until(delay, bool(acted))

    def unbounded(self) -> Iterator[Stay]:
        """The stays that no invariant bounds."""
        if any(wait.bound is None for wait in self._waits):
            yield from (stay for stay in self if stay.bound is None)

    def extend(self, others: Stays) -> None:
        numbers = [self._number(wait) for wait in others._waits]
        self._wait.extend(numbers[wait] for wait in others._wait)
        self._acted += others._acted
        self._delay += others._delay

    def _number(self, wait: Wait) -> int:
        number = self._numbers.get(wait)
        if number is None:
            number = self._numbers[wait] = len(self._waits)
            self._waits.append(wait)
        return number


@dataclass
class Observations:
    network: Network
    """The slice that was replayed; its processes and edges are those of the profile."""
    sessions: int = 0
    events: int = 0
    counted: int = 0
    """Events whose delay is known."""
    choices: Counter[tuple[EdgeKey, frozenset[EdgeKey]]] = field(default_factory=Counter)
    """(taken, possible) → how often."""
    stays: dict[LocationKey, Stays] = field(default_factory=lambda: defaultdict(Stays))
    delays: dict[EdgeKey, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    """Delays of each edge's actions."""
