"""Files for other machines: JUnit XML and SARIF, where they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bbfalsify.reporting.cases import Suite


@dataclass
class CiFiles:
    """Collects runs, a few lines of each, and writes them when all are done."""

    junit: Path | None = None
    sarif: Path | None = None
    suites: list[Suite] = field(default_factory=list)

    def add(self, results: Mapping[str, Any], campaign: str | None = None) -> None:
        if self.junit is not None or self.sarif is not None:
            from bbfalsify.reporting.cases import suite_of

            self.suites.append(suite_of(results, campaign=campaign or None))

    def write(self) -> None:
        from bbfalsify.core.json_files import write_atomically

        if self.junit is not None:
            from bbfalsify.reporting.junit import junit_text

            write_atomically(self.junit, junit_text(self.suites))
        if self.sarif is not None:
            from bbfalsify.reporting.sarif import sarif_text

            write_atomically(self.sarif, sarif_text(self.suites))
