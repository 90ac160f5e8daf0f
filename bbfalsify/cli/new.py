"""bbfalsify new: a commented, working beginning."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import Quiet
from bbfalsify.cli.output import say


class What(StrEnum):
    ADAPTER = "adapter"
    CAMPAIGN = "campaign"
    PROFILE = "profile"


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
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="Of a campaign; one of 'bbfalsify list engines'.")
    ] = "falsify",
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to put it.", show_default="adapters, experiments or profiles")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Write a commented adapter, campaign or profile that works. Nothing is overwritten.

    A campaign comes with the adapter and the profile of its name, where they are missing.

    \b
    Example:  bbfalsify new adapter pump --kind stepwise
              bbfalsify new profile pump
              bbfalsify new campaign pump && bbfalsify run experiments/pump/campaign.yaml
              bbfalsify new campaign protocol --engine reach
    """
    _check_name(name)
    if what is What.ADAPTER:
        return _adapter(name, kind, folder or Path("adapters"), quiet)
    if what is What.PROFILE:
        from bbfalsify.cli.new_files import template

        file = (folder or Path("profiles")) / f"{name}.yaml"
        _write_new(file, template("profile.yaml", name))
        if not quiet:
            say(f"{file} is written. Try it:  bbfalsify simulate {file}")
        return Exit.NOTHING_FOUND
    return _campaign(name, engine, folder or Path("experiments"), quiet)


def init(
    name: Annotated[str, typer.Argument(help="Its name: letters, digits, underscores.")] = "mine",
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="What to ask; one of 'bbfalsify list engines'.")
    ] = "falsify",
    quiet: Quiet = False,
) -> int:
    """Write adapter, profile, requirement and campaign to begin with. They run together; nothing is overwritten.

    \b
    Example:  bbfalsify init pump && bbfalsify run experiments/pump/campaign.yaml
    """
    _check_name(name)
    return _campaign(name, engine, Path("experiments"), quiet, specification=Path("specs", f"{name}.yaml"))


def _check_name(name: str) -> None:
    from bbfalsify.core.errors import UserError

    if not name.isidentifier():
        raise UserError(f"the name must consist of letters, digits and underscores; found '{name}'.")


def _campaign(name: str, engine: str, folder: Path, quiet: bool, *, specification: Path | None = None) -> int:
    """Write a campaign, and the adapter, profile and specification it needs where they are missing."""
    from bbfalsify.cli.new_files import ADAPTER_KINDS, campaign_text, needs, template

    file = folder / name / "campaign.yaml"
    adapter, profile = Path("adapters", name), Path("profiles", f"{name}.yaml")
    beside = None if specification is None else _from(file, *specification.parts)
    text, requirements = campaign_text(engine, name, _from(file, *adapter.parts), _from(file, *profile.parts), beside)
    _write_new(file, text)
    needed = needs(engine)
    if "profile" in needed and not profile.exists():
        _write_new(profile, template("profile.yaml", name))
        _written(profile, quiet)
    if specification is not None and not specification.exists():
        _write_new(specification, requirements)
        _written(specification, quiet)
    if "system" in needed and not adapter.exists():
        _adapter(name, Kind(ADAPTER_KINDS[engine]), adapter.parent, quiet=True)
        _written(adapter / "adapter.py", quiet)
    if not quiet:
        say(f"{file} is written. Try it:  bbfalsify run {file}")
    return Exit.NOTHING_FOUND


def _written(file: Path, quiet: bool) -> None:
    if not quiet:
        say(f"{file} is written.")


def _from(file: Path, *target: str) -> str:
    """The way from the file's folder to something beside it on its own shelf."""
    return Path(os.path.relpath(Path(*target), file.parent)).as_posix()


def _write_new(file: Path, text: str) -> None:
    from bbfalsify.core.errors import UserError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise UserError(f"there is already something at {file}; nothing was written.") from None
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}.") from None


def _adapter(name: str, kind: Kind, folder: Path, quiet: bool) -> int:
    from bbfalsify.cli.new_files import template
    from bbfalsify.core.errors import UserError

    target = folder / name
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"there is already something at {target}; nothing was written.") from None
    except OSError as error:
        raise UserError(f"{target} cannot be made: {error.strerror}.") from None
    (target / "adapter.py").write_text(template(f"adapter_{kind}.txt", name), encoding="utf-8")
    (target / "README.md").write_text(template("adapter_readme.md", name), encoding="utf-8")
    if not quiet:
        first = f" Copy your FMU to {target / name}.fmu." if kind is Kind.FMU else ""
        say(f"{target / 'adapter.py'} is written.{first} Try it:  bbfalsify doctor {target}")
    return Exit.NOTHING_FOUND
