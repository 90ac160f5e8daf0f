"""Result of a falsification: objects for Python, `results.json` for everyone else.

The names of the members are a contract with scripts; see docs/reference/json.md.  More may be added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.choices import IDLE_ACTION, DrawnValue
from bbfalsify.core.confirmation import ConfirmedTrace
from bbfalsify.core.estimate import Estimate, TimeDistribution
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.falsify_acceptance import AcceptanceResult
from bbfalsify.results.falsify_insights import (
    Baseline,
    Convergence,
    Coverage,
    SamplingResult,
    Sensitivity,
    TimeToViolation,
)
from bbfalsify.results.falsify_modes import FailureMode, PastRun, Unseen
from bbfalsify.results.mode_words import explanation, mode_texts, violation_sentence
from bbfalsify.results.notebook import counterexamples_frame, falsification_html
from bbfalsify.results.pictures import Picture, trace_picture
from bbfalsify.results.run_result import CounterexampleRow, RequirementRow, RunResult
from bbfalsify.results.self_check import Meetings, SelfCheck, note_line

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, kw_only=True)
class EstimatedWord(Stored):
    """A sequence of actions that violates a requirement, and how probable it is."""

    actions: tuple[str, ...]
    status: str
    """confirmed or flaky"""
    probability: Estimate
    cylinder: Estimate | None = None
    """Probability of these actions, violating or not."""
    columns: dict[str, Estimate] = member("estimates", default_factory=dict)
    """The paper's equations about the same word: d6, d8, d9_set, d9_multiset, d9_traces, as far as computed."""
    probability_with_uncertainty: Estimate | None = None
    """Its interval also covers how well the profile's parameters are known, where the profile says so."""
    first_violation_time: float = math.nan
    robustness: float = math.nan
    file: str | None = None
    values: tuple[DrawnValue, ...] = ()
    """Values that the profile drew up to the violation: parameters, signals, variables."""

    @property
    def acts(self) -> bool:
        """False for a use of a profile without automata, whose only action comes after its end."""
        return self.actions != (IDLE_ACTION,)

    @property
    def shown(self) -> Estimate:
        """The estimate that readers are shown."""
        return self.probability_with_uncertainty or self.probability

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "transitions": len(self.actions)}


@dataclass(frozen=True, kw_only=True)
class ShrunkCounterexample(EstimatedWord):
    """The part of a counterexample that matters: a run of the profile of its own."""

    same_as: int | None
    """Rank of the counterexample on the list that has this key."""
    settled: bool
    """Every action was tried; else the simulations for it ended first."""
    simulations: int
    delay_quantiles: tuple[float, ...] = ()
    """Position of each delay in the profile's law: ½ is the median, 0 as early as possible."""


@dataclass(frozen=True)
class Ordering(Stored):
    """Further passes, whose only use is to order rows with overlapping intervals."""

    value: float
    """Their estimate."""
    traces: int


@dataclass(frozen=True, kw_only=True)
class RankedCounterexample(EstimatedWord, CounterexampleRow):
    rank: int
    violating: int = 0
    traces: int = 0
    iteration: int | None = None
    """The walk that found it; None for one that the store knew."""
    known: bool = False
    """Known from the store before this run."""
    sampling_artefact: bool = False
    """It holds at a tenth of the sampling period, which the user chose."""
    exact_moments: bool = False
    """Possible only at exact moments: probability zero, listed after the others, left out of the total."""
    accepted: str | None = None
    time_to_violation: TimeDistribution | None = None
    shrunk: ShrunkCounterexample | None = None
    ordered_by: Ordering | None = None
    """The further passes that decided its rank, where its interval overlaps another."""
    met_by_plain_walks: Meetings | None = None
    """Meetings by walks under the profile's own law after it was found (see the self-check)."""

    trace: ConfirmedTrace | None = member(None, default=None, repr=False, compare=False)
    """Arrays of the run that confirmed it; None for results that were read from a file."""

    def plot(self) -> Picture:
        """Draw the run that confirmed it."""
        return trace_picture(f"{self.requirement} #{self.rank} {'·'.join(self.actions)}", [("", self.trace)])

    @property
    def share(self) -> float | None:
        """The fraction of the traces along this word that violate."""
        return self.violating / self.traces if self.traces else None


@dataclass(frozen=True, kw_only=True)
class KnownCounterexample(Stored):
    """A counterexample of the store, executed again."""

    requirement: str
    actions: tuple[str, ...]
    outcome: str
    """same, fixed or changed"""
    before: str
    """open, fixed or changed"""
    explanation: str
    reproduced: int = 0
    tries: int = 0
    file: str


