"""Run an engine that is only a search: a function that asks the system and returns when it has seen enough.

    def shout(ask, plan):
        for level in plan.engine.levels:
            [answer] = ask([Query(f"level/{level}", stimulus_of(level))])
            if answer.violated:
                return

    def run(plan, recording):
        return run_search(shout, plan, recording)

Everything else is done here: the run directory, the driver with its limits, resuming, confirming the first violation of
each requirement, its counterexample file, and results that `show`, `report`, `compare` and CI files understand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from bbfalsify.campaigns.execute import Recording, system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.query import Answer, AnyQuery, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, Outcome, StopReason
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import Counterexample, RequirementRecord, SeedRecord, signals_as_samples
from bbfalsify.records.run_directory import RunDirectory, begin_or_continue, versions
from bbfalsify.running.confirm import Confirmation, confirm
from bbfalsify.running.driver import Driver, drive
from bbfalsify.running.judge import RequirementsJudge
from bbfalsify.systems import System

Search = Callable[[Ask, RunPlan], object]
_WRONG = (StopReason.SYSTEM_FAILED, StopReason.ERROR)


@dataclass(frozen=True)
class _Violation:
    query: Query
    judgement: Judgement
    confirmation: Confirmation


def run_search(search: Search, plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Execute `search(ask, plan)` and return its results; a run directory that was begun is continued."""
    began = time.monotonic()
    requirements, record, execution = plan.stated(Requirement), system_record(plan), plan.execution
    place, tape = begin_or_continue(
        recording.out,
        plan.name,
        recording.directory,
        seed=plan.seed,
        decided_by={
            "engine": plan.engine.as_json(),
            "requirements": [r.id for r in requirements],
            "system": record.sha256,
        },
        configuration=recording.configuration_of(plan),
        adapter_sha256=record.sha256,
    )
    assert place is not None
    first: dict[int, tuple[Query, Judgement]] = {}
    with (
        place.recorder(*recording.listeners, tape=tape) as recorder,
        Driver(
            cast(System, plan.system),
            RequirementsJudge(requirements),
            recorder=recorder,
            budget=plan.budget,
            jobs=execution.jobs,
            time_limit_s=execution.time_limit,
            seeds=SeedTree(plan.seed),
            requirements=[r.id for r in requirements],
            on_failure=execution.on_failure,
            memory_limit_mb=execution.memory_limit,
            votes=execution.votes,
            early_stop=execution.early_stop,
            name=plan.name,
            log=place.log,
            tape=tape,
            executor=recording.executor,
        ) as driver,
    ):
        ended = drive(lambda ask: search(_watched(ask, first), plan), driver)
        violations = {
            number: _Violation(query, seen, confirm(driver.rerun, query, number, seen))
            for number, (query, seen) in sorted(first.items())
        }
    rows = [_row(r, _outcome(number in violations, ended.reason)) for number, r in enumerate(requirements)]
    results = {
        "engine": plan.engine.kind,
        "name": plan.name,
        "outcome": next((o for o in _ORDER if o in {row["outcome"] for row in rows}), Outcome.NOT_FALSIFIED),
        "seed": plan.seed,
        "simulations": driver.spent.simulations,
        "stop_reason": ended.reason,
        "requirements": rows,
        "counterexamples": [
            _counterexample(plan, place, requirements[number], rank, found)
            for rank, (number, found) in enumerate(violations.items(), start=1)
        ],
        "found_probability": None,
        "smc": None,
        "seconds": round(time.monotonic() - began, 3),
        "run_directory": str(place.path),
        "notes": [ended.message] if ended.message else [],
    }
    place.write_results(results)
    return results


_ORDER = (Outcome.FALSIFIED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_FALSIFIED)


def _watched(ask: Ask, first: dict[int, tuple[Query, Judgement]]) -> Ask:
    """`ask`, and a note of the first query that violates each requirement."""

    def watching(queries: Sequence[AnyQuery]) -> Sequence[Answer]:
        answers = ask(queries)
        for query, answer in zip(queries, answers, strict=True):
            for number in answer.violated:
                if isinstance(query, Query):
                    first.setdefault(number, (query, answer.judgements[number]))
        return answers

    return watching


def _outcome(violated: bool, reason: StopReason) -> Outcome:
    if violated:
        return Outcome.FALSIFIED
    if reason in _WRONG:
        return Outcome.ERROR
    return Outcome.NOT_FALSIFIED if reason is StopReason.COMPLETED else Outcome.INCONCLUSIVE


def _row(requirement: Requirement, outcome: Outcome) -> dict[str, Any]:
    return {"id": requirement.id, "text": requirement.text, "stl": requirement.formula.text, "outcome": outcome}


def _counterexample(
    plan: RunPlan, place: RunDirectory, requirement: Requirement, rank: int, found: _Violation
) -> dict[str, Any]:
    """Write the file that `replay` executes; return the row of the results."""
    stimulus, confirmation = found.query.stimulus, found.confirmation
    signals = {} if confirmation.trace is None else confirmation.trace.signals
    actions = tuple(action for _, action in stimulus.events)
    file = place.write_counterexample(
        Counterexample(
            requirement=RequirementRecord(
                requirement.id,
                requirement.text,
                requirement.formula.text,
                cast(Any, requirement.time),
                requirement.period,
            ),
            horizon=stimulus.duration,
            actions=actions,
            word=stimulus.events,
            times=tuple(stimulus.times.tolist()),
            inputs=signals_as_samples(stimulus.inputs),
            outputs=signals_as_samples({k: v for k, v in signals.items() if k not in stimulus.inputs}),
            judgement=found.judgement,
            status=cast(Any, confirmation.status),
            reproduced=confirmation.reproduced,
            tries=confirmation.tries,
            seed=SeedRecord(plan.seed, found.query.name),
            system=system_record(plan),
            versions=versions(),
            time_limit_s=plan.execution.time_limit,
            memory_limit_mb=plan.execution.memory_limit,
        ),
        rank,
        of_several=len(plan.requirements) > 1,
    )
    return {
        "rank": rank,
        "requirement": requirement.id,
        "status": confirmation.status,
        "actions": list(actions),
        "query": found.query.name,
        "probability": None,
        "first_violation_time": found.judgement.first_violation_time,
        "robustness": found.judgement.robustness,
        "file": str(file),
    }
