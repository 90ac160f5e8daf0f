"""Conclusions of a falsification beyond its list: plain simulation, times, sensitivity, coverage, convergence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bbfalsify.core.estimate import Estimate, TimeDistribution
from bbfalsify.records.stored import Stored, member

Key = tuple[str, ...]
"""The actions of a counterexample."""


class Met(NamedTuple):
    """A violation that plain simulation met, and how often."""

    actions: Key
    times: int

    def as_json(self) -> dict[str, Any]:
        return {"actions": list(self.actions), "times": self.times}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Met:
        return Met(tuple(data["actions"]), data["times"])


@dataclass(frozen=True, kw_only=True)
class Baseline(Stored):
    """Plain simulation of one requirement, beside the counterexamples that falsification found."""

    probability: Estimate
    """Probability of any violation; where the share is unknown, the list bounds it from below."""
    by_importance: bool = False
    """Importance sampling estimated it: plain simulation met too few."""
    violations: int = 0
    failed: int = 0
    simulations: int = 0
    met: tuple[Met, ...] = ()
    """Keys of violating simulations, those met most often first."""
    other_keys: int = 0
    never_met: tuple[Key, ...] = ()
    """Found counterexamples that no simulation here has shown."""
    explained: Estimate | None = None
    """Share of the violation probability that the found counterexamples account for, by their own estimates."""
    share_unknown: str = ""
    """Reason why `explained` is null although there is a list."""
    met_share: Estimate | None = None
    """Share of the violations met here that have the key of a found counterexample."""
    violation_times: tuple[float, ...] = ()
    """Sorted; P(first violated by time t) is their fraction up to t, times the probability of a violation."""


@dataclass(frozen=True)
class Convergence(Stored):
    """State of a search for probable counterexamples after some simulations."""

    simulations: int
    words: int = 0
    """Distinct counterexamples found by then."""
    mass: float = math.nan
    """Probability of the best of them (as many as asked for), by the search's own rough estimates at its end."""


@dataclass(frozen=True)
class TimeToViolation(Stored):
    """Time of the first violation of a requirement; all histograms have the same bins."""

    bins: tuple[float, ...]
    """Their ends."""
    listed: TimeDistribution | None = member("counterexamples")
    """All listed counterexamples together."""
    plain: TimeDistribution | None = member("smc")
    """Any violation, by plain simulation."""
    each: dict[int, TimeDistribution] = member(None, default_factory=dict)
    """One counterexample alone, by its rank; written with the counterexample."""


@dataclass(frozen=True)
class Elasticity(Stored):
    """Per cent by which a probability grows when a parameter of the profile grows by one per cent."""

    parameter: str
    value: float
    low: float = math.nan
    high: float = math.nan
    confidence: float = math.nan


@dataclass(frozen=True)
class Swap(Stored):
    """Multiplying the parameter by `factor` makes the counterexamples at these two ranks equally probable."""

    first: int
    second: int
    parameter: str
    factor: float
    low: float
    high: float


@dataclass(frozen=True)
class Elasticities(Stored):
    """Elasticities of one counterexample's probability, one per parameter."""

    rank: int
    traces: int = 0
    violating: bool = True
    """False: no trace violated, so this is about following the word."""
    elasticities: tuple[Elasticity, ...] = ()


@dataclass(frozen=True)
class Sensitivity(Stored):
    """Dependence of the probabilities of one requirement's counterexamples on the profile's parameters."""

    counterexamples: tuple[Elasticities, ...] = ()
    """Those that no trace could follow are missing."""
    swaps: tuple[Swap, ...] = ()
    """Between neighbours in the ranking; for each pair the smallest change first."""

    @property
    def elasticities(self) -> dict[int, tuple[Elasticity, ...]]:
        return {row.rank: row.elasticities for row in self.counterexamples}


@dataclass(frozen=True)
class SamplingArtefact(Stored):
    """A finding that holds at the finer period."""

    requirement: str
    actions: Key


@dataclass(frozen=True, kw_only=True)
class SamplingCheck(Stored):
    """Second judgements at a finer period, and how many verdicts changed."""

    period: float
    finer: float
    findings: int
    not_confirmed: int
    artefacts: tuple[SamplingArtefact, ...] = ()
    moved: int
    """Findings that violate in another step, so that their actions change."""
    passing: int
    """Passing runs drawn at random; those that came closest are counted beside them."""
    violating: int
    closest: int
    closest_violating: int
    violations: int
    """Violating runs of the search, to compare with."""
    by_chance: int
    """Changes when the same runs are repeated at the old period."""
    matters: bool = False
    text: str = ""


@dataclass(frozen=True)
class SamplingResult(Stored):
    """The sampling period, and what changed when runs were judged again at a tenth of it."""

    period: float
    given: bool
    """The user chose it."""
    first_period: float
    checks: tuple[SamplingCheck, ...] = ()


@dataclass(frozen=True)
class Covered:
    """One part of the profile, and how often each kind of walk has used it."""

    name: str
    line: int | None
    times: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "line": self.line, **self.times}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Covered:
        return Covered(data["name"], data["line"], {k: n for k, n in data.items() if k not in ("name", "line")})


@dataclass(frozen=True)
class DrawnEdge(Stored):
    """A branch of an edge of the profile."""

    number: int
    """Its number among the branches of all automata."""
    source: str
    target: str
    action: str
    times: int
    """Times that walks have taken it."""


@dataclass(frozen=True)
class DrawnAutomaton(Stored):
    """An automaton of the profile, as a report draws it."""

    name: str
    initial: str
    locations: tuple[str, ...]
    edges: tuple[DrawnEdge, ...]


@dataclass(frozen=True)
class Coverage(Stored):
    """Use of the profile's parts by the walks of a run."""

    walks: Mapping[str, int] = field(default_factory=dict)
    """search, simulation (plain, where asked for) and counterexamples (those listed)"""
    locations: tuple[Covered, ...] = ()
    edges: tuple[Covered, ...] = ()
    branches: tuple[Covered, ...] = ()
    actions: tuple[Covered, ...] = ()
    automata: tuple[DrawnAutomaton, ...] = ()
    """The profile, with the times of walks under its own law, else of the search."""

    def as_json(self) -> dict[str, Any]:
        data = super().as_json()
        parts = {part: never_taken(getattr(self, part)) for part in data if part not in ("walks", "automata")}
        return data | {"never_taken": {part: [c.name for c in rows] for part, rows in parts.items()}}


def never_taken(parts: tuple[Covered, ...]) -> tuple[Covered, ...]:
    return tuple(part for part in parts if not any(part.times.values()))
