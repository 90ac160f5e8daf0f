"""Choices and stays: what the replay of a log records for the estimates."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from bbfalsify.modelling.network.network import Network

EdgeKey = tuple[int, int]
"""Process and number of the edge."""
LocationKey = tuple[int, int]
"""Process and number of the location."""


@dataclass(frozen=True)
class Stay:
    """One component in one location, from entering the state to the next action of any component."""

    pieces: tuple[tuple[float, float], ...]
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
    stays: dict[LocationKey, list[Stay]] = field(default_factory=dict)
    delays: dict[EdgeKey, list[float]] = field(default_factory=dict)
