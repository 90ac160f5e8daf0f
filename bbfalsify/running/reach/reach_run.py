"""Searches for states as a recorded run: queries about one model in, a run directory with exact traces out.

A run that was interrupted is continued: queries that are answered are not asked again, and the one that was being
searched goes on between two turns, from its last checkpoint (`reach_checkpoint.py`).
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from bbfalsify.core.events import RecordDamaged, StageStarted, TraceFound, WalksMade
from bbfalsify.engines.reachability.walk_search import PORTFOLIO, Found, ReachFinding, Standing
from bbfalsify.records.checkpoint import Checkpoint
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.run_directory import file_name
from bbfalsify.records.run_files import COUNTEREXAMPLES
from bbfalsify.results.reach_result import QueryResult, ReachResult, TraceGroup
from bbfalsify.running.query_run import Question, QuestionRun
from bbfalsify.running.reach.reach import SearchResult, reach
from bbfalsify.running.reach.reach_checkpoint import read_standing, standing_json
from bbfalsify.running.reach.trace_files import write_trace

RECORD_EVERY_S = 1.0
"""Seconds between two records of walks; listeners are told at once."""


class ReachRun(QuestionRun[QueryResult, ReachResult]):
    row, result = QueryResult, ReachResult

    def unanswered(self, question: Question) -> QueryResult:
        in_words = f"{question.query}: {question.elsewhere or 'not searched to the end'}"
        stopped = "not searched" if question.elsewhere is None else "handed on"
        return QueryResult(id=question.id, text=question.text, query=question.query, in_words=in_words, stopped=stopped)

    def answer(self, question: Question) -> QueryResult:
        """Search for one query."""
        asked, recorder, left = self.settings, self.record.recorder, self.seconds_left
        checkpoint = Checkpoint(self.record.path, question.id)
        standing = self._standing(checkpoint)
        used = 0.0 if standing is None else standing.found.seconds  # before the run was interrupted
        limits = (asked.timeout, None if left is None else left + used)
        timeout = min((limit for limit in limits if limit is not None), default=None)
        each = len(PORTFOLIO) if asked.heuristic == "portfolio" else 1
        recorder.record(StageStarted(question.id, 0 if asked.walks is None else asked.walks * each))
        telling = _Telling(recorder, question.id, timeout, better=asked.trace != "some")

        def report(now: Standing) -> None:
            telling.turn(now)
            if checkpoint.due:
                checkpoint.write(standing_json(now, self.network))

        result = reach(
            self.network, question.query, replace(asked, timeout=timeout), seed=self.seed, execution=self.execution,
            watch=telling.watch, report=report, standing=standing,
        )  # fmt: skip
        telling.watch(result.found)
        file = None if result.finding is None else self._write(question, result, result.finding)
        groups = []
        for number, group in enumerate(result.groups, start=1):
            best = group.shortest
            own = file if best is result.finding else self._write(question, result, best, f"-{number}")
            groups.append(
                TraceGroup(
                    traces=group.traces, differs=group.differs, length=len(best.trace.steps),
                    time=float(best.trace.time), actions=tuple(step.action for step in best.trace.steps), file=own,
                )
            )  # fmt: skip
        checkpoint.remove()
        return result.row(question.id, question.text, file, tuple(groups))

    def _standing(self, checkpoint: Checkpoint) -> Standing | None:
        """Return the state to go on from; a checkpoint that cannot be used is named."""
        content, damage = checkpoint.read()
        standing = None if content is None else read_standing(content, self.network)
        if content is not None and standing is None:
            damage = "not of this model"
        if damage:
            text = f"{damage}: the search for this query begins anew, and ends the same"
            self.record.recorder.record(RecordDamaged(str(checkpoint.path), None, text))
        return standing

    def _write(self, question: Question, result: SearchResult, finding: ReachFinding, mark: str = "") -> str | None:
        """Write a trace file, where the run is recorded."""
        if self.record.path is None:
            return None
        name = f"{file_name(question.id)}-trace{mark}.json" if self.several else f"trace{mark}.json"
        file = self.record.path / COUNTEREXAMPLES / name
        # Which heuristic found it stands where users of the command line look for it.
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": result.query.text,
            "heuristic": finding.heuristic.value, "seed": result.seed,
            **({} if result.ending is None else {"ends": asdict(result.ending)}),
            "walk": finding.walk, "distribution": finding.distribution + 1, "depth": finding.depth,
        }  # fmt: skip
        write_trace(file, result.network, finding.trace, about)
        return str(file)


class _Telling:
    """Turns what happens in a search into events."""

    def __init__(self, recorder: Recorder, requirement: str, timeout: float | None, *, better: bool) -> None:
        self._recorder, self._requirement, self._timeout = recorder, requirement, timeout
        self._better = better
        """Traces better than the first are looked for, and each is worth an event."""
        self._traces, self._depth, self._recorded = 0, 0, 0.0

    def watch(self, found: Found) -> None:
        for finding in found.findings[self._traces :] if self._better else ():
            trace = finding.trace
            self._recorder.record(
                TraceFound(
                    self._requirement, finding.heuristic.value, finding.walk, len(trace.steps), float(trace.time),
                    round(finding.seconds, 3),
                )
            )  # fmt: skip
        self._traces = len(found.findings)
        event = WalksMade(
            self._requirement, found.walks, found.steps, self._depth, round(found.seconds, 3), self._timeout
        )
        if time.monotonic() - self._recorded >= RECORD_EVERY_S:
            self._recorded = time.monotonic()
            self._recorder.record(event)
        else:
            self._recorder.tell(event)

    def turn(self, now: Standing) -> None:
        self._depth = now.depth
