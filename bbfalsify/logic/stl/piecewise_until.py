"""Unbounded until and since of piecewise functions of dense time (`piecewise.py` says what these are)."""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit
from bbfalsify.logic.stl.piecewise import FLAT, NEVER, NONE, push, push_extreme, value_at

# Typed constants: numba would compile each function again for every literal number passed to it.
BESIDE = np.int64(4)
MINIMUM, MAXIMUM = np.bool_(True), np.bool_(False)


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
