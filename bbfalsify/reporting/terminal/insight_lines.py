"""Insights beyond the list of counterexamples, as lines, tables and a plot.

the search had 64 % of this after 88 simulations, 90 % after 352, 99 % after 704 (of 930)
#1 and #2 swap if weight of User.S -> S (on) × 1.4 [1.2, 1.6]
profile coverage: 7 of 8 edges; never taken: User.S -> T (pause), line 12
time to violation: 13.9 ▁▃▆█▅▂▁ 20, half of it by 16.2
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bbfalsify.core.estimate import LEVELS, TimeDistribution
from bbfalsify.reporting.formatting import number
from bbfalsify.reporting.terminal.lines import new_table
from bbfalsify.results.falsify_insights import Coverage, Covered, SamplingResult, Swap, never_taken
from bbfalsify.results.falsify_result import RankedCounterexample, RequirementResult

if TYPE_CHECKING:
    from rich.table import Table

FEW = 3
"""Lines of one kind in a short answer."""
SHOWN_RANKS = 5
"""Counterexamples in the table of elasticities, and in the plot of times."""
MATTERS = 0.0005
"""Elasticities below this are shown as nothing."""
MARKS = (0.5, 0.9, 0.99)
"""Parts of the list's probability, by the search's rough estimates, at which its growth is told."""
BLOCKS = " ▁▂▃▄▅▆▇█"
KINDS = {"search": "search", "simulation": "plain", "counterexamples": "listed"}


def convergence_lines(row: RequirementResult) -> Iterator[str]:
    """Growth of the list; nothing where the search did not look for probable ones, or its probability is unknown."""
    known = row.found_probability
    if known is None or known.none_seen or not row.convergence or not row.convergence[-1].mass > 0:
        return
    end = row.convergence[-1]
    parts: list[str] = []
    last = -1
    for mark in MARKS:
        point = next(p for p in row.convergence if p.mass >= mark * end.mass)
        if point.simulations != last:
            # Rounding up would call a list complete that is not.
            share = int(1000 * point.mass / end.mass) / 10
            parts.append(f"{share:.3g} % after {point.simulations}" + (" simulations" if not parts else ""))
        last = point.simulations
    yield f"the search had {', '.join(parts)} (of {end.simulations})".replace("%", "% of this", 1)


# --- sensitivity -----------------------------------------------------------------------------------------------------


def swap_lines(row: RequirementResult, most: int | None = FEW) -> Iterator[str]:
    """For each pair of neighbours in the ranking the smallest change of one parameter that swaps them."""
    nearest: dict[tuple[int, int], Swap] = {}
    for swap in () if row.sensitivity is None else row.sensitivity.swaps:
        nearest.setdefault((swap.first, swap.second), swap)
    swaps = list(nearest.values())
    for swap in swaps[:most]:
        text = f"#{swap.first} and #{swap.second} swap if {swap.parameter} × {number(swap.factor)}"
        if math.isfinite(swap.low) and math.isfinite(swap.high):
            text += f" [{_factor(swap.low)}, {_factor(swap.high)}]"
            text += "; uncertain" if swap.low <= 1 <= swap.high else ""
        yield text
    if most is not None and len(swaps) > most:
        yield f"… {len(swaps) - most} more pairs: bbfalsify show"


def _factor(value: float) -> str:
    """A limit of a factor; beyond a thousand times the interval counts as open."""
    return "0" if value < 0.001 else "∞" if value > 1000 else number(value, 2)


def elasticity_table(row: RequirementResult) -> Table | None:
    """Parameters that matter, with d ln P / d ln parameter of the first counterexamples."""
    columns = () if row.sensitivity is None else row.sensitivity.counterexamples[:SHOWN_RANKS]
    table = new_table()
    table.add_column("% per 1 % more")
    for column in columns:
        table.add_column(f"#{column.rank}", justify="right", no_wrap=True)
    for cells in zip(*(c.elasticities for c in columns), strict=True):
        if any(abs(cell.value) >= MATTERS for cell in cells):
            table.add_row(cells[0].parameter, *(f"{cell.value:+.3g}" for cell in cells))
    return table if table.row_count else None


# --- coverage --------------------------------------------------------------------------------------------------------


def coverage_lines(coverage: Coverage | None, *, everything: bool = False) -> Iterator[str]:
    if coverage is None or not coverage.walks:
        return
    edges, branches, locations = (never_taken(p) for p in (coverage.edges, coverage.branches, coverage.locations))
    yield f"profile coverage: {_taken(coverage.edges, edges, 'edges', most=None if everything else FEW)}"
    if branches and (everything or not edges):
        yield f"  and {_taken(coverage.branches, branches, 'branches', most=FEW)}"
    if locations and everything:
        yield f"  and {_taken(coverage.locations, locations, 'locations', most=None)}"


def _taken(parts: Sequence[Covered], never: Sequence[Covered], what: str, *, most: int | None) -> str:
    text = f"{len(parts) - len(never)} of {len(parts)} {what}"
    if not never:
        return text
    shown = [p.name + ("" if p.line is None else f", line {p.line}") for p in never[:most]]
    more = f"; … {len(never) - len(shown)} more" if len(shown) < len(never) else ""
    return f"{text}; never taken: {'; '.join(shown)}{more}"


def covered_parts(coverage: Coverage) -> list[tuple[str, Covered]]:
    """Edges and branches, each with what it is called in a table."""
    edges, branches = coverage.edges, coverage.branches
    return [*((part.name, part) for part in edges), *((f"branch {part.name}", part) for part in branches)]


def coverage_table(coverage: Coverage | None) -> Table | None:
    """Times that each kind of walk has taken each edge and branch."""
    if coverage is None or not coverage.walks:
        return None
    table = new_table()
    table.add_column("edge, times taken")
    for kind in coverage.walks:
        table.add_column(KINDS.get(kind, kind), justify="right", no_wrap=True)
    for name, part in covered_parts(coverage):
        table.add_row(name, *(str(part.times.get(kind, 0)) for kind in coverage.walks))
    return table


# --- sampling --------------------------------------------------------------------------------------------------------


def sampling_lines(sampling: SamplingResult | None) -> Iterator[str]:
    """The sampling period, and second judgements that no note repeats."""
    if sampling is not None:
        yield f"samples every {sampling.period:g}{', as asked' if sampling.given else ''}"
        yield from (check.text for check in sampling.checks if not check.matters)


# --- time to violation -----------------------------------------------------------------------------------------------


def time_lines(row: RequirementResult, *, bars: bool = True) -> Iterator[str]:
    """Times of violations; a page draws the bars itself."""
    times = row.time_to_violation
    if times is None:
        return
    for found, label in ((times.listed, "time to violation"), (times.plain, "by plain simulation")):
        if found is not None:
            between = bar_line(found.histogram) if bars else "to"
            places = (LEVELS.index(level) for level in (0.0, 0.5, 1.0))
            first, half, last = (number(found.quantiles[place], 4) for place in places)
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


def violation_curves(
    row: RequirementResult, found: Sequence[RankedCounterexample]
) -> Iterator[tuple[str, TimeDistribution]]:
    """plain, list, #1, #2, …: the distributions that a plot of times shows."""
    times = row.time_to_violation
    if times is not None:
        timed = [(f"#{c.rank}", c.time_to_violation) for c in found if c.time_to_violation is not None]
        for label, curve in (("plain", times.plain), ("list", times.listed), *timed[:SHOWN_RANKS]):
            if curve is not None:
                yield label, curve


def time_plot(title: str, row: RequirementResult, found: Sequence[RankedCounterexample]) -> str | None:
    """An SVG: how probable a first violation is in each bin and by the end of it; None where nothing was violated."""
    import numpy as np

    from bbfalsify.results.svg import Line, plot

    if row.time_to_violation is None:
        return None
    ends = np.array(row.time_to_violation.bins)
    lines = []
    for label, curve in violation_curves(row, found):
        bars = np.array(curve.histogram)
        density = np.concatenate([[0.0], np.repeat(bars, 2), [0.0]])
        by_then = np.repeat(np.concatenate([[0.0], np.cumsum(bars)]), 2)
        lines.append(Line(label, np.repeat(ends, 2), [density, by_then]))
    width = number(float(ends[1] - ends[0]))
    names = [f"probability of a first violation within {width}", "probability of a violation by then"]
    return plot(title, names, lines, start=float(ends[0]), time_label="time of the first violation")
