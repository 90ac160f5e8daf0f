"""bbfalsify falsify: one run, described on the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import AcceptFile, Seed, Session, StoreFolder


@with_settings(*settings_of_engine("falsify"))
def falsify(
    system: Annotated[str, typer.Option("--system", help="Adapter folder, file.py:object, x.fmu or cmd:program.")],
    profile: Annotated[str, typer.Option("--profile", help="The usage profile.")],
    require: Annotated[
        list[str], typer.Option("--require", metavar="STL", help="A formula, or a specification file; repeat.")
    ],
    *,
    seed: Seed = None,
    store: StoreFolder = None,
    accept: AcceptFile = None,
    given: dict[str, Any],
    session: Session,
) -> int:
    """Find counterexamples and rank them by how probable they are in use.

    \b
    Example:  bbfalsify falsify --system adapters/heater --profile profiles/heater_user.yaml \\
              --require "always[0:20](T <= 75)" --horizon 20
    """
    from bbfalsify.cli.inline_campaign import described, requirement
    from bbfalsify.cli.session import run_campaign

    sections = {
        "name": "falsify",
        "system": system,
        "profile": profile,
        "requirements": [requirement(number, text, "stl") for number, text in enumerate(require, start=1)],
        "seed": seed,
    }
    return run_campaign(described("falsify", sections, given, store=store, accepted=accept), session)
