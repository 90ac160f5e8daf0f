"""bbfalsify list: the names of examples, models, engines and units."""

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
    what: Annotated[
        Things | None, typer.Argument(help="examples, models, engines or units; all without it.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the examples, models, engines or units that are built in.

    \b
    Example:  bbfalsify list examples
    """
    listed = {Things.EXAMPLES: _examples, Things.MODELS: _models, Things.ENGINES: _engines, Things.UNITS: _units}
    wanted = {thing: listed[thing]() for thing in ([what] if what else Things)}
    if as_json:
        print_json({thing.value: [{"name": n, "text": t} for n, t in rows] for thing, rows in wanted.items()})
        return
    for thing, rows in wanted.items():
        width = max(len(name) for name, _ in rows)
        if what is None:
            say(f"{thing.value}:")
        for name, text in rows:
            say(f"{'' if what else '  '}{name:{width}}  {text}")


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
