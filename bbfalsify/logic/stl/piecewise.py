"""Exact minimum, maximum and sliding windows of piecewise functions of dense time.

Time is counted in ticks (integers; see `dense.py`).  A *key* is 2·tick for the instant itself and 2·tick + 1 for what
comes right after it, so that closed and open ends need no special cases: a piece from key 2p to 2p+1 is the single
point p, one from 2p+1 to 2q is the open interval (p, q).  A function is a list of pieces starting at increasing keys,
the first at 0, the last without end; on a piece it is the constant c (slope 0) or the line c + tick (slope 1).
Robustness only has constants.  The times at which something becomes certain are the lines: a condition about "now" is
known now.

Functions stand one after another in `pieces`, the three arrays (keys, constants, slopes).  Every function here appends
to them from position `out` on and returns the number of pieces.  `smaller` selects minimum (True) or maximum (False);
windows use monotone queues, so everything is linear in the pieces.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit

NEVER = np.int64(1 << 62)
"""A key after all others."""
# Typed constants: numba would compile each function again for every literal number passed to it.
FLAT, RISING, NONE = np.int64(0), np.int64(1), np.int64(0)


@jit
def value_at(const, slope, key):
    """Value of a line at a key (for an end: the limit from the left)."""
    if slope == 0:
        return const
    if key >= NEVER:
        return np.inf
    return const + (key >> 1)


@jit
def push(pieces, out, count, key, const, slope):
    """Append a piece, unless it continues the one before."""
    keys, consts, slopes = pieces
    if count > 0 and consts[out + count - 1] == const and slopes[out + count - 1] == slope:
        return count
    keys[out + count] = key
    consts[out + count] = const
    slopes[out + count] = slope
    return count + 1


@jit
def push_extreme(pieces, out, count, start, stop, const1, slope1, const2, slope2, smaller):
    """Append the minimum or maximum of two lines on [start, stop); a constant and a rising line cross at most once."""
    if slope1 == slope2:
        const = min(const1, const2) if smaller else max(const1, const2)
        return push(pieces, out, count, start, const, slope1)
    level, offset = (const2, const1) if slope1 == 1 else (const1, const2)
    crossing = 2.0 * (level - offset)
    if crossing > start:
        if smaller:
            count = push(pieces, out, count, start, offset, RISING)
        else:
            count = push(pieces, out, count, start, level, FLAT)
        if crossing >= stop:
            return count
        start = np.int64(crossing)
    if smaller:
        return push(pieces, out, count, start, level, FLAT)
    return push(pieces, out, count, start, offset, RISING)


@jit
def pointwise(pieces, first, n_first, second, n_second, out, smaller):
    """Minimum or maximum of two functions."""
    keys, consts, slopes = pieces
    i, j, count, key = first, second, NONE, NONE
    while True:
        next_i = keys[i + 1] if i + 1 < first + n_first else NEVER
        next_j = keys[j + 1] if j + 1 < second + n_second else NEVER
        stop = min(next_i, next_j)
        count = push_extreme(pieces, out, count, key, stop, consts[i], slopes[i], consts[j], slopes[j], smaller)
        if stop == NEVER:
            return count
        if next_i == stop:
            i += 1
        if next_j == stop:
            j += 1
        key = stop


@jit
def enqueue(queue, values, head, tail, index, value, smaller):
    """Append to a monotone queue, without the values that the new one makes superfluous."""
    while tail > head and ((values[tail - 1] >= value) if smaller else (values[tail - 1] <= value)):
        tail -= 1
    queue[tail] = index
    values[tail] = value
    return tail + 1


@jit
def first_behind(queue, head, tail, left):
    """Drop from a queue all that lies at `left` or before it; return the place of what is now its first."""
    while head < tail and queue[head] <= left:
        head += 1
    return head


@jit
def future_window(pieces, at, n, out, delay, width, endless, smaller, without_end):
    """Extreme over [t + delay, t + delay + width]; `without_end` leaves out the last moment.

    Pieces never fall, so the minimum over a window is at its left edge or where a piece begins, the maximum at its
    right edge or where a piece ends.  A boundary enters the window when the right edge reaches it and leaves when the
    left edge does.
    """
    keys, consts, slopes = pieces
    back = 2 * delay
    left = NONE
    while left + 1 < n and keys[at + left + 1] - back <= 0:
        left += 1
    right, count, key = left, NONE, NONE
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), NONE, NONE
    while True:
        entry = NEVER
        while right + 1 < n:
            boundary = keys[at + right + 1] - back
            entry = NONE - 1 if endless else boundary - 2 * width
            if without_end:
                entry |= 1
            if entry > key:
                break
            right += 1
            piece = at + right if smaller else at + right - 1
            level = value_at(consts[piece] + (delay if slopes[piece] == 1 else 0), slopes[piece], boundary)
            tail = enqueue(queue, values, head, tail, right, level, smaller)
            entry = NEVER
        leave = NEVER
        while left + 1 < n:
            leave = keys[at + left + 1] - back
            if leave > key:
                break
            left += 1
            leave = NEVER
        head = first_behind(queue, head, tail, left)
        if smaller:
            slope = slopes[at + left]
            edge = consts[at + left] + (delay if slope == 1 else 0)
            inside = values[head] if head < tail else np.inf
        else:
            slope = slopes[at + right]
            edge = consts[at + right]
            if slope == 1:
                if endless:
                    edge, slope = np.inf, FLAT
                else:
                    edge += delay + width
            inside = values[head] if head < tail else -np.inf
        stop = min(entry, leave)
        count = push_extreme(pieces, out, count, key, stop, edge, slope, inside, FLAT, smaller)
        if stop == NEVER:
            return count
        key = stop


@jit
def past_window(pieces, at, n, out, delay, width, endless, smaller, without_begin):
    """Extreme over the part of [t - delay - width, t - delay] after time 0; over nothing it is plus or minus infinity.

    `without_begin` leaves out the first moment.
    """
    keys, consts, slopes = pieces
    ahead = 2 * delay
    count, key, left, right = NONE, NONE, NONE - 1, NONE - 1
    if delay > 0:
        count = push(pieces, out, count, NONE, np.inf if smaller else -np.inf, FLAT)
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), NONE, NONE
    while True:
        while right + 1 < n and keys[at + right + 1] <= key:
            right += 1
            boundary = keys[at + right]
            if smaller:
                level = value_at(consts[at + right], slopes[at + right], boundary)
                tail = enqueue(queue, values, head, tail, right, level, smaller)
            elif right > 0:
                level = value_at(consts[at + right - 1], slopes[at + right - 1], boundary)
                tail = enqueue(queue, values, head, tail, right, level, smaller)
        entry = keys[at + right + 1] if right + 1 < n else NEVER
        leave = NEVER
        while left + 1 < n and not endless:
            leave = keys[at + left + 1] + 2 * width
            if without_begin:
                leave &= ~1
            if leave > key:
                break
            left += 1
            leave = NEVER
        head = first_behind(queue, head, tail, left)
        shift = delay
        piece = at + right
        if smaller:
            piece = at + left
            shift = delay + width
        slope = FLAT
        edge = np.inf if smaller else -np.inf
        if piece >= at:
            slope = slopes[piece]
            edge = consts[piece] - (shift if slope == 1 else 0)
        inside = values[head] if head < tail else (np.inf if smaller else -np.inf)
        stop = min(entry, leave)
        end = stop if stop == NEVER else stop + ahead
        count = push_extreme(pieces, out, count, key + ahead, end, edge, slope, inside, FLAT, smaller)
        if stop == NEVER:
            return count
        key = stop
