"""The result of `reach` as a terminal shows it, from what was recorded: when, who, what changed, and what it took."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.records.trace_file import read_trace_file
from bbfalsify.reporting.terminal.lines import expectation, note_lines, place_lines
from bbfalsify.results.query_rows import TracesResult
from bbfalsify.results.reach_result import QueryResult, ReachResult
from bbfalsify.results.recorded import result_from_json

FIRST, LAST = 15, 25
"""Steps shown at each end of a long trace."""
MOST_UNCONFIRMED = 3
MOST_GROUPS = 10
MOST_ELEMENTS, FEWEST_COUNTED = 16, 4
"""Of an array longer than the first, so many equal elements in a row are counted."""


def reach_lines(data: Mapping[str, Any], width: int, verbose: bool) -> Iterator[str]:
    """Outcome and cost of each query, with groups of traces where several were asked for."""
    result = result_from_json(ReachResult, data)
    return query_lines(
        result, verbose, lambda row: (effort_line(row), *note_lines(stumbled(row))), lambda row: group_lines(row, width)
    )


def query_lines(
    result: TracesResult,
    verbose: bool,
    effort: Callable[[Any], Iterable[str]],
    details: Callable[[Any], Iterable[str]] = lambda row: (),
) -> Iterator[str]:
    """Effort, outcome and details of each query; the trace too where there is one query, or where all is wanted."""
    rows = result.requirements
    names = ["" if len(rows) == 1 else f"{row.id}: " for row in rows]
    for row, name in zip(rows, names, strict=True):
        if row.file is not None and (not name or verbose):
            trace = read_trace_file(row.file)
            if name:
                yield f"\n{name}{row.text or row.query}"
            yield from (*trace_lines(trace, everything=verbose), *end_lines(trace), "")
    for row, name in zip(rows, names, strict=True):
        yield from (f"{name}{line}" for line in effort(row))
    for row, name in zip(rows, names, strict=True):
        yield f"{name}{row.in_words}{expectation(row.outcome, row.expected)}"
        yield from details(row)
    yield from note_lines(result.notes)
    yield from place_lines(result.directory, result.seed, [row.file for row in rows])


def group_lines(row: QueryResult, width: int) -> Iterator[str]:
    """Several traces to one target, grouped by what differs."""
    if not row.groups:
        return
    all_traces = sum(group.traces for group in row.groups)
    groups = f"in {len(row.groups)} groups by what differs" if len(row.groups) > 1 else "which end alike"
    yield f"{all_traces} different traces, {groups}:"
    for number, group in enumerate(row.groups[:MOST_GROUPS], start=1):
        file = "" if group.file is None else f" ({Path(group.file).name})"
        yield from textwrap.wrap(f"{number:2}  {group.in_words()}{file}", width, subsequent_indent="    ")
    if len(row.groups) > MOST_GROUPS:
        yield f"… and {len(row.groups) - MOST_GROUPS} more groups: report"


def trace_lines(trace: Mapping[str, Any], *, everything: bool = False) -> Iterator[str]:
    """One line per step; the middle of a long trace is left out unless everything is wanted."""
    steps = trace["steps"]
    hidden = 0 if everything or len(steps) <= FIRST + LAST + 1 else len(steps) - FIRST - LAST
    width = max(8, len(_shown(trace["time"])))
    yield f"{'step':>6}  {'time':>{width}}  {'delay':>{width}}"
    for number, step in enumerate(steps, start=1):
        if hidden and FIRST < number <= FIRST + hidden:
            if number == FIRST + 1:
                yield f"{'':>6}  … {hidden} steps (all of them in the trace file) …"
            continue
        changes = ", ".join(f"{name} = {value}" for name, value in step["changes"].items())
        movers = "; ".join(step["who"])
        label = "" if step["action"] in movers.replace(" -> ", "->") else f"  [{step['action']}]"
        line = f"{number:6}  {_shown(step['time']):>{width}}  {_shown(step['delay']):>{width}}  {movers}{label}"
        yield f"{line}  {changes}" if changes else line
    if trace["waits"]:
        yield f"{'':6}  {_shown(trace['time']):>{width}}  {_shown(trace['waits']):>{width}}  (waiting)"
    if trace["failing"]:
        yield f"{'':6}  fails: " + "; ".join(trace["failing"])


def _shown(value: float) -> str:
    return f"{value:.6g}"


def end_lines(trace: Mapping[str, Any]) -> Iterator[str]:
    """The state in which the trace ends."""
    end = trace["end"]
    yield "locations: " + ", ".join(f"{process}.{location}" for process, location in end["locations"].items())
    values = []
    for name, value in end["variables"].items():
        shown = [_shown(v) if isinstance(v, float) else str(v) for v in (value if isinstance(value, list) else [value])]
        values.append(f"{name} = {'{' + ', '.join(_runs(shown)) + '}' if isinstance(value, list) else shown[0]}")
    if values:
        yield "values: " + ", ".join(values)


def _runs(values: list[str]) -> Iterator[str]:
    """Elements of an array; of a long one those that repeat are counted."""
    if len(values) <= MOST_ELEMENTS:
        yield from values
        return
    for value, run in itertools.groupby(values):
        count = sum(1 for _ in run)
        yield from [value] * count if count < FEWEST_COUNTED else [f"{value} × {count}"]


def effort_line(row: QueryResult) -> str:
    rate = f", {row.steps / row.seconds:,.0f} steps per second" if row.seconds > 0.1 else ""
    return f"{row.walks} walk{'s' * (row.walks != 1)}, {row.steps} steps in {row.seconds:.2f} s{rate}"


def stumbled(row: QueryResult) -> Iterator[str]:
    """Oddities that the search met."""
    if row.timelocks:
        yield (
            f"{row.timelocks} walks ended in a timelock: time can pass no further and nothing can fire "
            "(E<> deadlock gives a trace)"
        )
    if row.zeno:
        yield f"{row.zeno} walks went on without time passing (a zeno run): some cycle takes no time"
    for problem in row.unconfirmed[:MOST_UNCONFIRMED]:
        yield f"a walk was not confirmed by the exact interpreter and does not count: {problem}"
    if len(row.unconfirmed) > MOST_UNCONFIRMED:
        yield f"… and {len(row.unconfirmed) - MOST_UNCONFIRMED} more walks that were not confirmed"
