"""The event log of a run: one line of JSON per event, appended to `events.jsonl`.

The recorder gives each event its sequence number and time.  Console, reports and progress bars are listeners of the
same stream.  A listener that raises is named in the log and switched off, and the run goes on; the recorder itself must
not fail, so its errors stop the run.
"""

from __future__ import annotations

import functools
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from bbfalsify.core import events
from bbfalsify.core.checksums import has_checksum
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.disk import EVERY_S, soon, wait_for
from bbfalsify.records.json_files import one_line, plain_number
from bbfalsify.records.line_file import LineFile, line_of, read_line

_log = logging.getLogger("bbfalsify.records")
_log.addHandler(logging.NullHandler())

ANSWER_FIELDS = ("query", "status", "judgements", "seconds")
"""Keys that every recorded answer has."""
_LONGEST_END = 1 << 16
"""Bytes in which the last line of a record must be: what a message says of a system is bounded."""


class Recorder:
    """Appends events to a file (or to nothing, when there is none) and tells the listeners.

    Lines are appended and never changed.  A line reaches the operating system at once, and the disk within a second;
    where there is no room for all of it, none of it stays.  Of a run that is resumed, events that are recorded already
    (`again`) are told to the listeners and not written a second time.  `folders` hold names that have to reach the disk
    with the first lines.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        listeners: Iterable[events.Listener] = (),
        *,
        again: Iterable[RecordedEvent] = (),
        folders: Iterable[Path] = (),
    ) -> None:
        self.path = None if path is None else Path(path)
        self._listeners = list(listeners)
        self._sequence = 0
        self._again: Counter[str] = Counter()
        self.repeat(again)
        self._folders = tuple(folders)
        self._file = None if self.path is None else LineFile(self.path, "events", _is_line(self.path))
        self._on_disk = 0
        self._synced = time.monotonic()
        if self._file is not None:
            self._sequence = self._file.lines
            if self._file.is_new and self._file.path.parent not in self._folders:
                self._folders += (self._file.path.parent,)
            if self._file.dropped:
                self.record(damage_at_end(self._file))

    @property
    def is_empty(self) -> bool:
        """Nothing has been recorded yet."""
        return self._sequence == 0

    def repeat(self, again: Iterable[RecordedEvent]) -> None:
        """Expect these events once more: they are recorded already."""
        self._again.update(_content(event.kind, event.data) for event in again)

    def record(self, event: events.Event) -> None:
        self._append(event)
        self.tell(event)

    def tell(self, event: events.Event) -> None:
        """Tell the listeners alone."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                name = getattr(listener, "__qualname__", type(listener).__qualname__)
                _log.warning("listener %s failed and is switched off", name, exc_info=True)
                self._listeners.remove(listener)
                self._append(events.ListenerFailed(name, f"{type(error).__name__}: {error}"[:500]))

    def _append(self, event: events.Event) -> None:
        if self._file is None:
            self._sequence += 1
            return
        kind, data = type(event).__name__, {name: _plain(value) for name, value in vars(event).items()}
        if self._again:
            content = _content(kind, data)
            if self._again[content]:
                self._again[content] -= 1
                return
        line = {"sequence": self._sequence, "time": _now(), "event": kind, **data}
        self._file.append(line_of(line))
        self._sequence += 1
        if time.monotonic() - self._synced >= EVERY_S:
            self.sync(wait_for)
        elif isinstance(event, events.RunStopped):
            self.sync()

    def sync(self, wait: Callable[..., None] = soon) -> None:
        """Have everything recorded so far on disk, soon or now."""
        if self._file is not None and self._file.length > self._on_disk:
            self._on_disk, self._synced = self._file.length, time.monotonic()
            wait(self._file.path, *self._folders)
            self._folders = ()

    def close(self) -> None:
        if self._file is not None:
            self.sync()
            self._file.close()
            self._file = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _now() -> str:
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{milliseconds:03d}Z"


@functools.lru_cache(1)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _plain(value: Any) -> Any:
    return plain_number(value) if isinstance(value, float) else value


