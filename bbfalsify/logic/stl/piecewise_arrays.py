"""Piecewise functions of dense time by whole arrays: minimum, maximum, sliding windows, until and since.

`piecewise.py` says what keys and pieces are, and `piecewise_until.py` what until and since compute: here are the same
functions for traces that are judged once.  Importing and starting compiled code costs a second and 110 MB; numpy needs
neither, and gives the same bits, for everything is a minimum or a maximum of the same numbers.  Functions are made in
parts of `CHUNK` pieces, so that what is needed on the way stays small beside the functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

NEVER = np.int64(1 << 62)
"""A key after all others."""
CHUNK = 1 << 16


class Pieces(NamedTuple):
    """A function: from each key on, until the next, a constant or (`rising`) the constant plus the tick."""

    keys: np.ndarray
    consts: np.ndarray
    rising: np.ndarray

    @property
    def stops(self) -> np.ndarray:
        return np.append(self.keys[1:], NEVER)

    def merged(self) -> Pieces:
        """Leave out pieces that continue the one before."""
        same = (self.consts[1:] == self.consts[:-1]) & (self.rising[1:] == self.rising[:-1])
        if not same.any():
            return self
        kept = np.concatenate(([True], ~same))
        return Pieces(self.keys[kept], self.consts[kept], self.rising[kept])


def constant(value: float) -> Pieces:
    return Pieces(np.zeros(1, np.int64), np.array([value]), np.zeros(1, np.bool_))


def values_at(consts: np.ndarray, rising: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Values of lines at keys (for an end: the limit from the left)."""
    if not rising.any():
        return consts
    return np.where(rising, np.where(keys >= NEVER, np.inf, consts + (keys >> 1)), consts)


def extreme(pieces: Pieces, stops: np.ndarray, consts: np.ndarray, rising: np.ndarray, smaller: bool) -> Pieces:
    """Minimum or maximum of a function and other lines on the same pieces: they cross at most once on each."""
    choose = np.minimum if smaller else np.maximum
    alike = pieces.rising == rising
    if alike.all():
        return Pieces(pieces.keys, choose(pieces.consts, consts), pieces.rising).merged()
    level, offset = (np.where(pieces.rising, a, b) for a, b in ((consts, pieces.consts), (pieces.consts, consts)))
    with np.errstate(invalid="ignore"):  # of lines that are alike
        crossing = np.where(alike, -np.inf, 2.0 * (level - offset))
    begins = crossing > pieces.keys  # on the line that is left at the crossing
    low = np.where(begins, offset, level) if smaller else np.where(begins, level, offset)
    first_const = np.where(alike, choose(pieces.consts, consts), low)
    first_rising = np.where(alike, rising, begins if smaller else ~begins)
    splits = begins & (crossing < stops)
    at = np.arange(len(splits)) + np.cumsum(splits) - splits
    size = len(splits) + np.count_nonzero(splits)
    keys, both, slopes = np.empty(size, np.int64), np.empty(size), np.empty(size, np.bool_)
    keys[at], both[at], slopes[at] = pieces.keys, first_const, first_rising
    after = at[splits] + 1
    keys[after] = crossing[splits].astype(np.int64)
    both[after] = (level if smaller else offset)[splits]
    slopes[after] = not smaller
    return Pieces(keys, both, slopes).merged()


def _in_parts(events: Sequence[np.ndarray], make: Callable[[np.ndarray, np.ndarray], Pieces]) -> Pieces:
    """Make a function whose pieces begin at 0 and at the `events`, sorted keys: `make` is given keys and stops."""
    limits = max(events, key=len)[CHUNK::CHUNK]
    parts = []
    for begin, end in pairwise([0, *limits[limits > 0], NEVER]):
        inside = [keys[np.searchsorted(keys, begin) : np.searchsorted(keys, end)] for keys in events]
        keys = np.unique(np.concatenate([np.array([begin], np.int64), *inside]))
        parts.append(make(keys, np.append(keys[1:], end)))
    return parts[0] if len(parts) == 1 else Pieces(*map(np.concatenate, zip(*parts, strict=True))).merged()


