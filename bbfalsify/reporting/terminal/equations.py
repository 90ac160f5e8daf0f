"""The paper's equations beside our own number, for a terminal: one block per counterexample, one line per estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbfalsify.reporting.formatting import interval, shorten_word
from bbfalsify.results.recorded import CounterexampleRow, RunResult

if TYPE_CHECKING:
    from rich.table import Table

MEANINGS = {
    "d6": ("D.6", "violated anywhere in these actions"),
    "d8": ("D.8", "first violated in one of their steps"),
    "d9_set": ("D.9", "set of prefixes"),
    "d9_multiset": ("D.9", "multiset of prefixes"),
    "d9_traces": ("D.9", "divided by all traces"),
}
"""Name in results.json → equation, and what it counts or how it is read."""


def equations_title(result: RunResult) -> str:
    shown = ", ".join(name.upper().replace("D", "D.") for name in sorted(set(result.columns)))
    return f"the same actions by the paper's equations ({shown})"


def equations_table(result: RunResult, requirement: str, width: int) -> Table:
    """What was asked for with `columns`; estimates that came for free are in results.json."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("probability [95 %]", no_wrap=True)
    for row in (r for r in result.counterexamples if r.requirement == requirement):
        lines = _lines(row, result.columns)
        room = width - 8 - len(str(row.rank)) - max(len(line[2]) for line in lines)
        table.add_row(str(row.rank), "key", shorten_word(row.actions, room), lines[0][2])
        for equation, meaning, shown in lines[1:]:
            table.add_row("", equation, meaning, shown)
    return table


def _lines(row: CounterexampleRow, columns: tuple[str, ...]) -> list[tuple[str, str, str]]:
    lines = [("key", "", interval(row.probability))]
    for name, (equation, meaning) in MEANINGS.items():
        if name.split("_")[0] in columns:
            estimate = row.estimates.get(name)
            lines.append((equation, meaning, "–" if estimate is None else interval(estimate)))
    return lines
