"""A run described on the command line is a campaign like any other: the same keys, checks and messages.

`falsify`, `check`, `reach`, `verify` and `estimate` collect their options into sections; problems name the option that
gave the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from bbfalsify.cli.engine_options import settings_of_engine, with_settings
from bbfalsify.cli.options import ModelChoice, Resume, Session, Texts, repeated
from bbfalsify.core.errors import UserError
from bbfalsify.core.settings import keys_of
from bbfalsify.registry import ENGINES

if TYPE_CHECKING:
    from bbfalsify.campaigns import Campaign
    from bbfalsify.campaigns.plan import Given

SPECIFICATIONS = (".yaml", ".yml")
_RENAMED = {
    "accepted": "accept",
    "requirements": "require",
    "symbols": "symbol",
    "constants": "set",
    "signals": "signal",
    "parameters": "parameter",
}
_FORMS = {"signals": "stl", "symbols": "ltl", "states": "query"}


def described(kind: str, sections: Mapping[str, Any], settings: Mapping[str, Any], **given: Unpack[Given]) -> Campaign:
    """Return the campaign of these sections and settings; sections that are None or empty were not given."""
    from bbfalsify.campaigns import plan_document
    from bbfalsify.records.documents import Document

    keys = keys_of(ENGINES.kind(kind).named("settings"))
    data = {"format_version": 1, **{key: value for key, value in sections.items() if value not in (None, [])}}
    data |= {key: value for key, value in settings.items() if key not in keys}
    data["engine"] = {"kind": kind} | {key: value for key, value in settings.items() if key in keys}
    return plan_document(Document("", data, {}), ENGINES, base=Path(), label=_option, **given)


def run_described(
    kind: str,
    sections: Mapping[str, Any],
    session: Session,
    *,
    resume: Path | None,
    extend: bool = False,
    printed: Callable[[dict[str, Any]], dict[str, Any]] = lambda results: results,
    **given: Unpack[Given],
) -> int:
    """Run the campaign of these sections, or go on with the run directory `resume`; return the exit code."""
    from bbfalsify.cli.session import run_campaign

    if (begun := _begun_with(resume)) is not None:
        given["drawn_seed"] = begun
    campaign = described(kind, {**sections, "seed": session.seed}, session.given, **given)
    return run_campaign(campaign, session, directory=resume, extend=extend, printed=printed)


def _begun_with(directory: Path | None) -> int | None:
    """The seed of the run that is continued."""
    from bbfalsify.records.run_directory import RunDirectory, recorded_seed

    return None if directory is None else recorded_seed(RunDirectory.open(directory).path)


def entries(option: str, texts: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the mapping that the texts of an option make together; each is YAML, as in a file."""
    from bbfalsify.records.documents import parse_yaml

    found: dict[str, Any] = {}
    for text in texts or ():
        data = parse_yaml(text, file=option).data
        if not isinstance(data, dict):
            raise UserError(f"{option} must be NAME: LAW, found '{text}'.")
        found |= {str(name): law for name, law in data.items()}
    return found or None


def requirement(number: int, text: str, form: str) -> str | dict[str, str]:
    """Return the entry that --require was given: a specification file, or a formula of this form."""
    return text if text.endswith(SPECIFICATIONS) else {"id": f"R{number}", form: text}


def model_sections(chosen: ModelChoice, queries: Sequence[str] | None) -> dict[str, Any]:
    """Return the sections of a campaign about a model."""
    from bbfalsify.campaigns.requirements.queries import EXAMPLE

    if (chosen.model is None) == (chosen.example is None):
        raise UserError("give either a MODEL or --example.")
    return {
        "model": f"{EXAMPLE}{chosen.example}" if chosen.model is None else str(chosen.model),
        "constants": read_constants(chosen.constants or []),
        "requirements": [{"id": f"Q{number}", "query": text} for number, text in enumerate(queries or (), start=1)],
    }


def read_constants(given: Sequence[str]) -> dict[str, str] | None:
    """Read what --set was given: NAME=VALUE, where a value is a number, true or false."""
    values = {}
    for text in given:
        match = re.fullmatch(r"\s*(\w+)\s*=\s*([-+0-9.eE/]+|true|false)\s*", text)
        if match is None:
            raise UserError(f"--set {text}: write NAME=NUMBER, such as --set nu=6.")
        values[match.group(1)] = match.group(2)
    return values or None


def _option(path: Sequence[str | int]) -> str:
    """Return the option that gave the value: --horizon for engine.horizon, --require 2 for requirements[1].stl, and
    --query for the only question of `reach`."""
    if path and path[-1] == "query":
        return "--query"
    if path and path[0] == "requirements":
        return f"--require {int(path[1]) + 1}" if len(path) > 1 else "--require"
    if path == ("model",):
        return "--example or MODEL"
    names = [str(key) for key in path if isinstance(key, str) and key != "engine"]
    return f"--{_RENAMED.get(names[-1], names[-1]).replace('_', '-')}" if names else "--options"


def engine_command(name: str) -> Callable[..., int]:
    """Make the command of an engine that has none of its own: an option for each section and setting."""
    from bbfalsify.campaigns.schema import CAMPAIGN_SECTIONS

    kind = ENGINES.kind(name)
    subjects = [CAMPAIGN_SECTIONS[key] for key in ("system", "profile", "model") if key not in kind.ignores]

    @with_settings(*subjects, *settings_of_engine(name))
    def command(
        require: Annotated[Texts, repeated(None, "A requirement")] = None, *, resume: Resume = None, session: Session
    ) -> int:
        form = _FORMS[kind.about]
        entries = [requirement(number, text, form) for number, text in enumerate(require or [], start=1)]
        return run_described(name, {"requirements": entries}, session, resume=resume)

    command.__doc__ = kind.says
    return command
