"""bbfalsify convert: a model in our YAML, whatever file it came from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Verbose
from bbfalsify.cli.output import print_json, say, write_file


def convert(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An UPPAAL model (.xml, .xta, .ta), or YAML.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The YAML file.", show_default="stdout")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Write a model as YAML: UPPAAL models become models that can be edited here; YAML becomes its normal form.

    \b
    Example:  bbfalsify convert train_gate.xml -o train_gate.yaml
    """
    from bbfalsify.modelling.formats.yaml_writer import converted

    text, notes = converted(model)
    if output is not None:
        write_file(output, text)
    if as_json:
        print_json({"model": str(model), "yaml": text, "notes": [str(note) for note in notes]})
    elif output is None:
        sys.stdout.write(text)
    if not quiet:
        for note in notes:
            say(f"note: {note}", error=True)
        if output is not None and not as_json:
            say(f"{output} written", error=True)
    return Exit.NOTHING_FOUND
