"""Tables for spreadsheets and data frames, made from what was recorded: `tables/*.csv` in the directory of a run, and
in that of a campaign (its runs one below the other, with what tells them apart in the first columns).

    counterexamples.csv   the ranked list
    requirements.csv      outcome, expectation, probabilities
    convergence.csv       of falsifications: how the list grew during the search
    simulations.csv       of falsifications: every simulation but repetitions: verdict, robustness, time of violation

With pyarrow (`pip install 'bbfalsify[tables]'`), `write_tables(…, parquet=True)` writes Parquet beside them.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.answer_records import one_by_one
from bbfalsify.records.event_log import read_events
from bbfalsify.records.json_files import WritingFailed, read_json

Columns = dict[str, type]
"""Names, in their order, and what is in them (or nothing)."""
Row = Sequence[Any]
Writer = Callable[[list[Row]], None]
"""Takes the next rows."""

_ROWS_TOGETHER = 20_000
"""Rows of Parquet written at once: many are read faster, all would not fit into memory."""


@dataclass(frozen=True, eq=False)
class _Run:
    directory: Path
    marks: tuple[Any, ...] = ()
    """Values that tell it from other runs."""


def write_tables(directory: str | Path, *, parquet: bool = False) -> list[Path]:
    """Write the tables of one finished run; return the files."""
    return _write_all(Path(directory) / "tables", {}, [_Run(Path(directory))], parquet)


def write_campaign_tables(directory: str | Path, *, parquet: bool = False) -> list[Path]:
    """Write the tables of all finished runs of a campaign, run by run to save memory; return the files."""
    directory = Path(directory)
    planned = read_json(directory / "campaign.json")["runs"]
    varies = dict.fromkeys(key for row in planned for key in row["varies"])
    runs = []
    for row in planned:
        folder = directory / row["directory"]
        if (folder / "results.json").is_file():
            runs.append(_Run(folder, (folder.name, *(row["varies"].get(key) for key in varies))))
    marks: Columns = {"run": str}
    for key in varies:
        marks[f"run {key}"] = _common_type(row["varies"].get(key) for row in planned)
    return _write_all(directory / "tables", marks, runs, parquet)


def _write_all(folder: Path, marks: Columns, runs: Sequence[_Run], parquet: bool) -> list[Path]:
    files: list[Path] = []

    @contextlib.contextmanager
    def table(name: str, columns: Columns) -> Iterator[Callable[[_Run, Iterable[Row]], None]]:
        kinds = {"csv": _csv, "parquet": _parquet} if parquet else {"csv": _csv}
        with contextlib.ExitStack() as stack:
            files.extend(folder / f"{name}.{kind}" for kind in kinds)
            writers = [stack.enter_context(k(folder / f"{name}.{kind}", marks | columns)) for kind, k in kinds.items()]

            def write(run: _Run, rows: Iterable[Row]) -> None:
                marked: list[Row] = [[*run.marks, *row] for row in rows]
                for writer in writers:
                    writer(marked)

            yield write

    with _told(folder):
        folder.mkdir(exist_ok=True)
        with (
            table("counterexamples", _COUNTEREXAMPLES) as counterexamples,
            table("requirements", _REQUIREMENTS) as requirements,
        ):
            judged: list[tuple[_Run, list[str], list[Row]]] = []
            for run in runs:
                results = read_json(run.directory / "results.json")
                if results.get("engine", "falsify") == "falsify":
                    judged.append((run, [row["id"] for row in results["requirements"]], [*_convergence(results)]))
                counterexamples(run, map(_counterexample, results["counterexamples"]))
                requirements(run, map(_requirement, results["requirements"]))
        if judged:
            everything = tuple(dict.fromkeys(name for _, names, _ in judged for name in names))
            with (
                table("convergence", _CONVERGENCE) as convergence,
                table("simulations", _simulation_columns(everything)) as simulations,
            ):
                for run, names, grown in judged:
                    convergence(run, grown)
                    simulations(run, _simulations(run.directory, names, everything))
    return files


@contextlib.contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Files are written as they are: a table that is cut off can be made again from the record."""
    try:
        yield
    except OSError as error:
        raise WritingFailed(Problem(f"cannot be written: {error.strerror}.", file=str(folder))) from None


def _common_type(values: Iterable[Any]) -> type:
    """Type of a column that a campaign varies: int, float, or text for everything else."""
    kinds = {type(value) for value in values if value is not None}
    return int if kinds == {int} else float if kinds and kinds <= {int, float} else str


# ---------------------------------------------------------------------- what is in them

_ESTIMATE = {"value": float, "low": float, "high": float, "method": str, "samples": int}


def _estimate(name: str) -> Columns:
    return {name if part == "value" else f"{name} {part}": kind for part, kind in _ESTIMATE.items()}


