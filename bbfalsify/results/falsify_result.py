"""What a falsification concludes, as plain data: for Python users as objects, for everyone else as results.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.falsification.accelerator import Convergence
from bbfalsify.engines.falsification.coverage import Coverage
from bbfalsify.engines.falsification.insights import Sensitivity, TimeToViolation
from bbfalsify.engines.falsification.smc import Baseline
from bbfalsify.records.accepted import Judged
from bbfalsify.records.json_files import finite_or_null
from bbfalsify.results.notebook import counterexamples_frame, falsification_html
from bbfalsify.stats.estimates import TimeDistribution

if TYPE_CHECKING:
    import pandas


def _json_or_null(value: Any) -> Any:
    return None if value is None else value.as_json()


@dataclass(frozen=True)
class ShrunkCounterexample:
    """What of a counterexample matters: a run of the profile of its own."""

    actions: tuple[str, ...]
    same_as: int | None
    """The rank of the counterexample on the list that has this key."""
    settled: bool
    """Every action was tried; else the simulations for it ended first."""
    simulations: int
    status: str
    probability: Estimate
    cylinder: Estimate | None
    columns: dict[str, Estimate]
    first_violation_time: float
    robustness: float
    delay_quantiles: tuple[float, ...]
    """Where in the profile's law each delay lies: ½ is the median, 0 as early as possible."""
    file: str | None
    probability_with_uncertainty: Estimate | None = None

    def as_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("same_as", "settled", "simulations", "status", "file")}
        return {
            **plain,
            "actions": list(self.actions),
            "transitions": len(self.actions),
            "probability": self.probability.as_json(),
            "cylinder": _json_or_null(self.cylinder),
            "estimates": {name: estimate.as_json() for name, estimate in self.columns.items()},
            "probability_with_uncertainty": _json_or_null(self.probability_with_uncertainty),
            "first_violation_time": finite_or_null(self.first_violation_time),
            "robustness": finite_or_null(self.robustness),
            "delay_quantiles": list(self.delay_quantiles),
        }


@dataclass(frozen=True)
class RankedCounterexample:
    rank: int
    requirement: str
    status: str
    actions: tuple[str, ...]
    probability: Estimate
    cylinder: Estimate | None
    violating: int
    traces: int
    first_violation_time: float
    robustness: float
    iteration: int | None
    """The walk that found it; None for one that the store knew."""
    file: str | None
    known: bool = False
    """Known from the store before this run."""
    sampling_artefact: bool = False
    """It holds at a tenth of the sampling period, which the user chose."""
    accepted: str | None = None
    """Where failures may be accepted: accepted, too probable, expired or new (see `running.accepted`)."""
    columns: dict[str, Estimate] = field(default_factory=dict)
    """The paper's equations about the same word: d6, d8, d9_set, d9_multiset, d9_traces, as far as computed."""
    probability_with_uncertainty: Estimate | None = None
    """Its interval also covers how well the profile's parameters are known, where the profile says so."""
    time_to_violation: TimeDistribution | None = None
    shrunk: ShrunkCounterexample | None = None
    """What of it matters, where that was asked and answered."""

    def as_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("rank", "requirement", "status", "violating", "traces")}
        return {
            **plain,
            "actions": list(self.actions),
            "probability": self.probability.as_json(),
            "cylinder": _json_or_null(self.cylinder),
            "estimates": {name: estimate.as_json() for name, estimate in self.columns.items()},
            "transitions": len(self.actions),
            "first_violation_time": finite_or_null(self.first_violation_time),
            "robustness": finite_or_null(self.robustness),
            "iteration": self.iteration,
            "file": self.file,
            "known": self.known,
            "sampling_artefact": self.sampling_artefact,
            "accepted": self.accepted,
            "probability_with_uncertainty": _json_or_null(self.probability_with_uncertainty),
            "time_to_violation": _json_or_null(self.time_to_violation),
            "shrunk": _json_or_null(self.shrunk),
        }


