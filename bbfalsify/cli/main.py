"""Entry point `bbfalsify`: puts the commands together.

Nothing heavy is imported here: `--help` must answer at once.  Each command imports what it needs inside its function.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from bbfalsify import __version__
from bbfalsify.cli import (
    accept,
    check,
    compare,
    convert,
    doctor,
    estimate,
    export,
    falsify,
    fit,
    info,
    listing,
    monitor,
    new,
    reach,
    replay,
    report,
    run,
    schema,
    show,
    simulate,
    validate,
    verify,
)
from bbfalsify.cli.engine_options import GroupedCommand
from bbfalsify.cli.exits import Exit, boundary, report_problems
from bbfalsify.cli.inline_campaign import engine_command
from bbfalsify.cli.output import guarded_output, say
from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.visible_text import visible
from bbfalsify.registry import ENGINES

EXIT_CODES = "Exit codes: 0 nothing found, 1 found, 2 your input, 3 the system failed, 4 inconclusive, 130 interrupted."

WIDTH = {"max_content_width": max(80, shutil.get_terminal_size().columns)}
"""Help uses the width of the terminal; click's own limit is 80 columns."""

app = typer.Typer(
    name="bbfalsify",
    help="Find the failures of a black box, and tell which of them its users will actually meet.",
    rich_markup_mode=None,
    context_settings=WIDTH,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)

COMMANDS: dict[str, Callable[..., int | None]] = {
    "run": run.run,
    "falsify": falsify.falsify,
    "reach": reach.reach,
    "check": check.check,
    "estimate": estimate.estimate,
    "verify": verify.verify,
    "simulate": simulate.simulate,
    "fit": fit.fit,
    "monitor": monitor.monitor,
    "show": show.show,
    "report": report.report,
    "compare": compare.compare,
    "replay": replay.replay,
    "export": export.export,
    "accept": accept.accept,
    "validate": validate.validate,
    "convert": convert.convert,
    "info": info.info,
    "doctor": doctor.doctor,
    "init": new.init,
    "new": new.new,
    "schema": schema.schema,
    "list": listing.list_things,
}
for name, command in COMMANDS.items():
    app.command(name, cls=GroupedCommand, context_settings=WIDTH)(boundary(command))


def add_engine(name: str) -> None:
    """Add the command of an engine of another package, where there is one; it is looked for only when it is called."""
    if name not in COMMANDS and name in ENGINES.names():
        COMMANDS[name] = engine_command(name)
        app.command(name, cls=GroupedCommand, context_settings=WIDTH)(boundary(COMMANDS[name]))


def name_engines() -> None:
    """Name the engines of other packages below the help of all commands; none of them is imported for that."""
    others = [name for name in ENGINES.names() if name not in COMMANDS]
    told = f"\n\nEngines of other packages, each a command: {', '.join(others)}." if others else ""
    app.info.epilog = EXIT_CODES + told


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"bbfalsify {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


# typer may carry its own copy of click, so the base class of usage errors is taken from what typer itself exports.
UsageError: Any = typer.BadParameter.__mro__[1]


_CHOICE = re.compile(r"(?:Value error, )?'([^']*)' is not one of ('[^']*'(?:, '[^']*')*)")


def in_our_words(message: str) -> str:
    """On one line; of a choice, what is allowed and the closest of it, as everywhere."""
    message = " ".join(message.split())
    choice = _CHOICE.search(message)
    if choice is None:
        return message if message.endswith((".", "?")) else f"{message}."
    told = unknown_name("choice", choice[1], re.findall("'([^']*)'", choice[2]))
    return f"{message[: choice.start()]}{told}"


def _refuse_bytes(words: list[str]) -> None:
    """Refuse names of files that are no text: they could not be recorded, shown or replayed."""
    odd = [word for word in words if any("\udc80" <= letter <= "\udcff" for letter in word)]
    if odd:
        says = "is not a text in UTF-8; give the file another name."
        raise UserError([Problem(f"'{visible(word)}' {says}") for word in odd])


def main() -> None:
    """Run the command line; wrong usage is reported in the same way as wrong files."""
    word = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    with guarded_output():
        try:
            _refuse_bytes(sys.argv[1:])
            name_engines() if word is None else add_engine(word)
            code = app(sys.argv[1:] or ["--help"], prog_name="bbfalsify", standalone_mode=False)
        except UserError as error:
            code = report_problems([str(p) for p in error.problems], as_json="--json" in sys.argv)
        except UsageError as error:
            command = getattr(getattr(error, "ctx", None), "command_path", "bbfalsify")
            hint = f"See '{command} --help'."
            code = report_problems([f"{in_our_words(error.format_message())} {hint}"], as_json="--json" in sys.argv)
        except typer.Abort:
            code = Exit.INTERRUPTED
    sys.exit(int(code or 0))


if __name__ == "__main__":
    main()
