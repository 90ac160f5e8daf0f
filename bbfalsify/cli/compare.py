"""bbfalsify compare: differences between two runs, two campaigns or two machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson, Verbose
from bbfalsify.cli.output import print_json, say
from bbfalsify.reporting.formatting import replay_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bbfalsify.core.estimate import Estimate
    from bbfalsify.reporting.compare import Found, RunChange, Shift
    from bbfalsify.reporting.compare_machines import MachineChange
    from bbfalsify.reporting.compare_modes import ModesChange

WIDTH = 60
"""Characters of a word of actions."""


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A run directory, or a machine (.dot).")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one of the same kind.")],
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Compare two runs, two campaigns, or two learned machines.

    Failure modes and counterexamples that are new, gone, or more or less probable than the intervals explain; of
    machines, the shortest word that they answer differently. Exit code 1 when something is new, else 0.

    \b
    Example:  bbfalsify compare runs/heater-2026-01-31-1 runs/heater-2026-02-07-1
    """
    from bbfalsify.core.errors import Problem, UserError

    missing = [Problem("there is no such file or run directory.", file=str(p)) for p in (old, new) if not p.exists()]
    if missing:
        raise UserError(missing)
    if old.is_file() or new.is_file():
        return _compare_machines(old, new, as_json=as_json)
    pairs, lonely = _pairs(old, new)
    from bbfalsify.registry import ENGINES
    from bbfalsify.reporting.compare import compare_runs

    changes = [compare_runs(*pair, ENGINES) for pair in pairs]
    news = any(change.is_news for change in changes) or any(where == "new" for where, _ in lonely)
    if as_json:
        runs = [change.as_json() for change in changes]
        only = {where: [name for at, name in lonely if at == where] for where in ("old", "new")}
        print_json({"news": news, "runs": runs, "only_old": only["old"], "only_new": only["new"]})
        return Exit.FOUND if news else Exit.NOTHING_FOUND
    for change in changes:
        if len(changes) > 1:
            say()
            say(f"{change.name}:")
        for line in change_lines(change, everything=verbose):
            say(line)
    for where, name in lonely:
        say(f"only in the {where} campaign: {name}")
    say("something is new" if news else "nothing is new")
    return Exit.FOUND if news else Exit.NOTHING_FOUND


def _pairs(old: Path, new: Path) -> tuple[list[tuple[Path, Path]], list[tuple[str, str]]]:
    """The runs to compare; of campaigns those with the same name, and the names that only one of them has."""
    from bbfalsify.core.errors import UserError
    from bbfalsify.records.json_files import read_json

    several = [(path / "campaign.json").is_file() for path in (old, new)]
    if not any(several):
        return [(old, new)], []
    if not all(several):
        raise UserError("a campaign of several runs and a single run cannot be compared; give one of its runs.")
    left, right = (
        {run["name"]: path / run["directory"] for run in read_json(path / "campaign.json")["runs"]}
        for path in (old, new)
    )
    lonely = [("old", name) for name in left if name not in right] + [
        ("new", name) for name in right if name not in left
    ]
    return [(left[name], right[name]) for name in right if name in left], lonely


def _compare_machines(old: Path, new: Path, *, as_json: bool) -> int:
    from bbfalsify.automata.mealy import read_dot
    from bbfalsify.reporting.compare_machines import compare_machines

    files = [path / "model.dot" if path.is_dir() else path for path in (old, new)]
    change = compare_machines(*map(read_dot, files))
    if as_json:
        print_json({"news": change.differ, "machine": change.as_json()})
    else:
        for line in machine_lines(change):
            say(line)
    return Exit.FOUND if change.differ else Exit.NOTHING_FOUND


def machine_lines(change: MachineChange) -> Iterator[str]:
    """The first difference, symbol by symbol."""
    yield f"the machines have {change.states[0]} and {change.states[1]} states"
    for which, symbols in (("old", change.only_old), ("new", change.only_new)):
        if symbols:
            yield f"only the {which} one knows: {', '.join(symbols)}"
    if change.word is None:
        shared = " to what both know" if change.only_old or change.only_new else ""
        yield f"they answer alike{shared}, whatever the word"
        return
    yield f"they differ after {len(change.word)} symbols: {' '.join(change.word)}"
    yield f"  old: {' '.join(change.old)}"
    yield f"  new: {' '.join(change.new)}"


