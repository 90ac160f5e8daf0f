"""The answers that a run got before it was interrupted: fed to it again, they lead it to the same place.

An engine is a function of its seed and of the answers, so nothing else has to be kept.  Each recorded answer knows the
checksum of its query.  Where a run that is resumed asks something else under the same name (another version, another
machine's arithmetic), its record cannot be continued, and it is refused rather than mixed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.query import Answer, AnyQuery
from bbfalsify.records.answer_records import answer_from_record, checksum, recorded_trace
from bbfalsify.records.event_log import RecordedEvent, damaged, read_events

_SESSION_STARTS = ("RunStarted", "RunResumed")
_NOT_TO_REPEAT = ("BatchAnswered", "Repeated", "RunStopped", "AnswersReplayed", "RecordDamaged", *_SESSION_STARTS)


class RecordedAnswers:
    """The recorded answers of one run, by the names of their queries.

    A check may begin anew in its directory, with other settings: then the answers since its last beginning count.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._begin_anew()
        if path is not None and path.is_file():
            self._read(read_events(path))

    def _begin_anew(self) -> None:
        self._answers: dict[str, dict[str, Any]] = {}
        self._outputs: dict[str, dict[str, Any]] = {}
        self._lines: dict[str, int] = {}
        self.events: list[RecordedEvent] = []
        """Events that a resumed run repeats and need not record again."""
        self.answers = 0
        self.started = False
        self.decided_by = ""
        """Digest of all that decides the result; empty where an older version recorded."""
        self.known_lines = 0
        """Lines of observations that a check began with."""
        self.seconds = 0.0
        """Spent before it was interrupted, time without a process not counted."""
        self.time_up: dict[str, int] = {}
        """Simulations made when each wall-clock limit was reached."""
        self.known: set[str] | None = None
        """The files of the store that took part, where that is decided: the store may have grown since."""

    def _read(self, events: Iterator[RecordedEvent]) -> None:
        began = last = None
        for event in events:
            if event.kind == "RunStarted":
                self._begin_anew()
                self.decided_by, self.known_lines = event.data.get("decided_by", ""), event.data.get("known", 0)
                began = None
            if event.kind in _SESSION_STARTS:
                self.started = True
                self.seconds += _seconds(began, last)
                began = event.time
            elif event.kind == "AnswersReplayed":
                began = event.time  # replaying is no work of the run
            last = event.time or last
            if event.kind in ("BatchAnswered", "Repeated"):
                for record in event.data["answers"]:
                    self._answers[record["query"]] = record
                    self._lines[record["query"]] = event.sequence + 1
                    if isinstance(record.get("outputs"), dict):
                        self._outputs[record["query"]] = record
            elif event.kind == "TimeUp":
                self.time_up[event.data["what"]] = event.data["simulations"]
            if event.kind not in _NOT_TO_REPEAT:
                self.events.append(event)
        self.seconds += _seconds(began, last)
        self.answers = len(self._answers)
        if any(event.kind == "StageStarted" and event.data["stage"] == "searching" for event in self.events):
            self.known = {event.data["file"] for event in self.events if event.kind == "KnownReplayed"}

    @property
    def playing(self) -> bool:
        """There are recorded answers that the run has not asked for yet."""
        return bool(self._answers)

    def has(self, name: str) -> bool:
        """True where a query of this name was answered, and was not asked for yet."""
        return name in self._answers

    def answer(self, query: AnyQuery) -> Answer | None:
        """Return the recorded answer, each once; None where there is none."""
        record = self._answers.pop(query.name, None)
        if record is None:
            return None
        if record.get("asked") != checksum(query):
            raise UserError(
                Problem(
                    f"this run cannot be continued: it now asks another '{query.name}' than was recorded, so its "
                    "seed leads elsewhere with this version or on this machine. Start a new run.",
                    file=None if self._path is None else str(self._path),
                )
            )
        try:
            return answer_from_record(record, recorded_trace(record, query, self._outputs))
        except (LookupError, ValueError, TypeError, zlib.error):
            path, line = self._path or Path(), self._lines[query.name]
            raise damaged(path, line, f"the answer to '{query.name}' is damaged") from None


def _seconds(began: str | None, ended: str | None) -> float:
    if began is None or ended is None:
        return 0.0
    return max(0.0, (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds())
