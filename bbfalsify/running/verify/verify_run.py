"""Verification as a recorded run: queries about one model in, a run directory with verdicts and exact traces out."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from bbfalsify.core.events import StageStarted, StatesExplored
from bbfalsify.engines.verification.answer import Effort
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.run_directory import file_name
from bbfalsify.results.verify_result import VerifyResult, VerifyRow
from bbfalsify.running.query_run import Question, QuestionRun
from bbfalsify.running.reach.trace_files import write_trace
from bbfalsify.running.verify.verify import Verification, Watch, verify

TELL_EVERY_S = 0.2
"""Seconds between two records of how far an exploration is."""


class VerifyRun(QuestionRun[VerifyRow, VerifyResult]):
    row, result = VerifyRow, VerifyResult

    def unanswered(self, question: Question) -> VerifyRow:
        why = question.elsewhere or "not asked to the end"
        in_words = f"{question.query}: UNDECIDED: {why}"
        return VerifyRow(id=question.id, text=question.text, query=question.query, why=why, in_words=in_words)

    def answer(self, question: Question) -> VerifyRow:
        """Decide one query."""
        recorder = self.record.recorder
        recorder.record(StageStarted(question.id, 0))
        limits = [limit for limit in (self.settings.timeout, self.seconds_left) if limit is not None]
        limited = replace(self.settings, timeout=min(limits, default=None))
        found = verify(
            self.network, question.query, limited, seed=self.seed, execution=self.execution,
            watch=_telling(recorder, question.id, limited.timeout),
        )  # fmt: skip
        return _row(question, found, self._written(question, found))

    def _written(self, question: Question, found: Verification) -> str | None:
        """Write the trace file, where there is a trace; return its name."""
        answer = found.answer
        if self.record.path is None or answer.trace is None:
            return None
        name = f"{file_name(question.id)}-trace.json" if self.several else "trace.json"
        file = self.record.path / "counterexamples" / name
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": found.query.text,
            "heuristic": answer.found_by, "seed": found.seed,
            **({} if answer.ending is None else {"ends": asdict(answer.ending)}),
        }  # fmt: skip
        write_trace(file, found.network, answer.trace, about)
        return str(file)


def _telling(recorder: Recorder, requirement: str, timeout: float | None) -> Watch:
    last = 0.0

    def watch(effort: Effort, seconds: float) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_EVERY_S:
            last = time.monotonic()
            recorder.tell(
                StatesExplored(
                    requirement,
                    effort.states,
                    effort.waiting,
                    effort.depth,
                    effort.memory_mb,
                    round(seconds, 3),
                    timeout,
                )
            )

    return watch


def _row(question: Question, found: Verification, file: str | None) -> VerifyRow:
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
        file=file,
    )
