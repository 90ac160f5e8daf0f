"""A counterexample is one file that says everything needed to see the failure again.

The file is this dataclass as JSON: the requirement, the key (the actions up to the one that ends the violating delay),
the whole word with its times, the input signals, what the system answered, the judgement, how probable it is that a
user meets it, how often it reproduced, the seeds and the versions.  Reading is strict: all problems at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, DrawnValue, Label
from bbfalsify.core.confirmation import Reproduced
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.named_requirement import NamedRequirement
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.records.json_files import plain_number, read_json, write_json
from bbfalsify.records.own_files import mark_of
from bbfalsify.records.stored import read_strictly, to_json

FORMAT_VERSION = 1
Time = Literal["dense", "discrete"]

Samples = tuple[float, ...]


@dataclass(frozen=True)
class RequirementRecord(NamedRequirement):
    stl: str
    time: Time = "dense"
    period: float | None = None


@dataclass(frozen=True)
class SystemRecord:
    """The system as it was found: the reference as written, the folder it is relative to, the hash of its file."""

    reference: str
    base: str = "."
    sha256: str | None = None
    name: str = ""
    """The system's own name, whatever the folder it was found in; empty in files of older versions."""
    mark: str | None = None
    """Shows its author that the file is his own (records/own_files.py)."""

    @staticmethod
    def found(reference: str, base: str, sha256: str | None, name: str) -> SystemRecord:
        """Make the record of a system that was loaded here."""
        return SystemRecord(reference, base, sha256, name, mark_of(reference, base))


@dataclass(frozen=True)
class SeedRecord:
    """The seed of the run and the name of the query: together they give the seed of the simulation."""

    root: int
    query: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChoiceRecord:
    """All choices of a run: quantiles under the profile's law, and (kind, name, occurrence) of each."""

    quantiles: Samples
    labels: tuple[tuple[str, str, int], ...]

    @staticmethod
    def of(choices: ChoiceSequence | None) -> ChoiceRecord | None:
        if choices is None:
            return None
        labels = tuple((label.kind, label.name, label.occurrence) for label in choices.labels)
        return ChoiceRecord(tuple(choices.quantiles.tolist()), labels)

    @property
    def sequence(self) -> ChoiceSequence:
        return ChoiceSequence(np.array(self.quantiles), tuple(Label(*label) for label in self.labels))


@dataclass(frozen=True)
class Counterexample:
    requirement: RequirementRecord
    horizon: float
    actions: tuple[str, ...]
    """The key: two counterexamples with the same actions are one."""
    word: tuple[tuple[float, str], ...]
    """The whole walk: when each action fired, in order; it begins with the key."""
    times: Samples
    inputs: dict[str, Samples]
    outputs: dict[str, Samples]
    """Empty if the simulation failed."""
    judgement: Judgement
    status: Reproduced
    reproduced: int
    tries: int
    seed: SeedRecord
    system: SystemRecord
    versions: dict[str, str]
    simulation: SimulationStatus = SimulationStatus.OK
    probability: Estimate | None = None
    estimates: dict[str, Estimate] = field(default_factory=dict)
    """Further estimates, each named after what it is an estimate of."""
    profile: str | None = None
    time_limit_s: float | None = None
    memory_limit_mb: float | None = None
    parameters: dict[str, float] = field(default_factory=dict)
    """Parameters of the system in this use; the others had their defaults."""
    values: tuple[DrawnValue, ...] = ()
    """Values that the profile drew: parameters, signals, variables."""
    choices: ChoiceRecord | None = None
    """All choices of the run; absent in files of older versions, and where the run has probability zero."""
    format_version: int = FORMAT_VERSION

    @property
    def stimulus(self) -> Stimulus:
        inputs = {name: np.array(values) for name, values in self.inputs.items()}
        times = np.array(self.times)
        duration = times[-1]
        events = tuple((t, action) for t, action in self.word if t <= duration)
        return Stimulus(times, inputs, events, self.parameters)

    @property
    def trace(self) -> Trace | None:
        """The system's answer when the file was written; None if the simulation failed."""
        if self.simulation is not SimulationStatus.OK:
            return None
        stimulus = self.stimulus
        outputs = {name: np.array(values) for name, values in self.outputs.items()}
        return Trace(stimulus.times, {**stimulus.inputs, **outputs}, stimulus.events)

    @property
    def rate(self) -> float:
        """The share of the repetitions that violated again."""
        return self.reproduced / self.tries if self.tries else math.nan

    def as_json(self) -> dict[str, Any]:
        members = {part.name: to_json(getattr(self, part.name), plain_number) for part in fields(self)}
        return {"format_version": self.format_version} | members

    def write(self, path: str | Path, *, durable: bool = True) -> None:
        write_json(Path(path), self.as_json(), durable=durable)

    @staticmethod
    def read(path: str | Path) -> Counterexample:
        return counterexample_from_json(read_json(path), file=str(path))


def signals_as_samples(signals: Mapping[str, np.ndarray]) -> dict[str, Samples]:
    """Arrays as plain numbers, ready for a Counterexample."""
    return {name: tuple(np.asarray(values, dtype=np.float64).tolist()) for name, values in signals.items()}


def counterexample_from_json(data: Any, *, file: str | None = None) -> Counterexample:
    if not isinstance(data, dict) or "format_version" not in data:
        raise UserError(Problem("not a counterexample file (it has no format_version).", file=file))
    if data["format_version"] != FORMAT_VERSION:
        raise UserError(
            Problem(
                f"format_version {data['format_version']!r} is not known to this version of bbfalsify.",
                file=file,
                allowed=(str(FORMAT_VERSION),),
            )
        )
    found = read_strictly(Counterexample, data, file=file)
    problems = [Problem(text, file=file) for text in _contradictions(found)]
    if problems:
        raise UserError(problems)
    return found


def _contradictions(found: Counterexample) -> list[str]:
    """Contradictions that the types allow and a real counterexample never has."""
    problems = []
    samples = len(found.times)
    if samples == 0 or any(b <= a for a, b in zip(found.times, found.times[1:], strict=False)):
        problems.append("times: must not be empty, and must grow.")
    for what, signals in (("inputs", found.inputs), ("outputs", found.outputs)):
        for name, values in signals.items():
            if len(values) != samples:
                problems.append(f"{what}.{name}: {len(values)} values for {samples} times.")
            if not all(map(math.isfinite, values)):
                problems.append(f"{what}.{name}: every value must be finite.")
    if found.choices is not None and len(found.choices.quantiles) != len(found.choices.labels):
        problems.append("choices: there must be a label for each quantile.")
    if found.choices is not None and not all(0 <= u < 1 for u in found.choices.quantiles):
        problems.append("choices.quantiles: every quantile must be in [0, 1).")
    if found.actions != tuple(action for _, action in found.word[: len(found.actions)]):
        problems.append("word: does not begin with the actions of the key.")
    if not 0 <= found.reproduced <= found.tries:
        problems.append("reproduced: must lie between 0 and tries.")
    if found.judgement.verdict is not Verdict.VIOLATED:
        problems.append(f"judgement: a counterexample is violated, not {found.judgement.verdict}.")
    return problems
