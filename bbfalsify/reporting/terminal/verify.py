"""The result of `verify` as a terminal shows it: the trace, the effort, and last the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bbfalsify.reporting.terminal.reach import query_lines
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.verify_result import VerifyResult, VerifyRow


def verify_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Trace, effort and verdict of each query."""
    return query_lines(result_from_json(VerifyResult, data), verbose, lambda row: [effort_line(row)])


def effort_line(row: VerifyRow) -> str:
    """States, depth, memory and time of one exploration."""
    rate = f", {row.states / row.cpu_seconds:,.0f} per second" if row.cpu_seconds > 0.1 else ""
    return (
        f"{row.states:,} symbolic states explored{rate}; {row.stored:,} stored, depth {row.depth}, "
        f"{row.memory_mb:.1f} MB, {row.cpu_seconds:.2f} CPU s"
    )
