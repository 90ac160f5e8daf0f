"""A run's tables, for spreadsheets and data frames: made from what was recorded, `tables/*.csv` in its directory.

    simulations.csv       every use of the system: verdict, robustness and time of violation per requirement
    counterexamples.csv   the ranked list
    requirements.csv      outcome, expectation, probabilities
    convergence.csv       how the list grew during the search

With pyarrow (`pip install 'bbfalsify[tables]'`), `write_tables(…, parquet=True)` writes Parquet beside them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.events import read_events
from bbfalsify.core.json_files import WritingFailed, read_json

Table = tuple[list[str], list[list[Any]]]


def write_tables(directory: str | Path, *, parquet: bool = False) -> list[Path]:
    """Write the tables of a finished run; the files."""
    directory = Path(directory)
    results = read_json(directory / "results.json")
    tables = {
        "simulations": _simulations(directory, [row["id"] for row in results["requirements"]]),
        "counterexamples": _counterexamples(results),
        "requirements": _requirements(results),
        "convergence": _convergence(results),
    }
    folder = directory / "tables"
    folder.mkdir(exist_ok=True)
    files = []
    for name, table in tables.items():
        files.append(folder / f"{name}.csv")
        _write(files[-1], _csv(table).encode())
        if parquet:
            files.append(folder / f"{name}.parquet")
            _write(files[-1], _parquet(table))
    return files


def _write(file: Path, content: bytes) -> None:
    """As it is: a table that is cut off can be made again from the record."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise WritingFailed(Problem(f"cannot be written: {error.strerror}.", file=str(file))) from None


def _simulations(directory: Path, requirements: Sequence[str]) -> Table:
    header = ["query", "status", "seconds"]
    for name in requirements:
        header += [f"{name} verdict", f"{name} robustness", f"{name} first_violation_time"]
    return header, list(_simulation_rows(directory, len(requirements)))


def _simulation_rows(directory: Path, requirements: int) -> Iterator[list[Any]]:
    for event in read_events(directory / "events.jsonl"):
        if event.kind == "BatchAnswered":
            for answer in event.data["answers"]:
                row = [answer["query"], answer["status"], answer["seconds"]]
                for judgement in answer["judgements"]:
                    verdict, robustness, *rest = judgement
                    moment = rest[0] if rest and verdict == "violated" else None
                    row += [verdict, float(robustness), None if moment is None else float(moment)]
                yield row + [None] * (3 + 3 * requirements - len(row))


_ESTIMATE = ("value", "low", "high", "method", "samples")


def _estimate(name: str) -> list[str]:
    return [name if part == "value" else f"{name} {part}" for part in _ESTIMATE]


def _parts(estimate: dict[str, Any] | None) -> list[Any]:
    return [None if estimate is None else estimate[part] for part in _ESTIMATE]


def _counterexamples(results: dict[str, Any]) -> Table:
    plain = ["requirement", "rank", "status", "first_violation_time", "robustness", "violating", "traces", "iteration"]
    header = [*plain, "actions", *_estimate("probability"), "file"]
    rows = [
        [*(row.get(key) for key in plain), " ".join(row["actions"]), *_parts(row["probability"]), row.get("file")]
        for row in results["counterexamples"]
    ]
    return header, rows


def _requirements(results: dict[str, Any]) -> Table:
    plain = ["id", "outcome", "expected", "category", "best_robustness", "found_words", "text", "stl"]
    header = [*plain, *_estimate("found_probability"), *_estimate("smc")]
    rows = [
        [
            *(row.get(key) for key in plain),
            *_parts(row.get("found_probability")),
            *_parts((row.get("smc") or {}).get("probability")),
        ]
        for row in results["requirements"]
    ]
    return header, rows


def _convergence(results: dict[str, Any]) -> Table:
    rows = [
        [row["id"], point["simulations"], point["words"], point["mass"]]
        for row in results["requirements"]
        for point in row.get("convergence", ())
    ]
    return ["requirement", "simulations", "words", "mass"], rows


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table[0])
    writer.writerows(table[1])
    return text.getvalue()


def _parquet(table: Table) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UserError("pyarrow is not installed; 'pip install bbfalsify[tables]' brings it.") from None
    header, rows = table
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    sink = pyarrow.BufferOutputStream()
    arrays = {name: pyarrow.array(list(column)) for name, column in zip(header, columns, strict=True)}
    parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue().to_pybytes()


def parquet_is_there() -> bool:
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
