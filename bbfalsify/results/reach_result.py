"""Result of searches for states: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from bbfalsify.core.verdict import FOUND, Outcome
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.run_result import ConcludedResult, CounterexampleRow


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
class QueryResult(Stored):
    """The search for one query; by default one that did not come to its end."""

    id: str
    text: str = ""
    query: str
    outcome: Outcome = Outcome.INCONCLUSIVE
    in_words: str
    heuristic: str | None = None
    """The one that found the trace; as asked for where there is none."""
    walk: int | None = None
    walks: int = 0
    steps: int = 0
    """Steps of all walks."""
    seconds: float = 0.0
    stopped: str | None = "not searched"
    length: int | None = None
    time: float | None = None
    error: str | None = None
    """The model's error at the end of the trace."""
    timelocks: int = 0
    zeno: int = 0
    unconfirmed: tuple[str, ...] = ()
    """Walks that the exact interpreter did not confirm, and why."""
    improvements: tuple[Improvement, ...] = ()
    actions: tuple[str, ...] = ()
    """Actions of the trace found."""
    groups: tuple[TraceGroup, ...] = ()
    """All traces found by what differs, the largest group first, where several were asked for."""
    extremes: tuple[ExtremeValue, ...] = ()
    ends: str | None = None
    """How an endless run goes on after the trace."""
    file: str | None = None
    expected: str | None = member("expected", written=False, default=None)
    """The outcome that a campaign expects; the campaign writes it."""

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "requirement": self.id, **super().as_json()}


_WEIGHT = (
    Outcome.MODEL_ERROR, Outcome.FALSIFIED, Outcome.REACHED, Outcome.INCONCLUSIVE, Outcome.NOT_FALSIFIED,
    Outcome.NOT_REACHED,
)  # fmt: skip
"""The outcome of a run is that of its most telling query."""


class TraceRow(Protocol):
    """A row about a query, which may have a trace."""

    @property
    def id(self) -> str: ...

    @property
    def outcome(self) -> Outcome: ...

    @property
    def actions(self) -> tuple[str, ...]: ...

    @property
    def time(self) -> float | None: ...

    @property
    def file(self) -> str | None: ...


def traces_found(rows: Iterable[TraceRow]) -> tuple[CounterexampleRow, ...]:
    """The traces found, one per query."""
    return tuple(
        CounterexampleRow(
            rank=rank, requirement=row.id, status="confirmed", actions=row.actions,
            first_violation_time=math.nan if row.time is None else row.time, file=row.file,
        )
        for rank, row in enumerate((row for row in rows if row.outcome in FOUND), start=1)
    )  # fmt: skip


def outcome_of_queries(outcomes: Collection[Outcome]) -> Outcome:
    return next((outcome for outcome in _WEIGHT if outcome in outcomes), Outcome.INCONCLUSIVE)


@dataclass(frozen=True, kw_only=True)
class ReachResult(ConcludedResult):
    engine = "reach"
    requirements: tuple[QueryResult, ...]

    @property
    def outcome(self) -> Outcome:
        return outcome_of_queries([row.outcome for row in self.requirements])

    @property
    def walks(self) -> int:
        return sum(row.walks for row in self.requirements)

    simulations = walks

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.requirements)

    @property
    def counterexamples(self) -> tuple[CounterexampleRow, ...]:
        return traces_found(self.requirements)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "steps": self.steps}
