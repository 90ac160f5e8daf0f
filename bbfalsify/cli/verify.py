"""bbfalsify verify: decide queries about all behaviours of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import Seed, Session, SetConstants


@with_settings(*settings_of_engine("verify"))
def verify(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model.", show_default=False)] = None,
    *,
    query: Annotated[
        list[str] | None,
        typer.Option(
            "--query",
            help="'A[] …', 'E<> …', 'A<> …', 'E[] …' or 'p --> q', or the number of one stored in the file; repeat.",
            show_default="those stored with the model",
        ),
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME:SIZE", help="A model of 'bbfalsify list models'.")
    ] = None,
    constants: SetConstants = None,
    seed: Seed = None,
    given: dict[str, Any],
    session: Session,
) -> int:
    """Decide queries about all behaviours of a timed model: holds, violated with an exact trace, or undecided.

    \b
    Exit codes: 0 nothing was found, 1 a violation or a state asked for, 4 undecided.
    Example:  bbfalsify verify --example fischer:6
    """
    from bbfalsify.campaigns.requirements.queries import EXAMPLE
    from bbfalsify.cli.inline_campaign import described, read_constants
    from bbfalsify.cli.session import run_campaign
    from bbfalsify.core.errors import UserError

    if (model is None) == (example is None):
        raise UserError("give either a MODEL or --example.")
    sections: dict[str, Any] = {
        "model": f"{EXAMPLE}{example}" if model is None else str(model),
        "constants": read_constants(constants or []),
        "seed": seed,
    }
    if query:
        entries = [{"id": f"Q{number}", "query": text} for number, text in enumerate(query, start=1)]
        sections["requirements"] = entries
    return run_campaign(described("verify", sections, given), session, printed=_contract)


def _contract(results: dict[str, Any]) -> dict[str, Any]:
    """Return what --json prints: the queries with their verdicts and traces."""
    from bbfalsify.results.recorded import result_from_json
    from bbfalsify.results.verify_result import VerifyResult

    rows = result_from_json(VerifyResult, results).requirements
    return {
        "queries": [row.contract() for row in rows],
        "outcome": results["outcome"],
        "seed": results["seed"],
        "run_directory": results["run_directory"],
    }
