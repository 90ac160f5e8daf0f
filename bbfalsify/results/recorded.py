"""Results as recorded: reads a run's `results.json` (or the same object printed by --json).

The field names are a contract with scripts; see "JSON" in experiments/README.md.  More fields may be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.records.json_files import finite_or_null, read_json
from bbfalsify.records.run_directory import readable_manifest


@dataclass(frozen=True)
class ShrunkRow:
    """What of a counterexample matters."""

    actions: tuple[str, ...]
    same_as: int | None
    """The rank of the one on the list with the same key."""
    settled: bool
    """Else there were not enough simulations to try everything."""
    simulations: int
    shown: Estimate
    status: str
    file: str | None


@dataclass(frozen=True)
class CounterexampleRow:
    rank: int
    requirement: str
    status: str
    actions: tuple[str, ...]
    probability: Estimate
    violating: int
    traces: int
    first_violation_time: float | None
    robustness: float | None
    iteration: int | None
    file: str | None
    known: bool = False
    """From the store, not found by this search."""
    sampling_artefact: bool = False
    """It holds at a tenth of the sampling period."""
    accepted: str | None = None
    """Where failures may be accepted: accepted, too probable, expired or new."""
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """The paper's equations about the same word, by name."""
    with_uncertainty: Estimate | None = None
    """The probability, its interval including how well the profile is known; where the profile says so."""
    time_to_violation: dict[str, Any] | None = None
    shrunk: ShrunkRow | None = None

    @property
    def shown(self) -> Estimate:
        return self.with_uncertainty or self.probability

    @property
    def share(self) -> float | None:
        """The fraction of the traces along this word that violate."""
        return self.violating / self.traces if self.traces else None


@dataclass(frozen=True)
class KnownRow:
    """What became of a counterexample of the store."""

    requirement: str
    actions: tuple[str, ...]
    outcome: str
    """same, fixed or changed"""
    before: str
    """open, fixed or changed"""
    explanation: str
    file: str


@dataclass(frozen=True)
class RequirementRow:
    id: str
    text: str
    outcome: str
    expected: str | None
    found_probability: Estimate | None
    best_robustness: float | None
    stl: str = ""
    any_violation: Estimate | None = None
    """By plain simulation, where the run was asked for it."""
    explained: Estimate | None = None
    """The share of it that the listed counterexamples account for."""
    never_met: int = 0
    """Listed counterexamples that plain simulation has not shown."""
    accepted: int | None = None
    """How many of its counterexamples are accepted, where failures may be accepted at all."""
    counterexamples: int = 0
    with_uncertainty: Estimate | None = None
    """The found probability, its interval including how well the profile is known."""
    time_to_violation: dict[str, Any] | None = None
    sensitivity: dict[str, Any] | None = None
    found_words: int = 0
    """Distinct counterexamples that the search saw."""
    convergence: tuple[tuple[int, float], ...] = ()
    """Simulations of the search, and what the list held by then, roughly; empty where it took the first ones."""

    @property
    def as_expected(self) -> bool | None:
        return None if self.expected is None else self.outcome == self.expected


