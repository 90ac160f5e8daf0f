"""bbfalsify accept: write the counterexamples of a run into a file of accepted failures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Texts, repeated
from bbfalsify.cli.output import print_json, say


def accept(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory, or its results.json.")],
    file: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write or extend.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why these failures are accepted.")],
    requirement: Annotated[Texts, repeated("ID", "Only of this requirement")] = None,
    mode: Annotated[Texts, repeated("NAME", "Accept this failure mode, by name or rank (* is all)")] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="YYYY-MM-DD", help="The last day on which it counts.")
    ] = None,
    any_probability: Annotated[
        bool, typer.Option("--any-probability", help="Accept them however probable they become.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Accept what a run found. Runs with --accept FILE then end with 0 unless they find something else.

    Each entry also says how probable the failure may be: the upper end of its interval now. What the file accepts
    already is left as it is. With --mode, entries name failure modes instead of counterexamples: all that belongs to
    an accepted mode is accepted, also sequences of actions that this run did not list.

    \b
    Example:  bbfalsify accept runs/heater-2026-01-31-1 -o accepted.yaml --reason "fuse trips first" \\
              --expires 2026-12-31
    """
    import datetime

    from bbfalsify.core.errors import UserError, unknown_name
    from bbfalsify.records.accept_run import accept as write
    from bbfalsify.reporting.formatting import shorten_word
    from bbfalsify.results.falsify_acceptance import failures_of, mode_failure, named_modes
    from bbfalsify.results.recorded import read_results

    result = read_results(run)
    known = [row.id for row in result.requirements]
    problems = [unknown_name("requirement", name, known) for name in requirement or () if name not in known]
    if problems:
        raise UserError(problems)
    try:
        day = None if expires is None else datetime.date.fromisoformat(expires)
    except ValueError:
        raise UserError(f"--expires must be a day such as 2027-03-31; found '{expires}'.") from None
    modes = [m for m in named_modes(result.modes, mode or []) if not requirement or m.requirement in requirement]
    rows = [row for row in result.counterexamples if not requirement or row.requirement in requirement]
    rows = [] if mode else rows
    new = write(
        file,
        failures_of(rows, ()),
        modes=[mode_failure(m, result.counterexamples, result.modes) for m in modes],
        reason=reason,
        expires=day,
        limit=not any_probability,
    )
    if as_json:
        print_json({"file": str(file), "added": [e.as_json() for e in new], "found": len(rows) + len(modes)})
    elif not quiet:
        for entry in new:
            most = "" if entry.max_probability is None else f", at most {entry.max_probability:.3g}"
            say(f"accepted: {entry.requirement} {shorten_word(entry.shown, 50)}{most}")
        say(f"{file}: {len(new)} added, {len(rows) + len(modes) - len(new)} accepted before")
    return Exit.NOTHING_FOUND