def pointwise(first: Pieces, second: Pieces, smaller: bool) -> Pieces:
    """Minimum or maximum of two functions."""

    def make(keys: np.ndarray, stops: np.ndarray) -> Pieces:
        return extreme(_on(first, keys), stops, *_on(second, keys)[1:], smaller)

    return _in_parts((first.keys, second.keys), make)


def _on(f: Pieces, keys: np.ndarray) -> Pieces:
    """Cut a function at more keys."""
    at = np.searchsorted(f.keys, keys, "right") - 1
    return Pieces(keys, f.consts[at], f.rising[at])


def _range_extremes(levels: np.ndarray, left: np.ndarray, right: np.ndarray, smaller: bool) -> np.ndarray:
    """Extreme of levels[left + 1 … right] for many ranges, by tables of doubled length; over nothing infinite."""
    choose, nothing = (np.minimum, np.inf) if smaller else (np.maximum, -np.inf)
    if len(left) == 1:
        return choose.reduce(levels[left[0] + 1 : right[0] + 1], initial=nothing, keepdims=True)
    found = np.full(len(left), nothing)
    first, lengths = int(left[0]) + 1, right - left  # neither end ever goes back
    table, step = levels[first : int(right[-1]) + 1].copy(), 1
    while step <= lengths.max():
        now = np.flatnonzero((lengths >= step) & (lengths < 2 * step))
        if len(now):
            found[now] = choose(table[left[now] + 1 - first], table[right[now] - step + 1 - first])
        choose(table[:-step], table[step:], out=table[:-step])
        step *= 2
    return found


def future_window(
    f: Pieces, delay: int, width: int, endless: bool, smaller: bool, without_end: bool, only_now: bool
) -> Pieces:
    """Extreme over [t + delay, t + delay + width]; `without_end` leaves out the last moment; `only_now`: at key 0."""
    boundaries = f.keys[1:] - 2 * delay if delay else f.keys[1:]  # each leaves the window at its own key …
    entries = boundaries - 2 * width if width else boundaries  # … and enters it when the right edge comes there
    if without_end:
        entries = entries | 1
    levels = _levels(f, boundaries, delay, smaller)
    ahead = np.zeros(0)
    if endless and not only_now:
        choose, nothing = (np.minimum, np.inf) if smaller else (np.maximum, -np.inf)
        ahead = np.append(choose.accumulate(levels[:0:-1])[::-1], nothing)

    def make(keys: np.ndarray, stops: np.ndarray) -> Pieces:
        left = np.searchsorted(boundaries, keys, "right")
        if endless:
            right = np.full(len(keys), len(boundaries))
        else:
            right = np.maximum(left, np.searchsorted(entries, keys, "right"))
        inside = ahead[left] if len(ahead) else _range_extremes(levels, left, right, smaller)
        edge = left if smaller else right
        rising = f.rising[edge]
        consts = f.consts[edge] + np.where(rising, delay, 0)
        if not smaller:
            consts = np.where(rising, np.inf if endless else consts + width, consts)
            rising = rising & (not endless)
        return extreme(Pieces(keys, consts, rising), stops, inside, np.zeros(len(keys), np.bool_), smaller)

    if only_now:
        return make(np.zeros(1, np.int64), np.full(1, NEVER))
    return _in_parts((boundaries,) if endless else (boundaries, entries), make)


def _levels(f: Pieces, boundaries: np.ndarray, delay: int, smaller: bool) -> np.ndarray:
    """Values that enter a window with each boundary: where a piece begins (minimum) or where the one before ends."""
    if not f.rising.any():
        return f.consts if smaller else np.append(np.nan, f.consts[:-1])
    part = slice(1, None) if smaller else slice(None, -1)
    consts = f.consts[part] + np.where(f.rising[part], delay, 0)
    return np.append(np.nan, values_at(consts, f.rising[part], boundaries))


