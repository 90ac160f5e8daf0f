"""Source lines: the file and line on which a requirement is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bbfalsify.reporting.exports.cases import Case, Suite

Place = tuple[str, int]
"""A file and a line."""
Places = Mapping[str, Mapping[str, Place]]
"""Places of requirements, by campaign file and name."""


def place_of(suite: Suite, case: Case, places: Places) -> Place | None:
    """Place of the requirement, or else of the campaign; None for a run from a command line."""
    if suite.campaign is None:
        return None
    return places.get(suite.campaign, {}).get(case.id, (suite.campaign, 1))


def in_repository(path: str) -> Path:
    """Relative to the root of the repository where GitHub says what that is, else to here; absolute outside of it."""
    absolute, root = Path(path).resolve(), Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute
