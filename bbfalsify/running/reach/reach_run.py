"""Searches for states as a recorded run: queries about one model in, a run directory with exact traces out.

    results = reach_all(network, [Question("Q1", "no two inside", "A[] not (P(1).cs && P(2).cs)")], about={"model": …})
    results["requirements"][0]["outcome"], results["run_directory"]

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
from bbfalsify.core.verdict import FOUND, Outcome, StopReason
from bbfalsify.engines.reachability.search import Found, Standing
from bbfalsify.engines.reachability.settings import ReachSettings
from bbfalsify.modelling import Network
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.run_directory import RunDirectory, begin_or_continue, file_name, recorded_seed
from bbfalsify.running.reach.checkpoint import StandingFile
from bbfalsify.running.reach.reach import ReachOutcome, ReachResult, reach
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
) -> dict[str, Any]:
    """The results, as they are also stored.  `about` says where the model comes from: `model` and `model_sha256`, or
    `example`; trace files repeat it.  The seconds of `budget` are for all queries together.
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
    answered = {event.data["requirement"]: event.data["row"] for event in tape.events if event.kind == "QueryAnswered"}
    started = time.monotonic()
    with place.recorder(*listeners, tape=tape) if place is not None else Recorder(None, listeners) as recorder:
        workers = jobs or 1
        recorder.record(
            RunResumed(0, workers)
            if tape.started
            else RunStarted(name, network.name, tuple(q.id for q in questions), seed, None, budget.seconds, workers)
        )
        asking = _Asking(network, settings, about, seed, jobs, executor, place, recorder, len(questions) > 1)
        rows: list[dict[str, Any]] = []
        reason = StopReason.COMPLETED
        for question in questions:
            left = None if budget.seconds is None else budget.seconds - tape.seconds - (time.monotonic() - started)
            if question.id in answered:
                rows.append(answered[question.id])
                continue
            if reason is StopReason.COMPLETED and left is not None and left <= 0:
                reason = StopReason.BUDGET_TIME
            if reason is not StopReason.COMPLETED:
                rows.append(_not_asked(question))
                continue
            try:
                rows.append(asking.answer(question, left))
            except KeyboardInterrupt:
                reason = StopReason.INTERRUPTED
                rows.append(_not_asked(question))
                continue
            recorder.record(QueryAnswered(question.id, rows[-1]))
        seconds = tape.seconds + time.monotonic() - started
        walks = sum(row["walks"] for row in rows)
        recorder.record(RunStopped(reason.value, walks, round(seconds, 3)))
    results = _results(name, seed, rows, reason, seconds, None if place is None else place.path)
    if place is not None:
        place.write_results(results)
    return results


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

    def answer(self, question: Question, left: float | None) -> dict[str, Any]:
        """Search for one query; the row of results about it."""
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
        return _row(question, result, file)

    def _write(self, question: Question, result: ReachResult) -> str | None:
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


def outcome_of(result: ReachResult) -> Outcome:
    """In the words of campaigns: an `A[]` is falsified, an `E<>` reached."""
    if result.outcome is ReachOutcome.MODEL_ERROR:
        return Outcome.MODEL_ERROR
    if result.outcome is ReachOutcome.REACHED:
        return Outcome.FALSIFIED if result.query.universal else Outcome.REACHED
    if result.found.stopped == "timeout":
        return Outcome.INCONCLUSIVE
    return Outcome.NOT_FALSIFIED if result.query.universal else Outcome.NOT_REACHED


def _row(question: Question, result: ReachResult, file: str | None) -> dict[str, Any]:
    found, finding = result.found, result.finding
    return {
        "id": question.id,
        "requirement": question.id,
        "text": question.text,
        "query": result.query.text,
        "outcome": outcome_of(result).value,
        "in_words": result.in_words(),
        "heuristic": finding.heuristic.value if finding else result.heuristic,
        "walk": finding.walk if finding else None,
        "walks": found.walks,
        "steps": found.steps,
        "seconds": round(found.seconds, 3),
        "stopped": found.stopped,
        "length": len(finding.trace.steps) if finding else None,
        "time": float(finding.trace.time) if finding else None,
        "error": finding.trace.error if finding else None,
        "timelocks": found.timelocks,
        "zeno": found.zeno,
        "unconfirmed": list(found.unconfirmed),
        "improvements": [
            {"seconds": f.seconds, "length": len(f.trace.steps), "time": float(f.trace.time),
             "heuristic": f.heuristic.value}
            for f in found.findings
        ],
        "actions": [step.action for step in finding.trace.steps] if finding else [],
        "file": file,
    }  # fmt: skip


def _not_asked(question: Question) -> dict[str, Any]:
    """The row of a query that was not searched to its end."""
    return {
        "id": question.id, "requirement": question.id, "text": question.text, "query": question.query,
        "outcome": Outcome.INCONCLUSIVE.value, "in_words": f"{question.query}: not searched to the end",
        "heuristic": None, "walk": None, "walks": 0, "steps": 0, "seconds": 0.0, "stopped": "not searched",
        "length": None, "time": None, "error": None, "timelocks": 0, "zeno": 0, "unconfirmed": [], "improvements": [],
        "actions": [], "file": None,
    }  # fmt: skip


_WEIGHT = (
    Outcome.MODEL_ERROR, Outcome.FALSIFIED, Outcome.REACHED, Outcome.INCONCLUSIVE, Outcome.NOT_FALSIFIED,
    Outcome.NOT_REACHED,
)  # fmt: skip
"""What a run is called by: its most telling query."""


def _results(
    name: str, seed: int, rows: list[dict[str, Any]], reason: StopReason, seconds: float, path: Path | None
) -> dict[str, Any]:
    outcomes = {row["outcome"] for row in rows}
    found = [row for row in rows if row["outcome"] in FOUND]
    return {
        "engine": "reach",
        "name": name,
        "outcome": next((o.value for o in _WEIGHT if o in outcomes), Outcome.INCONCLUSIVE.value),
        "requirements": rows,
        "counterexamples": [
            {
                "rank": rank, "requirement": row["id"], "status": "confirmed", "actions": row["actions"],
                "probability": None, "first_violation_time": row["time"], "robustness": None, "file": row["file"],
            }
            for rank, row in enumerate(found, start=1)
        ],
        "found_probability": None,
        "smc": None,
        "simulations": sum(row["walks"] for row in rows),
        "steps": sum(row["steps"] for row in rows),
        "stop_reason": reason.value,
        "seconds": round(seconds, 3),
        "seed": seed,
        "run_directory": None if path is None else str(path),
        "notes": [],
    }  # fmt: skip
