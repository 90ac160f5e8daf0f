"""The page of a search for states: each query with its outcome, and the trace found as a message sequence chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.manifest import readable_manifest
from bbfalsify.records.trace_file import read_trace_file
from bbfalsify.reporting.formatting import number, replay_command
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, outcome_badges
from bbfalsify.reporting.html.sequence import MANY, Row, sequence_chart
from bbfalsify.reporting.html.timeline import timeline
from bbfalsify.reporting.terminal.reach import stumbled
from bbfalsify.results.query_rows import TraceRow, TracesResult
from bbfalsify.results.reach_result import QueryResult, ReachResult
from bbfalsify.results.recorded import result_from_json
from bbfalsify.results.verify_result import VerifyRow

MOST_ACTIONS = 30
"""Actions of a group's shortest trace that its line shows."""
MOST_CHARTS_OPEN = 3
"""The charts of more traces than this are folded."""


def reached_page(directory: Path, results: Mapping[str, Any]) -> dict[str, Any]:
    result = result_from_json(ReachResult, results, file=str(directory / "results.json"))
    effort = f"{result.walks:,} walks, {result.steps:,} steps in {result.seconds:.1f} s; {result.stop_reason}; "
    return traces_page(directory, results, result, f"{effort}seed {result.seed}", _facts)


def traces_page(
    directory: Path, results: Mapping[str, Any], result: TracesResult, effort: str,
    facts: Callable[[Any], list[tuple[str, str]]],
) -> dict[str, Any]:  # fmt: skip
    """The page of queries about states, with the traces found."""
    manifest, notes = readable_manifest(directory), list(result.notes)
    traces = []
    for row in result.requirements:
        if row.file is not None:
            try:
                traces.append(_trace(Path(row.file), row))
            except UserError as error:  # what can be shown is shown
                notes += map(str, error.problems)
    for trace in traces:
        trace["open"] = len(traces) <= MOST_CHARTS_OPEN
    first = next((trace["replay"] for trace in traces), None)
    return {
        "title": result.name,
        "badges": [badge(result.outcome), *([badge(results["category"])] if results.get("category") else [])],
        "effort": f"{_model(manifest)}{effort}",
        "queries": [_query(row, facts(row)) for row in result.requirements],
        "notes": notes,
        "reading": "Time goes down. An arrow is a synchronisation, a box (a ring, if more than ten processes move) a "
        "step of one process alone; every step was checked again by the exact interpreter. Rest the mouse on a text "
        "to see all of it. Over time: a row per process that moves, coloured by location, and a curve per variable "
        "and clock that changes.",
        "traces": traces,
        "how": how_to_reproduce(manifest, first, "the first trace alone"),
        "sections": [("overview", "Queries"), *([("traces", "Traces")] if traces else []), ("reproduce", "Reproduce")],
    }


def _model(manifest: Mapping[str, Any]) -> str:
    about = (manifest.get("decided_by") or {}).get("model") or {}
    name = about.get("example") or about.get("model")
    return "" if name is None else f"{name}; "


def _facts(row: QueryResult) -> list[tuple[str, str]]:
    found = [("found by", f"{row.heuristic}, walk {row.walk}")] if row.length is not None else []
    return [("walks", f"{row.walks:,}"), ("steps of all walks", f"{row.steps:,}"), *trace_facts(row), *found]


def trace_facts(row: TraceRow) -> list[tuple[str, str]]:
    return [] if row.length is None else [("trace", f"{row.length} steps, {number(row.time, 8)} time units")]


def _query(row: TraceRow, facts: list[tuple[str, str]]) -> dict[str, Any]:
    badges = outcome_badges(row.outcome, row.expected)
    if isinstance(row, VerifyRow):  # a proof is more than "not falsified"
        badges[0] = badge(row.outcome, row.verdict)
    return {
        "id": row.id,
        "text": row.text,
        "query": row.query,
        "badges": badges,
        "verdict": row.in_words.removeprefix(f"{row.query}: "),
        "facts": facts,
        "notes": list(stumbled(row)) if isinstance(row, QueryResult) else [],
    }


def _trace(file: Path, row: TraceRow) -> dict[str, Any]:
    from markupsafe import Markup

    data = read_trace_file(file)
    try:
        rows = [_row(step) for step in data["steps"]]
        if data["waits"]:
            rows.append(Row(number(data["time"], 6), (), "waiting"))
        if data.get("failing"):
            movers, places = zip(*map(_parted, data["failing"]), strict=True)
            rows.append(Row(number(data["time"], 6), movers, f"fails: {data['error']}", places, broken=True))
        places = data["end"]["locations"]
        # Made by us from escaped text.
        chart, over_time = Markup(sequence_chart(list(places), rows)), Markup(timeline(data))
        variables = [(name, _value(value)) for name, value in data["end"]["variables"].items()]
    except (KeyError, TypeError, ValueError) as error:
        problem = Problem(f"not a complete trace file: {type(error).__name__} {error}.", file=str(file))
        raise UserError(problem) from None
    facts = [*([("deadlock", "yes")] if data["deadlock"] else []),
             *([("the model fails", data["error"])] if data["error"] else [])]  # fmt: skip
    return {
        "id": row.id,
        "title": row.text or row.query,
        "facts": facts,
        "chart": chart,
        "drawn": bool(rows),
        "timeline": over_time,
        "processes": sorted({name for row in rows for name in row.who}) if len(places) > MANY else [],
        "locations": list(places.items()),
        "variables": variables,
        "replay": replay_command(file),
        "groups": [
            {"differs": g.differs, "traces": g.traces, "length": g.length, "time": number(g.time, 8),
             "actions": _shortened(g.actions), "replay": None if g.file is None else replay_command(g.file)}
            for g in (row.groups if isinstance(row, QueryResult) else ())
        ],
    }  # fmt: skip


def _shortened(actions: tuple[str, ...]) -> str:
    hidden = len(actions) - MOST_ACTIONS
    return " ".join(actions[:MOST_ACTIONS]) + (f" … {hidden} more" if hidden > 0 else "")


def _row(step: dict[str, Any]) -> Row:
    who, places = zip(*map(_parted, step["who"]), strict=True)
    changes = ", ".join(f"{name} = {value}" for name, value in step["changes"].items())
    return Row(number(step["time"], 6), who, step["action"], places, changes)


def _parted(mover: str) -> tuple[str, str]:
    """ "Train(1): Appr -> Stop" is Train(1), which goes on to Stop."""
    process, _, edge = mover.partition(": ")
    return process, edge.partition(" -> ")[2]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)
