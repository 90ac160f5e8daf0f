"""Everything that happens in a run is an event: plain data, recorded first, shown afterwards.

The recorder gives each event its sequence number and time and appends it as one line of JSON to `events.jsonl`.
Console, reports and progress bars are listeners of the same stream.  A listener that raises is named in the log and
switched off, and the run goes on; the recorder itself must not fail, so its errors stop the run.

Simulations are recorded many to a line (`BatchAnswered`), well under 300 bytes each.  A record holds all that an engine
was told, so feeding the recorded answers to the same engine with the same seed leads it to the same place.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.json_files import as_number, plain_number
from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict

_log = logging.getLogger("bbfalsify.core")
_log.addHandler(logging.NullHandler())

_MESSAGE_LIMIT = 160


@dataclass(frozen=True)
class Event:
    """Base of all events; fields are plain data (numbers, strings, lists, dictionaries)."""


@dataclass(frozen=True)
class RunStarted(Event):
    name: str
    system: str
    requirements: tuple[str, ...]
    seed: int
    simulations: int | None
    """The budget; None means no limit."""
    seconds: float | None
    jobs: int


@dataclass(frozen=True)
class StageStarted(Event):
    stage: str
    simulations: int
    """How many the stage will need at most; progress is counted from the batches that follow."""


@dataclass(frozen=True)
class BatchAnswered(Event):
    answers: tuple[dict[str, Any], ...]
    """One `answer_record` per query, in the order asked."""


@dataclass(frozen=True)
class FindingReported(Event):
    """A raw hit, not yet confirmed."""

    requirement: str
    actions: tuple[str, ...]
    query: str
    robustness: float
    first_violation_time: float


@dataclass(frozen=True)
class SearchAdvanced(Event):
    """After a round of a search for probable counterexamples."""

    simulations: int
    """Of the search, so far."""
    words: tuple[int, ...]
    """Distinct counterexamples found, per requirement."""
    masses: tuple[float, ...]
    """Of each requirement's list, by the search's rough estimates at this moment."""


@dataclass(frozen=True)
class CounterexampleConfirmed(Event):
    requirement: str
    actions: tuple[str, ...]
    query: str
    status: str
    """"confirmed" or "flaky"."""
    reproduced: int
    tries: int
    file: str = ""


@dataclass(frozen=True)
class KnownReplayed(Event):
    """A counterexample of the store, executed again before the search."""

    requirement: str
    actions: tuple[str, ...]
    file: str
    outcome: str
    """"same", "fixed" or "changed"."""
    reproduced: int
    tries: int


@dataclass(frozen=True)
class EstimateMade(Event):
    what: str
    estimate: dict[str, Any]
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class ListenerFailed(Event):
    listener: str
    error: str


@dataclass(frozen=True)
class Note(Event):
    """Something a reader of the report should know, in words."""

    text: str


@dataclass(frozen=True)
class RunStopped(Event):
    """Always the last event of a run."""

    reason: str
    simulations: int
    seconds: float
    message: str = ""


Listener = Callable[[Event], None]


def answer_record(name: str, answer: Answer) -> dict[str, Any]:
    """The compact record of one simulation; `answer_from_record` is its inverse (all but the trace)."""
    record: dict[str, Any] = {
        "query": name,
        "status": answer.status.value,
        "judgements": [_judgement_record(judgement) for judgement in answer.judgements],
        "seconds": round(answer.seconds, 6),
    }
    if answer.symbols:
        record["symbols"] = list(answer.symbols)
    if answer.cpu_seconds is not None:
        record["cpu_seconds"] = round(answer.cpu_seconds, 6)
    if answer.memory_mb is not None:
        record["memory_mb"] = round(answer.memory_mb, 1)
    if answer.message:
        short = len(answer.message) <= _MESSAGE_LIMIT
        record["message"] = answer.message if short else answer.message[: _MESSAGE_LIMIT - 1] + "…"
    return record


def _judgement_record(judgement: Judgement) -> list:
    """[verdict, robustness] and, when there is more to say, first violation time, vacuity and outliers."""
    record: list = [judgement.verdict.value, plain_number(judgement.robustness)]
    if judgement.first_violation_time != math.inf or judgement.vacuous or judgement.outlier_times:
        record.append(plain_number(judgement.first_violation_time))
    if judgement.vacuous or judgement.outlier_times:
        record.append(judgement.vacuous)
    if judgement.outlier_times:
        record.append(list(judgement.outlier_times))
    return record


def answer_from_record(record: dict[str, Any]) -> Answer:
    judgements = tuple(
        Judgement(
            Verdict(verdict),
            as_number(robustness),
            as_number(rest[0]) if rest else math.inf,
            len(rest) > 1 and rest[1],
            tuple(rest[2]) if len(rest) > 2 else (),
        )
        for verdict, robustness, *rest in record["judgements"]
    )
    status, symbols = SimulationStatus(record["status"]), tuple(record.get("symbols", ()))
    usage = record.get("cpu_seconds"), record.get("memory_mb")
    return Answer(status, judgements, record.get("message", ""), None, record["seconds"], symbols, *usage)


class Recorder:
    """Appends events to a file (or to nothing, when there is none) and tells the listeners."""

    def __init__(self, path: str | Path | None = None, listeners: Iterable[Listener] = ()) -> None:
        self.path = None if path is None else Path(path)
        self._listeners = list(listeners)
        self._sequence = 0
        self._file: IO[str] | None = None
        if self.path is not None:
            self._open(self.path)

    def _open(self, path: Path) -> None:
        """Continue a record that is there already; its last line goes if it was cut off."""
        try:
            old = path.read_bytes() if path.is_file() else b""
            if not old.endswith(b"\n") and old:
                os.truncate(path, old.rfind(b"\n") + 1)
            self._sequence = old.count(b"\n")
            self._file = open(path, "a", encoding="utf-8")
        except OSError as error:
            raise UserError(Problem(f"events cannot be recorded: {error.strerror}.", file=str(path))) from None

    def add_listener(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def record(self, event: Event) -> None:
        self._append(event)
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                name = getattr(listener, "__qualname__", type(listener).__qualname__)
                _log.warning("listener %s failed and is switched off", name, exc_info=True)
                self._listeners.remove(listener)
                self._append(ListenerFailed(name, f"{type(error).__name__}: {error}"[:500]))

    def _append(self, event: Event) -> None:
        if self._file is not None:
            line = {"sequence": self._sequence, "time": _now(), "event": type(event).__name__}
            for part in fields(event):
                line[part.name] = _plain(getattr(event, part.name))
            text = json.dumps(line, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
            try:
                self._file.write(text + "\n")
                self._file.flush()
            except OSError as error:
                problem = Problem(f"events cannot be recorded: {error.strerror}.", file=str(self.path))
                raise UserError(problem) from None
        self._sequence += 1

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # every event has been flushed; what failed then has been told
                self._file.close()
            self._file = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    return plain_number(value) if isinstance(value, float) else value


@dataclass(frozen=True)
class RecordedEvent:
    sequence: int
    time: str
    kind: str
    """The name of the event's class."""
    data: dict[str, Any] = field(repr=False)


def read_events(path: str | Path) -> Iterator[RecordedEvent]:
    """The events of a run in order; an unfinished last line (the machine stopped there) is left out."""
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(Problem(f"the events cannot be read: {error.strerror}.", file=str(path))) from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            yield RecordedEvent(data.pop("sequence"), data.pop("time"), data.pop("event"), data)
        except (ValueError, KeyError, AttributeError):
            if number == len(lines):
                return
            raise UserError(Problem("not an event of bbfalsify.", file=str(path), line=number)) from None


def recorded_answers(path: str | Path) -> dict[str, Answer]:
    """The answers of a run by the names of their queries, without traces."""
    return {
        record["query"]: answer_from_record(record)
        for event in read_events(path)
        if event.kind == "BatchAnswered"
        for record in event.data["answers"]
    }