@dataclass(frozen=True)
class RunResult:
    name: str
    outcome: str
    seed: int
    simulations: int
    seconds: float
    stop_reason: str
    requirements: tuple[RequirementRow, ...]
    counterexamples: tuple[CounterexampleRow, ...]
    found_probability: Estimate | None
    run_directory: str | None
    notes: tuple[str, ...]
    store: str | None = None
    known: tuple[KnownRow, ...] = ()
    unmet: tuple[dict[str, Any], ...] = ()
    """Accepted failures that were not found."""
    columns: tuple[str, ...] = ()
    """The paper's equations that were asked for."""
    profile_coverage: dict[str, Any] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    """Of the signals that have one."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """The sampling period, and what changed when runs were judged again at a tenth of it."""


def read_results(path: str | Path) -> RunResult:
    """The results in a run directory, or in a results file."""
    file, data = recorded_results(path)
    return result_from_json(data, file=str(file))


def recorded_results(path: str | Path) -> tuple[Path, dict[str, Any]]:
    """The results file of a run directory (or the one named), and what is in it; the run's own files are named as they
    are found from here, since its directory may have been moved."""
    file = _results_file(Path(path))
    data = read_json(file)
    if not isinstance(data, dict):
        raise UserError(Problem("not the results of a run.", file=str(file)))
    if (file.parent / "manifest.json").is_file():
        readable_manifest(file.parent)
        before = data.get("run_directory")
        return file, _found_from_here(data, before, str(file.parent)) if isinstance(before, str) else data
    return file, data


def _results_file(path: Path) -> Path:
    """A campaign of several runs has one for each of them."""
    if (path / "campaign.json").is_file():
        text = f"the directory of a campaign of several runs; name one of them, such as {path / 'runs' / '0001'}."
        raise UserError(Problem(text, file=str(path)))
    if (path / "manifest.json").is_file() and not (path / "results.json").is_file():
        text = "this run has no results yet: it was interrupted, or is still going on ('run --resume' continues it)."
        raise UserError(Problem(text, file=str(path)))
    return path / "results.json" if path.is_dir() else path


_PATHS = ("run_directory", "file", "model")
"""Keys of results that name files of the run."""


def _found_from_here(value: Any, before: str, now: str) -> Any:
    if isinstance(value, list):
        return [_found_from_here(item, before, now) for item in value]
    if not isinstance(value, dict):
        return value
    moved = {key: _found_from_here(item, before, now) for key, item in value.items()}
    for key in _PATHS:
        path = moved.get(key)
        if isinstance(path, str) and Path(path).is_relative_to(before):
            moved[key] = str(Path(now) / Path(path).relative_to(before))
    return moved


def result_from_json(data: Any, *, file: str | None = None) -> RunResult:
    try:
        return RunResult(
            name=data.get("name", ""),
            outcome=data["outcome"],
            seed=data["seed"],
            simulations=data["simulations"],
            seconds=data.get("seconds", 0.0),
            stop_reason=data.get("stop_reason", ""),
            requirements=tuple(_requirement(r, data["counterexamples"]) for r in data["requirements"]),
            counterexamples=tuple(_counterexample(c) for c in data["counterexamples"]),
            found_probability=_estimate(data["found_probability"]),
            run_directory=data.get("run_directory"),
            notes=tuple(data.get("notes", ())),
            store=data.get("store"),
            known=tuple(_known(k) for k in data.get("known", ())),
            unmet=tuple((data.get("acceptance") or {}).get("unmet", ())),
            columns=tuple(data.get("columns", ())),
            profile_coverage=data.get("profile_coverage"),
            units=data.get("units") or {},
            sampling=data.get("sampling") or {},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(Problem(f"not the results of a run ({type(error).__name__}: {error}).", file=file)) from None


def _estimate(data: dict | None) -> Estimate | None:
    return None if data is None else Estimate.from_json(data)


def _requirement(data: dict, counterexamples: list[dict]) -> RequirementRow:
    plain = data.get("smc") or {}
    said = [c.get("accepted") for c in counterexamples if c["requirement"] == data["id"]]
    return RequirementRow(
        id=data["id"],
        text=data.get("text", ""),
        outcome=data["outcome"],
        expected=data.get("expected"),
        found_probability=_estimate(data.get("found_probability")),
        best_robustness=finite_or_null(data.get("best_robustness")),
        stl=data.get("stl", ""),
        any_violation=_estimate(plain.get("probability")),
        explained=_estimate(plain.get("explained")),
        never_met=len(plain.get("never_met", ())),
        accepted=None if not said or None in said else said.count(ACCEPTED),
        counterexamples=len(said),
        with_uncertainty=_estimate(data.get("found_probability_with_uncertainty")),
        time_to_violation=data.get("time_to_violation"),
        sensitivity=data.get("sensitivity"),
        found_words=data.get("found_words", 0),
        convergence=tuple((point["simulations"], point["mass"]) for point in data.get("convergence", ())),
    )


def _counterexample(data: dict) -> CounterexampleRow:
    return CounterexampleRow(
        rank=data["rank"],
        requirement=data["requirement"],
        status=data["status"],
        actions=tuple(data["actions"]),
        probability=Estimate.from_json(data["probability"]),
        violating=data.get("violating", 0),
        traces=data.get("traces", 0),
        first_violation_time=finite_or_null(data["first_violation_time"]),
        robustness=finite_or_null(data["robustness"]),
        iteration=data.get("iteration"),
        file=data.get("file"),
        known=data.get("known", False),
        sampling_artefact=data.get("sampling_artefact", False),
        accepted=data.get("accepted"),
        estimates={name: Estimate.from_json(e) for name, e in data.get("estimates", {}).items()},
        with_uncertainty=_estimate(data.get("probability_with_uncertainty")),
        time_to_violation=data.get("time_to_violation"),
        shrunk=None if data.get("shrunk") is None else _shrunk(data["shrunk"]),
    )


def _shrunk(data: dict) -> ShrunkRow:
    plain = {name: data[name] for name in ("same_as", "settled", "simulations", "status", "file")}
    shown = Estimate.from_json(data["probability_with_uncertainty"] or data["probability"])
    return ShrunkRow(actions=tuple(data["actions"]), shown=shown, **plain)


def _known(data: dict) -> KnownRow:
    plain = {name: data[name] for name in ("requirement", "outcome", "before", "explanation", "file")}
    return KnownRow(actions=tuple(data["actions"]), **plain)
