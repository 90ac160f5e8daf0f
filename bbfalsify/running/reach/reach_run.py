"""Searches for states as a recorded run: queries about one model in, a run directory with exact traces out.

    result = reach_all(network, [Question("Q1", "no two inside", "A[] not (P(1).cs && P(2).cs)")], about={"model": …})
    result.requirements[0].outcome, result.directory

A run that was interrupted is continued: queries that are answered are not asked again, and the one that was being
searched goes on between two turns, from the last standing on disk (`checkpoint.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import (
    Listener,
    QueryAnswered,
    RunResumed,
    RunStarted,
    RunStopped,
    StageStarted,
    TraceFound,
    WalksMade,
)
from bbfalsify.core.seeds import draw_seed
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.reachability.search import Found, Standing
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.modelling import Network
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.run_directory import RunDirectory, begin_or_continue, file_name, recorded_seed
from bbfalsify.results.reach_result import QueryResult, ReachResult
from bbfalsify.running.reach.checkpoint import StandingFile
from bbfalsify.running.reach.reach import SearchResult, reach
from bbfalsify.running.reach.trace_files import write_trace

RECORD_EVERY_S = 1.0
"""Walks are told to listeners at once, and recorded now and then."""


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    query: str

    def written(self) -> dict[str, Any]:
        """What it says, as a specification file has it."""
        return {"query": self.query}

    def not_searched(self) -> QueryResult:
        in_words = f"{self.query}: not searched to the end"
        return QueryResult(id=self.id, text=self.text, query=self.query, in_words=in_words)


def reach_all(
    network: Network,
    questions: Sequence[Question],
    *,
    about: Mapping[str, Any],
    settings: ReachSettings | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    out: str | Path | None = "runs",
    directory: str | Path | None = None,
    name: str = "reach",
    listeners: Iterable[Listener] = (),
    configuration: Mapping[str, Any] | None = None,
) -> ReachResult:
    """Search for each query and store the result.

    `about` says where the model comes from: `model` and `model_sha256`, or `example`; trace files repeat it.  The
    seconds of `budget` are for all queries together.
    """
    settings, budget = settings or ReachSettings(), budget or Budget()
    seed = recorded_seed(directory) if seed is None else seed
    seed = draw_seed() if seed is None else seed
    decided_by = {
        "model": dict(about),
        "queries": {question.id: question.query for question in questions},
        "engine": settings.as_json(),
        "budget": {"seconds": budget.seconds},
    }
    place, tape = begin_or_continue(
        out, name, directory, seed=seed, decided_by=decided_by, configuration=configuration or decided_by
    )
    answered = {e.data["requirement"]: e.data["row"] for e in tape.events if e.kind == "QueryAnswered"}
    started = time.monotonic()
    with place.recorder(*listeners, tape=tape) if place is not None else Recorder(None, listeners) as recorder:
        workers = jobs or 1
        recorder.record(
            RunResumed(0, workers)
            if tape.started
            else RunStarted(name, network.name, tuple(q.id for q in questions), seed, None, budget.seconds, workers)
        )
        asking = _Asking(network, settings, about, seed, jobs, executor, place, recorder, len(questions) > 1)
        rows: list[QueryResult] = []
        reason = StopReason.COMPLETED
        for question in questions:
            left = None if budget.seconds is None else budget.seconds - tape.seconds - (time.monotonic() - started)
            if question.id in answered:
                rows.append(QueryResult.from_json(answered[question.id]))
                continue
            if reason is StopReason.COMPLETED and left is not None and left <= 0:
                reason = StopReason.BUDGET_TIME
            if reason is not StopReason.COMPLETED:
                rows.append(question.not_searched())
                continue
            try:
                rows.append(asking.answer(question, left))
            except KeyboardInterrupt:
                reason = StopReason.INTERRUPTED
                rows.append(question.not_searched())
                continue
            recorder.record(QueryAnswered(question.id, rows[-1].as_json()))
        seconds = tape.seconds + time.monotonic() - started
        result = ReachResult(
            name=name, requirements=tuple(rows), stop_reason=reason, seconds=seconds, seed=seed,
            directory=None if place is None else place.path,
        )  # fmt: skip
        recorder.record(RunStopped(reason.value, result.walks, round(seconds, 3)))
    if place is not None:
        place.write_results(result.as_json())
    return result


@dataclass(frozen=True)
class _Asking:
    """Everything that the queries of a run have in common."""

    network: Network
    settings: ReachSettings
    about: Mapping[str, Any]
    seed: int
    jobs: int | None
    executor: str | Executor | None
    place: RunDirectory | None
    recorder: Recorder
    several: bool

    def answer(self, question: Question, left: float | None) -> QueryResult:
        """Search for one query."""
        asked, recorder = self.settings, self.recorder
        timeout = min((limit for limit in (asked.timeout, left) if limit is not None), default=None)
        each = 5 if asked.heuristic == "portfolio" else 1
        recorder.record(StageStarted(question.id, 0 if asked.walks is None else asked.walks * each))
        kept = None if self.place is None else StandingFile(self.place.path / "standing.json", question.id)
        standing = None if kept is None else kept.read(self.network)
        telling = _Telling(recorder, question.id, timeout, better=asked.trace != "some")

        def report(now: Standing) -> None:
            telling.turn(now)
            if kept is not None:
                kept.write_now_and_then(now, self.network)

        result = reach(
            self.network, question.query, heuristic=asked.heuristic, trace=asked.trace, depth=asked.depth,
            timeout=timeout, walks=asked.walks, seed=self.seed, jobs=self.jobs, executor=self.executor,
            watch=telling.watch, report=report, standing=standing,
        )  # fmt: skip
        telling.watch(result.found)
        file = self._write(question, result)
        if kept is not None:
            kept.remove()
        return result.row(question.id, question.text, file)

    def _write(self, question: Question, result: SearchResult) -> str | None:
        """The trace file, where something was found."""
        if self.place is None or result.finding is None:
            return None
        file = (
            self.place.path
            / "counterexamples"
            / (f"{file_name(question.id)}-trace.json" if self.several else "trace.json")
        )
        # Which heuristic found it stands where users of the command line look for it.
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": result.query.text,
            "heuristic": result.finding.heuristic.value, "seed": result.seed,
        }  # fmt: skip
        write_trace(file, result.network, result.finding, about)
        return str(file)


class _Telling:
    """What happens in a search becomes events."""

    def __init__(self, recorder: Recorder, requirement: str, timeout: float | None, *, better: bool) -> None:
        self._recorder, self._requirement, self._timeout = recorder, requirement, timeout
        self._better = better
        """Whether traces are looked for that are better than the first: each is worth a word."""
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