@dataclass(frozen=True, kw_only=True)
class RequirementResult(RequirementRow):
    found_probability: Estimate | None = None
    found_probability_with_uncertainty: Estimate | None = None
    best_robustness: float = math.nan
    baseline: Baseline | None = member("smc", default=None)
    """Plain simulation, where asked for."""
    time_to_violation: TimeToViolation | None = None
    sensitivity: Sensitivity | None = None
    found_words: int = 0
    """Distinct counterexamples that the search saw; the list holds at most as many as were asked for."""
    convergence: tuple[Convergence, ...] = ()
    """Growth of the list, where the search looked for probable ones."""
    violation: Estimate | None = None
    """All known violations: on the list, or met by the plain simulations that name modes."""
    other: Estimate | None = None
    """Known violations that belong to no mode."""
    unseen: Unseen | None = None


@dataclass(frozen=True, kw_only=True)
class FalsificationResult(RunResult):
    iterations: int = 0
    """Simulations that searched (walks that stood still were not simulated)."""
    requirements: tuple[RequirementResult, ...]
    modes: tuple[FailureMode, ...] = ()
    """Failure modes, by requirement the most probable first."""
    counterexamples: tuple[RankedCounterexample, ...]
    store: Path | None = None
    known: tuple[KnownCounterexample, ...] = ()
    """The store's counterexamples of this system and these requirements, executed again."""
    history: tuple[PastRun, ...] = ()
    """Earlier runs of the store and their failure modes, oldest first."""
    acceptance: AcceptanceResult | None = None
    list_notes: tuple[str, ...] = ()
    """Those notes that speak of the rows alone, and of work that naming modes left out."""
    columns: tuple[str, ...] = ()
    """The paper's equations that were asked for."""
    profile_coverage: Coverage | None = None
    units: dict[str, str] = field(default_factory=dict)
    """Units of the signals that have one."""
    sampling: SamplingResult | None = None
    self_check: SelfCheck | None = None
    """Estimates that contradict what walks under the profile's law met."""

    def __post_init__(self) -> None:
        rows = {(row.requirement, row.rank): row for row in self.counterexamples}
        shown = ((mode, rows.get((mode.requirement, next(iter(mode.counterexamples), 0)))) for mode in self.modes)
        object.__setattr__(self, "modes", tuple(replace(mode, typical=row or mode.typical) for mode, row in shown))

    def plot(self, requirement: str | None = None) -> Picture:
        """Draw a typical use of each failure mode of a requirement, by default of the first that was violated."""
        violated = [row.id for row in self.requirements if self.listed(row.id)]
        chosen = requirement or next(iter(violated), "")
        uses = [(f"mode {mode.rank}", mode.typical.trace) for mode in self.modes_of(chosen) if mode.typical is not None]
        uses = uses or [(f"#{row.rank}", row.trace) for row in self.listed(chosen)]
        said = next((row.text or row.stl for row in self.requirements if row.id == chosen), "no violation")
        return trace_picture(f"{chosen} {said}".strip(), uses, self.units)

    @property
    def smc(self) -> Estimate | None:
        """The probability of any violation by plain simulation, where there is one requirement and it was asked for."""
        baselines = [r.baseline for r in self.requirements if r.baseline is not None]
        return baselines[0].probability if len(self.requirements) == 1 and baselines else None

    def listed(self, requirement: str) -> tuple[RankedCounterexample, ...]:
        """The counterexamples of one requirement, the most probable first."""
        return tuple(found for found in self.counterexamples if found.requirement == requirement)

    def accepted_mode(self, mode: FailureMode) -> bool | None:
        """Tell whether all counterexamples of a mode are accepted; None where nothing may be, or it has none."""
        rows = [row for row in self.listed(mode.requirement) if row.rank in mode.counterexamples]
        if self.acceptance is None or not rows:
            return None
        return all(row.accepted == ACCEPTED for row in rows)

    def modes_of(self, requirement: str) -> tuple[FailureMode, ...]:
        """The failure modes of one requirement, the most probable first."""
        return tuple(mode for mode in self.modes if mode.requirement == requirement)

    def __str__(self) -> str:
        """Text that `print` and a failing assertion show."""
        lines = [line for row in self.requirements for line in self._lines(row)]
        hidden = self.list_notes if self.modes else ()
        notes = [note_line(note) for note in self.notes if note not in hidden]
        return "\n".join([*lines, f"{self.simulations} simulations", *notes])

    def _lines(self, row: RequirementResult) -> Iterator[str]:
        """The sentence of a requirement and its modes; where no modes were named, its rows."""
        modes = self.modes_of(row.id)
        if row.violation is not None:
            yield violation_sentence(row)
            yield explanation(row, modes)
            yield from (f"  {line}" for line in mode_texts(modes))
            return
        total = "" if row.found_probability is None else f", together {row.found_probability}"
        yield f"{row.id} {row.outcome.replace('_', ' ')}{total}"
        yield from (f"  #{found.rank} {'·'.join(found.actions)}: {found.probability}" for found in self.listed(row.id))

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per counterexample (needs pandas)."""
        return counterexamples_frame(self.counterexamples)

    def _repr_html_(self) -> str:
        return falsification_html(self)
