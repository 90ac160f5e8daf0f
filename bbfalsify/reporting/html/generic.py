"""The page of an engine that has none of its own: what results of all engines have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bbfalsify.records.run_directory import readable_manifest
from bbfalsify.reporting.formatting import replay_command
from bbfalsify.reporting.html.commands import how_to_reproduce
from bbfalsify.reporting.html.parts import badge, outcome_badges


def plain_page(directory: Path, results: dict[str, Any]) -> dict[str, Any]:
    files = [found["file"] for found in results.get("counterexamples", ()) if found.get("file")]
    return {
        "title": results.get("name") or directory.name,
        "badges": [badge(results["outcome"]), *([badge(results["category"])] if results.get("category") else [])],
        "effort": f"engine {results['engine']}; {results['stop_reason']}; seed {results['seed']}",
        "requirements": [
            {
                "id": row["id"],
                "text": row.get("text", ""),
                "badges": outcome_badges(row["outcome"], row.get("expected")),
            }
            for row in results["requirements"]
        ],
        "notes": list(results.get("notes", ())),
        "how": how_to_reproduce(readable_manifest(directory), replay_command(files[0]) if files else None),
        "sections": [("overview", "Requirements"), ("reproduce", "Reproduce")],
    }
