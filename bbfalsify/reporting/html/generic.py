"""The page of an engine that has none of its own: what results of all engines have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.records.run_directory import readable_manifest
from bbfalsify.reporting.formatting import replay_command
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, outcome_badges
from bbfalsify.results.run_result import RunResult


def plain_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    result = RunResult.from_json(results)
    files = [found.file for found in result.counterexamples if found.file]
    return {
        "title": result.name or directory.name,
        "badges": [badge(result.outcome), *([badge(result.category)] if result.category else [])],
        "effort": f"engine {result.engine}; {result.stop_reason}; seed {result.seed}",
        "requirements": [
            {"id": row.id, "text": row.text, "badges": outcome_badges(row.outcome, row.expected)}
            for row in result.requirements
        ],
        "notes": list(result.notes),
        "how": how_to_reproduce(readable_manifest(directory), replay_command(files[0]) if files else None),
        "sections": [("overview", "Requirements"), ("reproduce", "Reproduce")],
    }
