"""Lines that results of all engines have: expectations, notes, where it is recorded, how to see it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bbfalsify.core.foreign_files import is_file
from bbfalsify.reporting.formatting import replay_command
from bbfalsify.results.self_check import note_line

if TYPE_CHECKING:
    from rich.table import Table


def new_table() -> Table:
    """A table with a line under its head and no other lines."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def expectation(outcome: str, expected: str | None) -> str:
    """Remark behind an outcome, where one is expected."""
    if expected is None:
        return ""
    return " (as expected)" if outcome == expected else f" (expected: {expected.replace('_', ' ')})"


def note_lines(notes: Iterable[str]) -> Iterator[str]:
    return map(note_line, notes)


def replay_line(file: str | Path) -> str:
    return f"replay: {replay_command(file)}"


def report_line(run_directory: str | Path) -> Iterator[str]:
    """The place of the report, if there is one."""
    file = Path(run_directory) / "report.html"
    if is_file(file):
        yield f"report: {file}"


def place_lines(run_directory: str | Path | None, seed: int, files: Iterable[str | None]) -> Iterator[str]:
    """Report, run directory, seed, and how to replay the first of the files."""
    if run_directory is not None:
        yield from report_line(run_directory)
        yield f"run directory: {run_directory}"
    yield f"seed: {seed}"
    yield from (replay_line(file) for file in [file for file in files if file][:1])
