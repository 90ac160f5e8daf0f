"""The log of a run, for its plots: what is left of it, and a note where something is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bbfalsify.core.errors import UserError
from bbfalsify.records.event_log import RecordedEvent, read_events


def recorded(directory: Path, notes: list[str]) -> Iterator[RecordedEvent]:
    """Results do not need it, so a log that is gone or spoilt costs only plots; but it is said."""
    file = directory / "events.jsonl"
    last = None
    try:
        for event in read_events(file):
            last = event.kind
            yield event
    except UserError as error:
        notes += [f"{problem} Plots of the search show what was recorded before." for problem in error.problems]
        return
    if last != "RunStopped":
        notes.append(f"{file}: the log is cut off. Plots of the search show what was recorded before.")
