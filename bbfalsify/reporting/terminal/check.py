"""The result of a check as a terminal shows it, and the files that are made of it; from what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import read_dot
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.json_files import write_atomically
from bbfalsify.reporting.drawing.graphs import machine_svg
from bbfalsify.reporting.formatting import interval, number
from bbfalsify.reporting.terminal.tables import expectation, report_line

RESUMABLE = ("interrupted", "budget: simulations", "budget: symbols", "budget: time")


def check_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Verdicts as sentences, what they cost, and how to see violations again."""
    for row in data["requirements"]:
        if row["text"]:
            yield f"{row['id']}: {row['text']}"
        yield f"{row['id']} {row['in_words']}{expectation(row['outcome'], row.get('expected'))}"
        if row["outputs"]:
            steps = [f"{i}/{o}" for i, o in zip((*row["prefix"], *row["loop"]), row["outputs"], strict=True)]
            cut = len(row["prefix"])
            yield f"   {' '.join(steps[:cut])}{' ( ' + ' '.join(steps[cut:]) + ' )^ω' if row['loop'] else ''}"
        if row["probability"] is not None:
            yield f"   {_probability(row['probability'])}"
    if not data["requirements"] and data["max_states"] is not None and data["states"] > data["max_states"]:
        yield f"the system has more than {data['max_states']} states"
    yield ""
    tested = f", tested up to {data['tested_bound']}" if data["tested_bound"] else ""
    states = f"{data['states']} state{'s' * (data['states'] != 1)}"
    yield (
        f"{states} learned{tested}; {data['queries']} queries, {data['symbols']} symbols, "
        f"{data['seconds']:.1f} s; {data['stop_reason']}"
    )
    yield from (f"note: {note}" for note in data["notes"])
    if data["model"] is not None:
        yield f"model: {data['model']}"
    if data["run_directory"] is not None:
        yield from report_line(data["run_directory"])
        if data["stop_reason"] in RESUMABLE:
            yield f"to go on: the same command with --resume {data['run_directory']}"
        yield f"run directory: {data['run_directory']}"
    yield f"seed: {data['seed']}"
    yield from (f"replay: bbfalsify replay {row['file']}" for row in data["requirements"] if row["file"] is not None)


def _probability(data: Mapping[str, Any]) -> str:
    estimate = Estimate.from_json(data)
    shown = number(estimate.value) if estimate.low == estimate.high else interval(estimate)
    return f"a use begins like this with probability {shown} ({data['method']})"


def write_files(data: Mapping[str, Any]) -> None:
    """model.svg: what was learned, with the way to the first violation."""
    if data["model"] is not None:
        way = next(((*r["prefix"], *r["loop"]) for r in data["requirements"] if r["outputs"]), ())
        file = Path(data["model"])
        write_atomically(file.with_suffix(".svg"), machine_svg(read_dot(file), way), durable=False)
