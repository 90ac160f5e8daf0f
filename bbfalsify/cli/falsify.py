"""bbfalsify falsify: one run, described on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import AcceptFile, Resume, Session, StoreFolder, Texts, repeated


@with_settings(*settings_of_engine("falsify"))
def falsify(
    system: Annotated[str, typer.Option("--system", help="Adapter folder, file.py:object, x.fmu or cmd:program.")],
    require: Annotated[
        list[str], typer.Option("--require", metavar="STL", help="A formula, or a specification file; repeat.")
    ],
    profile: Annotated[str | None, typer.Option("--profile", help="The usage profile.")] = None,
    signal: Annotated[Texts, repeated("NAME: LAW", "An input, such as 'throttle: {range: [0, 100], every: 5}'")] = None,
    parameter: Annotated[Texts, repeated("NAME: LAW", "A parameter, such as 'mass: {uniform: [1, 2]}'")] = None,
    *,
    store: StoreFolder = None,
    accept: AcceptFile = None,
    resume: Resume = None,
    session: Session,
) -> int:
    """Find counterexamples, ranked by how probable they are in use.

    \b
    Example:  bbfalsify falsify --system adapters/heater --profile profiles/heater_user.yaml \\
              --require "always[0:20](T <= 75)" --horizon 20
    """
    from bbfalsify.cli.inline_campaign import entries, requirement, run_described

    sections = {
        "name": "falsify",
        "system": system,
        "profile": profile,
        "signals": entries("--signal", signal),
        "parameters": entries("--parameter", parameter),
        "requirements": [requirement(number, text, "stl") for number, text in enumerate(require, start=1)],
    }
    return run_described("falsify", sections, session, resume=resume, store=store, accepted=accept)
