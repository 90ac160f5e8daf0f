"""Where a reader of results should look: the line on which a requirement is written, in whichever file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bbfalsify.reporting.exports.cases import Case, Suite

Place = tuple[str, int]
"""A file and a line."""
Places = Mapping[str, Mapping[str, Place]]
"""Of each campaign file: where its requirements are written, by their names."""


def place_of(suite: Suite, case: Case, places: Places) -> Place | None:
    """Where the requirement is written; else the campaign; None for what comes from a command line."""
    if suite.campaign is None:
        return None
    return places.get(suite.campaign, {}).get(case.id, (suite.campaign, 1))


def in_repository(path: str) -> Path:
    """Relative to the root of the repository where GitHub says what that is, else to here; absolute outside of it."""
    absolute, root = Path(path).resolve(), Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute
