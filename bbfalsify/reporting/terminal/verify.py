"""The result of `verify` as a terminal shows it: the trace, the effort, and last the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bbfalsify.records.json_files import read_json
from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.reporting.terminal.reach import end_lines, trace_lines
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.verify_result import VerifyResult, VerifyRow


def verify_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Effort and verdict of each query; the trace too where there is one query, or where all is wanted."""
    result = result_from_json(VerifyResult, data)
    rows = result.requirements
    names = ["" if len(rows) == 1 else f"{row.id}: " for row in rows]
    for row, name in zip(rows, names, strict=True):
        if row.file is not None and (not name or verbose):
            trace = read_json(row.file)
            if name:
                yield f"\n{name}{row.text or row.query}"
            yield from (*trace_lines(trace, everything=verbose), *end_lines(trace), "")
    for row, name in zip(rows, names, strict=True):
        yield f"{name}{effort_line(row)}"
    for row, name in zip(rows, names, strict=True):
        yield f"{name}{row.in_words}{expectation(row.outcome, row.expected)}"
    yield from note_lines(result.notes)
    yield from place_lines(result.directory, result.seed, [row.file for row in rows])


def effort_line(row: VerifyRow) -> str:
    """States, depth, memory and time of one exploration."""
    rate = f", {row.states / row.cpu_seconds:,.0f} per second" if row.cpu_seconds > 0.1 else ""
    return (
        f"{row.states:,} symbolic states explored{rate}; {row.stored:,} stored, depth {row.depth}, "
        f"{row.memory_mb:.1f} MB, {row.cpu_seconds:.2f} CPU s"
    )
