"""Searches for states as a recorded run: queries about one model in, a run directory with exact traces out.

    result = reach_all(network, [Question("Q1", "no two inside", "A[] not (P(1).cs && P(2).cs)")], about={"model": …})
    result.requirements[0].outcome, result.directory

A run that was interrupted is continued: queries that are answered are not asked again, and the one that was being
searched goes on between two turns, from its last checkpoint (`reach_checkpoint.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import (
    QueryAnswered,
    RecordDamaged,
    RunStopped,
    StageStarted,
    TraceFound,
    WalksMade,
)
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.reachability.search import PORTFOLIO, Found, ReachFinding, Standing
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.modelling import Network
from bbfalsify.records.checkpoint import Checkpoint
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.run_directory import file_name
from bbfalsify.results.reach_result import QueryResult, ReachResult, TraceGroup
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.reach import SearchResult, reach
from bbfalsify.running.reach.reach_checkpoint import read_standing, standing_json
from bbfalsify.running.reach.trace_files import write_trace

RECORD_EVERY_S = 1.0
"""Seconds between two records of walks; listeners are told at once."""


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    query: str
    elsewhere: str | None = None
    """Who answers it, if walks do not: it is listed, not searched."""

    def written(self) -> dict[str, Any]:
        """The query as a specification file has it."""
        return {"query": self.query}

    def not_searched(self) -> QueryResult:
        in_words = f"{self.query}: {self.elsewhere or 'not searched to the end'}"
        stopped = "not searched" if self.elsewhere is None else "handed on"
        return QueryResult(id=self.id, text=self.text, query=self.query, in_words=in_words, stopped=stopped)


def reach_all(
    network: Network,
    questions: Sequence[Question],
    *,
    about: Mapping[str, Any],
    settings: ReachSettings = ReachSettings(),
    budget: Budget = Budget(),
    seed: int | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(name="reach"),
) -> ReachResult:
    """Search for each query and store the result.

    `about` says where the model comes from: `model` and `model_sha256`, or `example`; trace files repeat it.  The
    seconds of `budget` are for all queries together.
    """
    seed, name = recording.seed(seed), recording.name or "reach"
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
        answered = {e.data["requirement"]: e.data["row"] for e in before.events if e.kind == "QueryAnswered"}
        ids = tuple(question.id for question in questions)
        record.record_start(name, network.name, ids, seed, (None, budget.seconds), execution.jobs)
        asking = _Asking(network, settings, about, seed, execution, record, len(questions) > 1)
        rows: list[QueryResult] = []
        reason = StopReason.COMPLETED
        for question in questions:
            left = None if budget.seconds is None else budget.seconds - before.seconds - (time.monotonic() - started)
            if question.id in answered:
                rows.append(QueryResult.from_json(answered[question.id]))
                continue
            if reason is StopReason.COMPLETED and left is not None and left <= 0:
                reason = StopReason.BUDGET_TIME
            if reason is not StopReason.COMPLETED or question.elsewhere is not None:
                rows.append(question.not_searched())
                continue
            try:
                rows.append(asking.answer(question, left))
            except KeyboardInterrupt:
                reason = StopReason.INTERRUPTED
                rows.append(question.not_searched())
                continue
            recorder.record(QueryAnswered(question.id, rows[-1].as_json()))
        seconds = before.seconds + time.monotonic() - started
        result = ReachResult(
            name=name, requirements=tuple(rows), stop_reason=reason, seconds=seconds, seed=seed, directory=record.path
        )
        recorder.record(RunStopped(reason.value, result.walks, round(seconds, 3)))
    record.write_results(result.as_json())
    return result


@dataclass(frozen=True)
class _Asking:
    """All that the queries of a run have in common."""

    network: Network
    settings: ReachSettings
    about: Mapping[str, Any]
    seed: int
    execution: Execution
    record: RunRecord
    several: bool

    def answer(self, question: Question, left: float | None) -> QueryResult:
        """Search for one query."""
        asked, recorder = self.settings, self.record.recorder
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
        file = self.record.path / "counterexamples" / name
        # Which heuristic found it stands where users of the command line look for it.
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": result.query.text,
            "heuristic": finding.heuristic.value, "seed": result.seed,
            **({} if result.ending is None else {"ends": asdict(result.ending)}),
        }  # fmt: skip
        write_trace(file, result.network, finding, about)
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
