"""Results of a run, whatever its engine: requirements, counterexamples, effort.

Engines that say more derive from these classes.  All that is shown, exported or compared for every engine is read by
`RunResult.from_json`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.records.stored import Stored, member, to_json


def _read(name: str, **options: Any) -> Any:
    """A member that only some engines write, or the campaign."""
    return member(name, written=False, **options)


@dataclass(frozen=True, kw_only=True)
class CounterexampleRow(Stored):
    """A counterexample in the list of a run."""

    rank: int | None = None
    requirement: str
    status: str | None = None
    """confirmed, flaky or observed"""
    actions: tuple[str, ...]
    probability: Estimate | None = None
    first_violation_time: float = math.nan
    robustness: float = math.nan
    file: str | None = None
    probability_with_uncertainty: Estimate | None = _read("probability_with_uncertainty", default=None)
    accepted: str | None = _read("accepted", default=None)
    """accepted, too probable, expired or new (see `records.accepted`); None where failures are not accepted."""

    @property
    def shown(self) -> Estimate | None:
        """The estimate that readers are shown."""
        return self.probability_with_uncertainty or self.probability


@dataclass(frozen=True, kw_only=True)
class RequirementRow(Stored):
    """A requirement of a run, and its outcome."""

    id: str
    text: str = ""
    stl: str = ""
    outcome: Outcome
    found_probability: Estimate | None = _read("found_probability", default=None)
    """Probability that a use meets one of the listed counterexamples."""
    found_probability_with_uncertainty: Estimate | None = _read("found_probability_with_uncertainty", default=None)
    in_words: str = _read("in_words", default="")
    other_formula: str = _read("formula", default="")
    query: str = _read("query", default="")
    verdict: str | None = _read("verdict", default=None)
    """Verdict of a check."""
    expected: str | None = _read("expected", default=None)
    """The outcome that a campaign expects; the campaign writes it."""

    @property
    def shown(self) -> Estimate | None:
        """The estimate that readers are shown."""
        return self.found_probability_with_uncertainty or self.found_probability

    @property
    def formula(self) -> str:
        """The requirement in the language of its engine."""
        return self.stl or self.other_formula or self.query


@dataclass(frozen=True, kw_only=True)
class RunResult(Stored):
    engine: str = "falsify"
    name: str = ""
    outcome: Outcome
    seed: int
    simulations: int = 0
    """Uses of the system, all told; walks of a model."""
    stop_reason: StopReason | None = None
    requirements: tuple[RequirementRow, ...]
    counterexamples: tuple[CounterexampleRow, ...] = ()
    found_probability: Estimate | None = None
    seconds: float = 0.0
    directory: Path | None = member("run_directory", default=None)
    notes: tuple[str, ...] = ()
    category: str | None = _read("category", default=None)
    """correct, wrong, unknown or error, where a campaign expects something."""
    varies: dict[str, Any] = _read("varies", default_factory=dict)
    """Settings that tell this run from others of its campaign."""

    @property
    def smc(self) -> Estimate | None:
        """The probability of any violation by plain simulation, where it was asked for."""
        return None

    def of(self, requirement: str) -> tuple[CounterexampleRow, ...]:
        """The counterexamples of one requirement, the most probable first."""
        return tuple(found for found in self.counterexamples if found.requirement == requirement)

    def accepted(self, requirement: str) -> int | None:
        """Number of its counterexamples that are accepted; None where failures are not accepted at all."""
        said = [found.accepted for found in self.of(requirement)]
        return None if not said or None in said else said.count(ACCEPTED)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "smc": to_json(self.smc), "seconds": round(self.seconds, 3)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the results; those of a check once had no list, and counted queries only."""
        violated = [
            {"requirement": row["id"], "actions": (*row["prefix"], *row["loop"])}
            for row in data["requirements"]
            if row.get("verdict") == "violated" and "prefix" in row
        ]
        older = {"counterexamples": violated, "simulations": data.get("queries", 0)}
        return super().from_json({**older, **data})


@dataclass(frozen=True, kw_only=True)
class ConcludedResult(Stored):
    """Results whose outcome and list follow from the rows of their requirements."""

    engine: ClassVar[str]
    name: str
    stop_reason: StopReason
    seconds: float
    seed: int
    directory: Path | None = member("run_directory", default=None)
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        raise NotImplementedError

    @property
    def simulations(self) -> int:
        """Uses of the system, all told; walks of a model."""
        raise NotImplementedError

    @property
    def counterexamples(self) -> tuple[CounterexampleRow, ...]:
        return ()

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": self.engine,
            "outcome": self.outcome.value,
            **super().as_json(),
            "counterexamples": to_json(self.counterexamples),
            "found_probability": None,
            "smc": None,
            "simulations": self.simulations,
            "seconds": round(self.seconds, 3),
        }
