"""What a result says beyond its list, as lines of text: what decides the order, what was covered, and when it happens.

#1 and #2 swap if weight of User.S -> S (on) × 1.4 [1.2, 1.6]
profile coverage: 7 of 8 edges; never taken: User.S -> T (pause), line 12
time to violation: 13.9 ▁▃▆█▅▂▁ 20, half of it by 16.2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bbfalsify.reporting.formatting import number
from bbfalsify.results.recorded import RequirementRow, RunResult

if TYPE_CHECKING:
    from rich.table import Table

FEW = 3
"""Lines of one kind in a short answer."""
SHOWN_RANKS = 5
"""Counterexamples in the table of elasticities, and in the plot of times."""
BLOCKS = " ▁▂▃▄▅▆▇█"
KINDS = {"search": "search", "simulation": "plain", "counterexamples": "listed"}


# --- sensitivity -----------------------------------------------------------------------------------------------------


def swap_lines(row: RequirementRow, most: int | None = FEW) -> Iterator[str]:
    """For each pair of neighbours in the ranking the smallest change of one parameter that swaps them."""
    nearest: dict[tuple[int, int], dict] = {}
    for swap in (row.sensitivity or {}).get("swaps", ()):
        nearest.setdefault((swap["first"], swap["second"]), swap)
    swaps = list(nearest.values())
    for swap in swaps[:most]:
        low, high = swap["low"], swap["high"]
        text = f"#{swap['first']} and #{swap['second']} swap if {swap['parameter']} × {number(swap['factor'])}"
        if low is not None and high is not None:
            text += f" [{_factor(low)}, {_factor(high)}]"
            text += "; uncertain" if low <= 1 <= high else ""
        yield text
    if most is not None and len(swaps) > most:
        yield f"… {len(swaps) - most} more pairs: bbfalsify show"


def _factor(value: float) -> str:
    """Nobody is a thousand times wrong about a weight: from there on, an interval is open."""
    return "0" if value < 0.001 else "∞" if value > 1000 else number(value, 2)


def elasticity_table(row: RequirementRow) -> Table | None:
    """Parameters that matter, with d ln P / d ln parameter of the first counterexamples."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    columns = (row.sensitivity or {}).get("counterexamples", [])[:SHOWN_RANKS]
    if not columns:
        return None
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("% per 1 % more")
    for column in columns:
        table.add_column(f"#{column['rank']}", justify="right", no_wrap=True)
    for cells in zip(*(c["elasticities"] for c in columns), strict=True):
        if any(abs(cell["value"]) >= 0.0005 for cell in cells):
            table.add_row(cells[0]["parameter"], *(f"{cell['value']:+.3g}" for cell in cells))
    return table if table.row_count else None


# --- coverage --------------------------------------------------------------------------------------------------------


def coverage_lines(result: RunResult, *, everything: bool = False) -> Iterator[str]:
    coverage = result.profile_coverage
    if coverage is None or not coverage["walks"]:
        return
    edges, never = coverage["edges"], set(coverage["never_taken"]["edges"])
    text = f"profile coverage: {len(edges) - len(never)} of {len(edges)} edges"
    yield text + _missing([e for e in edges if e["name"] in never], most=None if everything else FEW)
    missing = [b for b in coverage["branches"] if b["name"] in coverage["never_taken"]["branches"]]
    if missing and (everything or not never):
        branches = coverage["branches"]
        yield f"  and {len(branches) - len(missing)} of {len(branches)} branches" + _missing(missing, most=FEW)
    unseen = [place for place in coverage["locations"] if place["name"] in coverage["never_taken"]["locations"]]
    if unseen and everything:
        places = coverage["locations"]
        yield f"  and {len(places) - len(unseen)} of {len(places)} locations" + _missing(unseen, most=None)


