"""Queries about a model as one recorded run: the engine answers a query, all else is here.

    questions = [Question("Q1", "no two inside", "A[] not (P(1).cs && P(2).cs)")]
    result = answer_all(ReachRun, network, questions, about={"model": …}, settings=ReachSettings())
    result.requirements[0].outcome, result.directory

A run that was interrupted is continued: queries that are answered are not asked again.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import QueryAnswered, RunStopped
from bbfalsify.core.named_requirement import NamedRequirement
from bbfalsify.core.verdict import StopReason
from bbfalsify.modelling import Network
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.stored import Stored
from bbfalsify.results.run_result import ConcludedResult
from bbfalsify.running.execution import Execution

Row = TypeVar("Row", bound=Stored)
Result = TypeVar("Result", bound=ConcludedResult)


@dataclass(frozen=True)
class Question(NamedRequirement):
    query: str
    elsewhere: str | None = None
    """Who answers it, if this engine does not: it is listed, not asked."""

    def written(self) -> dict[str, Any]:
        """The query as a specification file has it."""
        return {"query": self.query}


@dataclass(kw_only=True)
class QuestionRun(ABC, Generic[Row, Result]):
    """The run of one engine: it says what its rows and results are, and how one query is answered."""

    network: Network
    about: Mapping[str, Any]
    """Where the model comes from: `model` and `model_sha256`, or `example`; trace files repeat it."""
    settings: Any
    budget: Budget
    """Its seconds are for all queries together."""
    seed: int
    execution: Execution
    recording: Recording
    several: bool = False
    """There is more than one query."""
    record: RunRecord = field(init=False)
    _began: float = field(init=False)

    row: type[Row] = field(init=False)
    result: Callable[..., Result] = field(init=False)

    @abstractmethod
    def answer(self, question: Question) -> Row: ...

    @abstractmethod
    def unanswered(self, question: Question) -> Row:
        """The row of a query that was not asked, or not to its end."""

    @property
    def jobs(self) -> int:
        """Number of processes that answer."""
        return self.execution.jobs

    @property
    def seconds(self) -> float:
        """Spent so far, before an interruption, too."""
        return self.record.answers.seconds + time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        return None if self.budget.seconds is None else self.budget.seconds - self.seconds

    def in_time(self) -> bool:
        return self.seconds_left is None or self.seconds_left > 0

    def run(self, questions: Sequence[Question]) -> Result:
        """Answer each query and store the result."""
        name = self.recording.name or self.settings.kind
        decided_by = {
            "model": dict(self.about),
            "queries": {question.id: question.query for question in questions},
            "engine": self.settings.as_json(),
            "budget": {"seconds": self.budget.seconds},
        }
        recording = replace(self.recording, configuration=self.recording.configuration or decided_by)
        self._began, self.several = time.monotonic(), len(questions) > 1
        with recording.begin(name, self.seed, decided_by) as self.record:
            ids = [question.id for question in questions]
            self.record.record_start(name, self.network.name, ids, self.seed, (None, self.budget.seconds), self.jobs)
            rows, reason = self._rows(questions)
            result = self.result(
                name=name,
                requirements=rows,
                stop_reason=reason,
                seconds=self.seconds,
                seed=self.seed,
                directory=self.record.path,
            )
            self.record.recorder.record(RunStopped(reason.value, result.simulations, round(result.seconds, 3)))
        self.record.write_results(result.as_json())
        return result

    def _rows(self, questions: Sequence[Question]) -> tuple[tuple[Row, ...], StopReason]:
        events = self.record.answers.events
        answered = {e.data["requirement"]: e.data["row"] for e in events if e.kind == QueryAnswered.__name__}
        rows, reason = [], StopReason.COMPLETED
        for question in questions:
            if question.id in answered:
                rows.append(self.row.from_json(answered[question.id]))
                continue
            if reason is StopReason.COMPLETED and not self.in_time():
                reason = StopReason.BUDGET_TIME
            if reason is StopReason.COMPLETED and question.elsewhere is None:
                try:
                    rows.append(self.answer(question))
                    self.record.recorder.record(QueryAnswered(question.id, rows[-1].as_json()))
                    continue
                except KeyboardInterrupt:
                    reason = StopReason.INTERRUPTED if self.in_time() else StopReason.BUDGET_TIME
            rows.append(self.unanswered(question))
        return tuple(rows), reason


def answer_all(
    run: Callable[..., QuestionRun[Row, Result]],
    network: Network,
    questions: Sequence[Question],
    *,
    about: Mapping[str, Any],
    settings: Any,
    budget: Budget = Budget(),
    seed: int | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(),
) -> Result:
    """Answer each query by runs of this kind, and store the result."""
    begun = run(
        network=network, about=about, settings=settings, budget=budget, seed=recording.seed(seed),
        execution=execution, recording=recording,
    )  # fmt: skip
    return begun.run(questions)
