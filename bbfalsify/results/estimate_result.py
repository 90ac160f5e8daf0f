"""Result of estimates: objects for Python, `results.json` for everyone else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bbfalsify.core.estimate import NOT_ESTIMATED, Estimate
from bbfalsify.core.verdict import Outcome
from bbfalsify.results.query_rows import QueryRow
from bbfalsify.results.run_result import ConcludedResult

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "undecided"
OUTCOMES = {HOLDS: Outcome.NOT_FALSIFIED, VIOLATED: Outcome.FALSIFIED, UNDECIDED: Outcome.INCONCLUSIVE}


_WHERE_KNOWN = (
    "effective_samples", "distinct_roots", "simulated_time", "words", "trajectories", "table", "derivatives", "storm",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EstimateRow(QueryRow):
    """The answer to one query."""

    verdict: str | None = None
    """holds, violated or undecided; None where a number was asked for."""
    estimate: Estimate | None = None
    runs: int = 0
    method: str = NOT_ESTIMATED
    warnings: tuple[str, ...] = ()
    effective_samples: float | None = None
    """Of importance sampling: the number of equally weighted runs that those which met it are worth."""
    distinct_roots: int | None = None
    """Of splitting: the fewest first runs of a pass from which its successes descend."""
    simulated_time: dict[str, float] | None = None
    """Of splitting of a system: the time of all `uses` together, and what of it was `simulated`."""
    words: dict[str, Any] | None = None
    """Of a sum over words of actions: the probability of each (estimates)."""
    trajectories: dict[str, Any] | None = None
    """Of a simulation: values of expressions along runs."""
    table: tuple[dict[str, Any], ...] | None = None
    """The answer at other times and values of constants: `at`, `verdict`, `estimate`."""
    derivatives: tuple[dict[str, Any], ...] | None = None
    """By each rate and weight: `parameter`, `at`, `value`, `error`, `elasticity`; the most influential first."""
    storm: float | None = None
    """A second opinion: Storm's value, or 1 and 0 for yes and no."""

    @property
    def in_words(self) -> str:
        number = "" if self.estimate is None else f" {number_in_words(self.estimate)}"
        if self.trajectories is not None:
            return f"{self.runs} run{'s' * (self.runs != 1)}"
        return f"{self.verdict}:{number}" if self.verdict else number.strip() or self.method

    def contract(self) -> dict[str, Any]:
        """The members that `estimate --json` promises."""
        whole = self.as_json()
        names = ("query", "verdict", "estimate", "runs", "method", "warnings", "id", "seconds", *_WHERE_KNOWN)
        return {name: whole[name] for name in names if name not in _WHERE_KNOWN or whole[name] is not None}


def number_in_words(found: Estimate) -> str:
    """A value with its interval, one digit more than the interval tells apart; or the bound of what was never met."""
    if found.method == NOT_ESTIMATED:
        return NOT_ESTIMATED
    if found.confidence == 1.0:
        return f"{found.value:.10g}"
    if found.none_seen:
        return f"none met, at most {found.high:.4g} ({100 * found.confidence:g} %)"
    told = f"{found.value:.4g} [{found.low:.4g}, {found.high:.4g}] ({100 * found.confidence:g} %)"
    if not found.at_least:
        return told
    return f"at least {told}" + (f", with what was never met at most {found.at_most:.4g}" if found.unseen < 1 else "")


@dataclass(frozen=True, kw_only=True)
class EstimateResult(ConcludedResult):
    engine = "estimate"
    requirements: tuple[EstimateRow, ...]

    @property
    def outcome(self) -> Outcome:
        return Outcome.overall([row.outcome for row in self.requirements])

    @property
    def simulations(self) -> int:
        return sum(row.runs for row in self.requirements)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "queries": [row.contract() for row in self.requirements]}
