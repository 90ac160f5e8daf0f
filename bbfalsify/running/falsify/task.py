"""What a falsification is asked to do, checked and completed; nothing of it changes while it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.engine import Options
from bbfalsify.engines.falsification.judging_again import Sampling
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile, check_profile
from bbfalsify.modelling.formats.model_files import model_hash
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.running.failing import OnFailure
from bbfalsify.running.falsify.sampling_grid import choose_grid
from bbfalsify.systems import System


@dataclass(frozen=True, eq=False)
class Limits:
    """What simulations may cost, and what it means when one fails."""

    budget: Budget
    max_time: float | None
    """Of the search, in seconds."""
    time_limit_s: float | None
    memory_limit_mb: float | None
    on_failure: OnFailure
    votes: int
    early_stop: bool


@dataclass(frozen=True, eq=False)
class Task:
    name: str
    system: System
    record: SystemRecord
    """Where the system was found."""
    usage: Usage
    sampling: Sampling
    """How the run may be judged more densely than the usage says."""
    sampling_notes: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    horizon: float
    options: Options
    baseline: smc.Options | None
    """Of plain simulation, where it is asked for."""
    limits: Limits
    seed: int
    jobs: int

    @property
    def units(self) -> dict[str, str]:
        """Of the signals that have one, for people and plots; the profile's word and the system's are the same."""
        said = [(port.name, port.unit) for port in (*self.profile.inputs, *self.system.inputs, *self.system.outputs)]
        return {name: unit for name, unit in (*self.profile.outputs, *said) if unit not in (None, "1")}

    @property
    def profile(self) -> Profile:
        return self.usage.profile

    def decided_by(self, *, with_store: bool) -> dict[str, Any]:
        """All that decides the result: a run is only continued where it is the same."""
        limits = self.limits
        return {
            "horizon": self.horizon,
            "period": self.usage.period,
            "finer": [usage.period for usage in self.sampling.finer],
            "refinements": self.sampling.refinements,
            "requirements": {r.id: [r.formula.text, r.time, r.period] for r in self.requirements},
            "system": {"name": self.system.name, "sha256": self.record.sha256},
            "profile": {"sha256": model_hash(self.profile.file) or self.usage.model.digest()},
            "engine": asdict(self.options),
            "smc": None if self.baseline is None else asdict(self.baseline),
            "max_time": limits.max_time,
            "budget": asdict(limits.budget),
            "time_limit": limits.time_limit_s,
            "on_failure": limits.on_failure,
            "votes": limits.votes,
            "memory_limit": limits.memory_limit_mb,
            "early_stop": limits.early_stop,
            "store": with_store,
        }


def prepare(
    system: System,
    profile: Profile,
    requirements: Sequence[Requirement],
    *,
    horizon: float,
    period: float | None,
    name: str | None,
    system_record: SystemRecord | None,
    **rest: Any,
) -> Task:
    """The task that these arguments describe; what is wrong with them is said at once."""
    _check_arguments(system, profile, requirements, horizon)
    duration = max(r.duration(horizon) for r in requirements)
    grid = choose_grid(system, profile, requirements, duration, period)
    usage = Usage(profile, compile_network(profile.network), duration, grid.period)
    finer = tuple(replace(usage, period=p) for p in grid.finer)
    random = bool(finer) and system.capabilities.seedable
    record = system_record or SystemRecord(system.name)
    return Task(
        name=name or profile.name,
        system=system,
        record=replace(record, name=record.name or system.name),
        usage=usage,
        sampling=Sampling(finer, grid.refinements, given=period is not None, random_system=random),
        sampling_notes=grid.notes,
        requirements=tuple(requirements),
        horizon=horizon,
        **rest,
    )


def _check_arguments(system: System, profile: Profile, requirements: Sequence[Requirement], horizon: float) -> None:
    """What the command line checks in files, checked again for callers from Python."""
    problems = []
    if not isinstance(system, System):
        problems.append(Problem(f"a system is needed, not {type(system).__name__}; decorate a function with @system."))
    if not isinstance(profile, Profile):
        problems.append(Problem(f"a Profile is needed, not {type(profile).__name__}; load_profile reads one."))
    else:
        problems += check_profile(profile)
    if not requirements or not all(isinstance(r, Requirement) for r in requirements):
        problems.append(Problem("a list with at least one Requirement is needed."))
    problems += [
        Problem(f"no finite trace can violate {r.id}, '{r.formula}': give its eventually or until a bound.")
        for r in requirements
        if isinstance(r, Requirement) and not r.formula.falsifiable
    ]
    if not (math.isfinite(horizon) and horizon >= 0):
        problems.append(Problem(f"the horizon must be finite and not negative, found {horizon}."))
    if problems:
        raise UserError(problems)
