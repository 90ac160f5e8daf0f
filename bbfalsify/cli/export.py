"""bbfalsify export: a counterexample as a test that stays in the user's own suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A counterexample file of a run directory.")],
    pytest: Annotated[bool, typer.Option("--pytest", help="Write a pytest test.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="TEST.py", show_default="test_<requirement>_<file>.py here")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Write a counterexample as a regression test. A copy of the file is put beside it.

    The test fails as long as the failure is there and passes once the requirement holds along these inputs.

    \b
    Example:  bbfalsify export runs/heater-2026-01-31-1/counterexamples/001-on-on-on-off.json --pytest
    """
    from bbfalsify.core.errors import UserError
    from bbfalsify.reporting.exports.regression_test import write_test

    if not pytest:
        raise UserError("say as what: --pytest writes a pytest test.")
    test, data = write_test(file, output)
    if as_json:
        print_json({"test": str(test), "counterexample": str(data)})
    else:
        say(f"test: {test}")
        say(f"counterexample: {data}")
        say(f"run it: pytest {test}")
    return Exit.NOTHING_FOUND
