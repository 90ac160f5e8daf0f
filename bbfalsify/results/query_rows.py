"""Rows about queries of a model: what `reach`, `verify` and `estimate` have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bbfalsify.core.verdict import FOUND, Outcome
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.run_result import ConcludedResult, CounterexampleRow


@dataclass(frozen=True, kw_only=True)
class QueryRow(Stored):
    """The answer to one query; by default one that was not asked to its end."""

    id: str
    text: str = ""
    query: str
    outcome: Outcome = Outcome.INCONCLUSIVE
    seconds: float = 0.0
    expected: str | None = member("expected", written=False, default=None)
    """The outcome that a campaign expects; the campaign writes it."""


@dataclass(frozen=True, kw_only=True)
class TraceRow(QueryRow):
    """A query whose answer may be a trace."""

    in_words: str
    length: int | None = None
    time: float | None = None
    actions: tuple[str, ...] = ()
    """Actions of the trace."""
    ends: str | None = None
    """How an endless run goes on after the trace."""
    file: str | None = None


_WEIGHT = (
    Outcome.MODEL_ERROR, Outcome.FALSIFIED, Outcome.REACHED, Outcome.INCONCLUSIVE, Outcome.NOT_FALSIFIED,
    Outcome.NOT_REACHED,
)  # fmt: skip
"""The outcome of a run is that of its most telling query."""


@dataclass(frozen=True, kw_only=True)
class TracesResult(ConcludedResult):
    """Results whose counterexamples are the traces found, at most one per query."""

    requirements: tuple[TraceRow, ...]

    @property
    def outcome(self) -> Outcome:
        outcomes = [row.outcome for row in self.requirements]
        return next((outcome for outcome in _WEIGHT if outcome in outcomes), Outcome.INCONCLUSIVE)

    @property
    def counterexamples(self) -> tuple[CounterexampleRow, ...]:
        found = [row for row in self.requirements if row.outcome in FOUND]
        return tuple(
            CounterexampleRow(
                rank=rank, requirement=row.id, status="confirmed", actions=row.actions,
                first_violation_time=math.nan if row.time is None else row.time, file=row.file,
            )
            for rank, row in enumerate(found, start=1)
        )  # fmt: skip
