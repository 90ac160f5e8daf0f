"""bbfalsify new: a commented, working beginning."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import Quiet


class What(StrEnum):
    ADAPTER = "adapter"


class Kind(StrEnum):
    FUNCTION = "function"
    STEPWISE = "stepwise"
    PROCESS = "process"
    PROGRAM = "program"
    FMU = "fmu"
    SYMBOLS = "symbols"
    SERVER = "server"


def new(
    what: Annotated[What, typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Its name: letters, digits, underscores.")],
    kind: Annotated[
        Kind,
        typer.Option("--kind", help="function, stepwise, process, program, fmu (signals); symbols, server (words)."),
    ] = Kind.FUNCTION,
    folder: Annotated[Path, typer.Option("--folder", help="Where the adapters are.")] = Path("adapters"),
    quiet: Quiet = False,
) -> int:
    """Write a commented adapter that works as it is, and says what to change.  Nothing is overwritten.

    \b
    Example:  bbfalsify new adapter pump --kind stepwise
    """
    from bbfalsify.cli.templates import ADAPTERS, README
    from bbfalsify.core.errors import UserError

    if not name.isidentifier():
        raise UserError(f"the name must consist of letters, digits and underscores; found '{name}'.")
    target = folder / name
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"there is already something at {target}; nothing was written.") from None
    except OSError as error:
        raise UserError(f"{target} cannot be made: {error.strerror}.") from None
    (target / "adapter.py").write_text(ADAPTERS[kind.value].replace("NAME", name), encoding="utf-8")
    (target / "README.md").write_text(README.replace("NAME", name), encoding="utf-8")
    if not quiet:
        first = f" Copy your FMU to {target / name}.fmu." if kind is Kind.FMU else ""
        print(f"{target / 'adapter.py'} is written.{first} Try it:  bbfalsify doctor {target}")
    return Exit.NOTHING_FOUND
