"""bbfalsify show: look at a finished run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory, or its results.json.")],
    counterexample: Annotated[
        int | None, typer.Option("--counterexample", "-n", min=1, help="Only the one with this rank, step by step.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the results of a run in full. The list, what decides its order, profile coverage, times.

    \b
    Example:  bbfalsify show runs/heater-2026-01-31-1 --counterexample 2
    """
    from bbfalsify.cli.session import show_run
    from bbfalsify.registry import ENGINES
    from bbfalsify.results.recorded import recorded_results, showing

    file, data = recorded_results(run)
    ENGINES.of(data, file=str(file))  # says what is wrong with it
    with showing(file, data):
        if counterexample is not None:
            found, lines = _steps(file.parent, data, counterexample)
            if as_json:
                print_json({"counterexamples": found}, allow_nan=False)
            else:
                for line in lines:
                    say(line)
        elif as_json:
            print_json(data, allow_nan=False)
        else:
            show_run(data, data.get("varies", {}), verbose=True)
    return Exit.NOTHING_FOUND


def _steps(folder: Path, data: dict[str, Any], rank: int) -> tuple[list[dict[str, Any]], list[str]]:
    """The counterexamples with this rank (one per requirement), with all their steps; and the same as lines."""
    from bbfalsify.core.errors import Problem, UserError
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.terminal.generic import finding_steps

    rows = [row for row in data["counterexamples"] if row["rank"] == rank]
    if not rows:
        most = max((row["rank"] for row in data["counterexamples"]), default=0)
        known = f"the ranks are 1 to {most}" if most else "the run has none"
        raise UserError(Problem(f"there is no counterexample {rank}; {known}.", file=str(folder / "results.json")))
    steps = ENGINES.of(data).named("finding") or finding_steps
    shown = [steps(row) for row in rows]
    return [row for row, _ in shown], [line for _, lines in shown for line in lines]
