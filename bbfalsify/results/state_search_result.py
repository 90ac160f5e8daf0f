"""Result of a search through a transition system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bbfalsify.records.stored import Stored, member


@dataclass(frozen=True)
class TraceStep(Stored):
    label: str
    """Empty for the first state."""
    state: str


@dataclass(frozen=True, kw_only=True)
class StateSearchResult(Stored):
    method: str
    verdict: str
    """reached, unreachable (every reachable state was visited) or undecided."""
    why: str | None
    """Reason why nothing is decided."""
    states: int
    """States visited."""
    transitions: int
    depth: int
    """Steps to the deepest state visited."""
    cpu_seconds: float
    memory_mb: float
    """Memory of the states kept, as far as it can be counted."""
    seed: int
    trace: tuple[TraceStep, ...] = ()
    interrupted: bool = False
    path: tuple[Any, ...] = member(None, default=())
    """States of the trace, as the system has them."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(step.label for step in self.trace[1:])

    @property
    def length(self) -> int | None:
        """Steps of the trace."""
        return len(self.trace) - 1 if self.trace else None

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "length": self.length}

    def __str__(self) -> str:
        counts = f"{self.states:,} states, {self.transitions:,} transitions, depth {self.depth:,}"
        if self.verdict == "reached":
            return f"reached after {self.length:,} steps by {self.method} ({counts})"
        if self.verdict == "unreachable":
            return f"unreachable: {self.method} has visited every reachable state ({counts})"
        return f"undecided by {self.method}: {self.why} ({counts})"
