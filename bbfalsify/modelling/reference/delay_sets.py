"""Sets of delays as unions of open and closed intervals, and how to find the delays at which a predicate holds.

`solve(predicate)` returns the exact set of delays d ≥ 0.  The predicate takes a `Sample`, which records every delay at
which one of its decisions would flip.  Starting from d = 0, the predicate is evaluated at all known breakpoints, in the
middle of every gap and beyond the last, until no new breakpoint appears: then no decision flips inside a gap, and the
value in its middle holds throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.reference.exact_values import Exact, Real, Sample, fraction

MOST_BREAKPOINTS = 10_000


@dataclass(frozen=True, order=True)
class Window:
    low: Real
    low_strict: bool
    high: Real | None
    """None: unbounded."""
    high_strict: bool

    def __contains__(self, delay: Real) -> bool:
        above = delay > self.low if self.low_strict else delay >= self.low
        below = self.high is None or (delay < self.high if self.high_strict else delay <= self.high)
        return above and below

    def __str__(self) -> str:
        high = "inf" if self.high is None else str(self.high)
        return f"{'(' if self.low_strict else '['}{self.low}, {high}{')' if self.high_strict else ']'}"


Windows = tuple[Window, ...]
"""Disjoint, not touching, from left to right."""

ALL_DELAYS: Windows = (Window(Fraction(0), False, None, True),)


def contains(windows: Windows, delay: Real) -> bool:
    return any(delay in w for w in windows)


def endpoints(windows: Iterable[Window]) -> set[Real]:
    return {p for w in windows for p in (w.low, w.high) if p is not None}


def solve(predicate: Callable[[Sample], bool], *, within: Windows = ALL_DELAYS) -> Windows:
    """Return the exact set of delays inside `within` at which `predicate` holds; it is not evaluated outside."""
    points = endpoints(within) | {Fraction(0)}
    answers: dict[Real, bool] = {}
    while True:
        grid = _with_gaps(points)
        fresh = [d for d in grid if d not in answers]
        noted: set[Exact] = set()
        for delay in fresh:
            answers[delay] = contains(within, delay) and predicate(Sample(delay, noted))
        if noted <= points:
            return _merged(grid, answers)
        points |= noted
        if len(points) > MOST_BREAKPOINTS:
            raise InvariantViolated(f"more than {MOST_BREAKPOINTS} delays at which a decision flips")


def solve_approximately(
    predicate: Callable[[Sample], bool], *, within: Windows, step: float, horizon: float
) -> Windows:
    """Solve for a model that is not linear in time: evaluate a grid of delays up to `horizon`, and bisect changes.

    Approximate: two changes inside one grid step are missed, bounds are accurate to about 1e-12 and reported as closed,
    and the value at the horizon is taken to hold for all later delays.
    """

    def holds(delay: float) -> bool:
        return contains(within, delay) and predicate(Sample(delay, set()))

    grid = sorted({k * step for k in range(int(horizon / step) + 2)} | {float(p) for p in endpoints(within)})
    windows: list[Window] = []
    low: float | None = grid[0] if holds(grid[0]) else None
    for here, there in zip(grid, grid[1:], strict=False):
        now = holds(there)
        if now and low is None:
            low = _change(holds, here, there, after=True)
        elif not now and low is not None:
            windows.append(Window(low, False, _change(holds, here, there, after=False), False))
            low = None
    if low is not None:
        windows.append(Window(low, False, None, True))
    return tuple(windows)


def _change(holds: Callable[[float], bool], here: float, there: float, *, after: bool) -> float:
    """Bisect a change of `holds` between two grid points; return the delay just after it, or just before."""
    before = holds(here)
    for _ in range(60):
        middle = (here + there) / 2
        if not here < middle < there:
            break
        if holds(middle) == before:
            here = middle
        else:
            there = middle
    return there if after else here


def first_stretch(windows: Windows) -> Windows:
    """The connected part that contains d = 0."""
    return windows[:1] if contains(windows[:1], Fraction(0)) else ()


def first_end(predicate: Callable[[Sample], bool]) -> tuple[Exact | None, bool] | None:
    """Return the end of the first stretch of delays at which `predicate` holds, and whether it holds there still.

    None: not even at d = 0; an end of None: for ever.  No decision flips between a point and the next breakpoint noted
    there, unless one flips at the point itself: then a point of the gap is evaluated, too.
    """
    here: Exact = 0
    holds, noted = _noting(predicate, here)
    if not holds:
        return None
    while True:
        if here in noted:
            holds, noted = _just_after(predicate, here, noted)
            if not holds:
                return here, True
        end = min((point for point in noted if point > here), default=None)
        if end is None:
            return None, False
        holds, noted = _noting(predicate, end)
        if not holds:
            return end, False
        here = end


class _Points(list[Exact]):
    """A few breakpoints: comparing fractions is faster than hashing them."""

    add = list.append


def _noting(predicate: Callable[[Sample], bool], delay: Exact) -> tuple[bool, _Points]:
    noted = _Points()
    return predicate(Sample(delay, noted)), noted


def _just_after(predicate: Callable[[Sample], bool], here: Exact, noted: _Points) -> tuple[bool, _Points]:
    """Evaluate in the gap that begins at `here`; return also the breakpoints noted there."""
    beyond = [point for point in noted if point > here]
    probe = (fraction(here) + min(beyond)) / 2 if beyond else here + 1
    while True:
        holds, noted = _noting(predicate, probe)
        closer = [point for point in noted if here < point <= probe]
        if not closer:
            return holds, noted
        probe = (fraction(here) + min(closer)) / 2


def up_to(windows: Windows, bound: Real) -> Windows:
    """The delays d ≤ bound of the set."""
    kept = []
    for w in windows:
        if w.low > bound or (w.low == bound and w.low_strict):
            continue
        reaches = w.high is None or w.high > bound
        kept.append(Window(w.low, w.low_strict, bound, False) if reaches else w)
    return tuple(kept)


def _with_gaps(points: set[Real]) -> list[Real]:
    """p0, middle, p1, middle, …, pn, pn + 1: every point and one of every gap."""
    ordered = sorted(points)
    grid: list[Real] = []
    for here, there in zip(ordered, ordered[1:], strict=False):
        grid += [here, fraction(here + there) / 2 if type(here + there) is int else (here + there) / 2]
    return [*grid, ordered[-1], ordered[-1] + 1]


def _merged(grid: list[Real], answers: dict[Real, bool]) -> Windows:
    """Merge neighbouring cells that hold; even places of the grid are points, odd ones gaps."""
    windows: list[Window] = []
    start: int | None = None
    for place in range(len(grid) + 1):
        holds = place < len(grid) and answers[grid[place]]
        if holds and start is None:
            start = place
        elif not holds and start is not None:
            windows.append(_interval(grid, start, place - 1))
            start = None
    return tuple(windows)


def _interval(grid: list[Real], first: int, last: int) -> Window:
    low, low_strict = (grid[first], False) if first % 2 == 0 else (grid[first - 1], True)
    if last == len(grid) - 1:
        return Window(low, low_strict, None, True)
    high, high_strict = (grid[last], False) if last % 2 == 0 else (grid[last + 1], True)
    return Window(low, low_strict, high, high_strict)
