"""Estimates about a model as a recorded run: queries in, a run directory with the answers out.

A run that was interrupted is continued: queries that are answered are not asked again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.estimation.answering import Answered, Answering
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.modelling import Network
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.results.estimate_result import HOLDS, OUTCOMES, UNDECIDED, VIOLATED, EstimateResult, EstimateRow
from bbfalsify.running.model_questions import Ask, ModelRun, Question, answer_all


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
    run = ModelRun("estimate", network, about, settings, budget, recording, seed)

    def begin(record: RunRecord, seed: int) -> Ask[EstimateRow]:
        ends = None if budget.seconds is None else time.monotonic() + budget.seconds - record.answers.seconds
        answering = Answering(network, settings, lambda: ends is None or time.monotonic() < ends)

        def answer(question: Question, left: float | None) -> EstimateRow:
            record.recorder.record(StageStarted(question.id, 0))
            began = time.monotonic()
            found = answering.answer(read_question(question.query, network), SeedTree(seed).child(question.id))
            return _row(question, found, time.monotonic() - began)

        return answer

    return answer_all(run, questions, begin, _not_estimated, EstimateResult)


def _not_estimated(question: Question) -> EstimateRow:
    return EstimateRow(id=question.id, text=question.text, query=question.query)


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
    )


def verdict_word(verdict: bool | None) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else VIOLATED
