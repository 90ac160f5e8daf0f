"""bbfalsify estimate: probabilities and expectations of a model, or of a system in use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import ModelChoice, Queries, Resume, Session, Texts, repeated

_UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}


@with_settings(*settings_of_engine("estimate"))
def estimate(
    *,
    chosen: ModelChoice,
    query: Queries = None,
    system: Annotated[str | None, typer.Option("--system", help="Instead of a model: a system in use.")] = None,
    profile: Annotated[Path | None, typer.Option("--profile", help="Its users.")] = None,
    require: Annotated[Texts, repeated("STL", "Formula whose violation is estimated, or a file")] = None,
    budget: Annotated[str | None, typer.Option("--budget", metavar="TIME", help="Most time, such as 60s.")] = None,
    resume: Resume = None,
    session: Session,
) -> int:
    """Estimate probabilities: exact for Markov chains, else simulated.

    A query is CSL, such as 'P=? [ F<=10 crash ]', or one of UPPAAL.

    \b
    Exit codes: 0 a number or a bound that holds, 1 a bound is violated, 4 undecided.
    Example:  bbfalsify estimate --example hubble --query "P=? [ !sleep U[0,2.7] sleep ]" --set nu=6
    """
    from bbfalsify.cli.inline_campaign import model_sections, requirement, run_described
    from bbfalsify.core.errors import UserError

    if sum(subject is not None for subject in (chosen.model, chosen.example, system)) != 1:
        raise UserError("give one of these: a MODEL, --example, or --system.")
    sections: dict[str, Any]
    limits = None if budget is None else {"seconds": _seconds(budget)}
    if system is not None:
        if query:
            raise UserError("--query asks a model; a system in use has --require and --horizon.")
        entries = [requirement(number, text, "stl") for number, text in enumerate(require or [], start=1)]
        sections = {"system": system, "profile": None if profile is None else str(profile), "requirements": entries}
        if "horizon" not in session.given:
            raise UserError("--horizon is missing: how long a use of the system lasts.")
    else:
        sections = model_sections(chosen, query)
    sections |= {"budget": limits}
    return run_described("estimate", sections, session, resume=resume, printed=_contract)


def _seconds(text: str) -> float:
    from bbfalsify.core.errors import UserError

    match = re.fullmatch(r"\s*([0-9.]+)\s*(s|min|h|)\s*", text)
    if match is None:
        raise UserError(f"--budget {text}: write a time, such as 60s, 5min or 1h.")
    return float(match.group(1)) * _UNITS[match.group(2)]


def _contract(results: dict[str, Any]) -> dict[str, Any]:
    """Return what --json prints: the queries with their answers."""
    return {name: results[name] for name in ("queries", "seed", "outcome", "run_directory")}
