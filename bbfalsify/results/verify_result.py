"""Result of `verify`: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bbfalsify.records.stored import Stored
from bbfalsify.records.trace_file import read_trace_file
from bbfalsify.results.query_rows import TraceRow, TracesResult


@dataclass(frozen=True, kw_only=True)
class LimitValue(Stored):
    """The largest (sup) or smallest (inf) value of an expression over all states that satisfy the condition."""

    word: str
    expression: str
    value: float | None = None
    """None: there is no bound, no such state, or no value is known."""
    reached: bool = True
    """A state has the value; else states come as close to it as you like."""
    unbounded: bool = False
    why: str | None = None
    """Why it is not exact: the value was reached, and others may lie beyond."""
    file: str | None = None
    """The trace to the value, or close to it."""


@dataclass(frozen=True, kw_only=True)
class VerifyRow(TraceRow):
    """The answer to one query."""

    verdict: str = "undecided"
    """holds, violated or undecided: the truth of the query, whichever form it has; exact or undecided where values are
    asked."""
    why: str | None = "not asked"
    """Why it is undecided, or why the trace may not be the best."""
    in_words: str = "undecided: not asked"
    found_by: str | None = None
    """zones, or the heuristic of a random walk."""
    states: int = 0
    """Symbolic states whose successors were computed."""
    stored: int = 0
    """Symbolic states that are kept, because no other covers them."""
    transitions: int = 0
    depth: int = 0
    memory_mb: float = 0.0
    cpu_seconds: float = 0.0
    limits: tuple[LimitValue, ...] = ()
    """The values of `sup`, `inf` and `bounds`."""

    def contract(self) -> dict[str, Any]:
        """The members that `verify --json` promises, with the whole trace."""
        names = ("query", "verdict", "why", "states", "stored", "depth", "cpu_seconds", "memory_mb")
        whole = self.as_json()
        trace = None if self.file is None else read_trace_file(self.file)
        others = {"trace": trace, "id": self.id, "found_by": self.found_by}
        return {
            **{name: whole[name] for name in names},
            **others,
            **({"limits": whole["limits"]} if self.limits else {}),
        }


@dataclass(frozen=True, kw_only=True)
class VerifyResult(TracesResult):
    engine = "verify"
    requirements: tuple[VerifyRow, ...]

    @property
    def simulations(self) -> int:
        return 0

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "states": sum(row.states for row in self.requirements)}
