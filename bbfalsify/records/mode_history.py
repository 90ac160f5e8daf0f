"""History of failure modes over the runs of a store: `modes.jsonl`, a line per run and falsified requirement.

    {"time": …, "run": …, "system": …, "requirement": "R1", "stl": …, "violation": Estimate,
     "modes": [{"name", "sentence", "probability": Estimate}]}

The file only grows; a line that cannot be read is passed over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.records.line_file import append_lines, read_line

FILE = "modes.jsonl"
MOST_RUNS = 50
"""Runs of a requirement that are told, the latest ones."""


def past_runs(store: Path, system: str, requirements: Mapping[str, str]) -> list[dict[str, Any]]:
    """Lines about this system and these requirements (id → formula), oldest first."""
    try:
        text = (store / FILE).read_bytes()
    except OSError:
        return []
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in requirements}
    for line in text.splitlines():
        entry = read_line(line) or {}
        with contextlib.suppress(KeyError, TypeError):
            if entry["system"] == system and requirements.get(entry["requirement"]) == entry["stl"]:
                found[entry["requirement"]].append(entry)
    return [entry for entries in found.values() for entry in entries[-MOST_RUNS:]]


def note_run(store: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    append_lines(store / FILE, entries)
