"""The actions that a profile allows in one state, and the delays at which it does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.fitting.log_events import Instant
from bbfalsify.fitting.stays import EdgeKey, Pieces, Wait
from bbfalsify.modelling.reference.delay_sets import Window, Windows, contains
from bbfalsify.modelling.reference.exact_values import Real
from bbfalsify.modelling.reference.state import State, Transition


@dataclass(frozen=True)
class Way:
    """A transition with the ends of its windows as floats."""

    transition: Transition
    windows: Pieces

    def contains(self, delay: float) -> bool | None:
        """Tell whether the delay is in a window; None where its float is an end, so that only exact numbers can tell.

        Rounding keeps order: a float that is truly smaller than another belongs to a smaller number.
        """
        for low, high in self.windows:
            if low < delay < high:
                return True
            if delay in (low, high):
                return None
        return False


class Situation:
    """A state, and all that is looked up in it."""

    def __init__(self, state: State, transitions: tuple[Transition, ...], bounds: tuple[float | None, ...]) -> None:
        self.state, self.transitions, self.bounds = state, transitions, bounds
        """`bounds`, per process: the longest stay that its own invariant allows."""
        self.clocks = tuple(float(value) for value in state.reals)
        self.ways = [Way(t, tuple((float(w.low), _end(w.high)) for w in t.windows)) for t in transitions]
        self.waits = [
            (process, (process, location), self._wait(process))
            for process, location in enumerate(state.locations)
            if any(t.sender[0] == process for t in transitions)
        ]
        """Each process that has a way, its location, and how it waits there."""
        self.ends = sorted({end for way in self.ways for window in way.windows for end in window})
        """The delays, as floats, at which what is possible changes."""
        self.moves: dict[tuple[int, str], Move | None] = {}
        """By the number of ends before the delay, and the action: the only transition; None if it is not so clear."""
        self.named: dict[str, list[Way]] = {}
        self.entered: dict[EdgeKey, Situation] = {}
        """The places to which edges lead that set every clock."""

    def _wait(self, process: int) -> Wait:
        windows = _united(w for t in self.transitions if t.sender[0] == process for w in t.windows)
        return Wait(windows, self.bounds[process], self.clocks)

    def possible(self, process: int, delay: Instant, number: float) -> frozenset[EdgeKey]:
        """The edges that a process could take after a delay; `number` is the delay as a float."""
        mine = [way for way in self.ways if way.transition.sender[0] == process]
        return frozenset(way.transition.sender for way in mine if _is_inside(way, delay, number))


@dataclass(frozen=True)
class Move:
    """A transition taken."""

    transition: Transition
    choice: tuple[EdgeKey, frozenset[EdgeKey]]
    """Its edge, and the edges among which its process chose."""


def nearest(windows: Windows, delay: Fraction) -> Iterator[Fraction]:
    """The points of the windows nearest to a delay outside them; just inside a strict bound."""
    for w in windows:
        low, high = Fraction(w.low), None if w.high is None else Fraction(w.high)
        inside = Fraction(1, 2**40) if high is None else min(Fraction(1, 2**40), (high - low) / 4)
        if delay <= low:
            yield low + (inside if w.low_strict else 0)
        elif high is not None:
            yield high - (inside if w.high_strict else 0)


def _united(windows: Iterable[Window]) -> Pieces:
    """The union of the windows as intervals of positive length."""
    pieces: list[tuple[Real, Real | None]] = []
    for w in sorted(windows, key=lambda w: w.low):
        if w.low == w.high:
            continue
        last = pieces[-1][1] if pieces else Fraction(-1)
        if last is None or w.low <= last:
            high = None if last is None or w.high is None else max(last, w.high)
            pieces[-1] = (pieces[-1][0], high)
        else:
            pieces.append((w.low, w.high))
    return tuple((float(low), _end(high)) for low, high in pieces)


def _end(high: Real | None) -> float:
    return math.inf if high is None else float(high)


def _is_inside(way: Way, delay: Instant, number: float) -> bool:
    inside = way.contains(number)
    return contains(way.transition.windows, delay.exact) if inside is None else inside


def instant(number: Fraction) -> Instant:
    return Instant(number.numerator, number.denominator)


def shown(window: Window) -> str:
    if window.high is None:
        return f"from {float(window.low):g} on"
    if window.low == window.high:
        return f"at {float(window.low):g}"
    return f"from {float(window.low):g} to {float(window.high):g}"
