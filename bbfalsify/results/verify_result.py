"""Result of `verify`: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bbfalsify.core.verdict import Outcome
from bbfalsify.records.json_files import read_json
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.reach_result import outcome_of_queries, traces_found
from bbfalsify.results.run_result import ConcludedResult, CounterexampleRow


@dataclass(frozen=True, kw_only=True)
class VerifyRow(Stored):
    """The answer to one query."""

    id: str
    text: str = ""
    query: str
    outcome: Outcome = Outcome.INCONCLUSIVE
    verdict: str = "undecided"
    """holds, violated or undecided: the truth of the query, whichever form it has."""
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
    seconds: float = 0.0
    length: int | None = None
    time: float | None = None
    actions: tuple[str, ...] = ()
    """Actions of the trace."""
    ends: str | None = None
    """How an endless run goes on after the trace."""
    file: str | None = None
    expected: str | None = member("expected", written=False, default=None)
    """The outcome that a campaign expects; the campaign writes it."""

    def contract(self) -> dict[str, Any]:
        """The members that `verify --json` promises, with the whole trace."""
        names = ("query", "verdict", "why", "states", "stored", "depth", "cpu_seconds", "memory_mb")
        whole = self.as_json()
        trace = None if self.file is None else read_json(self.file)
        return {**{name: whole[name] for name in names}, "trace": trace, "id": self.id, "found_by": self.found_by}


@dataclass(frozen=True, kw_only=True)
class VerifyResult(ConcludedResult):
    engine = "verify"
    requirements: tuple[VerifyRow, ...]

    @property
    def outcome(self) -> Outcome:
        return outcome_of_queries([row.outcome for row in self.requirements])

    @property
    def simulations(self) -> int:
        return 0

    @property
    def counterexamples(self) -> tuple[CounterexampleRow, ...]:
        return traces_found(self.requirements)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "states": sum(row.states for row in self.requirements)}