def _parts(estimate: dict[str, Any] | None) -> list[Any]:
    return [None if estimate is None else estimate[part] for part in _ESTIMATE]


def _simulation_columns(requirements: Sequence[str]) -> Columns:
    columns: Columns = {"query": str, "status": str, "seconds": float}
    for name in requirements:
        columns |= {f"{name} verdict": str, f"{name} robustness": float, f"{name} first_violation_time": float}
    return columns


def _simulations(directory: Path, judged: Sequence[str], requirements: Sequence[str]) -> Iterator[Row]:
    """`judged` are the requirements of this run, of all `requirements` that have columns."""
    places = [3 + 3 * requirements.index(name) for name in judged]
    empty = [None] * (3 * len(requirements))
    for event in read_events(directory / "events.jsonl"):
        if event.kind == "BatchAnswered":
            for answer in (single for record in event.data["answers"] for single in one_by_one(record)):
                row = [answer["query"], answer["status"], answer["seconds"], *empty]
                for place, judgement in zip(places, answer["judgements"], strict=False):  # one that failed has none
                    row[place : place + 3] = _judgement(judgement)
                yield row


def _judgement(record: Sequence[Any]) -> tuple[str, float, float | None]:
    verdict, robustness, *rest = record
    return verdict, float(robustness), float(rest[0]) if rest and verdict == "violated" else None


_PLAIN_COUNTEREXAMPLE: Columns = {
    "requirement": str, "rank": int, "status": str, "first_violation_time": float, "robustness": float,
    "violating": int, "traces": int, "iteration": int,
}  # fmt: skip
_COUNTEREXAMPLES: Columns = {**_PLAIN_COUNTEREXAMPLE, "actions": str, **_estimate("probability"), "file": str}


def _counterexample(row: dict[str, Any]) -> Row:
    plain = [row.get(key) for key in _PLAIN_COUNTEREXAMPLE]
    return [*plain, " ".join(row["actions"]), *_parts(row.get("probability")), row.get("file")]


_PLAIN_REQUIREMENT: Columns = {
    "id": str, "outcome": str, "expected": str, "category": str, "best_robustness": float, "found_words": int,
    "text": str,
}  # fmt: skip
_REQUIREMENTS: Columns = {**_PLAIN_REQUIREMENT, "formula": str, **_estimate("found_probability"), **_estimate("smc")}


def _requirement(row: dict[str, Any]) -> Row:
    plain, baseline = [row.get(key) for key in _PLAIN_REQUIREMENT], (row.get("smc") or {}).get("probability")
    formula = next((row[form] for form in ("stl", "formula", "query") if form in row), None)
    return [*plain, formula, *_parts(row.get("found_probability")), *_parts(baseline)]


_CONVERGENCE: Columns = {"requirement": str, "simulations": int, "words": int, "mass": float}


def _convergence(results: dict[str, Any]) -> Iterator[Row]:
    for row in results["requirements"]:
        for point in row.get("convergence", ()):
            yield row["id"], point["simulations"], point["words"], point["mass"]


# ---------------------------------------------------------------------- how they are written


@contextlib.contextmanager
def _csv(file: Path, columns: Columns) -> Iterator[Writer]:
    with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_no_formula, columns))
        yield lambda rows: writer.writerows([*map(_no_formula, row)] for row in rows)


def _no_formula(cell: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would compute (`=…`, `+…`, `-…`, `@…`); numbers stay."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


@contextlib.contextmanager
def _parquet(file: Path, columns: Columns) -> Iterator[Writer]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError("pyarrow is not installed; 'pip install bbfalsify[tables]' brings it.") from None
    kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    waiting: list[Row] = []

    def flush() -> None:
        arrays = [
            pyarrow.Array.from_buffers(kinds[kind], len(column), [*map(pyarrow.py_buffer, _buffers(kind, column))])
            for kind, column in zip(columns.values(), zip(*waiting, strict=True), strict=True)
        ]
        writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        waiting.clear()

    def write(rows: list[Row]) -> None:
        waiting.extend(rows)
        if len(waiting) >= _ROWS_TOGETHER:
            flush()

    with parquet.ParquetWriter(file, schema) as writer:
        yield write
        if waiting:
            flush()


def _buffers(kind: type, column: Sequence[Any]) -> list[Any]:
    """A column in Arrow's layout: bits of the values that are there, ends of texts, values.

    (`pyarrow.array` imports pandas, half a second of a short run.)
    """
    there = np.packbits([value is not None for value in column], bitorder="little")
    if kind is not str:
        number = np.int64 if kind is int else np.float64
        return [there, np.array([0 if value is None else kind(value) for value in column], number)]
    texts = [b"" if value is None else str(value).encode("utf-8", "backslashreplace") for value in column]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return [there, ends, b"".join(texts)]


def parquet_is_there() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
