"""Queries about one model as a recorded run: the loop that `reach`, `estimate` and `verify` have in common.

A run that was interrupted is continued: queries that are answered are not asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import QueryAnswered, RunStopped
from bbfalsify.core.settings import Settings
from bbfalsify.core.verdict import StopReason
from bbfalsify.modelling import Network
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.stored import Stored
from bbfalsify.results.run_result import ConcludedResult

Row = TypeVar("Row", bound=Stored)
Result = TypeVar("Result", bound=ConcludedResult)


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    query: str
    elsewhere: str | None = None
    """Who answers it, if this engine does not: it is listed, not asked."""

    def written(self) -> dict[str, Any]:
        """The query as a specification file has it."""
        return {"query": self.query}


@dataclass(frozen=True)
class ModelRun:
    """A run of queries about a model; `about` says where the model comes from, and trace files repeat it."""

    engine: str
    network: Network
    about: Mapping[str, Any]
    settings: Settings
    budget: Budget
    """Its seconds are for all queries together."""
    recording: Recording
    seed: int | None = None
    jobs: int = 1


Ask = Callable[[Question, float | None], Row]
"""Answers one question; the seconds that are left, None for no limit."""


def answer_all(
    run: ModelRun,
    questions: Sequence[Question],
    begin: Callable[[RunRecord, int], Ask[Row]],
    unanswered: Callable[[Question], Row],
    result_type: Callable[..., Result],
) -> Result:
    """Answer each question and store the result; `begin` is given the record and the seed."""
    seed, name = run.recording.seed(run.seed), run.recording.name or run.engine
    decided_by = {
        "model": dict(run.about),
        "queries": {question.id: question.query for question in questions},
        "engine": run.settings.as_json(),
        "budget": {"seconds": run.budget.seconds},
    }
    recording = replace(run.recording, configuration=run.recording.configuration or decided_by)
    started = time.monotonic()
    with recording.begin(name, seed, decided_by) as record:
        before = record.answers
        answered = {e.data["requirement"]: e.data["row"] for e in before.events if e.kind == "QueryAnswered"}
        ids = tuple(question.id for question in questions)
        record.record_start(name, run.network.name, ids, seed, (None, run.budget.seconds), run.jobs)

        def left() -> float | None:
            limit = run.budget.seconds
            return None if limit is None else limit - before.seconds - (time.monotonic() - started)

        ask = begin(record, seed)
        rows: list[Row] = []
        reason = StopReason.COMPLETED
        for question in questions:
            row = unanswered(question)
            if question.id in answered:
                rows.append(type(row).from_json(answered[question.id]))
                continue
            if reason is StopReason.COMPLETED and _is_over(left()):
                reason = StopReason.BUDGET_TIME
            if reason is StopReason.COMPLETED and question.elsewhere is None:
                try:
                    row = ask(question, left())
                    record.recorder.record(QueryAnswered(question.id, row.as_json()))
                except KeyboardInterrupt:
                    reason = StopReason.BUDGET_TIME if _is_over(left()) else StopReason.INTERRUPTED
            rows.append(row)
        seconds = before.seconds + time.monotonic() - started
        result = result_type(
            name=name, requirements=tuple(rows), stop_reason=reason, seconds=seconds, seed=seed, directory=record.path
        )
        record.recorder.record(RunStopped(reason.value, result.simulations, round(seconds, 3)))
    record.write_results(result.as_json())
    return result


def _is_over(left: float | None) -> bool:
    return left is not None and left <= 0
