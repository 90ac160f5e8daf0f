"""Result of searches for states: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bbfalsify.records.stored import Stored
from bbfalsify.results.query_rows import TraceRow, TracesResult


@dataclass(frozen=True)
class Improvement(Stored):
    """A trace that was better than all before it."""

    seconds: float
    length: int
    time: float
    heuristic: str


@dataclass(frozen=True, kw_only=True)
class TraceGroup(Stored):
    """Traces to one target that are alike."""

    traces: int
    differs: str
    """What is so in this group and not in all others."""
    length: int
    """Steps of its shortest trace."""
    time: float
    """Time of that trace."""
    actions: tuple[str, ...]
    """Actions of that trace."""
    file: str | None = None
    """Its file."""

    def in_words(self) -> str:
        many = f"{self.traces} trace{'s' * (self.traces != 1)}"
        return f"{self.differs}: {many}, the shortest has {self.length} steps and takes {self.time:.6g}"


@dataclass(frozen=True)
class ExtremeValue(Stored):
    """The largest (sup) or smallest (inf) value of an expression that was reached."""

    word: str
    expression: str
    value: float | None
    """None: no state satisfied the condition."""
    unbounded: bool
    """It grows for ever while time passes."""


@dataclass(frozen=True, kw_only=True)
class QueryResult(TraceRow):
    """The search for one query."""

    heuristic: str | None = None
    """The one that found the trace; as asked for where there is none."""
    walk: int | None = None
    walks: int = 0
    steps: int = 0
    """Steps of all walks."""
    stopped: str | None = "not searched"
    error: str | None = None
    """The model's error at the end of the trace."""
    timelocks: int = 0
    zeno: int = 0
    unconfirmed: tuple[str, ...] = ()
    """Walks that the exact interpreter did not confirm, and why."""
    improvements: tuple[Improvement, ...] = ()
    groups: tuple[TraceGroup, ...] = ()
    """All traces found by what differs, the largest group first, where several were asked for."""
    extremes: tuple[ExtremeValue, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "requirement": self.id, **super().as_json()}


@dataclass(frozen=True, kw_only=True)
class ReachResult(TracesResult):
    engine = "reach"
    requirements: tuple[QueryResult, ...]

    @property
    def walks(self) -> int:
        return sum(row.walks for row in self.requirements)

    simulations = walks

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.requirements)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "steps": self.steps}
