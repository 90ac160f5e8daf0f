"""Verification as a recorded run: queries about one model in, a run directory with verdicts and exact traces out.

A deep random search with an increment that was interrupted goes on after the last depth that it searched completely.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from bbfalsify.core.events import StageStarted, StatesExplored
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace
from bbfalsify.engines.verification.answer import Effort
from bbfalsify.records.checkpoint import Checkpoint
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.run_directory import file_name
from bbfalsify.results.verify_result import LimitValue, VerifyResult, VerifyRow
from bbfalsify.running.query_run import Question, QuestionRun
from bbfalsify.running.reach.trace_files import write_trace
from bbfalsify.running.verify.verify import Verification, Watch, verify

SEARCHED = "searched"
"""In a checkpoint: steps within which every state was searched."""
TELL_EVERY_S = 0.2
"""Seconds between two records of how far an exploration is."""


class VerifyRun(QuestionRun[VerifyRow, VerifyResult]):
    row, result = VerifyRow, VerifyResult
    _told: StatesExplored | None = None
    """How far the exploration was when it was last heard of."""

    def unanswered(self, question: Question) -> VerifyRow:
        far = self._told if self._told is not None and self._told.requirement == question.id else None
        why = question.elsewhere or ("not asked to the end" if far is None else _interrupted(far))
        in_words = f"{question.query}: UNDECIDED: {why}"
        row = VerifyRow(id=question.id, text=question.text, query=question.query, why=why, in_words=in_words)
        if far is None:
            return row
        return replace(row, states=far.states, depth=far.depth, memory_mb=far.memory_mb, seconds=far.seconds)

    def answer(self, question: Question) -> VerifyRow:
        """Decide one query."""
        recorder = self.record.recorder
        recorder.record(StageStarted(question.id, 0))
        limits = [limit for limit in (self.settings.timeout, self.seconds_left) if limit is not None]
        limited = replace(self.settings, timeout=min(limits, default=None))
        checkpoint = Checkpoint(self.record.path, question.id)
        content, _ = checkpoint.read()

        def report(depth: int) -> None:
            if checkpoint.due:
                checkpoint.write({SEARCHED: depth})

        found = verify(
            self.network, question.query, limited, seed=self.seed, execution=self.execution,
            watch=self._telling(recorder, question.id, limited.timeout), report=report,
            searched=int((content or {}).get(SEARCHED, 0)),
        )  # fmt: skip
        checkpoint.remove()
        return _row(question, found, self._written(question, found))

    def _telling(self, recorder: Recorder, requirement: str, timeout: float | None) -> Watch:
        last = 0.0

        def watch(effort: Effort, seconds: float) -> None:
            nonlocal last
            self._told = StatesExplored(
                requirement, effort.states, effort.waiting, effort.depth, effort.memory_mb, round(seconds, 3), timeout
            )
            if time.monotonic() - last >= TELL_EVERY_S:
                last = time.monotonic()
                recorder.tell(self._told)

        return watch

    def _written(self, question: Question, found: Verification) -> list[str | None]:
        """Write the trace files, one for each value that is asked, or the only one; return their names."""
        answer, first = found.answer, f"{file_name(question.id)}-" if self.several else ""
        limits = answer.limits
        if len(limits) < 2:
            return [self._written_one(question, f"{first}trace.json", answer.trace, found)]
        return [
            self._written_one(question, f"{first}{number}-{limit.word}-trace.json", limit.trace, found)
            for number, limit in enumerate(limits, start=1)
        ]

    def _written_one(
        self, question: Question, name: str, trace: ConcreteTrace | None, found: Verification
    ) -> str | None:
        answer = found.answer
        if self.record.path is None or trace is None:
            return None
        file = self.record.path / "counterexamples" / name
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": found.query.text,
            "heuristic": answer.found_by, "seed": found.seed,
            **({} if answer.ending is None else {"ends": asdict(answer.ending)}),
        }  # fmt: skip
        write_trace(file, found.network, trace, about)
        return str(file)


def _interrupted(far: StatesExplored) -> str:
    """Say how far an exploration was that was stopped."""
    waiting = f", {far.waiting:,} waiting" if far.waiting else ""
    return (
        f"interrupted; no target among {far.states:,} states explored (depth {far.depth}{waiting}): nothing is proved"
    )


def _row(question: Question, found: Verification, files: list[str | None]) -> VerifyRow:
    answer, effort, trace = found.answer, found.answer.effort, found.answer.trace
    return VerifyRow(
        id=question.id,
        text=question.text,
        query=found.query.text,
        outcome=found.outcome,
        verdict=answer.verdict,
        why=answer.why,
        in_words=found.in_words(),
        found_by=answer.found_by,
        states=effort.states,
        stored=effort.stored,
        transitions=effort.transitions,
        depth=effort.depth,
        memory_mb=effort.memory_mb,
        cpu_seconds=round(found.cpu_seconds, 3),
        seconds=round(found.seconds, 3),
        length=None if trace is None else len(trace.steps),
        time=None if trace is None else float(trace.time),
        actions=() if trace is None else tuple(step.action for step in trace.steps),
        ends=None if answer.ending is None else answer.ending.in_words(),
        limits=tuple(
            LimitValue(
                word=limit.word, expression=limit.expression, value=None if limit.value is None else float(limit.value),
                reached=limit.reached, unbounded=limit.unbounded, why=limit.why, file=file,
            )
            for limit, file in zip(answer.limits, files, strict=False)
        ),
        file=next((file for file in files if file is not None), None),
    )  # fmt: skip
