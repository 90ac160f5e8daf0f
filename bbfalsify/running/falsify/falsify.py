"""One falsification from beginning to end: profile, system and requirements in, a ranked run directory out.

    result = falsify(system, profile, requirements, horizon=20.0, seed=1)
    result.outcome, result.counterexamples[0].probability, result.directory

The engine decides what to try (`engines/falsification`); this file gives it a driver, leads it through its stages
(`stages.py`), has the counterexample files written (`counterexample_list.py`) and draws the conclusion.  All that a
user is shown comes from the recorded results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import Listener
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.engine import Options
from bbfalsify.logic import Requirement
from bbfalsify.modelling import Profile
from bbfalsify.records.accepted import Acceptances, load_acceptances
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recorded_answers import Tape
from bbfalsify.records.run_directory import RunDirectory, begin_or_continue, recorded_seed
from bbfalsify.records.store import Store
from bbfalsify.results.falsify_result import AcceptanceResult, FalsificationResult, RequirementResult
from bbfalsify.running.driver import Driver
from bbfalsify.running.failing import OnFailure
from bbfalsify.running.falsify.conclusions import best_robustness, overall
from bbfalsify.running.falsify.counterexample_list import Listing
from bbfalsify.running.falsify.replay_store import Memory
from bbfalsify.running.falsify.stages import Stages
from bbfalsify.running.falsify.task import Limits, Task, prepare
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.running.warm_up import compile_everything
from bbfalsify.running.workers.executors import opened
from bbfalsify.systems import System


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

    Without a `period`, signals are sampled as requirements and system need it (`sampling_grid.py`), and more densely
    where that changes verdicts; a given one is kept, and what changes at a tenth of it is said.

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
    options = options or Options()
    if out is None and directory is None:
        options = replace(options, fan=0)  # nobody will draw what is written nowhere
    seed = recorded_seed(directory) if seed is None else seed
    task = prepare(
        system,
        profile,
        requirements,
        horizon=horizon,
        period=period,
        name=name,
        system_record=system_record,
        options=options,
        baseline=baseline,
        limits=Limits(budget or Budget(), max_time, time_limit_s, memory_limit_mb, on_failure, votes, early_stop),
        seed=draw_seed() if seed is None else seed,
        jobs=jobs,
    )
    acceptances = accepted if accepted is None or isinstance(accepted, Acceptances) else load_acceptances(accepted)
    memory = None if store is None else Memory(Store.open(store))
    compile_everything()
    started = time.monotonic()  # the limits of a run do not count the compiling that only the very first one needs
    place, tape = begin_or_continue(
        out,
        task.name,
        directory,
        seed=task.seed,
        decided_by=task.decided_by(with_store=memory is not None),
        configuration=configuration,
        adapter_sha256=task.record.sha256,
    )
    with (
        Recorder(None, listeners) if place is None else place.recorder(*listeners, tape=tape) as recorder,
        _driver(task, recorder, tape, executor, place) as driver,
    ):
        stages = Stages(task, driver, memory)
        stages.recall()
        stages.search()
        stages.shrink()
        stages.simulate_plainly()
        if place is not None:
            stages.draw(place.path)
    result = _conclude(stages, place, acceptances, began=started - tape.seconds)
    if place is not None:
        data = result.as_json()
        place.write_results(data if annotate is None else annotate(data))
    return result


def _driver(
    task: Task, recorder: Recorder, tape: Tape, executor: str | Executor | None, place: RunDirectory | None
) -> Driver:
    limits = task.limits
    return Driver(
        task.system,
        RequirementsJudge(task.requirements),
        recorder=recorder,
        budget=limits.budget,
        jobs=task.jobs,
        time_limit_s=limits.time_limit_s,
        seeds=SeedTree(task.seed),
        requirements=[r.id for r in task.requirements],
        on_failure=limits.on_failure,
        memory_limit_mb=limits.memory_limit_mb,
        votes=limits.votes,
        early_stop=limits.early_stop,
        name=task.name,
        log=None if place is None else place.log,
        shared=[usage for usage in (task.usage, *task.sampling.finer) if usage.makes_drafts],
        tape=tape,
        executor=executor,
    )


def _conclude(
    stages: Stages, place: RunDirectory | None, acceptances: Acceptances | None, *, began: float
) -> FalsificationResult:
    """What came out; the files of the counterexamples are written on the way."""
    task, scribe, (checked, met) = stages.task, stages.scribe, stages.self_check()
    notes = [*checked.warnings, *stages.notes()]
    listing, rows = Listing(stages, place, met), []
    for number, requirement in enumerate(task.requirements):
        total = scribe.total(number)
        baseline = stages.baseline(number, total)
        insights = stages.insights(number, total, baseline)
        listing.add(number, insights)
        words, convergence = scribe.convergence(number)
        rows.append(
            RequirementResult(
                id=requirement.id,
                text=requirement.text,
                stl=requirement.formula.text,
                outcome=stages.outcome(number),
                found_probability=total,
                best_robustness=best_robustness(scribe.progress, number),
                baseline=baseline,
                found_probability_with_uncertainty=insights.total,
                time_to_violation=insights.times,
                sensitivity=insights.sensitivity,
                found_words=words,
                convergence=convergence,
            )
        )
    notes += listing.teach_the_store()
    judged, memory = listing.judge(acceptances), stages.memory
    return FalsificationResult(
        name=task.name,
        outcome=overall([row.outcome for row in rows]),
        seed=task.seed,
        simulations=stages.driver.spent.simulations,
        iterations=scribe.progress.search.iterations,
        stop_reason=stages.reason,
        requirements=tuple(rows),
        counterexamples=tuple(listing.rows),
        # Different requirements may be broken by the same use, so their totals do not add up.
        found_probability=rows[0].found_probability if len(rows) == 1 else None,
        seconds=time.monotonic() - began,
        directory=None if place is None else place.path,
        notes=tuple(notes),
        store=None if memory is None else memory.store.path,
        known=() if memory is None else tuple(known.row() for known in memory.known),
        acceptance=None if judged is None else AcceptanceResult.of(judged),
        columns=task.options.columns,
        profile_coverage=stages.coverage(),
        units=task.units,
        sampling=stages.sampling(),
        self_check=checked,
    )
