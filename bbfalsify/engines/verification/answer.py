"""Answers to queries about all behaviours of a model."""

from __future__ import annotations

from dataclasses import dataclass

from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace
from bbfalsify.engines.reachability.endless_runs import Ending
from bbfalsify.zones import Explorer
from bbfalsify.zones.bit_search import BitSearch

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "undecided"


@dataclass(frozen=True)
class Effort:
    """Figures of an exploration."""

    states: int = 0
    """Symbolic states whose successors were computed."""
    stored: int = 0
    transitions: int = 0
    depth: int = 0
    waiting: int = 0
    memory_mb: float = 0.0

    @classmethod
    def of_bits(cls, search: BitSearch) -> Effort:
        memory = round(search.bytes / 1e6, 3)
        return cls(search.visited, 0, search.transitions, search.depth, search.left, memory)

    @classmethod
    def of(cls, explorer: Explorer) -> Effort:
        return cls(
            explorer.visited, explorer.stored, explorer.transitions, explorer.depth, explorer.left,
            round(explorer.bytes / 1e6, 3),
        )  # fmt: skip

    def __add__(self, other: Effort) -> Effort:
        """Figures of two explorations, one after the other."""
        return Effort(
            self.states + other.states, self.stored + other.stored, self.transitions + other.transitions,
            max(self.depth, other.depth), other.waiting, max(self.memory_mb, other.memory_mb),
        )  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """The truth of a query about a model, or why it is not known."""

    verdict: str
    """holds, violated or undecided."""
    effort: Effort
    why: str | None = None
    """Why it is undecided, or why the trace may not be the best."""
    trace: ConcreteTrace | None = None
    """A run that shows it: to a target, or one that goes on for ever."""
    ending: Ending | None = None
    found_by: str = "zones"
    stopwatch: str | None = None
    """A clock that may stop: zones contained more states than can be reached."""
