"""Evaluate a program on a trace in discrete time, where only the samples count, which are one period apart.

The three quantities are those of `dense.py`; certainty times are sample numbers.  Robustness is cut at the ends of
the trace as in RTAMT: over no samples `always` is plus infinity and `eventually` minus infinity.  Certainty goes on
after the last sample: atoms are unknown there, but conditions about the past may still be known.  After as many unseen
samples as the past operators reach back nothing changes any more, and one position stands for all later ones.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit
from bbfalsify.logic.stl.piecewise import NONE, enqueue
from bbfalsify.logic.stl.program import Op, certainty_positions

_ATOM, _TRUTH, _NOT, _AND, _OR = int(Op.ATOM), int(Op.TRUTH), int(Op.NOT), int(Op.AND), int(Op.OR)
_ALWAYS, _EVENTUALLY, _ALWAYS_BEFORE = int(Op.ALWAYS), int(Op.EVENTUALLY), int(Op.ALWAYS_BEFORE)
_HISTORICALLY, _HISTORICALLY_AFTER = int(Op.HISTORICALLY), int(Op.HISTORICALLY_AFTER)
_UNTIL, _SINCE = int(Op.UNTIL), int(Op.SINCE)
_NEXT, _STRONG_NEXT, _PREVIOUS = int(Op.NEXT), int(Op.STRONG_NEXT), int(Op.PREVIOUS)
_STRONG_PREVIOUS = int(Op.STRONG_PREVIOUS)
compiled_certainty_positions = jit(certainty_positions)


@jit
def pairwise(first, second, target, smaller):
    # One loop per comparison: the compiler turns these into vector instructions.
    if smaller:
        for i in range(len(target)):
            target[i] = first[i] if first[i] < second[i] else second[i]
    else:
        for i in range(len(target)):
            target[i] = first[i] if first[i] > second[i] else second[i]


@jit
def atom_row(margins, truths, target, quantity):
    n = len(margins)
    if quantity == 0:
        for i in range(n):
            target[i] = margins[i]
    else:
        certain = quantity == 1
        for i in range(n):
            target[i] = i if truths[i] == certain else np.inf
        for i in range(n, len(target)):
            target[i] = np.inf


@jit
def suffix_extreme(source, target, smaller):
    """Extreme over everything from sample i on."""
    level = source[len(source) - 1]
    for i in range(len(source) - 1, -1, -1):
        if (source[i] < level) if smaller else (source[i] > level):
            level = source[i]
        target[i] = level


@jit
def future_extreme(source, target, lower, upper, smaller, held):
    """Extreme over samples i + lower … i + upper; after the end the last value is `held`, or there is nothing."""
    n = len(source)
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), NONE, NONE
    entered = n  # samples entered … n - 1 are in the queue
    for i in range(n - 1, -1, -1):
        begin = min(i + lower, n - 1) if held else i + lower
        while entered > begin:
            entered -= 1
            tail = enqueue(queue, values, head, tail, entered, source[entered], smaller)
        while head < tail and queue[head] > i + upper and queue[head] > begin:
            head += 1
        target[i] = values[head] if head < tail else (np.inf if smaller else -np.inf)


@jit
def past_extreme(source, target, lower, upper, smaller):
    """Extreme over samples i - upper … i - lower."""
    n = len(source)
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), NONE, NONE
    entered = NONE
    for i in range(n):
        while entered <= i - lower:
            tail = enqueue(queue, values, head, tail, entered, source[entered], smaller)
            entered += 1
        while head < tail and queue[head] < i - upper:
            head += 1
        target[i] = values[head] if head < tail else (np.inf if smaller else -np.inf)


@jit
def judge_discrete(margins, truths, program):
    """values[operation, quantity, sample]; `lower` and `upper` count samples, upper -1 stands for endless."""
    op, left, right, lower, upper, need = program
    size, n = len(op), margins.shape[1]
    positions = compiled_certainty_positions(op, lower, upper, n)
    values = np.empty((size, 3, positions))
    for row in range(size):
        kind, a, b = op[row], left[row], right[row]
        for quantity in range(3):
            if not need[row] >> quantity & 1:
                continue
            m = n if quantity == 0 else positions
            target = values[row, quantity, :m]
            plain = quantity != 1
            worst = -np.inf if plain else np.inf  # what `or` starts from
            if kind == _ATOM:
                atom_row(margins[a], truths[a], target, quantity)
                continue
            if kind == _TRUTH:
                target[:] = np.inf if (a == 1) == plain else -np.inf
                continue
            source = values[a, quantity, :m]
            if kind == _NOT:
                if quantity == 0:
                    for i in range(m):
                        target[i] = -source[i]
                else:
                    exchanged = values[a, 3 - quantity, :m]
                    for i in range(m):
                        target[i] = exchanged[i]
            elif kind == _AND or kind == _OR:
                pairwise(source, values[b, quantity, :m], target, plain == (kind == _AND))
            elif kind == _UNTIL or kind == _SINCE:
                other = values[b, quantity, :m]
                carried = worst
                for k in range(m):
                    i = m - 1 - k if kind == _UNTIL else k
                    if plain:
                        carried = max(other[i], min(source[i], carried))
                    else:
                        carried = min(other[i], max(source[i], carried))
                    target[i] = carried
            elif kind == _NEXT or kind == _STRONG_NEXT:
                for i in range(m - 1):
                    target[i] = source[i + 1]
                target[m - 1] = source[m - 1]
                if quantity == 0:
                    target[m - 1] = -np.inf if kind == _STRONG_NEXT else np.inf
            elif kind == _PREVIOUS or kind == _STRONG_PREVIOUS:
                for i in range(m - 1, 0, -1):
                    target[i] = source[i - 1]
                target[0] = worst if kind == _STRONG_PREVIOUS else -worst
            else:
                before = kind == _ALWAYS_BEFORE or kind == _HISTORICALLY_AFTER
                every = before or kind == _ALWAYS or kind == _HISTORICALLY
                smaller = plain == every
                end = positions if upper[row] < 0 else upper[row]
                if before:
                    end -= 1
                if upper[row] < 0 and lower[row] == 0 and (kind == _ALWAYS or kind == _EVENTUALLY):
                    suffix_extreme(source, target, smaller)
                elif kind == _ALWAYS or kind == _EVENTUALLY or kind == _ALWAYS_BEFORE:
                    future_extreme(source, target, lower[row], end, smaller, quantity > 0)
                else:
                    past_extreme(source, target, lower[row], end, smaller)
    return values
