"""bbfalsify convert: a model in our YAML, whatever file it came from, or its Markov chain for PRISM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, SetConstants, Texts, repeated
from bbfalsify.cli.output import print_json, results, say, write_file


def convert(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="An UPPAAL model (.xml, .xta, .ta), or YAML.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file to write.", show_default="stdout")
    ] = None,
    prism: Annotated[bool, typer.Option("--prism", help="Write the model's Markov chain for PRISM and Storm.")] = False,
    label: Annotated[Texts, repeated("NAME=CONDITION", "For --prism: a label beside the booleans")] = None,
    constants: SetConstants = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Write a model as YAML, one of UPPAAL too.

    A UPPAAL model becomes one that can be edited here; YAML becomes its normal form.

    With --prism, write the Markov chain of a model whose delays are exponential.

    \b
    Example:  bbfalsify convert train_gate.xml -o train_gate.yaml
    Example:  bbfalsify convert telescope.yaml --prism --label "tired=left <= 2" --set nu=6 -o telescope.prism
    """
    from bbfalsify.core.errors import UserError
    from bbfalsify.modelling.formats.yaml_writer import converted

    notes: Sequence[object]
    if prism:
        text, notes = _as_prism(model, label or [], constants or [])
    elif label or constants:
        raise UserError("--label and --set are for --prism: YAML keeps the constants of the model.")
    else:
        text, notes = converted(model)
    if output is not None:
        write_file(output, text)
    if as_json:
        print_json({"model": str(model), "prism" if prism else "yaml": text, "notes": [str(note) for note in notes]})
    elif output is None:
        results().write(text)
    if not quiet:
        for note in notes:
            say(f"note: {note}", error=True)
        if output is not None and not as_json:
            say(f"{output} written", error=True)
    return Exit.NOTHING_FOUND


def _as_prism(model: Path, labels: Sequence[str], constants: Sequence[str]) -> tuple[str, list[str]]:
    """Return the chain as PRISM text, and a note for each label that no state of it has."""
    from bbfalsify.chains import explore_chain, to_prism
    from bbfalsify.cli.inline_campaign import read_constants
    from bbfalsify.core.errors import UserError
    from bbfalsify.modelling import load_network
    from bbfalsify.modelling.network.expressions import Kind

    network = load_network(model, read_constants(constants))
    named = {v.name: v.name for v in network.variables if v.kind is Kind.BOOL and re.fullmatch(r"\w+", v.name)}
    for text in labels:
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.+)", text)
        if match is None or match.group(1) in ("init", "deadlock"):
            raise UserError(f"--label {text}: write NAME=CONDITION, such as --label 'full=waiting == 5'.")
        named[match.group(1)] = match.group(2)
    written = to_prism(explore_chain(network), named)
    empty = re.findall(r'label "(\w+)" = false;', written)
    return written, [f"no state in which time passes has the label '{name}'" for name in empty]
