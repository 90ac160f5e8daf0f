"""History of failure modes over the runs of a store: `modes.jsonl`, a line per run and falsified requirement.

    {"time": …, "run": …, "system": …, "requirement": "R1", "stl": …, "violation": Estimate,
     "modes": [{"name", "sentence", "probability": Estimate}]}

The file only grows; a line that cannot be read is passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FILE = "modes.jsonl"
MOST_RUNS = 50
"""Runs of a requirement that are told, the latest ones."""


def past_runs(store: Path, system: str, requirements: Mapping[str, str]) -> list[dict[str, Any]]:
    """Lines about this system and these requirements (id → formula), oldest first."""
    try:
        text = (store / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in requirements}
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            if entry["system"] == system and requirements.get(entry["requirement"]) == entry["stl"]:
                found[entry["requirement"]].append(entry)
        except (ValueError, KeyError, TypeError):
            continue
    return [entry for entries in found.values() for entry in entries[-MOST_RUNS:]]


def note_run(store: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append lines in one go, so that runs at the same time do no harm."""
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    if not text:
        return
    handle = os.open(store / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)
