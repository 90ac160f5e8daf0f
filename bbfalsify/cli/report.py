"""bbfalsify report: a run directory as one HTML file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import Annotations, AsJson, JunitFile, SarifFile
from bbfalsify.cli.output import print_json, say
from bbfalsify.cli.progress import Progress


def report(
    directory: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory, or a campaign's.")],
    file: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", show_default="report.html in the run directory")
    ] = None,
    junit: JunitFile = None,
    sarif: SarifFile = None,
    annotations: Annotations = None,
    as_json: AsJson = False,
) -> int:
    """Write the report of a run: one HTML file that needs no network.

    Runs write it when they end; this makes it again from what they recorded, and the tables (tables/*.csv) with it. Of
    a campaign's directory, those of all its finished runs are made, too.

    \b
    Example:  bbfalsify report runs/heater-2026-01-31-1
    """
    from bbfalsify.cli.ci_files import ci_files
    from bbfalsify.cli.session import write_files_of
    from bbfalsify.records.json_files import read_json
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.exports.table_files import parquet_is_there, write_campaign_tables
    from bbfalsify.reporting.html import write_report
    from bbfalsify.results.recorded import recorded_results, showing

    # The run itself has annotated already what there was to annotate.
    files = ci_files(junit, sarif, annotations or False, as_json=as_json)
    campaign = (directory / "campaign.json").is_file()
    runs = sorted(p.parent for p in (directory / "runs").glob("*/results.json")) if campaign else []
    for run in runs:
        write_report(run, ENGINES)
    path = write_report(directory, ENGINES, file)
    if campaign:
        write_campaign_tables(directory, parquet=parquet_is_there())
    for run in runs or ([directory] if (directory / "results.json").is_file() else []):
        origin = (read_json(run / "manifest.json").get("configuration") or {}).get("campaign") or {}
        results_file, results = recorded_results(run)
        with showing(results_file, results):
            files.add(results, origin.get("file"))
            write_files_of(results)
    files.write()
    if as_json:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        say(f"report: {path}")
    return Exit.NOTHING_FOUND


def write_at_the_end(directory: str | Path | None, progress: Progress) -> Path | None:
    """Write the report of a run that has just ended."""
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.html import write_report

    path = None
    with left_out(progress, "no report"):
        path = None if directory is None else write_report(directory, ENGINES)
    return path


@contextlib.contextmanager
def left_out(progress: Progress, what: str) -> Iterator[None]:
    """Warn instead of failing: results are recorded already, and the campaign goes on."""
    try:
        yield
    except Exception as error:
        progress.warn(f"{what}: {error}")
