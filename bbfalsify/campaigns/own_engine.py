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
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from bbfalsify.campaigns.execute import system_record
from bbfalsify.campaigns.plan import RunPlan
from bbfalsify.core.confirmation import Confirmation
from bbfalsify.core.query import Answer, AnyQuery, Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement, Outcome, StopReason
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import SeedRecord
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.results.run_result import CounterexampleRow, RequirementRow, RunResult
from bbfalsify.running.confirm import confirm, counterexample_file
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


@dataclass(frozen=True, kw_only=True)
class _FirstViolation(CounterexampleRow):
    query: str
    """The name of the query that showed it."""
    inputs: dict[str, str]
    """What each input does, in words."""


def run_search(search: Search, plan: RunPlan, recording: Recording) -> dict[str, Any]:
    """Execute `search(ask, plan)` and return its results; a run directory that was begun is continued."""
    began = time.monotonic()
    requirements = plan.stated(Requirement)
    ids, system = [r.id for r in requirements], recording.system
    adapter = None if system is None else system.sha256
    decided_by = {"engine": plan.engine.as_json(), "requirements": ids, "system": adapter}
    seen = _Seen()
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
            search(seen.watching(driver.ask), plan)
        violations = {
            number: _Violation(query, judgement, confirm(driver.rerun, query, number, judgement))
            for number, (query, judgement) in sorted(seen.violations.items())
        }
    rows = tuple(
        RequirementRow(id=r.id, text=r.text, stl=r.formula.text, outcome=seen.outcome(number, ended.reason))
        for number, r in enumerate(requirements)
    )
    results = RunResult(
        engine=plan.engine.kind,
        name=plan.name,
        outcome=Outcome.overall([row.outcome for row in rows]),
        seed=plan.seed,
        simulations=driver.spent.simulations,
        stop_reason=ended.reason,
        requirements=rows,
        counterexamples=tuple(
            _counterexample(plan, recording, record, requirements[number], rank, found)
            for rank, (number, found) in enumerate(violations.items(), start=1)
        ),
        seconds=time.monotonic() - began,
        directory=record.path,
        notes=tuple(note for note in (ended.message, seen.note) if note),
    ).as_json()
    record.write_results(results)
    return results


@dataclass
class _Seen:
    """The answers of a search: first violations, and how many simulations were judged or failed."""

    violations: dict[int, tuple[Query, Judgement]] = field(default_factory=dict)
    judged: int = 0
    failed: int = 0
    first_failure: str = ""

    def watching(self, ask: Ask) -> Ask:
        def watched(queries: Sequence[AnyQuery]) -> Sequence[Answer]:
            answers = ask(queries)
            for query, answer in zip(queries, answers, strict=True):
                self._see(query, answer)
            return answers

        return watched

    def _see(self, query: AnyQuery, answer: Answer) -> None:
        self.judged += bool(answer.judgements)
        if not answer.ok:
            self.failed += 1
            self.first_failure = self.first_failure or answer.message
        for number in answer.violated:
            if isinstance(query, Query):
                self.violations.setdefault(number, (query, answer.judgements[number]))

    def outcome(self, requirement: int, reason: StopReason) -> Outcome:
        """Conclude as `falsify` does: a simulation that failed might have been the violating one."""
        if requirement in self.violations:
            return Outcome.FALSIFIED
        if reason in _WRONG or (self.failed and not self.judged):
            return Outcome.ERROR
        finished = reason is StopReason.COMPLETED and self.judged and not self.failed
        return Outcome.NOT_FALSIFIED if finished else Outcome.INCONCLUSIVE

    @property
    def note(self) -> str:
        return f"simulations that failed: {self.failed}; the first said: {self.first_failure}" if self.failed else ""


def _in_words(values: np.ndarray) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def _counterexample(
    plan: RunPlan, recording: Recording, record: RunRecord, requirement: Requirement, rank: int, found: _Violation
) -> _FirstViolation:
    """Write the file that `replay` executes; return the row of the results."""
    stimulus, confirmation = found.query.stimulus, found.confirmation
    actions = tuple(action for _, action in stimulus.events)
    content = counterexample_file(
        requirement,
        stimulus,
        confirmation,
        horizon=stimulus.duration,
        actions=actions,
        word=stimulus.events,
        judgement=found.judgement,
        status=confirmation.status,
        seed=SeedRecord(plan.seed, found.query.name),
        system=recording.system or system_record(plan),
        time_limit_s=plan.execution.time_limit,
        memory_limit_mb=plan.execution.memory_limit,
    )
    several, file = len(plan.requirements) > 1, None
    if record.directory is not None:
        file = str(record.directory.write_counterexample(content, rank, of_several=several))
    return _FirstViolation(
        rank=rank,
        requirement=requirement.id,
        status=confirmation.status,
        actions=actions,
        query=found.query.name,
        inputs={name: _in_words(values) for name, values in stimulus.inputs.items()},
        first_violation_time=found.judgement.first_violation_time,
        robustness=found.judgement.robustness,
        file=file,
    )