def change_lines(change: RunChange, *, everything: bool = False) -> Iterator[str]:
    from bbfalsify.reporting.formatting import interval

    for name, was, is_now in change.settings:
        yield f"not the same run: {name} was {was}, is {is_now}"
    for requirement, before, now in change.outcomes:
        words = ((word or "not there").replace("_", " ") for word in (before, now))
        yield "{}: {} before, {} now".format(requirement, *words)
    if change.modes is not None:
        yield from mode_lines(change.modes, everything=everything)
    for found in change.new:
        yield _found_line("new", found)
        if found.file is not None:
            yield f"  {replay_command(found.file)}"
    for found in change.gone:
        yield _found_line("gone", found)
    moved = [shift for shift in change.shifts if shift.changed]
    for shift in change.shifts if everything else moved:
        yield _shift_line(shift)
    for total in change.totals:
        word = "as before" if total.explained else "changed"
        yield f"{total.requirement}, all of the list: {interval(total.old)} before, {interval(total.new)} now ({word})"
    alike = 0 if change.modes is None else sum(shift.explained for shift in change.modes.shifts)
    if alike:
        both = "1 failure mode is" if alike == 1 else f"{alike} failure modes are"
        yield f"{both} in both, with probabilities that their intervals explain"
    same = len(change.shifts) - len(moved)
    if same:
        both = "1 counterexample is" if same == 1 else f"{same} counterexamples are"
        yield f"{both} in both, with probabilities that their intervals explain"
    if change.machine is not None:
        yield from machine_lines(change.machine)


def mode_lines(change: ModesChange, *, everything: bool = False) -> Iterator[str]:
    """Modes that are new, gone, or that moved further than their intervals explain; `everything`: also the others."""
    from bbfalsify.core.odds import odds_interval

    for word, only, where in (("new", change.new, "were in {} before"), ("gone", change.gone, "are in {} now")):
        for found in only:
            told = where.format(", ".join(found.elsewhere))
            remark = f" (its counterexamples {told})" if found.elsewhere else ""
            mode = found.mode
            yield f"{word} mode: {mode.requirement} {mode.sentence}, {odds_interval(mode.probability)}{remark}"
    for shift in change.shifts:
        if everything or not shift.explained:
            was, is_now = shift.old.probability, shift.new.probability
            numbers = f"{odds_interval(was)} before, {odds_interval(is_now)} now"
            moved = (
                f"{_moved(was, is_now, shift.explained)} mode: {shift.new.requirement} {shift.new.sentence}, {numbers}"
            )
            yield moved + _ratio(was, is_now, shift.explained)


def _found_line(word: str, found: Found) -> str:
    from bbfalsify.reporting.formatting import interval, shorten_word

    probability = "" if found.probability is None else f", {interval(found.probability)}"
    flaky = ", flaky" if found.status == "flaky" else ""
    remark = f" ({found.remark})" if found.remark else ""
    return f"{word}: {found.requirement} {shorten_word(found.actions, WIDTH)}{probability}{flaky}{remark}"


def _shift_line(shift: Shift) -> str:
    from bbfalsify.reporting.formatting import interval, shorten_word

    word = _moved(shift.old, shift.new, shift.explained)
    status = "" if shift.statuses[0] == shift.statuses[1] else f"; {shift.statuses[0]} before, {shift.statuses[1]} now"
    ratio = _ratio(shift.old, shift.new, shift.explained)
    actions = shorten_word(shift.actions or (), WIDTH)
    numbers = f"{interval(shift.old)} before, {interval(shift.new)} now"
    return f"{word}: {shift.requirement} {actions}, {numbers}{ratio}{status}"


def _moved(old: Estimate, new: Estimate, explained: bool) -> str:
    return "as before" if explained else "more probable" if new.value > old.value else "less probable"


def _ratio(old: Estimate, new: Estimate, explained: bool) -> str:
    return f" (× {new.value / old.value:.3g})" if old.value > 0 and not explained else ""
