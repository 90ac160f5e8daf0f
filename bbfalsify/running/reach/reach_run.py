"""Searches for states as a recorded run: queries about one model in, a run directory with exact traces out.

    results = reach_all(network, [Question("Q1", "no two inside", "A[] not (P(1).cs && P(2).cs)")], about={"model": …})
    results["requirements"][0]["outcome"], results["run_directory"]

A run that was interrupted is continued: queries that are answered are not asked again, and the one that was being
searched goes on between two turns, from its last checkpoint (`reach_checkpoint.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.budget import Budget
from bbfalsify.core.events import (
    QueryAnswered,
    RunResumed,
    RunStarted,
    RunStopped,
    StageStarted,
    TraceFound,
    WalksMade,
)
from bbfalsify.core.verdict import FOUND, Outcome, StopReason
from bbfalsify.engines.reachability.search import Found, Standing
from bbfalsify.modelling import Network
from bbfalsify.records.checkpoint import Checkpoint
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recording import Recording, RunRecord
from bbfalsify.records.run_directory import file_name
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.reach import ReachOutcome, ReachResult, Settings, reach
from bbfalsify.running.reach.reach_checkpoint import read_standing, standing_json
from bbfalsify.running.reach.trace_files import write_trace

RECORD_EVERY_S = 1.0
"""Seconds between two records of walks; listeners are told at once."""


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    query: str

    def written(self) -> dict[str, Any]:
        """The query as a specification file has it."""
        return {"query": self.query}


def reach_all(
    network: Network,
    questions: Sequence[Question],
    *,
    about: Mapping[str, Any],
    settings: Settings = Settings(),
    budget: Budget = Budget(),
    seed: int | None = None,
    execution: Execution = Execution(),
    recording: Recording = Recording(name="reach"),
) -> dict[str, Any]:
    """Answer all queries; return the results as they are stored.

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
        recorder.record(
            RunResumed(0, execution.jobs)
            if before.started
            else RunStarted(name, network.name, ids, seed, None, budget.seconds, execution.jobs)
        )
        asking = _Asking(network, settings, about, seed, execution, record, len(questions) > 1)
        rows: list[dict[str, Any]] = []
        reason = StopReason.COMPLETED
        for question in questions:
            left = None if budget.seconds is None else budget.seconds - before.seconds - (time.monotonic() - started)
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
        seconds = before.seconds + time.monotonic() - started
        walks = sum(row["walks"] for row in rows)
        recorder.record(RunStopped(reason.value, walks, round(seconds, 3)))
    results = _results(name, seed, rows, reason, seconds, record.path)
    record.write_results(results)
    return results


@dataclass(frozen=True)
class _Asking:
    """All that the queries of a run have in common."""

    network: Network
    settings: Settings
    about: Mapping[str, Any]
    seed: int
    execution: Execution
    record: RunRecord
    several: bool

    def answer(self, question: Question, left: float | None) -> dict[str, Any]:
        """Search for one query; return the row of results about it."""
        asked, recorder = self.settings, self.record.recorder
        timeout = min((limit for limit in (asked.timeout, left) if limit is not None), default=None)
        each = len(asked.options.heuristics)
        recorder.record(StageStarted(question.id, 0 if asked.walks is None else asked.walks * each))
        checkpoint = Checkpoint(self.record.path, question.id)
        telling = _Telling(recorder, question.id, timeout, better=asked.trace != "some")

        def report(now: Standing) -> None:
            telling.turn(now)
            if checkpoint.due:
                checkpoint.write(standing_json(now, self.network))

        result = reach(
            self.network, question.query, replace(asked, timeout=timeout), seed=self.seed, execution=self.execution,
            watch=telling.watch, report=report, standing=read_standing(checkpoint.read(), self.network),
        )  # fmt: skip
        telling.watch(result.found)
        file = self._write(question, result)
        checkpoint.remove()
        return _row(question, result, file)

    def _write(self, question: Question, result: ReachResult) -> str | None:
        """Write the trace file, where something was found."""
        if self.record.path is None or result.finding is None:
            return None
        name = f"{file_name(question.id)}-trace.json" if self.several else "trace.json"
        file = self.record.path / "counterexamples" / name
        # Which heuristic found it stands where users of the command line look for it.
        about = {
            **self.about, "requirement": question.id, "asked": self.settings.as_json(), "query": result.query.text,
            "heuristic": result.finding.heuristic.value, "seed": result.seed,
        }  # fmt: skip
        write_trace(file, result.network, result.finding, about)
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


def outcome_of(result: ReachResult) -> Outcome:
    """Translate to the words of campaigns: an `A[]` is falsified, an `E<>` reached."""
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
"""Outcomes by weight: a run is called by its most telling query."""


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
