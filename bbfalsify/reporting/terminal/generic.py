"""Lines that results of every engine have: requirements with their outcomes, notes, run directory, replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.results.run_result import RunResult


def finding_steps(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """One finding of an engine that says no more about it than its results do."""
    return dict(row), [f"{key}: {value}" for key, value in row.items()]


def result_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Lines for engines that show no more, and for runs that could not be made."""
    result = RunResult.from_json(data)
    yield ""
    yield from note_lines(result.notes)
    for row in result.requirements:
        text = f"{row.id} {row.outcome.replace('_', ' ')}{expectation(row.outcome, row.expected)}"
        yield f"{text}: {row.text}" if row.text else text
    yield from place_lines(result.directory, result.seed, [found.file for found in result.counterexamples])