def _content(kind: str, data: dict[str, Any]) -> str:
    return kind + one_line(dict(sorted(data.items())))


# ---------------------------------------------------------------------- reading


@dataclass(frozen=True)
class RecordedEvent:
    sequence: int
    time: str | None
    """None where an older version wrote a field of the event in its place."""
    kind: str
    """The name of the event's class."""
    data: dict[str, Any] = field(repr=False)


def read_events(path: str | Path) -> Iterator[RecordedEvent]:
    """The events of a run in order; what is spoilt at the end (the machine stopped there) is left out.

    A line that is no event and has events after it, or is not in its place, was not left by an interruption: it is
    refused.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(Problem(f"the events cannot be read: {error.strerror}.", file=str(path))) from None
    lines.pop()  # empty after the last newline; otherwise a line that was cut off
    sealed = False
    for number, line in enumerate(lines, start=1):
        event = _event(line, sealed)
        sealed = sealed or has_checksum(line)
        if event is None:
            if any(_event(later, sealed) is not None for later in lines[number:]):
                raise damaged(path, number, "damaged, or not an event of bbfalsify")
            return
        if event.sequence != number - 1:
            raise damaged(path, number, f"event {event.sequence} where event {number - 1} belongs")
        if missing := _missing_fields(event):
            raise damaged(path, number, f"{event.kind} without {', '.join(missing)}")
        yield event


_FIELDS = {
    kind.__name__: [field.name for field in fields(kind) if field.default is MISSING]
    for kind in events.Event.__subclasses__()
}


def _missing_fields(event: RecordedEvent) -> list[str]:
    """Return the fields that an event of this kind has in every log, and this one has not."""
    missing = [name for name in _FIELDS.get(event.kind, ()) if name not in event.data]
    if not missing and event.kind in ("BatchAnswered", "Repeated"):
        records = event.data["answers"]
        if not isinstance(records, list) or not all(isinstance(r, dict) and "query" in r for r in records):
            return ["the names of its queries"]
        return sorted({name for record in records for name in ANSWER_FIELDS if name not in record})
    return missing


def damaged(path: Path, line: int, what: str) -> UserError:
    """Name the damage, and what is left."""
    before = f"the {line - 1} events before it are whole: cut the file off there to go on from them" if line > 1 else ""
    return UserError(Problem(f"{what}{'; ' * bool(before)}{before}.", file=str(path), line=line))


def damage_at_end(file: LineFile) -> events.RecordDamaged:
    """Name the lines at the end of a file that cannot be used, and what is used."""
    lines = "1 damaged line at the end was" if file.dropped == 1 else f"{file.dropped} damaged lines at the end were"
    return events.RecordDamaged(str(file.path), file.lines + 1, f"{lines} cut off; the {file.lines} before are used")


def _is_line(path: Path) -> Callable[[bytes], bool]:
    """Return the test of lines of this file: where the first one has a checksum, all of them have."""
    try:
        with open(path, "rb") as file:
            sealed = has_checksum(file.readline(_LONGEST_END))
    except OSError:
        sealed = False
    return lambda line: _event(line, sealed) is not None


def _event(line: bytes, sealed: bool = False) -> RecordedEvent | None:
    """Read a line; None where it is none, is damaged, or lacks the checksum that it must have where it is `sealed`."""
    data = read_line(line, sealed=sealed)
    if data is None:
        return None
    try:
        sequence, time, kind = (data.pop(key) for key in events.ENVELOPE)
        if kind == events.TraceFound.__name__ and isinstance(time, float):  # `model_time` was once called `time`
            return RecordedEvent(sequence, None, kind, {**data, "model_time": time})
        datetime.fromisoformat(time)
        return RecordedEvent(sequence, time, kind, data) if isinstance(kind, str) else None
    except (ValueError, KeyError, TypeError):
        return None


def ends_with_its_end(path: Path) -> bool:
    """True where the last line of a record says that the run stopped."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST_END))
            lines = file.read().split(b"\n")
    except OSError:
        return False
    last = _event(lines[-2]) if len(lines) > 1 and not lines[-1] else None
    return last is not None and last.kind == events.RunStopped.__name__
