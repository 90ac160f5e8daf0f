"""What a record holds, for tests that look into it."""

from __future__ import annotations

import re
from pathlib import Path

from bbfalsify.core.query import Answer
from bbfalsify.records.answer_records import answer_from_record
from bbfalsify.records.event_log import read_events


def recorded_answers(path: str | Path) -> dict[str, Answer]:
    """The answers of a run by the names of their queries, without traces."""
    return {
        record["query"]: answer_from_record(record)
        for event in read_events(path)
        if event.kind == "BatchAnswered"
        for record in event.data["answers"]
    }


def unsealed(file: Path) -> str:
    """Take the checksums out of a file of lines, as older versions wrote it; its text."""
    file.write_text(re.sub(r',"crc":"[0-9a-f]{8}"\}', "}", file.read_text()))
    return file.read_text()
