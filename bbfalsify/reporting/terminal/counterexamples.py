"""Counterexamples of a falsification as a terminal shows them: the ranked list, its cores, the paper's equations.

Everything fits into 80 columns; a wider terminal gives the room to the words of actions.

    #2 to #6 and #8 shrink to #1
    #7 shrinks to on·off·on: 1.20e-3 [1.10e-3, 1.31e-3], not on the list
    no action can be left out of #1
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.reporting.formatting import interval, number, shorten_word, values_text
from bbfalsify.reporting.terminal.lines import new_table
from bbfalsify.results.falsify_result import RankedCounterexample, ShrunkCounterexample

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("#", "actions", "probability [95 %]", "share", "len", "at", "robust.", "walk")
LENGTH = COLUMNS.index("len")
LEAST_ROOM, FEWEST_COLUMNS = 12, 4
"""Room for the words, and columns always shown: others are left out where that tells more words apart."""


def result_table(rows: Sequence[RankedCounterexample], width: int) -> Table:
    """Ranked counterexamples of one requirement, most probable first; numbers are never cut."""
    cells: list[tuple[str, ...]] = [
        (
            str(row.rank),
            "",
            "0 (exact moments)" if row.exact_moments else interval(row.shown),
            "–" if row.share is None else f"{100 * row.share:.3g}%",
            str(len(row.actions)),
            number(row.first_violation_time, 4),
            number(row.robustness),
            "–" if row.iteration is None else str(row.iteration),
        )
        for row in rows
    ]
    titles: Sequence[str] = COLUMNS
    if _by_values(rows):
        titles = ["values" if title == "actions" else title for title in COLUMNS if title != "len"]
        cells = [(*line[:LENGTH], *line[LENGTH + 1 :]) for line in cells]
    widths = [max(len(title), *(len(line[i]) for line in cells)) for i, title in enumerate(titles)]
    # Between two columns stand two spaces.
    rooms = {n: width - 2 * (n - 1) - sum(widths[:n]) + widths[1] for n in range(len(titles), FEWEST_COLUMNS - 1, -1)}
    enough = [n for n, room in rooms.items() if room >= LEAST_ROOM] or [FEWEST_COLUMNS]
    shown = max(enough, key=lambda n: (_different(rows, rooms[n]), n))
    room = rooms[shown]
    table = new_table()
    for place, (title, least) in enumerate(zip(titles[:shown], widths, strict=False)):
        left = place in (1, 2)
        table.add_column(title, justify="left" if left else "right", no_wrap=True, min_width=0 if place == 1 else least)
    for row, line in zip(rows, cells, strict=True):
        remarks = _remarks(row)
        table.add_row(line[0], row_text(row, room - len(remarks)) + remarks, *line[2:shown])
    return table


def _by_values(rows: Sequence[RankedCounterexample]) -> bool:
    """True for a profile without actions: its uses differ by their values only."""
    return bool(rows) and all(row.values and not row.acts for row in rows)


def row_text(row: RankedCounterexample, room: int) -> str:
    """The actions of a row; its values, if the profile has no actions."""
    return shorten_word(row.actions, room) if row.acts or not row.values else values_text(row.values, room)


MOST_VALUES = 5
"""Lines about values in a short answer; `bbfalsify show` tells all."""


def value_lines(rows: Sequence[RankedCounterexample], width: int, *, everything: bool = False) -> Iterator[str]:
    """The values of each row that has actions beside them, or for which the table has no room."""
    told = [row for row in rows if row.values and (row.acts or len(values_text(row.values)) > LEAST_ROOM)]
    for row in told if everything else told[:MOST_VALUES]:
        head = f"#{row.rank} "
        yield head + values_text(row.values, None if everything else max(width - len(head), 40))
    if not everything and len(told) > MOST_VALUES:
        yield f"… and the values of {len(told) - MOST_VALUES} more (bbfalsify show)"


def _different(rows: Sequence[RankedCounterexample], room: int) -> int:
    """Number of words that can still be told apart in so much room."""
    return len({row_text(row, room - len(_remarks(row))) for row in rows})


def _remarks(row: RankedCounterexample) -> str:
    """Remarks behind the actions: flaky, due to sampling and, where failures may be accepted, not accepted."""
    words = ["flaky"] if row.status == "flaky" else []
    words += ["sampling artefact"] if row.sampling_artefact else []
    words += [f"({row.accepted})"] if row.accepted not in (None, ACCEPTED) else []
    return "".join(f" {word}" for word in words)


LEGEND = (
    "share: part of the traces along these actions that violate · at: when the violation was certain · "
    "walk: search walk that found it"
)


FEW = 5
"""Lines about cores in a short answer; `bbfalsify show` tells all."""


WITHOUT_ACTIONS = {True: "values made as simple as they can be:", False: "too few simulations to simplify"}


def shrunk_lines(rows: Sequence[RankedCounterexample], width: int, *, everything: bool = False) -> Iterator[str]:
    """Rows with the same core in one line; then those from which nothing can be left out."""
    shrunk = [(row, row.shrunk) for row in rows if row.shrunk is not None]
    cores: dict[tuple[str, ...], list[tuple[RankedCounterexample, ShrunkCounterexample]]] = {}
    for row, core in shrunk:
        if core.same_as != row.rank:
            cores.setdefault(core.actions, []).append((row, core))
    shown = list(cores.values()) if everything else list(cores.values())[:FEW]
    for group in shown:
        verb = "shrinks" if len(group) == 1 else "shrink"
        yield f"{_ranks([row for row, _ in group])} {verb} to {_core(group[0][1], width)}"
    if len(shown) < len(cores):
        yield f"… and {len(cores) - len(shown)} more (bbfalsify show)"
    for settled, text in ((True, "no action can be left out of"), (False, "too few simulations to shrink")):
        whole = [row for row, core in shrunk if core.same_as == row.rank and core.settled is settled]
        if whole:
            yield f"{text if any(row.acts for row in whole) else WITHOUT_ACTIONS[settled]} {_ranks(whole)}"


def _core(core: ShrunkCounterexample, width: int) -> str:
    text = f"#{core.same_as}"
    if core.same_as is None:
        text = f"{shorten_word(core.actions, width // 2)}: {interval(core.shown)}, not on the list"
    text += ", flaky" if core.status == "flaky" else ""
    return text if core.settled else f"{text}; more simulations may shrink it further"


def _ranks(rows: Sequence[RankedCounterexample]) -> str:
    """#2 to #6 and #8"""
    numbers = sorted(row.rank or 0 for row in rows)
    parts: list[str] = []
    for _, run in itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        ranks = [number for _, number in run]
        parts += [f"#{ranks[0]} to #{ranks[-1]}"] if len(ranks) > 2 else [f"#{rank}" for rank in ranks]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


