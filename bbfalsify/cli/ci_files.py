"""Files for other machines: JUnit XML and SARIF where asked for, and annotations on GitHub."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.cli.output import results, unguarded

if TYPE_CHECKING:
    from bbfalsify.reporting.exports.cases import Suite
    from bbfalsify.reporting.exports.source_lines import Place


@dataclass
class CiFiles:
    """Collects runs, a few lines of each, and writes them when all are done."""

    junit: Path | None = None
    sarif: Path | None = None
    annotations: bool = False
    as_json: bool = False
    suites: list[Suite] = field(default_factory=list)
    places: dict[str, dict[str, Place]] = field(default_factory=dict)

    def add(self, results: Mapping[str, Any], campaign: str | None = None) -> None:
        if self.junit is None and self.sarif is None and not self.annotations:
            return
        from bbfalsify.reporting.exports.cases import suite_of

        self.suites.append(suite_of(results, campaign=campaign or None))
        if campaign and campaign not in self.places:
            from bbfalsify.campaigns.requirements.stl import places_of_requirements

            self.places[campaign] = places_of_requirements(campaign)

    def write(self) -> None:
        from bbfalsify.records.json_files import write_atomically

        if self.annotations:
            from bbfalsify.reporting.exports.annotations import annotation_lines

            # The runner reads both streams; JSON on stdout stays alone there.
            for line in annotation_lines(self.suites, self.places):
                print(line, file=unguarded(sys.stderr if self.as_json else results()), flush=True)
        if self.junit is not None:
            from bbfalsify.reporting.exports.junit import junit_text

            write_atomically(self.junit, junit_text(self.suites))
        if self.sarif is not None:
            from bbfalsify.reporting.exports.sarif import sarif_text

            write_atomically(self.sarif, sarif_text(self.suites, self.places))


def ci_files(junit: Path | None, sarif: Path | None, annotations: bool | None, *, as_json: bool) -> CiFiles:
    """Return the files that were asked for; by default, annotations are made on GitHub.

    A file that cannot be written is refused now, not after hours of simulations.
    """
    from bbfalsify.core.errors import Problem, UserError

    problems = []
    for file in (file for file in (junit, sarif) if file is not None):
        if file.is_dir():
            problems.append(Problem("is a folder; expected the name of a file.", file=str(file)))
        elif not file.parent.is_dir():
            problems.append(Problem(f"cannot be written: there is no folder '{file.parent}'.", file=str(file)))
        elif not os.access(file if file.exists() else file.parent, os.W_OK):
            problems.append(Problem("cannot be written: permission denied.", file=str(file)))
    if problems:
        raise UserError(problems)
    wanted = os.environ.get("GITHUB_ACTIONS") == "true" if annotations is None else annotations
    return CiFiles(junit, sarif, wanted, as_json)
