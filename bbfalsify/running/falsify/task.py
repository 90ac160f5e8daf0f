"""The task of a falsification, checked and completed; nothing of it changes while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.search.judging_again import Sampling
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.modelling.formats.model_files import model_hash
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.recording import Recording
from bbfalsify.running.driver import Driver
from bbfalsify.running.falsify.given import ProfileLike, RequirementLike, checked_arguments
from bbfalsify.running.falsify.sampling_grid import choose_grid
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.running.terms import Terms
from bbfalsify.running.workers.executors import opened
from bbfalsify.systems import System


@dataclass(frozen=True)
class Settings:
    """The search, what it estimates, and for how long."""

    horizon: float
    period: float | None = None
    """Period of the samples; by default chosen to fit requirements and system (`sampling_grid.py`)."""
    options: Options = Options()
    baseline: smc.SmcOptions | None = None
    """Plain simulation afterwards, where it is asked for."""
    max_time: float | None = None
    """Seconds of the search."""


@dataclass(frozen=True, eq=False)
class Task:
    """A falsification, checked and complete."""

    system: System
    usage: Usage
    sampling: Sampling
    """Periods at which findings may be judged more densely than the usage says."""
    sampling_notes: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    settings: Settings
    terms: Terms

    @property
    def record(self) -> SystemRecord:
        return self.terms.record(self.system.name)

    @cached_property
    def space(self) -> ProfileSpace:
        """All runs of the profile."""
        return ProfileSpace(self.usage)

    @property
    def options(self) -> Options:
        return self.settings.options

    @property
    def units(self) -> dict[str, str]:
        """Units of the signals that have one; the profile's word and the system's are the same."""
        said = [(port.name, port.unit) for port in (*self.profile.inputs, *self.system.inputs, *self.system.outputs)]
        return {name: unit for name, unit in (*self.profile.outputs, *said) if unit not in (None, "1")}

    @property
    def profile(self) -> Profile:
        return self.usage.profile

    def _values(self) -> dict[str, Any]:
        """The laws of signals and parameters, which may stand in the campaign."""
        laws = [repr(law) for law in (*self.profile.signals, *self.profile.parameters)]
        return {"values": laws} if laws else {}

    def decided_by(self, *, with_store: bool) -> dict[str, Any]:
        """All that decides the result: a run is only continued where it is the same."""
        settings, execution = self.settings, self.terms.execution
        return {
            "horizon": settings.horizon,
            "period": self.usage.period,
            "finer": [usage.period for usage in self.sampling.finer],
            "refinements": self.sampling.refinements,
            "requirements": {r.id: [r.formula.text, r.time, r.period] for r in self.requirements},
            "system": {"name": self.system.name, "sha256": self.record.sha256},
            "profile": {"sha256": model_hash(self.profile.file) or self.usage.model.digest()},
            **self._values(),
            "engine": asdict(settings.options),
            "smc": None if settings.baseline is None else asdict(settings.baseline),
            "max_time": settings.max_time,
            "budget": asdict(self.terms.budget),
            "time_limit": execution.time_limit,
            "on_failure": execution.on_failure,
            "votes": execution.votes,
            "memory_limit": execution.memory_limit,
            "early_stop": execution.early_stop,
            "store": with_store,
        }

    @contextmanager
    def driven(
        self, recording: Recording, decided_by: Mapping[str, Any], *, many_uses: bool = False
    ) -> Iterator[Driver]:
        """Open executor, record and driver of this task; with `many_uses` workers make stimuli from seeds."""
        name = recording.name or self.profile.name
        with (
            opened(self.terms.execution) as where,
            recording.begin(name, self.terms.seed, decided_by, adapter_sha256=self.record.sha256) as record,
            Driver(
                self.system,
                RequirementsJudge(self.requirements),
                where,
                record,
                name=name,
                requirements=[r.id for r in self.requirements],
                budget=self.terms.budget,
                seeds=SeedTree(self.terms.seed),
                shared=[usage for usage in (self.usage, *self.sampling.finer) if many_uses or usage.makes_drafts],
            ) as driver,
        ):
            yield driver


def prepare(
    system: System,
    profile: ProfileLike,
    requirements: RequirementLike | Sequence[RequirementLike],
    settings: Settings,
    terms: Terms,
) -> Task:
    """Check the arguments and complete them; all problems are told at once."""
    used, read = checked_arguments(system, profile, requirements, settings.horizon)
    duration = max(r.duration(settings.horizon) for r in read)
    grid = choose_grid(system, used, read, duration, settings.period)
    usage = Usage(used, compile_network(used.network), duration, grid.period)
    finer = tuple(replace(usage, period=period) for period in grid.finer)
    random = bool(finer) and system.capabilities.seedable
    return Task(
        system=system,
        usage=usage,
        sampling=Sampling(finer, grid.refinements, given=settings.period is not None, random_system=random),
        sampling_notes=grid.notes,
        requirements=read,
        settings=settings,
        terms=terms,
    )
