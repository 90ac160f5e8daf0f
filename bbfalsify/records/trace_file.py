"""Trace files of searches for states, as those who show them read them: every member that is shown has its type.

`running/reach/trace_files.py` writes them, and follows them on a model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.records.json_files import read_json
from bbfalsify.records.stored import misfits


@dataclass(frozen=True)
class _Step:
    time: float
    delay: float
    action: str
    who: tuple[str, ...]
    changes: dict[str, Any]


@dataclass(frozen=True)
class _End:
    locations: dict[str, str]
    variables: dict[str, Any]


@dataclass(frozen=True)
class _TraceFile:
    query: str
    time: float
    deadlock: bool
    error: str | None
    steps: tuple[_Step, ...]
    waits: float
    failing: tuple[str, ...]
    end: _End


def read_trace_file(path: str | Path) -> dict[str, Any]:
    """Read a trace file; a UserError names the members that are missing or of another type."""
    data: dict[str, Any] = read_json(path)
    problems = [replace(problem, file=str(path)) for problem in misfits(_TraceFile, data)]
    if problems:
        raise UserError(problems)
    return data
