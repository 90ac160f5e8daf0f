"""Estimates about a model as a recorded run: queries in, a run directory with the answers out.

A run that was interrupted is continued: queries that are answered are not asked again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import QueryAnswered, RunResumed, RunStarted, RunStopped, StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.estimation.answering import Answered, Answering
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.modelling import Network
from bbfalsify.records.recording import Recording
from bbfalsify.results.estimate_result import HOLDS, OUTCOMES, UNDECIDED, VIOLATED, EstimateResult, EstimateRow
from bbfalsify.running.reach.reach_run import Question


def estimate_all(
    network: Network,
    questions: Sequence[Question],
    *,
    about: Mapping[str, Any],
    settings: EstimateSettings,
    budget: Budget = Budget(),
    seed: int | None = None,
    recording: Recording = Recording(name="estimate"),
) -> EstimateResult:
    """Answer each query and store the result; the seconds of `budget` are for all queries together."""
    seed, name = recording.seed(seed), recording.name or "estimate"
    decided_by = {
        "model": dict(about),
        "queries": {question.id: question.query for question in questions},
        "engine": settings.as_json(),
        "budget": {"seconds": budget.seconds},
    }
    recording = replace(recording, configuration=recording.configuration or decided_by)
    started = time.monotonic()
    with recording.begin(name, seed, decided_by) as record:
        before, recorder = record.answers, record.recorder
        ids = tuple(question.id for question in questions)
        recorder.record(
            RunResumed(0, 1) if before.started else RunStarted(name, network.name, ids, seed, None, budget.seconds, 1)
        )
        answered = {e.data["requirement"]: e.data["row"] for e in before.events if e.kind == "QueryAnswered"}

        def in_time() -> bool:
            return budget.seconds is None or before.seconds + time.monotonic() - started < budget.seconds

        answering, rows, reason = Answering(network, settings, in_time), [], StopReason.COMPLETED
        for question in questions:
            if question.id in answered:
                rows.append(EstimateRow.from_json(answered[question.id]))
                continue
            if reason is StopReason.COMPLETED and not in_time():
                reason = StopReason.BUDGET_TIME
            if reason is StopReason.COMPLETED:
                recorder.record(StageStarted(question.id, 0))
                began = time.monotonic()
                try:
                    found = answering.answer(read_question(question.query, network), SeedTree(seed).child(question.id))
                    rows.append(_row(question, found, time.monotonic() - began))
                    recorder.record(QueryAnswered(question.id, rows[-1].as_json()))
                    continue
                except KeyboardInterrupt:
                    reason = StopReason.INTERRUPTED if in_time() else StopReason.BUDGET_TIME
            rows.append(EstimateRow(id=question.id, text=question.text, query=question.query))
        seconds = before.seconds + time.monotonic() - started
        result = EstimateResult(
            name=name, requirements=tuple(rows), stop_reason=reason, seconds=seconds, seed=seed, directory=record.path
        )
        recorder.record(RunStopped(reason.value, sum(row.runs for row in rows), round(seconds, 3)))
    record.write_results(result.as_json())
    return result


def _row(question: Question, found: Answered, seconds: float) -> EstimateRow:
    verdict = verdict_word(found.verdict) if found.asks_verdict else None
    return EstimateRow(
        id=question.id,
        text=question.text,
        query=question.query,
        outcome=Outcome.NOT_FALSIFIED if verdict is None else OUTCOMES[verdict],
        verdict=verdict,
        estimate=found.estimate,
        runs=found.runs,
        method=found.method,
        warnings=tuple(found.warnings),
        seconds=round(seconds, 3),
        trajectories=found.trajectories,
        **found.evidence,
    )


def verdict_word(verdict: bool | None) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else VIOLATED
