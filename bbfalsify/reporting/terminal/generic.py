"""Lines that results of every engine have: requirements with their outcomes, notes, run directory, replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.results.run_result import RunResult


def finding_steps(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """One finding of an engine that says no more about it than its results do."""
    return dict(row), [f"{row['requirement']} #{row['rank']}, {row.get('status')}: {finding_line(row)}"]


def finding_line(row: Mapping[str, Any]) -> str:
    """A finding in one line: what was done, when it was too late, and by how much."""
    inputs: Mapping[str, str] = row.get("inputs") or {}
    done = [", ".join(f"{name} {value}" for name, value in inputs.items()), "·".join(row.get("actions") or ())]
    when, by = row.get("first_violation_time"), row.get("robustness")
    told = [f"violated at {when:.6g}" if when is not None else "", f"robustness {by:.4g}" if by is not None else ""]
    query = f"query {row['query']}" if row.get("query") else ""
    return "; ".join(part for part in (*done, *told, query) if part)


def result_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Lines for engines that show no more, and for runs that could not be made."""
    result = RunResult.from_json(data)
    yield ""
    yield from note_lines(result.notes)
    for row in result.requirements:
        text = f"{row.id} {row.outcome.replace('_', ' ')}{expectation(row.outcome, row.expected)}"
        yield f"{text}: {row.text}" if row.text else text
        for found in data["counterexamples"]:
            if found["requirement"] == row.id and found.get("inputs"):
                yield f"  #{found['rank']}  {finding_line(found)}"
    yield from place_lines(result.directory, result.seed, [found.file for found in result.counterexamples])
