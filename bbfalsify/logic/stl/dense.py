"""Evaluate a program on a trace in dense time, where sample i holds from its time until the next, the last for ever.

The three quantities of a condition at time t go through the same recursion of minima and maxima:

    robustness   the margin; after the end of the trace the last values are held (as RTAMT does)
    true_at      the earliest end of a prefix of the trace from which the condition at t is certain to be true
    false_at     the same for false; both are infinite for what lies after the end

An atom that holds at t is certain at t: true_at = t, false_at = infinity.  `or` takes the larger robustness, the
earlier true_at and the later false_at; `and` the opposite; `not` negates the first and exchanges the others; windows,
until and since are built from those.

Times are rounded to ticks of a power of ten with 10^9 to 10^10 ticks per trace.  Bounds written in decimals and
rounded sums such as 3·0.1 then meet exactly, where floating point would leave slivers of 10^-17 in which a
requirement is "violated".
"""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit
from bbfalsify.logic.stl.piecewise import FLAT, NONE, RISING, future_window, past_window, pointwise, push
from bbfalsify.logic.stl.piecewise_until import since, until
from bbfalsify.logic.stl.program import Op
from bbfalsify.logic.stl.ticks import FARTHEST, ticks_per_unit

_ATOM, _TRUTH, _NOT, _AND, _OR = int(Op.ATOM), int(Op.TRUTH), int(Op.NOT), int(Op.AND), int(Op.OR)
_ALWAYS, _EVENTUALLY, _ALWAYS_BEFORE = int(Op.ALWAYS), int(Op.EVENTUALLY), int(Op.ALWAYS_BEFORE)
_HISTORICALLY, _HISTORICALLY_AFTER = int(Op.HISTORICALLY), int(Op.HISTORICALLY_AFTER)
_UNTIL, _SINCE = int(Op.UNTIL), int(Op.SINCE)
compiled_ticks_per_unit = jit(ticks_per_unit)


@jit
def is_sound(times, margins):
    """Tell whether the times are finite and increasing, and no comparison is undefined."""
    n = len(times)
    if n == 0 or not np.isfinite(times[0]) or not np.isfinite(times[n - 1]):
        return False
    for i in range(1, n):
        if not times[i] > times[i - 1]:
            return False
    for row in range(margins.shape[0]):
        for i in range(n):
            if np.isnan(margins[row, i]):
                return False
    return True


@jit
def sample_ticks(times, ticks):
    """Fill in the tick of every sample; return the ticks per unit of time."""
    n = len(times)
    scale = compiled_ticks_per_unit(times[n - 1] - times[0])
    ticks[0] = 0
    for i in range(1, n):
        # Samples closer than a tick keep their order and their own moment.
        ticks[i] = max(np.int64(np.floor((times[i] - times[0]) * scale + 0.5)), ticks[i - 1] + 1)
    return scale


@jit
def atom_pieces(pieces, out, ticks, margins, truths, begin, quantity):
    n = len(ticks)
    count = NONE
    if quantity == 0:
        for i in range(n):
            count = push(pieces, out, count, 2 * ticks[i], margins[begin + i], FLAT)
        return count
    for i in range(n):
        if truths[begin + i] == (quantity == 1):
            count = push(pieces, out, count, 2 * ticks[i], 0.0, RISING)
        else:
            count = push(pieces, out, count, 2 * ticks[i], np.inf, FLAT)
    return push(pieces, out, count, 2 * ticks[n - 1] + 1, np.inf, FLAT)


