"""Estimates about a model as a recorded run: queries in, a run directory with the answers out."""

from __future__ import annotations

import time
from functools import cached_property

from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.results.estimate_result import HOLDS, OUTCOMES, UNDECIDED, VIOLATED, EstimateResult, EstimateRow
from bbfalsify.running.query_run import Question, QuestionRun


class EstimateRun(QuestionRun[EstimateRow, EstimateResult]):
    row, result = EstimateRow, EstimateResult
    jobs = 1

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
