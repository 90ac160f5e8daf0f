"""One falsification from beginning to end: profile, system and requirements in, a ranked run directory out.

    result = falsify(system, profile, requirements, horizon=20.0, seed=1)
    result.outcome, result.counterexamples[0].probability, result.directory

The engine decides what to try (`engines/falsification`); this file gives it a driver, confirms what it finds, writes
the counterexample files and draws the conclusion.  All that a user is shown comes from the recorded results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.counterexample import SeedRecord, SystemRecord
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.events import (
    Listener,
    Recorder,
    StageStarted,
)
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines import smc
from bbfalsify.engines.falsification.coverage import Visits, coverage_of
from bbfalsify.engines.falsification.engine import Options, run
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile, check_profile
from bbfalsify.modelling.loading import model_hash
from bbfalsify.running.accepted import Acceptances, load_acceptances
from bbfalsify.running.compiled import compile_everything
from bbfalsify.running.conclusions import (
    best_robustness,
    duration_notes,
    grid_notes,
    notes_on,
    outcome_of,
    overall,
    worker_notes,
)
from bbfalsify.running.driver import Driver, OnFailure, drive
from bbfalsify.running.executors import opened
from bbfalsify.running.fans import draw_fans
from bbfalsify.running.insights import insights_of
from bbfalsify.running.judging import RequirementsJudge
from bbfalsify.running.known import Memory, replay_known, set_aside_impossible
from bbfalsify.running.result import FalsificationResult, RequirementResult
from bbfalsify.running.rundir import begin_or_continue, recorded_seed
from bbfalsify.running.scribe import Item, Scribe, counterexample_file, row_of
from bbfalsify.running.shrink import Shrinking, shrink_list, shrunk_rows
from bbfalsify.running.store import Store
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
    budget: Budget | None = None,
    seed: int | None = None,
    jobs: int = 1,
    time_limit_s: float | None = 60.0,
    on_failure: OnFailure = "inconclusive",
    votes: int = 1,
    memory_limit_mb: float | None = None,
    early_stop: bool = False,
    out: str | Path | None = "runs",
    name: str | None = None,
    system_record: SystemRecord | None = None,
    listeners: Iterable[Listener] = (),
    configuration: dict[str, Any] | None = None,
    baseline: smc.Options | None = None,
    store: str | Path | None = None,
    accepted: Acceptances | str | Path | None = None,
    directory: str | Path | None = None,
    executor: str | Executor | None = None,
    annotate: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> FalsificationResult:
    """Search for counterexamples, confirm them, estimate how probable each is, and store them best first.

    `max_time` (seconds) ends the search; the estimates of what it found are still made, but nothing is shrunk then.
    `budget` bounds the whole run: what was found but not estimated when it is used up is listed as such.  With
    `baseline`, plain simulation of the profile then estimates how probable any violation is, so that the result can say
    how much of it the list explains.  `out=None` writes nothing.

    Each simulation is executed `votes` times and the majority believed; a worker gets `memory_limit_mb` (Linux).  With
    `early_stop` a simulation of a stepwise system ends soon after every requirement is violated.

    Counterexamples in the folder `store` are executed again before the search and ranked with its findings; new ones
    are added to it.  `accepted` (a file, or what `load_acceptances` read) says which failures are no news.

    `directory` is exactly the run directory to use.  If the same run was begun there and interrupted, by whatever, it
    is continued and ends as it would have ended; if it is another run, it is refused.

    Simulations run in `jobs` worker processes, or on an `executor`: "in-process", "dask", "dask:ADDRESS", or whatever
    has the interface of `concurrent.futures`.  `annotate` may add to what is stored as results.
    """
    arguments = dict(locals())
    if isinstance(executor, str) and executor.startswith("dask"):
        with opened(executor, jobs) as cluster:
            return falsify(**{**arguments, "executor": cluster})
    options, name = options or Options(), name or profile.name
    if out is None and directory is None:
        options = replace(options, fan=0)  # nobody will draw what is written nowhere
    seed = recorded_seed(directory) if seed is None else seed
    seed = draw_seed() if seed is None else seed
    _check_arguments(system, profile, requirements, horizon)
    duration = max(r.duration(horizon) for r in requirements)
    period = period or duration / SAMPLES or 1.0
    if duration / period > MOST_SAMPLES:
        raise UserError(f"a period of {period:g} over {duration:g} makes more than {MOST_SAMPLES} samples.")
    usage = Usage(profile, compile_network(profile.network), duration, period)
    judge = RequirementsJudge(requirements)
    acceptances = accepted if accepted is None or isinstance(accepted, Acceptances) else load_acceptances(accepted)
    memory = None if store is None else Memory(Store.open(store))
    record = system_record or SystemRecord(system.name)
    record = replace(record, name=record.name or system.name)
    compile_everything()
    started = time.monotonic()  # the limits of a run do not count the compiling that only the very first one needs
    decided_by = {
        "horizon": horizon,
        "period": period,
        "requirements": {r.id: [r.formula.text, r.time, r.period] for r in requirements},
        "system": {"name": system.name, "sha256": record.sha256},
        "profile": {"sha256": model_hash(profile.file) or usage.model.digest()},
        "engine": asdict(options),
        "smc": None if baseline is None else _settings(baseline),
        "max_time": max_time,
        "budget": asdict(budget or Budget()),
        "time_limit": time_limit_s,
        "on_failure": on_failure,
        "votes": votes,
        "memory_limit": memory_limit_mb,
        "early_stop": early_stop,
        "store": memory is not None,
    }
    directory, tape = begin_or_continue(
        out,
        name,
        directory,
        seed=seed,
        decided_by=decided_by,
        configuration=configuration,
        adapter_sha256=record.sha256,
    )
    with (
        directory.recorder(*listeners, tape=tape) if directory is not None else Recorder(None, listeners) as recorder,
        Driver(
            system,
            judge,
            recorder=recorder,
            budget=budget,
            jobs=jobs,
            time_limit_s=time_limit_s,
            seeds=SeedTree(seed),
            requirements=[r.id for r in requirements],
            on_failure=on_failure,
            memory_limit_mb=memory_limit_mb,
            votes=votes,
            early_stop=early_stop,
            name=name,
            log=None if directory is None else directory.log,
            shared=[usage] if usage.makes_drafts else [],
            tape=tape,
            executor=executor,
        ) as driver,
    ):
        scribe = Scribe(driver, recorder, requirements, options)
        recalled = None
        if memory is not None:
            actions, violates = usage.model.actions, on_failure == "violation"
            recalled = replay_known(
                memory, scribe, record, actions, jobs, time_limit_s, memory_limit_mb=memory_limit_mb,
                failing_violates=violates,
            )  # fmt: skip

        def out_of_time() -> bool:
            return driver.out_of_time(max_time)

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
            out_of_time=out_of_time,
        )
        if memory is not None:
            set_aside_impossible(memory, scribe)
        shrinking = Shrinking()
        if ended.reason is StopReason.COMPLETED:
            seeds = SeedTree(seed).child("shrink")
            ended = drive(shrink_list, driver, usage, scribe, shrinking, seeds=seeds, out_of_time=out_of_time)
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
        if directory is not None and ended.reason is StopReason.COMPLETED:
            ranked = [(r.id, scribe.progress.ranking(i)) for i, r in enumerate(requirements)]
            draw_fans(directory.path, ranked, usage, driver)
    reason = scribe.progress.search.stopped if ended.reason is StopReason.COMPLETED else ended.reason
    notes = [
        *grid_notes(system),
        *duration_notes(requirements, horizon),
        *worker_notes(system, jobs),
        *driver.poll.notes(),
        *notes_on(scribe.progress, failures, requirements, on_failure, options),
        *shrinking.notes,
        *dict.fromkeys(e.message for e in (recalled, ended) if e is not None and e.message),
    ]
    outcomes = [outcome_of(scribe.progress, number, reason) for number in range(len(requirements))]
    totals = [scribe.total(i) for i in range(len(requirements))]
    baselines = [
        plain.baseline(i, baseline, found=[f.actions for f in scribe.findings(i)], found_probability=totals[i])
        if baseline is not None and plain.iterations
        else None
        for i in range(len(requirements))
    ]
    insights = [
        insights_of(
            usage,
            scribe.progress.ranking(i),
            totals[i],
            baselines[i],
            sensitivity=options.sensitivity,
            confidence=options.confidence,
        )
        for i in range(len(requirements))
    ]
    visits = {"search": scribe.progress.search.visits, "simulation": plain.visits, "counterexamples": Visits()}
    for ranked in scribe.progress.ranked:
        if (example := ranked.evidence.example) is not None:
            visits["counterexamples"].add_walk(usage.model, example)
    counterexamples, files, limits, several = [], [], (time_limit_s, memory_limit_mb), len(requirements) > 1
    if directory is not None:
        directory.forget_counterexamples()
    for number, requirement in enumerate(requirements):
        for rank, item in enumerate(scribe.items(number), start=1):
            known = None if memory is None else memory.of(item.finding)
            seeds = SeedRecord(seed, item.finding.query) if known is None else known.stored.counterexample.seed
            content = counterexample_file(item, requirement, horizon, seeds, record, profile, *limits)
            files.append((item.finding, content))
            file = None if directory is None else str(directory.write_counterexample(content, rank, of_several=several))
            counterexamples.append(row_of(item, requirement, rank, file, insights[number], known=known is not None))

        def write_core(item: Item, rank: int, requirement: Requirement = requirement) -> str | None:
            query = SeedRecord(seed, item.finding.query)
            content = counterexample_file(item, requirement, horizon, query, record, profile, *limits)
            write = None if directory is None else directory.write_counterexample
            return None if write is None else str(write(content, rank, "shrunk", of_several=several))

        rows = [c for c in counterexamples if c.requirement == requirement.id]
        counterexamples[len(counterexamples) - len(rows) :] = shrunk_rows(
            rows, scribe.items(number), shrinking, scribe, usage, write_core
        )
    if memory is not None:
        memory.learn(files, run="" if directory is None else directory.path.name)
        notes += memory.notes
    judged = None
    if acceptances is not None:
        judged = acceptances.judge([(c.requirement, c.actions, c.probability) for c in counterexamples])
        counterexamples = [replace(c, accepted=v) for c, v in zip(counterexamples, judged.verdicts, strict=True)]
    result = FalsificationResult(
        name=name,
        outcome=overall(outcomes),
        seed=seed,
        simulations=simulations,
        iterations=scribe.progress.search.iterations,
        stop_reason=reason or StopReason.COMPLETED,
        requirements=tuple(
            RequirementResult(
                r.id,
                r.text,
                r.formula.text,
                outcomes[i],
                totals[i],
                best_robustness(scribe.progress, i),
                baselines[i],
                insights[i].total,
                insights[i].times,
                insights[i].sensitivity,
                *scribe.convergence(i),
            )
            for i, r in enumerate(requirements)
        ),
        counterexamples=tuple(counterexamples),
        # Different requirements may be broken by the same use, so their totals do not add up.
        found_probability=totals[0] if len(requirements) == 1 else None,
        seconds=tape.seconds + time.monotonic() - started,
        directory=None if directory is None else directory.path,
        notes=tuple(notes),
        store=None if memory is None else memory.store.path,
        known=() if memory is None else tuple(known.as_json() for known in memory.known),
        acceptance=judged,
        columns=options.columns,
        profile_coverage=coverage_of(usage.model, visits),
    )
    if directory is not None:
        data = result.as_json()
        directory.write_results(data if annotate is None else annotate(data))
    return result


def _settings(options: smc.Options) -> dict[str, Any]:
    return {part.name: getattr(options, part.name) for part in fields(options) if part.init}


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
