"""Failure modes as a terminal shows them: one sentence per requirement, then its modes.

R1, never above 75 degrees: violated in 1 of 210 uses [1 in 199 to 1 in 220]
2 failure modes explain 99 % of that

#  failure mode                          a use meets it             fails  rows
───────────────────────────────────────────────────────────────────────────────
1  on 4 times                            1 in 314 [304, 325]         18 %  1, 4
2  on, then on, then on 4.2 to 5 later   1 in 646 [564, 741]        7.2 %  2, 3
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bbfalsify.reporting.formatting import odds, odds_interval, percent, ranks
from bbfalsify.reporting.terminal.lines import new_table
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import RequirementResult

if TYPE_CHECKING:
    from rich.table import Table

MOST_MODES = 10
MUCH_HIDDEN = 10
"""Where unseen violations may be so many times as probable as the known ones, the total is called "at least"."""


def mode_lines(row: RequirementResult, modes: Sequence[FailureMode], width: int) -> Iterator[str | Table]:
    """Sentence, table of modes, and what they leave open."""
    yield from textwrap.wrap(violation_sentence(row), width)
    yield from textwrap.wrap(explanation(row, modes), width)
    if modes:
        yield ""
        yield _table(modes[:MOST_MODES], width)
    if len(modes) > MOST_MODES:
        yield f"… and {len(modes) - MOST_MODES} more: bbfalsify show"


def violation_sentence(row: RequirementResult) -> str:
    """R1, never above 75 degrees: violated in 1 of 206 uses [1 in 199 to 1 in 215]"""
    return f"{row.id}, {row.text or row.stl}: {violated_in(row)}"


def violated_in(row: RequirementResult) -> str:
    """violated in 1 of 206 uses [1 in 199 to 1 in 215]; "at least" where much more may be hidden"""
    known = row.violation
    assert known is not None
    hidden = row.unseen is not None and row.unseen.high >= MUCH_HIDDEN * known.value
    often = odds(known.value).replace("1 in ", "1 of ")
    uses = "of uses" if often.endswith("%") else "uses"
    return f"violated in {'at least ' if hidden else ''}{often} {uses} [{odds(known.high)} to {odds(known.low)}]"


def explanation(row: RequirementResult, modes: Sequence[FailureMode]) -> str:
    """How much the modes explain, and what may be missing."""
    known, other, unseen = row.violation, row.other, row.unseen
    assert known is not None
    rest = 0.0 if other is None else other.value
    explained = 1.0 - min(1.0, rest / known.value) if known.value > 0 else 0.0
    named = "1 failure mode explains" if len(modes) == 1 else f"{len(modes)} failure modes explain"
    text = f"{named} {percent(explained)} of that" if modes else "no failure mode could be named"
    return text if unseen is None else f"{text}; violations never seen: less than {odds(unseen.high)}"


def _table(modes: Sequence[FailureMode], width: int) -> Table:
    cells = [
        (str(m.rank), odds_interval(m.probability), percent(m.precision.value), ranks(m.counterexamples)) for m in modes
    ]
    heads = ("#", "a use meets it", "fails", "rows")
    widths = [max(len(head), *(len(line[i]) for line in cells)) for i, head in enumerate(heads)]
    table = new_table()
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("failure mode", max_width=max(20, width - sum(widths) - 8))
    for head in heads[1:]:
        table.add_column(head, no_wrap=True, justify="right" if head == "fails" else "left")
    for mode, (rank, *others) in zip(modes, cells, strict=True):
        table.add_row(rank, mode.sentence, *others)
    return table
