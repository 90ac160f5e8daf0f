"""bbfalsify reach: a concrete trace to a target state of a model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated, Any

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import ModelChoice, Resume, Session

_SETTINGS = {one.name: one for one in settings_of_engine("reach")}
_JOBS = _SETTINGS["jobs"]
_SETTINGS["jobs"] = replace(_JOBS, default=None, rules=replace(_JOBS.rules, absent="one per core"))


@with_settings(*_SETTINGS.values())
def reach(
    *,
    chosen: ModelChoice,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            help="'E<> …' or 'A[] …', or the number of one stored in the file.",
            show_default="the only one stored",
        ),
    ] = None,
    resume: Resume = None,
    session: Session,
) -> int:
    """Look for a state of a model by random walks. A found trace is exact and can be replayed.

    \b
    Exit codes: 1 found, 0 not found in the walks asked for, 4 the time was up.
    Example:  bbfalsify reach fischer.yaml --query "A[] not (P(1).cs && P(2).cs)"
    """
    from bbfalsify.campaigns.requirements.queries import STORED
    from bbfalsify.cli.inline_campaign import model_sections, run_described

    sections = model_sections(chosen, [STORED if query is None else query])
    session.given.setdefault("jobs", os.cpu_count() or 1)
    return run_described("reach", sections, session, resume=resume, printed=_contract)


def _contract(results: dict[str, Any]) -> dict[str, Any]:
    """Return what --json prints about one query, the trace included."""
    from bbfalsify.core.verdict import FOUND, Outcome
    from bbfalsify.records.trace_file import read_trace_file

    [row] = results["requirements"]
    found = row["outcome"] in FOUND
    failed = row["outcome"] == Outcome.MODEL_ERROR
    return {
        **row,
        "reached": found and not failed,
        "outcome": Outcome.MODEL_ERROR.value if failed else "reached" if found else "not_reached",
        "trace": None if row["file"] is None else read_trace_file(row["file"]),
        "seed": results["seed"],
        "run_directory": results["run_directory"],
    }
