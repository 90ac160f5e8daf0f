"""bbfalsify show: look at a finished run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Quiet, Verbose


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="A run directory, or its results.json.")],
    counterexample: Annotated[
        int | None, typer.Option("--counterexample", "-n", min=1, help="Only the one with this rank, step by step.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Show the results of a run in full: the list, what decides its order, profile coverage, times.

    \\b
    Example:  bbfalsify show runs/heater-2026-01-31-1 --counterexample 2
    """
    from bbfalsify.cli.session import show_run
    from bbfalsify.core.json_files import read_json
    from bbfalsify.reporting.results import results_file
    from bbfalsify.running.kinds import kind_of

    file = results_file(run)
    data = read_json(file)
    kind_of(data, file=str(file))  # says what is wrong with it
    if counterexample is not None:
        found = _steps(file.parent, data, counterexample)
        print(json.dumps({"counterexamples": found}, allow_nan=False)) if as_json else _print_steps(found)
    elif as_json:
        print(json.dumps(data, allow_nan=False))
    else:
        show_run(data, data.get("varies", {}), verbose=True)
    return Exit.NOTHING_FOUND


def _steps(folder: Path, data: dict[str, Any], rank: int) -> list[dict[str, Any]]:
    """The counterexamples with this rank (one per requirement) with the times of their actions."""
    from bbfalsify.core.errors import Problem, UserError

    rows = [row for row in data["counterexamples"] if row["rank"] == rank]
    if not rows:
        most = max((row["rank"] for row in data["counterexamples"]), default=0)
        known = f"the ranks are 1 to {most}" if most else "the run has none"
        raise UserError(Problem(f"there is no counterexample {rank}; {known}.", file=str(folder / "results.json")))
    return [_with_word(folder, row) for row in rows]


def _with_word(folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its actions and their times, from its file; what is left of it likewise."""
    from bbfalsify.core.counterexample import Counterexample

    # The run directory may have been moved since its files were named.
    file = folder.joinpath(*Path(row["file"]).parts[-2:])
    found = Counterexample.read(file)
    # The use goes on after the violation; its key ends with the action that ends the violating delay.
    word = [{"time": time, "action": action} for time, action in found.word[: len(found.actions)]]
    shrunk = {} if row.get("shrunk") is None else {"shrunk": _with_word(folder, row["shrunk"])}
    return {**row, **shrunk, "file": str(file), "word": word}


def _print_steps(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        _print_word(f"{row['requirement']} #{row['rank']}", row)
        shrunk = row.get("shrunk")
        if shrunk is not None and shrunk["file"] != row["file"]:
            kept, all_, listed = shrunk["transitions"], row["transitions"], shrunk["same_as"]
            what = f"{kept} of {all_} actions" if kept < all_ else "the same actions with more ordinary delays"
            _print_word(f"shrunk: {what}{'' if listed in (None, row['rank']) else f', as #{listed}'}", shrunk)


def _print_word(title: str, row: dict[str, Any]) -> None:
    from bbfalsify.core.estimate import Estimate
    from bbfalsify.reporting.words import interval, number

    estimate = Estimate.from_json(row["probability_with_uncertainty"] or row["probability"])
    print(f"{title}, {row['status']}, probability {interval(estimate)}")
    violated, told = row["first_violation_time"], False
    for step in row["word"]:
        if violated is not None and not told and violated <= step["time"]:
            print(f"{number(violated, 6):>12}  violated (robustness {number(row['robustness'])})")
            told = True
        print(f"{number(step['time'], 6):>12}  {step['action']}")
    print(f"replay: bbfalsify replay {row['file']}")
