"""The page of `reach`: the query, and its trace as a message sequence chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.json_files import read_json
from bbfalsify.reporting.html.badges import badge
from bbfalsify.reporting.html.commands import how_to_reproduce, replay_command
from bbfalsify.reporting.html.sequence import Row, sequence_chart
from bbfalsify.reporting.words import number
from bbfalsify.running.rundir import readable_manifest


def reached_page(directory: Path) -> dict[str, Any]:
    from markupsafe import Markup

    file = directory / "counterexamples" / "trace.json"
    data, manifest = read_json(file), readable_manifest(directory)
    try:
        rows = [_row(step) for step in data["steps"]]
        if data["waits"]:
            rows.append(Row(number(data["time"], 6), (), "waiting"))
        if data.get("failing"):
            movers, places = zip(*map(_parted, data["failing"]), strict=True)
            rows.append(Row(number(data["time"], 6), movers, f"fails: {data['error']}", places, broken=True))
        places = data["end"]["locations"]
        facts = [
            ("steps", str(data["length"])),
            ("time", number(data["time"], 8)),
            ("found by", f"{data['heuristic']}, walk {data['walk']}"),
            *([("deadlock", "yes")] if data["deadlock"] else []),
            *([("the model fails", data["error"])] if data["error"] else []),
        ]
        variables = [(name, _value(value)) for name, value in data["end"]["variables"].items()]
    except (KeyError, TypeError, ValueError) as error:
        problem = Problem(f"not a complete trace file: {type(error).__name__} {error}.", file=str(file))
        raise UserError(problem) from None
    outcome = "error" if data["error"] else "violated" if data["query"].lstrip().startswith("A") else "reached"
    return {
        "title": directory.name,
        "badges": [badge(outcome)],
        "effort": f"{data.get('model', data.get('example'))}; seed {data['seed']}",
        "query": data["query"],
        "facts": facts,
        "reading": "Time goes down. An arrow is a synchronisation, a box a step of one process alone; every step was "
        "checked again by the exact interpreter. Rest the mouse on a text to see all of it.",
        # Made by us from escaped text.
        "chart": Markup(sequence_chart(list(places), rows)),
        "locations": list(places.items()),
        "variables": variables,
        "how": how_to_reproduce(manifest, replay_command(file), "the trace alone"),
        "sections": [("overview", "Query"), ("trace", "Trace"), ("end", "End"), ("reproduce", "Reproduce")],
    }


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
