"""bbfalsify list: what is there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say


class Things(StrEnum):
    EXAMPLES = "examples"
    MODELS = "models"
    ENGINES = "engines"
    UNITS = "units"


def list_things(
    what: Annotated[Things, typer.Argument(help="examples, models, engines or units", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """List the built-in examples, the models of --example, the engines or the known units.

    \b
    Example:  bbfalsify list examples
    """
    listed = {Things.EXAMPLES: _examples, Things.MODELS: _models, Things.ENGINES: _engines, Things.UNITS: _units}
    rows = listed[what]()
    if as_json:
        print_json({what.value: [{"name": name, "text": text} for name, text in rows]})
        return
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        say(f"{name:{width}}  {text}")


def _examples() -> list[tuple[str, str]]:
    from bbfalsify.examples import EXAMPLES, example_folder

    return [(name, f"{text}  ({example_folder(name)})") for name, text in EXAMPLES.items()]


def _models() -> list[tuple[str, str]]:
    from bbfalsify.examples.chains import CHAINS
    from bbfalsify.examples.models import FAMILIES

    return [*((f"{name}:{family.size}", family.text) for name, family in FAMILIES.items()), *CHAINS.items()]


def _engines() -> list[tuple[str, str]]:
    from bbfalsify.registry import ENGINES

    return [(name, ENGINES.kind(name).says) for name in ENGINES.names()]


def _units() -> list[tuple[str, str]]:
    from bbfalsify.core.units import UNITS

    return list(UNITS.items())
