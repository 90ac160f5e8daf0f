"""Estimates about a model as a recorded run: queries in, a run directory with the answers out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from bbfalsify.chains import ask_storm, derivatives
from bbfalsify.core.errors import UserError
from bbfalsify.core.events import StageStarted, StatesExplored
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.estimation import questions
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.value_lists import combinations, numbers_of
from bbfalsify.engines.estimation.variation import at_time
from bbfalsify.modelling import Network
from bbfalsify.results.estimate_result import HOLDS, OUTCOMES, UNDECIDED, VIOLATED, EstimateResult, EstimateRow
from bbfalsify.running.query_run import Question, QuestionRun

AGREE = 1e-6
"""Relative difference from Storm's answer that is no warning."""


@dataclass(kw_only=True)
class EstimateRun(QuestionRun[EstimateRow, EstimateResult]):
    row, result = EstimateRow, EstimateResult
    jobs = 1
    variants: Sequence[tuple[dict[str, float], Network]] = ()
    """The model with other constants, for a table."""

    @cached_property
    def _answering(self) -> Answering:
        return self._about(self.network)

    def _about(self, network: Network) -> Answering:
        return Answering(network, self.settings, self.in_time, self._tell)

    def _tell(self, states: int) -> None:
        """Show how far the exploration of a chain is; `Progress` decides how often."""
        left = self.seconds_left
        self.record.recorder.tell(StatesExplored("chain", states, 0, 0, 0.0, round(self.seconds, 3), left))

    def answer(self, question: Question) -> EstimateRow:
        self.record.recorder.record(StageStarted(question.id, 0))
        began = time.monotonic()
        asked = questions.read_question(question.query, self.network)
        seeds = SeedTree(self.seed).child(question.id)
        found = self._answering.answer(asked, seeds)
        more = {"table": tuple(self._table(question, seeds)) or None, **self._of_chain(asked, found)}
        verdict = _verdict(found)
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
            **more,
        )

    def unanswered(self, question: Question) -> EstimateRow:
        return EstimateRow(id=question.id, text=question.text, query=question.query)

    def _table(self, question: Question, seeds: SeedTree) -> Iterator[dict[str, Any]]:
        """The answers at other constants and times."""
        times: list[float | None] = [None]
        if self.settings.times:
            times = [*numbers_of(self.settings.times)]
        elif not self.variants:
            return
        for values, network in self.variants or [({}, self.network)]:
            answering = self._about(network) if values else self._answering
            asked = questions.read_question(question.query, network)
            for moment in times:
                at = values if moment is None else {**values, "time": moment}
                there = asked if moment is None else at_time(asked, moment)
                found = answering.answer(there, seeds.child(*(f"{name}={value!r}" for name, value in at.items())))
                estimate = None if found.estimate is None else found.estimate.as_json()
                yield {"at": at, "verdict": _verdict(found), "estimate": estimate}

    def _of_chain(self, asked: questions.Question, found: Answered) -> dict[str, Any]:
        """Derivatives and a second opinion, where they were asked for and a chain gave the answer."""
        more: dict[str, Any] = {}
        if not (self.settings.derivatives or self.settings.storm):
            return more
        chain = self._answering.chain
        if chain is None or asked.formula is None or found.runs:
            raise UserError(f"query '{asked.text}': derivatives and storm are for Markov chains; this is simulated.")
        if self.settings.derivatives:
            more["derivatives"] = tuple(asdict(one) for one in derivatives(self.network, asked.formula))
        if self.settings.storm:
            said = more["storm"] = float(ask_storm(chain, asked.formula))
            ours = None if found.verdict is None else float(found.verdict)
            if not found.asks_verdict and found.estimate is not None:
                ours = found.estimate.value
            if ours is not None and abs(said - ours) > AGREE * abs(ours):
                found.warnings.append(f"Storm says {said:.10g}")
        return more


def variants(
    vary: str | None, load: Callable[[Mapping[str, float]], Network]
) -> Iterator[tuple[dict[str, float], Network]]:
    """The models of a table; a whole number is given as one, as the constant may be an integer."""
    for values in combinations(vary) if vary else ():
        yield values, load({name: int(v) if v == int(v) else v for name, v in values.items()})


def _verdict(found: Answered) -> str | None:
    return verdict_word(found.verdict) if found.asks_verdict else None


def verdict_word(verdict: bool | None) -> str:
    return UNDECIDED if verdict is None else HOLDS if verdict else VIOLATED
