"""The page of an engine that has none of its own: what results of all engines have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from bbfalsify.core.confirmation import ConfirmedTrace
from bbfalsify.core.errors import UserError
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.manifest import readable_manifest
from bbfalsify.reporting.formatting import replay_command
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, outcome_badges
from bbfalsify.reporting.terminal.generic import finding_line
from bbfalsify.results.pictures import trace_picture
from bbfalsify.results.run_result import RunResult


def _finding(row: Mapping[str, Any]) -> dict[str, Any]:
    """A finding in words and, where its file can be read, as signals over time."""
    told: dict[str, Any] = {"told": finding_line(row), "picture": None}
    if row.get("file") is None:  # none was written
        return told
    try:
        found = Counterexample.read(row["file"])
    except UserError:  # it was moved away or changed
        return told
    outputs, stimulus = {name: np.asarray(values) for name, values in found.outputs.items()}, found.stimulus
    trace = ConfirmedTrace(stimulus.times, stimulus.inputs, outputs, stimulus.events)
    told["picture"] = Markup(trace_picture("", [("", trace)]).svg)  # made by us from escaped text
    return told


def plain_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    result = RunResult.from_json(results)
    files = [found.file for found in result.counterexamples if found.file]
    drawn = {row["requirement"]: _finding(row) for row in results.get("counterexamples", ()) if row.get("inputs")}
    return {
        "title": result.name or directory.name,
        "badges": [badge(result.outcome), *([badge(result.category)] if result.category else [])],
        "effort": f"engine {result.engine}; {result.simulations} simulations; {result.stop_reason}; seed {result.seed}",
        "requirements": [
            {
                "id": row.id,
                "text": row.text,
                "badges": outcome_badges(row.outcome, row.expected),
                "formula": row.stl,
                "finding": drawn.get(row.id),
            }
            for row in result.requirements
        ],
        "notes": list(result.notes),
        "how": how_to_reproduce(readable_manifest(directory), replay_command(files[0]) if files else None),
        "sections": [("overview", "Requirements"), ("reproduce", "Reproduce")],
    }
