"""The result of a falsification as a terminal shows it, and the files that are made of it; from what was recorded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.records.json_files import write_atomically
from bbfalsify.records.run_directory import file_name
from bbfalsify.reporting.formatting import interval
from bbfalsify.reporting.terminal.convergence import convergence_lines
from bbfalsify.reporting.terminal.equations import equations_table, equations_title
from bbfalsify.reporting.terminal.insight_lines import (
    FEW,
    coverage_lines,
    coverage_table,
    elasticity_table,
    sampling_lines,
    swap_lines,
    time_lines,
    time_plot,
)
from bbfalsify.reporting.terminal.shrunk import shrunk_lines
from bbfalsify.reporting.terminal.tables import (
    LEGEND,
    baseline_lines,
    closing_lines,
    effort_line,
    result_table,
    store_lines,
    unmet_lines,
)
from bbfalsify.results.recorded import RequirementRow, RunResult, result_from_json

if TYPE_CHECKING:
    from rich.table import Table


def falsification_lines(data: dict[str, Any], width: int, verbose: bool) -> Iterator[str | Table]:
    """A table per falsified requirement and what it means, then how it was found, then the outcome of each."""
    result = result_from_json(data)
    for row in result.requirements:
        if any(c.requirement == row.id for c in result.counterexamples):
            yield ""
            yield from _found(result, row, width, verbose)
    for row in result.requirements:
        yield from baseline_lines(row)
    if verbose and result.counterexamples:
        yield from textwrap.wrap(LEGEND, width)
    yield ""
    yield from coverage_lines(result, everything=verbose)
    table = coverage_table(result) if verbose else None
    if table is not None:
        yield from (table, "")
    if verbose:
        for line in sampling_lines(result):
            yield from textwrap.wrap(line, width)
    yield effort_line(result)
    yield from (*store_lines(result), *unmet_lines(result))
    yield from (f"note: {note}" for note in result.notes)
    yield from closing_lines(result)


def _found(result: RunResult, row: RequirementRow, width: int, verbose: bool) -> Iterator[str | Table]:
    if len(result.requirements) > 1:
        yield f"{row.id}: {row.text or row.stl}"
    yield result_table(result, row.id, width)
    if row.found_probability is not None:
        yield f"probability that a use meets one of these: {interval(row.with_uncertainty or row.found_probability)}"
    if any(c.with_uncertainty for c in result.counterexamples if c.requirement == row.id):
        yield "the intervals include how well the profile's parameters are known"
    yield from (*shrunk_lines(result, row.id, width, everything=verbose), *convergence_lines(row))
    if result.columns:
        yield f"\n{equations_title(result)}"
        yield equations_table(result, row.id, width)
    yield from (*time_lines(row), *swap_lines(row, None if verbose else FEW))
    table = elasticity_table(row) if verbose else None
    if table is not None:
        yield from ("", table)


def write_files(data: dict[str, Any]) -> None:
    """time_to_violation.svg; where there are several requirements, one for each violated."""
    result = result_from_json(data)
    if result.run_directory is None:
        return
    for row in result.requirements:
        plot = time_plot(result, row)
        if plot is not None:
            which = f"-{file_name(row.id)}" if len(result.requirements) > 1 else ""
            write_atomically(Path(result.run_directory) / f"time_to_violation{which}.svg", plot, durable=False)
