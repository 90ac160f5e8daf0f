"""Words of actions and numbers in little space.

on·on·on·off          as it is, where it fits
on×12·off·on          runs of three and more counted, where that is shorter
on×12·off·…5…·on·off  the middle left out, where it is still too long: five pieces
throttle 97.2 at 0    values that a profile drew
"""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Sequence
from pathlib import Path

from bbfalsify.core.choices import DrawnValue
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.odds import probability

SEPARATOR = "·"
GAP = "…"


def replay_command(file: str | Path, system: str | None = None) -> str:
    """The command that executes a counterexample again, quoted for a shell."""
    return shlex.join(["bbfalsify", "replay", str(file), *(() if system is None else ("--system", system))])


def shorten_word(actions: Sequence[str], width: int) -> str:
    """The word of actions in at most `width` characters (never less than its first action can use)."""
    if not actions:
        return "(no action)"
    plain = SEPARATOR.join(actions)
    if len(plain) <= width:
        return plain
    pieces = _count_runs(actions)
    counted = SEPARATOR.join(pieces)
    if len(counted) <= width:
        return counted
    return _leave_out_the_middle(pieces, width)


def _count_runs(actions: Sequence[str]) -> list[str]:
    pieces: list[str] = []
    for action, run in itertools.groupby(actions):
        length = len(list(run))
        pieces += [f"{action}×{length}"] if length > 2 else [action] * length
    return pieces


def _leave_out_the_middle(pieces: list[str], width: int) -> str:
    """Keep pieces from both ends in turn, the end first: the last actions are those that break the requirement."""
    head: list[str] = []
    tail: list[str] = []
    while len(head) + len(tail) < len(pieces):
        from_tail = len(tail) <= len(head)
        piece = pieces[-1 - len(tail)] if from_tail else pieces[len(head)]
        candidate = SEPARATOR.join([*head, GAP, piece, *tail] if from_tail else [*head, piece, GAP, *tail])
        if len(candidate) > width:
            break
        if from_tail:
            tail.insert(0, piece)
        else:
            head.append(piece)
    if not tail:
        return GAP + pieces[-1][-max(width - 1, 1) :]
    short = SEPARATOR.join([*head, GAP, *tail])
    # Where there is room, the number of pieces left out tells words apart that begin and end alike.
    counted = SEPARATOR.join([*head, f"{GAP}{len(pieces) - len(head) - len(tail)}{GAP}", *tail])
    return counted if len(counted) <= width else short


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table, below a million without exponent; what is missing or infinite is a dash."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < 1e6 else text  # 2000 rather than 2e+03


def values_text(values: Sequence[DrawnValue], width: int | None = None) -> str:
    """mass 1.32; throttle 97.2 at 0, 88 at 5: parameters and values with their times, in at most `width` characters.

    A value that is the same as the one before is left out.
    """
    parts = []
    for name, group in itertools.groupby(changes(values), key=lambda value: value.name):
        texts = [number(v.value) if v.time is None else f"{number(v.value)} at {number(v.time, 4)}" for v in group]
        parts.append(f"{name} {', '.join(texts)}")
    text = "; ".join(parts)
    return text if width is None or len(text) <= width else text[: max(width - 1, 1)].rstrip(" ,;") + GAP


def changes(values: Sequence[DrawnValue]) -> list[DrawnValue]:
    """Leave out values that are the same as the one before of the same name."""
    kept: list[DrawnValue] = []
    last: dict[str, float] = {}
    for drawn in values:
        if last.get(drawn.name) != drawn.value:
            kept.append(drawn)
        last[drawn.name] = drawn.value
    return kept


def interval(estimate: Estimate) -> str:
    """9.55e-4 [9.1e-4, 1.0e-3]; of what was never seen: < 1.6e-13, none seen"""
    if estimate.samples == 0:
        return "not estimated"
    if estimate.none_seen:
        return f"< {probability(estimate.high)}, none seen"
    return f"{probability(estimate.value)} [{probability(estimate.low)}, {probability(estimate.high)}]"


def ranks(numbers: Sequence[int]) -> str:
    """1–4, 7"""
    parts: list[str] = []
    for _, run in itertools.groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        row = [number for _, number in run]
        parts += [f"{row[0]}–{row[-1]}"] if len(row) > 2 else map(str, row)
    return ", ".join(parts)
