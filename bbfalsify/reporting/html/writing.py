"""Choose the page of a run directory, and write it."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.engine_kind import Engines
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.json_files import write_atomically
from bbfalsify.reporting.html.generic import plain_page
from bbfalsify.results.recorded import NO_RESULTS, recorded_results, showing

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT = "report.html"


def write_report(directory: str | Path, engines: Engines, file: str | Path | None = None) -> Path:
    """Write the report of a run or campaign directory; by default `report.html` in it."""
    directory = _run_directory(Path(directory))
    path = Path(file) if file is not None else directory / REPORT
    write_atomically(path, report_html(directory, engines), durable=False)
    return path


def _run_directory(path: Path) -> Path:
    """Return the run directory; its results.json may be named instead, as with other commands."""
    return path.parent if path.name == "results.json" and path.is_file() else path


def report_html(directory: str | Path, engines: Engines) -> str:
    directory = _run_directory(Path(directory))
    template, values = _page(directory, engines)
    values |= {"version": _version(), "folder": str(directory)}
    return _environment().get_template(template).render(values)


def _page(directory: Path, engines: Engines) -> tuple[str, dict[str, Any]]:
    if (directory / "campaign.json").is_file():
        from bbfalsify.reporting.html.campaign import campaign_page

        return "campaign.html", campaign_page(directory)
    if (directory / "results.json").is_file():
        file, results = recorded_results(directory)
        kind = engines.of(results, file=str(file))
        with showing(file, results):
            return kind.template, (kind.named("page") or plain_page)(directory, results)
    raise UserError(Problem(_why_not(directory), file=str(directory)))


def _why_not(directory: Path) -> str:
    if not directory.is_dir():
        return "there is no such run directory."
    if (directory / "manifest.json").is_file():
        return NO_RESULTS
    return "not a run directory (it has neither campaign.json nor results.json)."


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # What a user or a system has named is text, never markup: everything is escaped unless it is made by us.
    environment = Environment(
        loader=PackageLoader("bbfalsify.reporting.html"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["embedded"] = embedded
    environment.globals["parts"] = environment.get_template("parts.html").module
    return environment


def embedded(value: Any) -> Any:
    """JSON inside a <script>: nothing in it can end the element or begin another."""
    from markupsafe import Markup

    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _finite(value: Any) -> Any:
    """JSON has no infinity, and a plot has no place for one."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _version() -> str:
    from bbfalsify import __version__

    return __version__
