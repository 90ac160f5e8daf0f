"""Simplify the parameters and signals of a counterexample, as far as it still violates.

    1. what comes after the violation     is held as it was before: it cannot matter
    2. constant signals                   at an end of the range, in the middle, or at one of their values
    3. fewer changes                      each value is replaced by the one before it, last ones first
    4. simple values                      ends of the range, then the middle, then tenths, then hundredths of it

A simpler run is tried before a less simple one, and the first that violates is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.engines.falsification.values import ValueSpace

MIDDLE = 0.5
SAME = 1e-9
Violating = Callable[[Sequence[np.ndarray]], list[bool]]
"""Execute runs with these quantiles; tell which violate, fewer than asked where the budget ends."""


def simplify(space: ValueSpace, values: np.ndarray, violated: float, violating: Violating) -> bool:
    """Try simpler values; whoever executes them keeps the last that violates.  Return whether all were tried."""
    best = values
    for stage in (_held_after, _constant, _fewer_changes, _simple):
        for tries in stage(space, values, violated):
            new = [row for attempt in tries if not np.array_equal(row := attempt(best), best)]
            rows = list({row.tobytes(): row for row in new}.values())
            seen = violating(rows) if rows else []
            if len(seen) < len(rows):
                return False
            best = next((row for row, fails in zip(rows, seen, strict=True) if fails), best)
    return True


Attempt = Callable[[np.ndarray], np.ndarray]


def _pieces(space: ValueSpace) -> list[list[int]]:
    """The places of the values of each signal."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(space.labels):
        if label.kind == "value":
            places.setdefault(label.name, []).append(place)
    return list(places.values())


def _held_after(space: ValueSpace, values: np.ndarray, violated: float) -> Iterator[list[Attempt]]:
    curves = space.values(values).curves

    def held(row: np.ndarray) -> np.ndarray:
        row = row.copy()
        for pieces, curve in zip(_pieces(space), curves.values(), strict=True):
            last = max(int(np.searchsorted(curve.times, violated, side="left")) - 1, 0)
            last += curve.shape != "constant"
            row[pieces[last + 1 :]] = row[pieces[min(last, len(pieces) - 1)]]
        return row

    yield [held]


def _constant(space: ValueSpace, values: np.ndarray, violated: float) -> Iterator[list[Attempt]]:
    for pieces in _pieces(space):
        if len(pieces) > 1:
            levels = dict.fromkeys([LOWEST, HIGHEST, MIDDLE, *values[pieces].tolist()][:8])
            yield [_at(pieces, level) for level in levels]


def _fewer_changes(space: ValueSpace, values: np.ndarray, violated: float) -> Iterator[list[Attempt]]:
    for pieces in _pieces(space):
        for number in range(len(pieces) - 1, 0, -1):
            yield [_as_before(pieces, number)]


def _as_before(pieces: Sequence[int], number: int) -> Attempt:
    """Let a piece, and those after it with the same value, have the value of the piece before."""

    def merged(row: np.ndarray) -> np.ndarray:
        row, old = row.copy(), row[pieces[number]]
        for place in pieces[number:]:
            if row[place] != old:
                break
            row[place] = row[pieces[number - 1]]
        return row

    return merged


def _simple(space: ValueSpace, values: np.ndarray, violated: float) -> Iterator[list[Attempt]]:
    alone = [[place] for place, label in enumerate(space.labels) if label.kind in ("parameter", "delay")]
    for pieces in (*alone, *_pieces(space)):
        for number in range(len(pieces)):
            yield [_simpler(pieces, number, to) for to in (_end, _middle, _tenth, _hundredth)]


def _simpler(pieces: Sequence[int], number: int, to: Callable[[float], float]) -> Attempt:
    """Change a value, and those after it that are the same."""

    def moved(row: np.ndarray) -> np.ndarray:
        row, old = row.copy(), float(row[pieces[number]])
        if old in (LOWEST, HIGHEST, MIDDLE) or abs(old * 100 - round(old * 100)) < SAME:
            return row  # simple already
        if number and row[pieces[number - 1]] == old:
            return row  # moved with the one before
        for place in pieces[number:]:
            if row[place] != old:
                break
            row[place] = to(old)
        return row

    return moved


def _at(pieces: Sequence[int], level: float) -> Attempt:
    def constant(row: np.ndarray) -> np.ndarray:
        row = row.copy()
        row[list(pieces)] = level
        return row

    return constant


def _end(u: float) -> float:
    return LOWEST if u < MIDDLE else HIGHEST


def _middle(u: float) -> float:
    return MIDDLE


def _tenth(u: float) -> float:
    return _rounded(round(u, 1))


def _hundredth(u: float) -> float:
    return _rounded(round(u, 2))


def _rounded(u: float) -> float:
    return float(min(np.floor(u * 2.0**53) * 2.0**-53, HIGHEST))
