"""bbfalsify fit: a usage profile from logs of use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Texts, repeated
from bbfalsify.cli.output import print_json, results, say
from bbfalsify.cli.progress import Progress

if TYPE_CHECKING:
    from bbfalsify.fitting import Fit


def fit(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG.csv...", help="Columns time, action and maybe session.")],
    structure: Annotated[
        Path | None, typer.Option("--structure", metavar="FILE", help="The profile whose numbers are fitted.")
    ] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Learn the structure from the logs as well.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The fitted profile.", show_default="stdout")
    ] = None,
    from_zero: Annotated[bool, typer.Option("--from-zero", help="Sessions begin at time 0.")] = False,
    column: Annotated[Texts, repeated("OURS=THEIRS", "Name of a column, such as time=timestamp")] = None,
    fit_bounds: Annotated[bool, typer.Option("--fit-bounds", help="Fit the ends of uniform delays, too.")] = False,
    inputs: Annotated[
        Path | None, typer.Option("--inputs", metavar="FILE", help="With --learn: the profile that gives the inputs.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="With --learn: smaller tells fewer situations apart.", show_default="0.05")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="How far rounding may have moved a time.", show_default="only rounding errors")
    ] = 0.0,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Fit a profile to logs of use. Weights and rates have intervals; a test tells whether the delays follow the law.

    A log is a CSV file with the columns time, action and, for several sessions, session. A row without an action marks
    when a session began, or until when it was watched.

    \b
    Example:  bbfalsify fit profiles/heater_log.csv \\
              --structure profiles/heater_user.yaml -o fitted.yaml
    """
    from bbfalsify.fitting import fit_profile, learn_profile

    _check(structure, learn, output, fit_bounds, inputs, epsilon, tolerance)
    columns = _columns(column or [])
    with Progress(quiet=quiet) as progress:

        def told(done: int, total: int) -> None:
            progress.show("following the sessions", done, total)

        if learn:
            more = {} if epsilon is None else {"epsilon": epsilon}
            name = "learned" if output is None else output.stem
            found = learn_profile(
                logs, inputs=inputs, from_zero=from_zero, confidence=confidence, name=name, columns=columns, told=told,
                **more,
            )  # fmt: skip
        else:
            found = fit_profile(
                logs, str(structure), from_zero=from_zero, bounds=fit_bounds, tolerance=tolerance,
                confidence=confidence, columns=columns, told=told,
            )  # fmt: skip
    if output is not None:
        found.write(output)
    if as_json:
        print_json({**found.as_json(), "file": None if output is None else str(output)})
    elif output is None:
        results().write(found.text)
    if not as_json and not quiet:
        for line in _summary(found, output):
            say(line, error=output is None)
    return Exit.NOTHING_FOUND


def _columns(given: list[str]) -> dict[str, str]:
    """Return the names of the files' columns by ours."""
    from bbfalsify.core.errors import Problem, UserError

    pairs = [text.partition("=") for text in given]
    if wrong := [text for text, (_, equals, theirs) in zip(given, pairs, strict=True) if not (equals and theirs)]:
        raise UserError(Problem(f"--column must be OURS=THEIRS, found '{text}'.") for text in wrong)
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _check(
    structure: Path | None,
    learn: bool,
    output: Path | None,
    fit_bounds: bool,
    inputs: Path | None,
    epsilon: float | None,
    tolerance: float,
) -> None:
    from bbfalsify.core.errors import Problem, UserError

    problems = []
    if (structure is None) == (not learn):
        problems.append(Problem("give either --structure FILE or --learn."))
    if not learn and inputs is not None:
        problems.append(Problem("--inputs belongs to --learn; a structure has its own inputs."))
    if not learn and epsilon is not None:
        problems.append(Problem("--epsilon belongs to --learn."))
    if learn and tolerance:
        problems.append(Problem("--tolerance belongs to --structure; --learn has no bounds that a time could miss."))
    if learn and fit_bounds:
        problems.append(Problem("--fit-bounds belongs to --structure; --learn always fits them."))
    if output is not None and structure is not None and output.exists() and output.samefile(structure):
        problems.append(Problem("-o is the structure itself, and would lose its comments; name another file."))
    if problems:
        raise UserError(problems)


def _summary(found: Fit, output: Path | None) -> list[str]:
    lines = []
    for name, estimate in found.estimates.items():
        value = f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}]"
        lines.append(f"{name}: {'share ' if name.startswith('weight') else ''}{value}")
    lines += [f"delays in {name}: {test}" for name, test in found.tests.items()]
    lines += [f"note: {note}" for note in found.notes]
    counted = "" if found.counted == found.events else f", {found.counted} with a known delay"
    where = "" if output is None else f"{output}: "
    lines.append(f"{where}{found.events} actions in {found.sessions} sessions{counted}")
    return lines