@jit
def evaluate(ticks, scale, margins, truths, begin, program, seldom):
    """Compute all needed quantities: their pieces and, per operation and quantity, the first piece and the count.

    Margins and truths of the trace are those from `begin` on.  Until, since and windows of the past are compiled where
    `seldom` is not None; see `Program.seldom`.
    """
    op, left, right, lower, upper, need = program
    size = len(op)
    n = len(ticks)
    first = np.zeros((size, 3), np.int64)
    count = np.zeros((size, 3), np.int64)
    capacity = 4 * size * (n + 8)
    pieces = np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity, np.int64)
    top = np.int64(0)
    for row in range(size):
        kind = op[row]
        a = left[row]
        for quantity in range(3):
            if not need[row] >> quantity & 1:
                continue
            source = quantity if kind != _NOT or quantity == 0 else 3 - quantity
            at1, n1, at2, n2 = np.int64(0), np.int64(n), np.int64(0), np.int64(0)
            if kind != _ATOM and kind != _TRUTH:
                at1, n1 = first[a, source], count[a, source]
                if kind == _NOT and quantity > 0:
                    first[row, quantity], count[row, quantity] = at1, n1
                    continue
                if right[row] >= 0:
                    at2, n2 = first[right[row], source], count[right[row], source]
            most = top + 4 * (n1 + n2) + 8
            if most > capacity:
                capacity = 2 * most
                more = np.empty(capacity, np.int64), np.empty(capacity), np.empty(capacity, np.int64)
                for i in range(top):
                    more[0][i], more[1][i], more[2][i] = pieces[0][i], pieces[1][i], pieces[2][i]
                pieces = more
            first[row, quantity] = top
            made = np.int64(0)
            plain = quantity != 1  # robustness and false_at: `and` is the minimum; true_at: the maximum
            if kind == _ATOM:
                made = atom_pieces(pieces, top, ticks, margins[a], truths[a], begin, quantity)
            elif kind == _TRUTH:
                made = push(pieces, top, NONE, NONE, np.inf if (a == 1) == plain else -np.inf, FLAT)
            elif kind == _NOT:
                made = n1
                keys, consts, slopes = pieces
                for i in range(n1):
                    keys[top + i], consts[top + i], slopes[top + i] = keys[at1 + i], -consts[at1 + i], 0
            elif kind == _AND or kind == _OR:
                made = pointwise(pieces, at1, n1, at2, n2, top, plain == (kind == _AND))
            elif kind == _UNTIL or kind == _SINCE:
                if seldom is not None:
                    if kind == _UNTIL:
                        made = until(pieces, at1, n1, at2, n2, top, plain)
                    else:
                        made = since(pieces, at1, n1, at2, n2, top, plain)
            else:
                endless = np.isinf(upper[row])
                delay = np.int64(np.floor(min(lower[row] * scale, FARTHEST) + 0.5))
                end = delay if endless else np.int64(np.floor(min(upper[row] * scale, FARTHEST) + 0.5))
                open_end = kind == _ALWAYS_BEFORE or kind == _HISTORICALLY_AFTER
                every = open_end or kind == _ALWAYS or kind == _HISTORICALLY
                if open_end and end == 0:  # nothing lies in it
                    made = push(pieces, top, NONE, NONE, np.inf if plain else -np.inf, FLAT)
                elif kind == _ALWAYS or kind == _EVENTUALLY or kind == _ALWAYS_BEFORE:
                    made = future_window(pieces, at1, n1, top, delay, end - delay, endless, plain == every, open_end)
                elif seldom is not None:
                    made = past_window(pieces, at1, n1, top, delay, end - delay, endless, plain == every, open_end)
            count[row, quantity] = made
            top += made
    return pieces, first, count


@jit
def tick_moment(at, times, ticks, scale):
    """Time of a tick: exactly that of the sample there, if there is one."""
    if at <= 0:
        return times[0]
    index = np.searchsorted(ticks, at)
    if index >= len(ticks):
        return times[len(times) - 1]
    return times[index] if ticks[index] == at else times[0] + at / scale


@jit
def judge_dense(times, offsets, margins, truths, program, seldom, root, trigger, found):
    """Judge traces that stand one after the other.

    found[i] of trace i: robustness, true_at, false_at, the moment of false_at, true_at of the trigger.
    """
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        own = times[begin:end]
        ticks = np.empty(len(own), np.int64)
        scale = sample_ticks(own, ticks)
        (_, consts, _), first, _ = evaluate(ticks, scale, margins, truths, begin, program, seldom)
        # At key 0 a line has the value of its constant.
        for quantity in range(3):
            found[i, quantity] = consts[first[root, quantity]]
        found[i, 3] = tick_moment(found[i, 2], own, ticks, scale) if found[i, 2] < np.inf else np.inf
        found[i, 4] = consts[first[trigger, 1]] if trigger >= 0 else -np.inf


def robustness_dense(times, margins, truths, program, seldom, root):
    """Return the pieces of the root's robustness: (keys, values, ticks per unit, last tick)."""
    ticks = np.empty(len(times), np.int64)
    scale = sample_ticks(times, ticks)
    (keys, consts, _), first, count = evaluate(ticks, scale, margins, truths, 0, program, seldom)
    begin, end = first[root, 0], first[root, 0] + count[root, 0]
    return keys[begin:end].copy(), consts[begin:end].copy(), scale, ticks[-1]
