"""The result of a run as a terminal shows it: one table per falsified requirement, then what it means.

Everything fits into 80 columns; a wider terminal gives the room to the words of actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.records.accepted import ACCEPTED
from bbfalsify.reporting.formatting import interval, number, shorten_word
from bbfalsify.results.recorded import CounterexampleRow, KnownRow, RequirementRow, RunResult

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("#", "actions", "probability [95 %]", "share", "len", "at", "robust.", "walk")
LEAST_ROOM, FEWEST_COLUMNS = 12, 4
"""For the words.  Columns at the right are left out where that tells more words apart (results.json has them all)."""


def result_table(result: RunResult, requirement: str, width: int) -> Table:
    """Ranked counterexamples of one requirement, most probable first; numbers are never cut."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    rows = [row for row in result.counterexamples if row.requirement == requirement]
    cells = [
        (
            str(row.rank),
            "",
            interval(row.shown),
            "–" if row.share is None else f"{100 * row.share:.3g}%",
            str(len(row.actions)),
            number(row.first_violation_time, 4),
            number(row.robustness),
            "–" if row.iteration is None else str(row.iteration),
        )
        for row in rows
    ]
    widths = [max(len(title), *(len(line[i]) for line in cells)) for i, title in enumerate(COLUMNS)]
    # Between two columns stand two spaces.
    rooms = {n: width - 2 * (n - 1) - sum(widths[:n]) + widths[1] for n in range(len(COLUMNS), FEWEST_COLUMNS - 1, -1)}
    enough = [n for n, room in rooms.items() if room >= LEAST_ROOM] or [FEWEST_COLUMNS]
    shown = max(enough, key=lambda n: (_different(rows, rooms[n]), n))
    room = rooms[shown]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title, least in zip(COLUMNS[:shown], widths, strict=False):
        left = title in ("actions", "probability [95 %]")
        table.add_column(
            title, justify="left" if left else "right", no_wrap=True, min_width=0 if title == "actions" else least
        )
    for row, line in zip(rows, cells, strict=True):
        remarks = _remarks(row)
        table.add_row(line[0], shorten_word(row.actions, room - len(remarks)) + remarks, *line[2:shown])
    return table


def _different(rows: Sequence[CounterexampleRow], room: int) -> int:
    """How many words can still be told apart where they have so much room."""
    return len({shorten_word(row.actions, room - len(_remarks(row))) for row in rows})


def _remarks(row: CounterexampleRow) -> str:
    """Behind the actions: what is flaky or due to sampling and, where failures may be accepted, what is not."""
    words = ["flaky"] if row.status == "flaky" else []
    words += ["sampling artefact"] if row.sampling_artefact else []
    words += [f"({row.accepted})"] if row.accepted not in (None, ACCEPTED) else []
    return "".join(f" {word}" for word in words)


LEGEND = (
    "share: part of the traces along these actions that violate · at: when the violation was certain · "
    "walk: search walk that found it"
)


def effort_line(result: RunResult) -> str:
    """What it took, and why the run ended."""
    settled = any(row.convergence for row in result.requirements)
    why = {
        StopReason.COMPLETED: "the list did not improve any more"
        if settled
        else "all counterexamples asked for were found",
        StopReason.BUDGET_SIMULATIONS: "the search used up its simulations",
        StopReason.BUDGET_TIME: "the search used up its time",
        StopReason.INTERRUPTED: "interrupted",
        StopReason.SYSTEM_FAILED: "the system failed",
    }.get(result.stop_reason, result.stop_reason)
    return f"{result.simulations} simulations in {result.seconds:.1f} s; {why}"


def baseline_lines(row: RequirementRow) -> Iterator[str]:
    """What plain simulation adds: how probable any violation is, and how much of that is on the list."""
    if row.any_violation is None:
        return
    yield f"{row.id}, any violation, by {row.any_violation.samples} plain simulations: {interval(row.any_violation)}"
    if row.explained is not None:
        share = row.explained
        text = f"the list explains {share.value:.0%} of it [{share.low:.0%}, {share.high:.0%}]"
        yield text + (f"; {row.never_met} of the list plain simulation never met" if row.never_met else "")


MOST_KNOWN = 10
"""Lines on what became of single counterexamples; results.json has them all."""


def store_lines(result: RunResult) -> Iterator[str]:
    """What became of the store's counterexamples, and how many are new; single ones only where something changed."""
    if result.store is None:
        return
    counts = Counter(_fate(row) for row in result.known)
    fates = [fate for fate in ("still there", "back again", "fixed", "changed") if counts[fate]]
    told = ", ".join(f"{counts[fate]} {fate}" for fate in fates)
    new = sum(not c.known for c in result.counterexamples)
    yield f"store {result.store}: {len(result.known)} known{f' ({told})' if told else ''}, {new} new"
    news = [row for row in result.known if _fate(row) not in ("still there", row.before)]
    for row in news[:MOST_KNOWN]:
        why = f": {row.explanation}" if _fate(row) == "changed" else ""
        yield f"  {_fate(row)}: {row.requirement} {shorten_word(row.actions, 40)}{why}"
    if len(news) > MOST_KNOWN:
        yield f"  … and {len(news) - MOST_KNOWN} more"


def _fate(row: KnownRow) -> str:
    if row.outcome == "same":
        return "back again" if row.before == "fixed" else "still there"
    return row.outcome


def unmet_lines(result: RunResult) -> Iterator[str]:
    """Accepted failures that were not found: perhaps they are fixed, and the entry can go."""
    for entry in result.unmet[:MOST_KNOWN]:
        where = f" (line {entry['line']})" if entry.get("line") else ""
        yield f"accepted, but not found: {entry['requirement']} {shorten_word(entry['actions'], 40)}{where}"
    if len(result.unmet) > MOST_KNOWN:
        yield f"… and {len(result.unmet) - MOST_KNOWN} more"


def requirement_line(row: RequirementRow) -> str:
    """R1 falsified (as expected): never above 75 degrees"""
    text = f"{row.id} {row.outcome.replace('_', ' ')}{expectation(row.outcome, row.expected)}"
    if row.accepted is not None:
        missing = row.counterexamples - row.accepted
        text += f", {missing} of {row.counterexamples} not accepted" if missing else f", all {row.accepted} accepted"
    return f"{text}: {row.text}" if row.text else text


def expectation(outcome: str, expected: str | None) -> str:
    """Behind an outcome: whether it is the expected one, where one is."""
    if expected is None:
        return ""
    return " (as expected)" if outcome == expected else f" (expected: {expected.replace('_', ' ')})"


def report_line(run_directory: str) -> Iterator[str]:
    """Where the report is, if there is one."""
    file = Path(run_directory) / "report.html"
    if file.is_file():
        yield f"report: {file}"


def closing_lines(result: RunResult) -> Iterator[str]:
    """The last lines of every run: outcome per requirement, run directory, seed, replay command."""
    for row in result.requirements:
        yield requirement_line(row)
    if result.outcome == Outcome.NOT_FALSIFIED:
        yield "not falsified is not verified: another profile, seed or budget may still find a failure"
    yield from place_lines(result.run_directory, result.seed, [c.file for c in result.counterexamples])


def place_lines(run_directory: str | None, seed: int, files: Iterable[str | None]) -> Iterator[str]:
    """Report, run directory, seed, and how to replay the first of the files."""
    if run_directory is not None:
        yield from report_line(run_directory)
        yield f"run directory: {run_directory}"
    yield f"seed: {seed}"
    yield from (f"replay: bbfalsify replay {file}" for file in [file for file in files if file][:1])
