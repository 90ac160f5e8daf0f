"""Exact minimum, maximum, sliding windows, until and since of piecewise functions of dense time.

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
FLAT, RISING, NONE, BESIDE = np.int64(0), np.int64(1), np.int64(0), np.int64(4)
MINIMUM, MAXIMUM = np.bool_(True), np.bool_(False)


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
        while head < tail and queue[head] <= left:
            head += 1
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
        while head < tail and queue[head] <= left:
            head += 1
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


@jit
def merge(pieces, first, n_first, second, n_second):
    """Find the common pieces of two functions: keys, and the two lines on each."""
    keys, consts, slopes = pieces
    most = n_first + n_second
    common = np.empty(most, np.int64)
    const1, const2 = np.empty(most), np.empty(most)
    slope1, slope2 = np.empty(most, np.int64), np.empty(most, np.int64)
    i, j, count, key = first, second, NONE, NONE
    while True:
        common[count] = key
        const1[count], slope1[count] = consts[i], slopes[i]
        const2[count], slope2[count] = consts[j], slopes[j]
        count += 1
        next_i = keys[i + 1] if i + 1 < first + n_first else NEVER
        next_j = keys[j + 1] if j + 1 < second + n_second else NEVER
        key = min(next_i, next_j)
        if key == NEVER:
            return count, common, const1, slope1, const2, slope2
        if next_i == key:
            i += 1
        if next_j == key:
            j += 1


@jit
def until(pieces, first, n_first, second, n_second, out, some_is_max):
    """p until q, without bounds, from the last piece to the first.

    `later` is the value of the pieces after this one at their beginning.  A witness in a piece that begins open (odd
    key) needs p just before it, so arriving there also costs p.
    """
    n, common, p_const, p_slope, q_const, q_slope = merge(pieces, first, n_first, second, n_second)
    back_keys, back_consts, back_slopes = np.empty(4 * n, np.int64), np.empty(4 * n), np.empty(4 * n, np.int64)
    part = part_keys, part_consts, part_slopes = np.empty(8, np.int64), np.empty(8), np.empty(8, np.int64)
    total = NONE
    later = -np.inf if some_is_max else np.inf
    for i in range(n - 1, -1, -1):
        start = common[i]
        stop = common[i + 1] if i + 1 < n else NEVER
        p_here = value_at(p_const[i], p_slope[i], start)
        if some_is_max:
            offer = max(value_at(q_const[i], q_slope[i], stop), later)
            few = push_extreme(part, BESIDE, NONE, start, stop, p_const[i], p_slope[i], offer, FLAT, MINIMUM)
            arriving = min(p_here, offer)
        else:
            offer = max(value_at(p_const[i], p_slope[i], stop), later)
            few = push(part, BESIDE, NONE, start, offer, FLAT)
            arriving = min(max(p_here, value_at(q_const[i], q_slope[i], start)), offer)
        parts = NONE
        for k in range(few):
            end = part_keys[5 + k] if k + 1 < few else stop
            parts = push_extreme(
                part, NONE, parts, part_keys[4 + k], end, part_consts[4 + k], part_slopes[4 + k], q_const[i],
                q_slope[i], not some_is_max,
            )  # fmt: skip
        later = arriving if start & 1 else value_at(part_consts[0], part_slopes[0], start)
        for k in range(parts - 1, -1, -1):
            back_keys[total], back_consts[total], back_slopes[total] = part_keys[k], part_consts[k], part_slopes[k]
            total += 1
    count = NONE
    for k in range(total - 1, -1, -1):
        count = push(pieces, out, count, back_keys[k], back_consts[k], back_slopes[k])
    return count


@jit
def since(pieces, first, n_first, second, n_second, out, some_is_max):
    """p since q, without bounds, from the first piece to the last.

    `earlier` is the value of the pieces before this one at its beginning.  A witness at the last moment of a piece that
    ends closed (odd key) does not need p there.
    """
    n, common, p_const, p_slope, q_const, q_slope = merge(pieces, first, n_first, second, n_second)
    part = part_keys, part_consts, part_slopes = np.empty(2, np.int64), np.empty(2), np.empty(2, np.int64)
    count = NONE
    earlier = -np.inf if some_is_max else np.inf
    for i in range(n):
        start = common[i]
        stop = common[i + 1] if i + 1 < n else NEVER
        q_end = value_at(q_const[i], q_slope[i], stop)
        p_end = value_at(p_const[i], p_slope[i], stop)
        if some_is_max:
            offer = min(value_at(p_const[i], p_slope[i], start), earlier)
            few = push(part, NONE, NONE, start, offer, FLAT)
            earlier = max(q_end if stop & 1 else min(q_end, p_end), offer)
        else:
            offer = min(value_at(q_const[i], q_slope[i], start), earlier)
            few = push_extreme(part, NONE, NONE, start, stop, p_const[i], p_slope[i], offer, FLAT, MAXIMUM)
            earlier = max(offer, p_end)
            if stop & 1:
                earlier = min(earlier, q_end)
        for k in range(few):
            end = part_keys[k + 1] if k + 1 < few else stop
            count = push_extreme(
                pieces, out, count, part_keys[k], end, part_consts[k], part_slopes[k], q_const[i], q_slope[i],
                not some_is_max,
            )  # fmt: skip
    return count