def past_window(f: Pieces, delay: int, width: int, endless: bool, smaller: bool, without_begin: bool) -> Pieces:
    """Extreme over the part of [t - delay - width, t - delay] after time 0; over nothing it is infinite."""
    nothing = np.inf if smaller else -np.inf
    leaves = np.zeros(0, np.int64) if endless else f.keys + 2 * width
    if without_begin:
        leaves = leaves & ~1
    if smaller:
        levels = values_at(f.consts, f.rising, f.keys)
    else:
        levels = np.append(nothing, values_at(f.consts[:-1], f.rising[:-1], f.keys[1:]))

    def make(keys: np.ndarray, stops: np.ndarray) -> Pieces:
        left = np.searchsorted(leaves, keys, "right") - 1
        right = np.searchsorted(f.keys, keys, "right") - 1
        inside = _range_extremes(levels, left, right, smaller)
        edge = left if smaller else right
        there = edge >= 0
        rising = f.rising[edge] & there
        consts = np.where(there, f.consts[edge] - np.where(rising, delay + width if smaller else delay, 0), nothing)
        later = np.where(stops == NEVER, NEVER, stops + 2 * delay)
        window = Pieces(keys + 2 * delay, consts, rising)
        return extreme(window, later, inside, np.zeros(len(keys), np.bool_), smaller)

    found = _in_parts((f.keys, leaves), make)
    if delay > 0:
        return Pieces(*(np.append(a, b) for a, b in zip(constant(nothing), found, strict=True))).merged()
    return found


def until(first: Pieces, second: Pieces, some_is_max: bool) -> Pieces:
    """p until q, without bounds."""
    keys, p, q, p_here, q_here, p_end, q_end = _sides(first, second)
    odd = (keys & 1).astype(np.bool_)
    if some_is_max:
        low, high = np.where(odd, q_end, np.maximum(q_here, q_end)), np.where(odd, p_here, np.maximum(q_here, p_here))
    else:
        low, high = p_end, np.where(odd, np.maximum(p_here, q_here), q_here)
    start = -np.inf if some_is_max else np.inf
    later = np.append(carried(low[::-1], high[::-1], start)[::-1][1:], start)
    offer = np.maximum(q_end if some_is_max else p_end, later)
    flat = np.zeros(len(keys), np.bool_)
    if some_is_max:
        return pointwise(extreme(p, p.stops, offer, flat, True), q, False)
    return pointwise(Pieces(keys, offer, flat).merged(), q, True)


def since(first: Pieces, second: Pieces, some_is_max: bool) -> Pieces:
    """p since q, without bounds."""
    keys, p, q, p_here, q_here, p_end, q_end = _sides(first, second)
    odd = (p.stops & 1).astype(np.bool_)
    if some_is_max:
        low = np.where(odd, q_end, np.minimum(q_end, p_end))
        high = np.maximum(low, p_here)
    else:
        low, high = p_end, np.maximum(p_end, q_here)
        high = np.where(odd, np.minimum(high, q_end), high)
    start = -np.inf if some_is_max else np.inf
    earlier = np.append(start, carried(low, high, start)[:-1])
    offer = np.minimum(p_here if some_is_max else q_here, earlier)
    flat = np.zeros(len(keys), np.bool_)
    if some_is_max:
        return pointwise(Pieces(keys, offer, flat).merged(), q, False)
    return pointwise(extreme(p, p.stops, offer, flat, False), q, True)


def _sides(first: Pieces, second: Pieces) -> tuple:
    """Both functions on their common pieces, and the values of each where its pieces begin and end."""
    keys = np.union1d(first.keys, second.keys)
    p, q = _on(first, keys), _on(second, keys)
    places = [(f.consts, f.rising, at) for at in (keys, p.stops) for f in (p, q)]
    return keys, p, q, *(values_at(*place) for place in places)


def carried(low: np.ndarray, high: np.ndarray, start: float) -> np.ndarray:
    """Carry a value through x -> min(high, max(low, x)) for each place; the values after each.

    Two such steps are one, min(h, max(l, x)) after min(h', max(l', x)) being
    min(min(h, max(l, h')), max(max(l, l'), x)), so that all are made in as many rounds as their number has bits.
    """
    after = np.empty(len(low))
    for begin in range(0, len(low), CHUNK):
        lows, highs, step = low[begin : begin + CHUNK].copy(), high[begin : begin + CHUNK].copy(), 1
        while step < len(lows):
            highs[step:] = np.minimum(highs[step:], np.maximum(lows[step:], highs[:-step]))
            lows[step:] = np.maximum(lows[step:], lows[:-step])
            step *= 2
        after[begin : begin + CHUNK] = np.minimum(highs, np.maximum(lows, start))
        start = after[begin + len(lows) - 1]
    return after
