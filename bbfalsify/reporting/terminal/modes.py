"""Failure modes as a terminal shows them: one sentence per requirement, then its modes.

R1, never above 75 degrees: violated in at least 1 of 210 uses [199, 220]
2 failure modes explain 99 % of that

#  failure mode                   how often                      fails  examples
────────────────────────────────────────────────────────────────────────────────
1  on 4 times                     1 in 314 [304, 325]  96 % [84, 99.7]  1, 4
2  on 3 times, no off for 13.86   1 in 631 [550, 722]  100 % [83, 100]  2, 3
   after the first
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bbfalsify.core.odds import odds_interval
from bbfalsify.reporting.formatting import ranks, replay_command
from bbfalsify.reporting.terminal.lines import new_table
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import RequirementResult
from bbfalsify.results.mode_words import (
    explanation,
    fails,
    held_together,
    rank_change_text,
    time_text,
    violation_sentence,
)

if TYPE_CHECKING:
    from rich.table import Table

MOST_MODES = 10


def mode_lines(
    row: RequirementResult, modes: Sequence[FailureMode], width: int, verbose: bool = False
) -> Iterator[str | Table]:
    """Sentence, table of modes, and what they leave open; `verbose`: also their times, and what avoids
    them and changes their ranks.
    """
    yield from _wrapped(violation_sentence(row), width)
    yield from _wrapped(explanation(row, modes), width)
    if modes:
        yield ""
        yield _table(modes[:MOST_MODES], width)
    for mode in modes[:MOST_MODES] if verbose else ():
        for text in (time_text(mode), mode.avoided_by, rank_change_text(mode)):
            yield from textwrap.wrap(f"mode {mode.rank}: {text}", width) if text is not None else ()
    hidden = [mode for mode in modes[:MOST_MODES] if not mode.counterexamples and mode.actions]
    yield from (f"mode {mode.rank}: {replay_command(mode.typical_file)}" for mode in hidden if mode.typical_file)
    if lost := [mode.rank for mode in hidden if not mode.typical_file]:
        yield f"no counterexample file for mode{'s' * (len(lost) > 1)} {ranks(lost)}: raise --counterexamples"
    if len(modes) > MOST_MODES:
        yield f"… and {len(modes) - MOST_MODES} more: bbfalsify show"


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width`, none of which ends inside an interval, a share or odds."""
    return [line.replace("\xa0", " ") for line in textwrap.wrap(held_together(text), width)]


def _table(modes: Sequence[FailureMode], width: int) -> Table:
    cells = [(str(m.rank), odds_interval(m.probability), fails(m), ranks(m.counterexamples)) for m in modes]
    heads = ("#", "how often", "fails", "examples")
    widths = [max(len(head), *(len(line[i]) for line in cells)) for i, head in enumerate(heads)]
    table, room = new_table(), width - sum(widths) - 8
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("failure mode", min_width=12, max_width=max(20, room))
    for head in heads[1:]:
        whole = head != "how often" or room >= 20
        table.add_column(head, no_wrap=whole, justify="right" if head == "fails" else "left")
    for mode, (rank, *others) in zip(modes, cells, strict=True):
        table.add_row(rank, mode.sentence, *others)
    return table