def _missing(parts: Sequence[dict], *, most: int | None) -> str:
    if not parts:
        return ""
    shown = [p["name"] + ("" if p["line"] is None else f", line {p['line']}") for p in parts[:most]]
    more = f"; … {len(parts) - len(shown)} more" if len(shown) < len(parts) else ""
    return f"; never taken: {'; '.join(shown)}{more}"


def coverage_table(result: RunResult) -> Table | None:
    """How often each kind of walk has taken each edge and branch."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    coverage = result.profile_coverage
    if coverage is None or not coverage["walks"]:
        return None
    kinds = list(coverage["walks"])
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("edge, times taken")
    for kind in kinds:
        table.add_column(KINDS.get(kind, kind), justify="right", no_wrap=True)
    for part in coverage["edges"]:
        table.add_row(part["name"], *(str(part[kind]) for kind in kinds))
    for part in coverage["branches"]:
        table.add_row(f"branch {part['name']}", *(str(part[kind]) for kind in kinds))
    return table


# --- sampling --------------------------------------------------------------------------------------------------------


def sampling_lines(result: RunResult) -> Iterator[str]:
    """How densely was sampled, and what second judgements said that no note repeats."""
    if result.sampling:
        who = ", as asked" if result.sampling["given"] else ""
        yield f"samples every {result.sampling['period']:g}{who}"
        yield from (check["text"] for check in result.sampling["checks"] if not check["matters"])


# --- time to violation -----------------------------------------------------------------------------------------------


def time_lines(row: RequirementRow, *, bars: bool = True) -> Iterator[str]:
    """When violations happen; a page draws the bars itself."""
    times = row.time_to_violation or {}
    for kind, label in (("counterexamples", "time to violation"), ("smc", "by plain simulation")):
        found = times.get(kind)
        if found is not None:
            quantiles = found["quantiles"]
            between = bar_line(found["histogram"]) if bars else "to"
            first, half, last = (number(quantiles[level], 4) for level in ("0", "0.5", "1"))
            shape = f"{first} {between} {last}, half of it by {half}" if first != last else f"always at {first}"
            yield f"{label}: {shape}"


def bar_line(heights: Sequence[float]) -> str:
    """A histogram in one line; what is not zero is seen."""
    used = [i for i, h in enumerate(heights) if h > 0]
    if not used:
        return ""
    most = max(heights)
    return "".join(
        BLOCKS[0] if h <= 0 else BLOCKS[max(1, round(8 * h / most))] for h in heights[used[0] : used[-1] + 1]
    )


def time_plot(result: RunResult, row: RequirementRow) -> str | None:
    """An SVG: how probable a first violation is in each bin and by the end of it; None where nothing was violated."""
    import numpy as np

    from bbfalsify.reporting.drawing.svg import Line, plot

    if row.time_to_violation is None:
        return None
    ends = np.array(row.time_to_violation["bins"])
    lines = []
    for label, found in _curves(result, row):
        bars = np.array(found["histogram"])
        density = np.concatenate([[0.0], np.repeat(bars, 2), [0.0]])
        by_then = np.repeat(np.concatenate([[0.0], np.cumsum(bars)]), 2)
        lines.append(Line(label, np.repeat(ends, 2), [density, by_then]))
    width = number(float(ends[1] - ends[0]))
    names = [f"probability of a first violation within {width}", "probability of a violation by then"]
    return plot(f"{result.name} {row.id}", names, lines, start=float(ends[0]), time_label="time of the first violation")


def _curves(result: RunResult, row: RequirementRow) -> Iterator[tuple[str, dict[str, Any]]]:
    times = row.time_to_violation or {}
    mine = [c for c in result.counterexamples if c.requirement == row.id and c.time_to_violation is not None]
    if times["smc"] is not None:
        yield "plain", times["smc"]
    if times["counterexamples"] is not None:
        yield "list", times["counterexamples"]
    for c in mine[:SHOWN_RANKS]:
        yield f"#{c.rank}", c.time_to_violation
