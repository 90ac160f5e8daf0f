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

from bbfalsify.campaigns.execute import system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.query import Answer, AnyQuery, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, Outcome, StopReason
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import Counterexample, RequirementRecord, SeedRecord, signals_as_samples
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.run_directory import versions
from bbfalsify.running.confirm import Confirmation, confirm
from bbfalsify.running.driver import Driver
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
    requirements = plan.stated(Requirement)
    ids, system = [r.id for r in requirements], recording.system
    adapter = None if system is None else system.sha256
    decided_by = {"engine": plan.engine.as_json(), "requirements": ids, "system": adapter}
    first: dict[int, tuple[Query, Judgement]] = {}
    with (
        recording.begin(plan.name, plan.seed, decided_by, adapter_sha256=adapter) as record,
        Driver(
            cast(System, plan.system),
            RequirementsJudge(requirements),
            plan.execution,
            record,
            name=plan.name,
            requirements=ids,
            budget=plan.budget,
            seeds=SeedTree(plan.seed),
        ) as driver,
    ):
        with driver.until_stopped() as ended:
            search(_watched(driver.ask, first), plan)
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
            _counterexample(plan, record, requirements[number], rank, found)
            for rank, (number, found) in enumerate(violations.items(), start=1)
        ],
        "found_probability": None,
        "smc": None,
        "seconds": round(time.monotonic() - began, 3),
        "run_directory": None if record.path is None else str(record.path),
        "notes": [ended.message] if ended.message else [],
    }
    record.write_results(results)
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
    plan: RunPlan, record: RunRecord, requirement: Requirement, rank: int, found: _Violation
) -> dict[str, Any]:
    """Write the file that `replay` executes; return the row of the results."""
    stimulus, confirmation = found.query.stimulus, found.confirmation
    signals = {} if confirmation.trace is None else confirmation.trace.signals
    actions = tuple(action for _, action in stimulus.events)
    content = Counterexample(
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
        status=confirmation.status,
        reproduced=confirmation.reproduced,
        tries=confirmation.tries,
        seed=SeedRecord(plan.seed, found.query.name),
        system=system_record(plan),
        versions=versions(),
        time_limit_s=plan.execution.time_limit,
        memory_limit_mb=plan.execution.memory_limit,
    )
    several, file = len(plan.requirements) > 1, None
    if record.directory is not None:
        file = str(record.directory.write_counterexample(content, rank, of_several=several))
    return {
        "rank": rank,
        "requirement": requirement.id,
        "status": confirmation.status,
        "actions": list(actions),
        "query": found.query.name,
        "probability": None,
        "first_violation_time": found.judgement.first_violation_time,
        "robustness": found.judgement.robustness,
        "file": file,
    }