@dataclass(frozen=True)
class RequirementResult:
    id: str
    text: str
    stl: str
    outcome: Outcome
    found_probability: Estimate | None
    best_robustness: float
    baseline: Baseline | None = None
    """What plain simulation says, where asked for."""
    found_probability_with_uncertainty: Estimate | None = None
    time_to_violation: TimeToViolation | None = None
    sensitivity: Sensitivity | None = None
    found_words: int = 0
    """Distinct counterexamples that the search saw; the list holds at most as many as were asked for."""
    convergence: tuple[Convergence, ...] = ()
    """How the list grew, where the search looked for probable ones."""

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "text": self.text,
            "stl": self.stl,
            "outcome": self.outcome.value,
            "found_probability": _json_or_null(self.found_probability),
            "best_robustness": finite_or_null(self.best_robustness),
            "smc": _json_or_null(self.baseline),
            "found_probability_with_uncertainty": _json_or_null(self.found_probability_with_uncertainty),
            "time_to_violation": _json_or_null(self.time_to_violation),
            "sensitivity": _json_or_null(self.sensitivity),
            "found_words": self.found_words,
            "convergence": [asdict(point) for point in self.convergence],
        }


@dataclass(frozen=True)
class FalsificationResult:
    name: str
    outcome: Outcome
    seed: int
    simulations: int
    """Uses of the system, all told; `iterations` of them searched (walks that stood still were not simulated)."""
    iterations: int
    stop_reason: StopReason
    requirements: tuple[RequirementResult, ...]
    counterexamples: tuple[RankedCounterexample, ...]
    found_probability: Estimate | None
    seconds: float
    directory: Path | None
    notes: tuple[str, ...] = ()
    store: Path | None = None
    known: tuple[dict[str, Any], ...] = ()
    """What became of the store's counterexamples of this system and these requirements."""
    acceptance: Judged | None = None
    """Where failures may be accepted: which were, and which entries were not met."""
    columns: tuple[str, ...] = ()
    """Of the paper's equations, those that were asked for."""
    profile_coverage: Coverage | None = None
    """What of the profile the run has used."""
    units: dict[str, str] = field(default_factory=dict)
    """Of the signals that have one."""
    sampling: dict[str, Any] = field(default_factory=dict)
    """The sampling period, and what changed when runs were judged again at a tenth of it."""

    @property
    def smc(self) -> Estimate | None:
        """The probability of any violation by plain simulation, where there is one requirement and it was asked for."""
        baselines = [r.baseline for r in self.requirements if r.baseline is not None]
        return baselines[0].probability if len(self.requirements) == 1 and baselines else None

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": "falsify",
            "name": self.name,
            "outcome": self.outcome.value,
            "seed": self.seed,
            "simulations": self.simulations,
            "iterations": self.iterations,
            "stop_reason": self.stop_reason.value,
            "requirements": [r.as_json() for r in self.requirements],
            "counterexamples": [c.as_json() for c in self.counterexamples],
            "found_probability": _json_or_null(self.found_probability),
            "smc": _json_or_null(self.smc),
            "seconds": round(self.seconds, 3),
            "run_directory": None if self.directory is None else str(self.directory),
            "notes": list(self.notes),
            "store": None if self.store is None else str(self.store),
            "known": list(self.known),
            "acceptance": _json_or_null(self.acceptance),
            "columns": list(self.columns),
            "profile_coverage": _json_or_null(self.profile_coverage),
            "units": dict(self.units),
            "sampling": self.sampling,
        }

    def __str__(self) -> str:
        """What `print` and a failing assertion show."""
        lines = []
        for row in self.requirements:
            total = "" if row.found_probability is None else f", together {row.found_probability}"
            lines.append(f"{row.id} {row.outcome.value.replace('_', ' ')}{total}")
            lines += [
                f"  #{found.rank} {'·'.join(found.actions)}: {found.probability}"
                for found in self.counterexamples
                if found.requirement == row.id
            ]
        return "\n".join([*lines, f"{self.simulations} simulations", *(f"note: {note}" for note in self.notes)])

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per counterexample (needs pandas)."""
        return counterexamples_frame(self.as_json())

    def _repr_html_(self) -> str:
        return falsification_html(self.as_json())
