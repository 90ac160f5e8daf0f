"""One falsification from beginning to end: profile, system and requirements in, a ranked run directory out.

    result = falsify(system, profile, requirements, horizon=20.0, seed=1)
    result.outcome, result.counterexamples[0].probability, result.directory

The engine decides what to try (`engines/falsification`); this file gives it a driver, confirms what it finds, writes
the counterexample files and draws the conclusion.  All that a user is shown comes from the recorded results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.counterexample import (
    Counterexample,
    RequirementRecord,
    SeedRecord,
    SystemRecord,
    signals_as_samples,
)
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.events import (
    CounterexampleConfirmed,
    EstimateMade,
    FindingReported,
    Listener,
    Recorder,
    StageStarted,
)
from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Outcome, SimulationStatus, StopReason
from bbfalsify.engines import smc
from bbfalsify.engines.falsification.accelerator import Finding, Search
from bbfalsify.engines.falsification.engine import Options, Progress, Ranked, run
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile, check_profile
from bbfalsify.running.compiled import compile_everything
from bbfalsify.running.confirm import Confirmation, confirm
from bbfalsify.running.driver import Driver, OnFailure, drive
from bbfalsify.running.judging import RequirementsJudge
from bbfalsify.running.result import FalsificationResult, RankedCounterexample, RequirementResult
from bbfalsify.running.rundir import RunDirectory, versions
from bbfalsify.systems import System

SAMPLES = 100
"""Without a sampling period, the duration is cut into so many."""
MOST_SAMPLES = 10_000_000
"""More would not fit into memory many times over, and are a slip of the pen."""


def falsify(
    system: System,
    profile: Profile,
    requirements: Sequence[Requirement],
    *,
    horizon: float,
    options: Options | None = None,
    period: float | None = None,
    max_time: float | None = None,
    seed: int | None = None,
    jobs: int = 1,
    time_limit_s: float | None = 60.0,
    on_failure: OnFailure = "inconclusive",
    out: str | Path | None = "runs",
    name: str | None = None,
    system_record: SystemRecord | None = None,
    listeners: Iterable[Listener] = (),
    configuration: dict[str, Any] | None = None,
    baseline: smc.Options | None = None,
) -> FalsificationResult:
    """Search for counterexamples, confirm them, estimate how probable each is, and store them best first.

    `max_time` (seconds) ends the search; the estimates of what it found are still made.  With `baseline`, plain
    simulation of the profile then estimates how probable any violation is, so that the result can say how much of it
    the list explains.  `out=None` writes nothing.
    """
    options, name = options or Options(), name or profile.name
    seed = draw_seed() if seed is None else seed
    _check_arguments(system, profile, requirements, horizon)
    duration = max(r.duration(horizon) for r in requirements)
    period = period or duration / SAMPLES or 1.0
    if duration / period > MOST_SAMPLES:
        raise UserError(f"a period of {period:g} over {duration:g} makes more than {MOST_SAMPLES} samples.")
    usage = Usage(profile, compile_network(profile.network), duration, period)
    judge = RequirementsJudge(requirements)
    compile_everything()
    started = time.monotonic()  # the limits of a run do not count the compiling that only the very first one needs
    directory = None if out is None else RunDirectory.create(out, name)
    if directory is not None:
        record = system_record or SystemRecord(system.name)
        directory.write_manifest(seed=seed, configuration=configuration or {}, adapter_sha256=record.sha256)
    with (
        directory.recorder(*listeners) if directory is not None else Recorder(None, listeners) as recorder,
        Driver(
            system,
            judge,
            recorder=recorder,
            jobs=jobs,
            time_limit_s=time_limit_s,
            seeds=SeedTree(seed),
            requirements=[r.id for r in requirements],
            on_failure=on_failure,
            name=name,
            log=None if directory is None else directory.log,
        ) as driver,
    ):
        scribe = _Scribe(driver, recorder, requirements, options)
        recorder.record(StageStarted("searching", options.simulations))
        ended = drive(
            run,
            driver,
            usage,
            scribe.progress,
            options,
            requirements=len(requirements),
            seeds=SeedTree(seed),
            listener=scribe,
            out_of_time=lambda: max_time is not None and time.monotonic() - started >= max_time,
        )
        plain = smc.Progress()
        if baseline is not None and ended.reason is StopReason.COMPLETED:
            recorder.record(StageStarted("simulating", baseline.simulations or 0))
            ended = drive(
                smc.run,
                driver,
                usage,
                plain,
                baseline,
                requirements=len(requirements),
                seeds=SeedTree(seed).child("smc"),
                listener=scribe,
                watched=[[f.actions for f in scribe.findings(i)] for i in range(len(requirements))],
            )
        simulations, failures = driver.spent.simulations, dict(driver.failures)
    reason = scribe.progress.search.stopped if ended.reason is StopReason.COMPLETED else ended.reason
    notes = [*_notes(scribe.progress, failures, requirements, on_failure), *([ended.message] if ended.message else [])]
    outcomes = [_outcome(scribe.progress, number, reason) for number in range(len(requirements))]
    counterexamples = []
    for number, requirement in enumerate(requirements):
        for rank, item in enumerate(scribe.items(number), start=1):
            file = None
            if directory is not None:
                stored = _counterexample(
                    item, requirement, horizon, seed, system_record or SystemRecord(system.name), profile, time_limit_s
                )
                file = str(directory.write_counterexample(stored, rank))
            counterexamples.append(_row(item, requirement, rank, file))
    totals = [scribe.total(i) for i in range(len(requirements))]
    baselines = [
        plain.baseline(i, baseline, found=[f.actions for f in scribe.findings(i)], found_probability=totals[i])
        if baseline is not None and plain.iterations
        else None
        for i in range(len(requirements))
    ]
    result = FalsificationResult(
        name=name,
        outcome=_overall(outcomes),
        seed=seed,
        simulations=simulations,
        iterations=scribe.progress.search.iterations,
        stop_reason=reason or StopReason.COMPLETED,
        requirements=tuple(
            RequirementResult(
                r.id, r.text, r.formula.text, outcomes[i], totals[i], _best(scribe.progress, i), baselines[i]
            )
            for i, r in enumerate(requirements)
        ),
        counterexamples=tuple(counterexamples),
        # Different requirements may be broken by the same use, so their totals do not add up.
        found_probability=totals[0] if len(requirements) == 1 else None,
        seconds=time.monotonic() - started,
        directory=None if directory is None else directory.path,
        notes=tuple(notes),
    )
    if directory is not None:
        directory.write_results(result.as_json())
    return result


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


@dataclass
class _Scribe:
    """Listens to the engine: confirms each finding at once, and records what happens."""

    driver: Driver
    recorder: Recorder
    requirements: Sequence[Requirement]
    options: Options
    progress: Progress = field(default_factory=Progress)
    confirmations: dict[int, Confirmation] = field(default_factory=dict)

    def found(self, finding: Finding) -> None:
        requirement, seen = self.requirements[finding.requirement].id, finding.judgement
        self.recorder.record(
            FindingReported(requirement, finding.actions, finding.query, seen.robustness, seen.first_violation_time)
        )
        query = Query(f"confirm/{finding.requirement}/{finding.iteration}", finding.stimulus, seed_name=finding.query)
        confirmation = confirm(self.driver.rerun, query, finding.requirement, seen)
        self.confirmations[id(finding)] = confirmation
        self.recorder.record(
            CounterexampleConfirmed(
                requirement,
                finding.actions,
                finding.query,
                confirmation.status,
                confirmation.reproduced,
                confirmation.tries,
            )
        )

    def searched(self, search: Search) -> None:
        traces = len(search.findings) * self.options.passes * self.options.traces
        self.recorder.record(StageStarted("estimating", traces))

    def estimated(self, ranked: Ranked) -> None:
        requirement = self.requirements[ranked.finding.requirement].id
        self.recorder.record(EstimateMade(requirement, ranked.probability.as_json(), ranked.finding.actions))

    def counted(self, progress: smc.Progress) -> None:
        """The batches of plain simulation are recorded like all others; nothing more is to be said."""

    def findings(self, requirement: int) -> list[Finding]:
        return [f for f in self.progress.search.findings if f.requirement == requirement]

    def total(self, requirement: int) -> Estimate | None:
        """None where nothing was found, or where the run was stopped before all of it was estimated."""
        found, ranked = self.findings(requirement), self.progress.ranking(requirement)
        if not found or len(ranked) < len(found):
            return None
        return self.progress.found_probability(requirement, self.options.confidence)

    def items(self, requirement: int) -> list[_Item]:
        """Ranked first, then what was found but not estimated because the run was stopped."""
        ranked = self.progress.ranking(requirement)
        done = {id(r.finding) for r in ranked}
        rest = [f for f in self.findings(requirement) if id(f) not in done]
        nothing = Estimate(1.0, 0.0, 1.0, self.options.confidence, "not estimated", 0)
        items = [_Item(r.finding, r.probability, r) for r in ranked] + [_Item(f, nothing, None) for f in rest]
        return [replace(i, confirmation=self.confirmations.get(id(i.finding))) for i in items]


@dataclass(frozen=True, eq=False)
class _Item:
    finding: Finding
    probability: Estimate
    ranked: Ranked | None
    confirmation: Confirmation | None = None

    @property
    def status(self) -> str:
        return "flaky" if self.confirmation is None else self.confirmation.status


def _row(item: _Item, requirement: Requirement, rank: int, file: str | None) -> RankedCounterexample:
    ranked, seen = item.ranked, item.finding.judgement
    return RankedCounterexample(
        rank=rank,
        requirement=requirement.id,
        status=item.status,
        actions=item.finding.actions,
        probability=item.probability,
        cylinder=None if ranked is None else ranked.cylinder,
        violating=0 if ranked is None else ranked.passes.total_hits,
        traces=0 if ranked is None else ranked.passes.total_traces,
        first_violation_time=seen.first_violation_time,
        robustness=seen.robustness,
        iteration=item.finding.iteration,
        file=file,
    )


def _counterexample(
    item: _Item,
    requirement: Requirement,
    horizon: float,
    seed: int,
    system: SystemRecord,
    profile: Profile,
    time_limit_s: float | None,
) -> Counterexample:
    finding, confirmation = item.finding, item.confirmation
    stimulus = finding.stimulus
    trace = None if confirmation is None else confirmation.trace
    outputs = {} if trace is None else {k: v for k, v in trace.signals.items() if k not in stimulus.inputs}
    return Counterexample(
        requirement=RequirementRecord(
            requirement.id, requirement.text, requirement.formula.text, requirement.time, requirement.period
        ),
        horizon=horizon,
        actions=finding.actions,
        word=tuple(zip(finding.walk.times.tolist(), finding.actions, strict=True)),
        times=tuple(stimulus.times.tolist()),
        inputs=signals_as_samples(stimulus.inputs),
        outputs=signals_as_samples(outputs),
        judgement=finding.judgement,
        status=item.status,
        reproduced=0 if confirmation is None else confirmation.reproduced,
        tries=0 if confirmation is None else confirmation.tries,
        seed=SeedRecord(seed, finding.query),
        system=system,
        versions=versions(),
        simulation=finding.status,
        probability=item.probability,
        estimates={} if item.ranked is None else {"cylinder": item.ranked.cylinder},
        profile=profile.file,
        time_limit_s=time_limit_s,
    )


def _outcome(progress: Progress, requirement: int, reason: StopReason | None) -> Outcome:
    """Falsified where anything was found; "not falsified" needs a search that ran and could judge.

    An unbounded `always` can never be called satisfied by a trace that ends; that it was not violated up to the horizon
    is all that "not falsified" says.
    """
    if any(f.requirement == requirement for f in progress.search.findings):
        return Outcome.FALSIFIED
    if reason is StopReason.SYSTEM_FAILED:
        return Outcome.ERROR
    finished = reason in (StopReason.COMPLETED, StopReason.BUDGET_SIMULATIONS, StopReason.BUDGET_TIME)
    judged = progress.search.judged and progress.search.judged[requirement] > 0
    # A simulation that failed might have been the violating one.
    finished = finished and not any(status is not SimulationStatus.OK for status in progress.search.statuses)
    return Outcome.NOT_FALSIFIED if finished and judged else Outcome.INCONCLUSIVE


def _overall(outcomes: Sequence[Outcome]) -> Outcome:
    for outcome in (Outcome.FALSIFIED, Outcome.ERROR, Outcome.INCONCLUSIVE):
        if outcome in outcomes:
            return outcome
    return Outcome.NOT_FALSIFIED


def _best(progress: Progress, requirement: int) -> float:
    return progress.search.best_robustness[requirement] if progress.search.best_robustness else math.inf


def _notes(
    progress: Progress,
    failures: dict[SimulationStatus, int],
    requirements: Sequence[Requirement],
    on_failure: OnFailure,
) -> list[str]:
    """What a reader must know to read the numbers rightly."""
    notes = []
    if failures:
        what = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in sorted(failures.items()))
        meaning = (
            "failing counts as violating"
            if on_failure == "violation"
            else "nobody knows whether they violate, and probabilities leave them out (see on_failure)"
        )
        first = f"; the first said: {progress.search.first_failure}" if progress.search.first_failure else ""
        notes.append(f"simulations that failed: {what}; {meaning}{first}")
    if progress.search.stopped is StopReason.COMPLETED and progress.search.findings:
        notes.append(
            "these are the first counterexamples that the search found, ranked; more probable ones may be missing "
            "(a larger number of counterexamples finds more, smc says how much is missing)"
        )
    if progress.search.zeno_walks:
        notes.append(
            f"{progress.search.zeno_walks} walks did not reach the horizon within {MAX_STEPS} transitions "
            "and were not simulated"
        )
    for number, requirement in enumerate(requirements):
        seen = progress.search.judged[number] if progress.search.judged else 0
        if seen and progress.search.vacuous[number] == seen:
            notes.append(f"{requirement.id} held only vacuously: its trigger never occurred in {seen} simulations")
    return notes
