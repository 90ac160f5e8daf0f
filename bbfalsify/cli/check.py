"""bbfalsify check: black box checking, described on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import Resume, Session, Texts, repeated


@with_settings(*settings_of_engine("check"))
def check(
    system: Annotated[
        str, typer.Option("--system", help="Adapter folder, file.py:object, machine.dot or cmd:program.")
    ],
    require: Annotated[
        Texts, repeated("LTL", "A formula, a specification or .hoa file", show_default="none: only learn")
    ] = None,
    *,
    profile: Annotated[
        Path | None, typer.Option(help="Rank violations by use; its actions may be the symbols.", show_default="none")
    ] = None,
    symbol: Annotated[
        Texts,
        repeated("on:heat=1", "For a system of signals, what a symbol sets", rich_help_panel="Systems of signals"),
    ] = None,
    resume: Resume = None,
    session: Session,
) -> int:
    """Learn a black box of symbols and check requirements on it.

    \b
    Example:  bbfalsify check --system adapters/smtp --max-states 7 \\
              --require "precedence(in == rcpt & out == '250', out == '354')"
    """
    from bbfalsify.cli.inline_campaign import run_described

    sampled = "period" in session.given
    sections = {
        "system": system,
        "profile": None if profile is None else str(profile),
        "requirements": [_requirement(number, text, sampled=sampled) for number, text in enumerate(require or [], 1)],
    }
    session.given.update({"symbols": _symbols(symbol)} if symbol else {})
    return run_described("check", sections, session, resume=resume, extend=True)


def _requirement(number: int, text: str, *, sampled: bool) -> str | dict[str, str]:
    from bbfalsify.cli.inline_campaign import requirement

    return requirement(number, text, "stl" if sampled else "hoa" if text.endswith(".hoa") else "ltl")


def _symbols(given: list[str] | None) -> dict[str, dict[str, float]] | None:
    from bbfalsify.core.errors import Problem, UserError

    symbols: dict[str, dict[str, float]] = {}
    problems = []
    for text in given or ():
        name, _, settings = text.partition(":")
        try:
            pairs = [pair.split("=") for pair in settings.split(",")]
            symbols[name.strip()] = {port.strip(): float(value) for port, value in pairs}
        except ValueError:
            problems.append(Problem(f"--symbol '{text}': expected name:input=number,input=number."))
    if problems:
        raise UserError(problems)
    return symbols or None
