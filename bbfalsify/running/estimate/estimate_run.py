"""Estimates about a model as a recorded run: queries in, a run directory with the answers out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.modelling import Network
from bbfalsify.records.recording import Recording
from bbfalsify.results.estimate_result import HOLDS, OUTCOMES, UNDECIDED, VIOLATED, EstimateResult, EstimateRow
from bbfalsify.running.questions import Question, QuestionRun


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
    run = _EstimateRun(
        network=network,
        about=about,
        settings=settings,
        budget=budget,
        seed=recording.seed(seed),
        recording=recording,
    )
    return run.run(questions)


class _EstimateRun(QuestionRun[EstimateRow, EstimateResult]):
    row, result = EstimateRow, EstimateResult

    @cached_property
    def _answering(self) -> Answering:
        return Answering(self.network, self.settings, self.in_time)

    def answer(self, question: Question) -> EstimateRow:
        self.record.recorder.record(StageStarted(question.id, 0))
        began = time.monotonic()
        asked = read_question(question.query, self.network)
        found = self._answering.answer(asked, SeedTree(self.seed).child(question.id))
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
            seconds=round(time.monotonic() - began, 3),
            trajectories=found.trajectories,
            **found.evidence,
        )

    def unanswered(self, question: Question) -> EstimateRow:
        return EstimateRow(id=question.id, text=question.text, query=question.query)


def verdict_word(verdict: bool | None) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else VIOLATED
