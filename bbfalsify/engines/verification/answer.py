"""Answers to queries about all behaviours of a model."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace
from bbfalsify.engines.reachability.endless_runs import Ending
from bbfalsify.zones import Explorer
from bbfalsify.zones.bit_search import BitSearch

HOLDS, VIOLATED, EXACT, UNDECIDED = "holds", "violated", "exact", "undecided"


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
class Limit:
    """The largest or smallest value of an expression."""

    word: str
    """sup or inf."""
    expression: str
    value: Fraction | None = None
    """None: no state satisfies the condition, there is no bound, or no value is known."""
    reached: bool = True
    """A state has the value; else states come as close to it as you like."""
    unbounded: bool = False
    why: str | None = None
    """Why it is not exact: the value was reached, and others may lie beyond."""
    trace: ConcreteTrace | None = None
    """A run to a state with the value, or close to it; without a bound, to a large one."""

    def in_words(self) -> str:
        name = f"{self.word} {self.expression}"
        if self.why is not None:
            known = "" if self.value is None else f" {'>=' if self.word == 'sup' else '<='} {float(self.value):.12g}"
            return f"{name}{known}, not exact ({self.why})"
        if self.unbounded:
            return f"{name}: without bound"
        if self.value is None:
            return f"{name}: no state satisfies the condition"
        return f"{name} = {float(self.value):.12g}{'' if self.reached else ' (approached, never reached)'}"


@dataclass(frozen=True)
class Answer:
    """The truth of a query about a model, or why it is not known."""

    verdict: str
    """holds, violated or undecided; of largest and smallest values, exact or undecided."""
    effort: Effort
    why: str | None = None
    """Why it is undecided, or why the trace may not be the best."""
    trace: ConcreteTrace | None = None
    """A run that shows it: to a target, or one that goes on for ever."""
    ending: Ending | None = None
    found_by: str = "zones"
    stopwatch: str | None = None
    """A clock that may stop: zones contained more states than can be reached."""
    limits: tuple[Limit, ...] = ()
    """Largest and smallest values that were asked."""
