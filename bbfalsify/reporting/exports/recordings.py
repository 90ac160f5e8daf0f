"""Recorded traces as CSV: the first column is time, each further one a signal; columns of words are left out.

A file with several traces has a column `walk` before the time, as `bbfalsify simulate --walks` writes it.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import LARGEST_DATA, read_text
from bbfalsify.core.trace import Trace

MOST_PROBLEMS = 20
"""A file with a wrong separator is wrong on every line; twenty say so as well as a thousand."""


def read_csv(path: str | Path) -> dict[str, Trace]:
    """The traces by the name of their walk ("" where the file holds one); malformed lines are named, up to twenty."""
    return _all_numbers(path) or _with_care(path)


def _all_numbers(path: str | Path) -> dict[str, Trace] | None:
    """Read a file in which every cell is a finite number, thirty times as fast; None where something is otherwise."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            header = [name.strip() for name in file.readline().split(",")]
            if _header_problems(header, "") or _first_column(header):
                return None
            with warnings.catch_warnings(action="ignore"):  # of a file without rows
                table = np.loadtxt(file, delimiter=",", comments=None, ndmin=2)
    except (OSError, ValueError):  # also a cell that is a word, a row of another length, bytes that are no text
        return None
    if table.shape[1] != len(header) or not len(table) or not np.isfinite(table).all() or _goes_back(table[:, 0]):
        return None
    columns = [column.copy() for column in table.T]  # each of its own, so that those that are not needed can go
    return {"": Trace(columns[0], dict(zip(header[1:], columns[1:], strict=True)))}


def _goes_back(times: np.ndarray) -> bool:
    return bool((times[1:] <= times[:-1]).any())


def _with_care(path: str | Path) -> dict[str, Trace]:
    file = str(path)
    reader = csv.reader(io.StringIO(read_text(path, largest=LARGEST_DATA)))
    problems: list[Problem] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise UserError(Problem(f"not CSV: {error}.", file=file, line=reader.line_num)) from None
    problems += _header_problems(header, file)
    first = _first_column(header)
    if len(header) < first + 2:  # no table of signals: its lines would all be wrong
        raise UserError(problems)
    wanted = _number_columns(header, [row for _, row in rows], first)
    walks: dict[str, list[list[float]]] = {}
    for line, row in rows:
        values = _numbers(row, header, wanted, file, line, problems)
        if values is not None:
            data = walks.setdefault(row[0].strip() if first else "", [])
            if data and values[0] <= data[-1][0]:
                message = f"time must grow; {values[0]:g} follows {data[-1][0]:g}."
                problems.append(Problem(message, file=file, line=line))
            data.append(values)
        if len(problems) >= MOST_PROBLEMS:
            break
    if not walks and not problems:
        problems.append(Problem("the file has no samples.", file=file))
    if problems:
        raise UserError(problems)
    names = [header[i] for i in wanted[1:]]
    tables = {walk: np.array(data).T for walk, data in walks.items()}
    return {walk: Trace(table[0], dict(zip(names, table[1:], strict=True))) for walk, table in tables.items()}


def _first_column(header: list[str]) -> int:
    """Number of the column with the time: after the column `walk`, if there is one."""
    return 1 if header[:1] == ["walk"] else 0


def _number_columns(header: list[str], rows: list[list[str]], first: int) -> list[int]:
    """Time, and the columns in which at least one cell is a number; the others hold words, such as actions."""
    after = range(first + 1, len(header))
    return [first, *(i for i in after if any(i < len(row) and _is_number(row[i]) for row in rows))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _header_problems(header: list[str], file: str) -> list[Problem]:
    problems = []
    first = _first_column(header)
    if len(header) < first + 2:
        problems.append(Problem("the first line must name time and at least one signal.", file=file, line=1))
    elif header[first].lower() not in ("time", "t"):
        place = "column after 'walk'" if first else "first column"
        problems.append(Problem(f"the {place} must be 'time'; found '{header[first]}'.", file=file, line=1))
    for name in sorted({n for n in header if header.count(n) > 1}):
        problems.append(Problem(f"column '{name}' is given twice.", file=file, line=1))
    return problems


def _numbers(
    row: list[str], header: list[str], wanted: list[int], file: str, line: int, problems: list[Problem]
) -> list[float] | None:
    if len(row) != len(header):
        message = f"{len(row)} values where the first line names {len(header)} columns."
        problems.append(Problem(message, file=file, line=line))
        return None
    values = []
    for i in wanted:
        if not _is_number(row[i]) or not np.isfinite(float(row[i])):
            message = f"column '{header[i]}' must hold finite numbers; found '{row[i]}'."
            problems.append(Problem(message, file=file, line=line))
            return None
        values.append(float(row[i]))
    return values


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV with floats written so that reading them back gives the same bits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([repr(float(cell)) if isinstance(cell, float) else cell for cell in row])
    return out.getvalue()
