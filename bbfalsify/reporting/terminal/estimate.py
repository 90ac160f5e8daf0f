"""The result of `estimate` as a terminal shows it: the answer first, then how it was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bbfalsify.core.estimate import NOT_ESTIMATED, Estimate
from bbfalsify.core.verdict import StopReason
from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.results.estimate_result import EstimateResult, EstimateRow, number_in_words
from bbfalsify.results.recorded import result_from_json

MOST_VALUES = 6


def estimate_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Each query with its answer, method and warnings."""
    result = result_from_json(EstimateResult, data)
    for row in result.requirements:
        yield f"{row.id}: {row.text or row.query}"
        yield f"    {row.in_words}{_why_unknown(row, result)}{expectation(row.outcome, row.expected)}"
        if row.method != NOT_ESTIMATED or row.runs:
            made = [f"{row.runs} runs"] if row.runs and row.trajectories is None else []
            by = [row.method] if row.method != NOT_ESTIMATED else []
            yield "    " + ", ".join([*by, *made, f"{row.seconds:.2f} s"])
        if (times := row.simulated_time) is not None:
            saved = times["simulated"] < times["uses"]
            how = f" of {times['uses']:,.0f}: beginnings from saved states" if saved else ", every beginning again"
            yield f"    time simulated: {times['simulated']:,.0f}{how}"
        yield from (f"    warning: {warning}" for warning in row.warnings)
        yield from _trajectories(row, verbose)
        yield from _table(row)
        yield from _derivatives(row)
    yield from note_lines(result.notes)
    yield from place_lines(result.directory, result.seed, [])


def _why_unknown(row: EstimateRow, result: EstimateResult) -> str:
    """Why a query that was not come to has no answer."""
    unknown = row.method == NOT_ESTIMATED and result.stop_reason is not StopReason.COMPLETED
    return f" ({result.stop_reason.value})" if unknown else ""


def _trajectories(row: EstimateRow, verbose: bool) -> Iterator[str]:
    """The first values of simulated runs; all of them where all is wanted."""
    for number, run in enumerate(() if row.trajectories is None else row.trajectories["runs"], start=1):
        yield f"    run {number}:"
        for name, values in run["values"].items():
            pairs = [f"{v:g} at {t:.4g}" for t, v in _changes(run["times"], values)]
            shown = pairs if verbose or len(pairs) <= MOST_VALUES else [*pairs[:MOST_VALUES], f"… {len(pairs)} changes"]
            yield f"      {name}: {', '.join(shown)}"


def _table(row: EstimateRow) -> Iterator[str]:
    """The answers at other times and constants, a line each."""
    if not row.table:
        return
    names = list(row.table[0]["at"])
    widths = [max(len(name), *(len(f"{line['at'][name]:g}") for line in row.table)) for name in names]
    yield "    " + "  ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
    for line in row.table:
        at = "  ".join(f"{line['at'][name]:>{width}g}" for name, width in zip(names, widths, strict=True))
        number = "" if line["estimate"] is None else number_in_words(Estimate.from_json(line["estimate"]))
        yield f"    {at}  {line['verdict'] + ': ' if line['verdict'] else ''}{number}"


def _derivatives(row: EstimateRow) -> Iterator[str]:
    """Per cent by which one per cent more of each rate or weight changes the answer."""
    if row.storm is not None:
        yield f"    Storm: {row.storm:.10g}"
    if not row.derivatives:
        return
    width = max(len(one["parameter"]) for one in row.derivatives)
    yield f"    {'':{width}}  elasticity  derivative"
    for one in row.derivatives:
        yield f"    {one['parameter']:{width}}  {one['elasticity']:+10.3f}  {one['value']:.6g}"


def _changes(times: list[float], values: list[float]) -> Iterator[tuple[float, float]]:
    """The values that differ from those before."""
    last = None
    for time, value in zip(times, values, strict=True):
        if value != last:
            yield time, value
        last = value
