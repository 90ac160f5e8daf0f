"""What of the counterexamples matters, in a few lines below their table.

#2 to #6 and #8 shrink to #1
#7 shrinks to on·off·on: 1.20e-3 [1.10e-3, 1.31e-3], not on the list
no action can be left out of #1
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from bbfalsify.reporting.formatting import interval, shorten_word
from bbfalsify.results.recorded import CounterexampleRow, RunResult, ShrunkRow

FEW = 5
"""Lines about cores; `bbfalsify show` tells all."""


def shrunk_lines(result: RunResult, requirement: str, width: int, *, everything: bool = False) -> Iterator[str]:
    """Rows with the same core in one line; then those from which nothing can be left out."""
    rows = [row for row in result.counterexamples if row.requirement == requirement and row.shrunk is not None]
    shorter = [row for row in rows if row.shrunk.same_as != row.rank]
    cores: dict[tuple[str, ...], list[CounterexampleRow]] = {}
    for row in shorter:
        cores.setdefault(row.shrunk.actions, []).append(row)
    shown = list(cores.values()) if everything else list(cores.values())[:FEW]
    for group in shown:
        verb = "shrinks" if len(group) == 1 else "shrink"
        yield f"{_ranks(group)} {verb} to {_core(group[0].shrunk, width)}"
    if len(shown) < len(cores):
        yield f"… and {len(cores) - len(shown)} more (bbfalsify show)"
    whole = [row for row in rows if row.shrunk.same_as == row.rank]
    for settled, text in ((True, "no action can be left out of"), (False, "too few simulations to shrink")):
        group = [row for row in whole if row.shrunk.settled is settled]
        if group:
            yield f"{text} {_ranks(group)}"


def _core(core: ShrunkRow, width: int) -> str:
    text = f"#{core.same_as}"
    if core.same_as is None:
        text = f"{shorten_word(core.actions, width // 2)}: {interval(core.shown)}, not on the list"
    text += ", flaky" if core.status == "flaky" else ""
    return text if core.settled else f"{text}; more simulations may shrink it further"


def _ranks(rows: Sequence[CounterexampleRow]) -> str:
    """#2 to #6 and #8"""
    numbers = sorted(row.rank for row in rows)
    parts: list[str] = []
    for _, run in itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        ranks = [number for _, number in run]
        parts += [f"#{ranks[0]} to #{ranks[-1]}"] if len(ranks) > 2 else [f"#{rank}" for rank in ranks]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