MEANINGS = {
    "d6": ("D.6", "violated anywhere in these actions"),
    "d8": ("D.8", "first violated in one of their steps"),
    "d9_set": ("D.9", "set of prefixes"),
    "d9_multiset": ("D.9", "multiset of prefixes"),
    "d9_traces": ("D.9", "divided by all traces"),
}
"""Name in results.json → equation, and what it counts or how it is read."""


def equations_title(columns: Sequence[str]) -> str:
    shown = ", ".join(name.upper().replace("D", "D.") for name in sorted(set(columns)))
    return f"the same actions by the paper's equations ({shown})"


def equations_table(rows: Sequence[RankedCounterexample], columns: Sequence[str], width: int) -> Table:
    """The equations of `columns`, a block per counterexample; estimates that came for free are in results.json."""
    table = new_table()
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("probability [95 %]", no_wrap=True)
    for row in rows:
        lines = _lines(row, columns)
        room = width - 8 - len(str(row.rank)) - max(len(line[2]) for line in lines)
        table.add_row(str(row.rank), "key", shorten_word(row.actions, room), lines[0][2])
        for equation, meaning, shown in lines[1:]:
            table.add_row("", equation, meaning, shown)
    return table


def _lines(row: RankedCounterexample, columns: Sequence[str]) -> list[tuple[str, str, str]]:
    lines = [("key", "", interval(row.probability))]
    for name, (equation, meaning) in MEANINGS.items():
        if name.split("_")[0] in columns:
            estimate = row.columns.get(name)
            lines.append((equation, meaning, "–" if estimate is None else interval(estimate)))
    return lines
