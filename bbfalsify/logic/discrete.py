"""Evaluate a program on a trace in discrete time: conditions are looked at only at the samples, which are one period apart.

The three quantities are those of `dense.py`; certainty times are sample numbers.  As in RTAMT a window is cut at the ends of the
trace, and over nothing `always` is plus infinity and `eventually` minus infinity; certainty, in contrast, never comes from samples that
have not been seen.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.jit import jit
from bbfalsify.logic.pieces import enqueue
from bbfalsify.logic.program import Op

_ATOM, _TRUTH, _NOT, _AND, _OR = int(Op.ATOM), int(Op.TRUTH), int(Op.NOT), int(Op.AND), int(Op.OR)
_ALWAYS, _EVENTUALLY, _ALWAYS_BEFORE = int(Op.ALWAYS), int(Op.EVENTUALLY), int(Op.ALWAYS_BEFORE)
_HISTORICALLY, _HISTORICALLY_AFTER = int(Op.HISTORICALLY), int(Op.HISTORICALLY_AFTER)
_UNTIL, _SINCE = int(Op.UNTIL), int(Op.SINCE)
_NEXT, _STRONG_NEXT, _PREVIOUS = int(Op.NEXT), int(Op.STRONG_NEXT), int(Op.PREVIOUS)
_STRONG_PREVIOUS = int(Op.STRONG_PREVIOUS)


@jit
def future_extreme(source, target, lower, upper, smaller, unseen):
    """Extreme over samples i + lower … i + upper; `unseen` stands for all samples after the last one."""
    n = len(source)
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), 0, 0
    entered = n  # samples entered … n - 1 are in the queue
    for i in range(n - 1, -1, -1):
        while entered > i + lower and entered > 0:
            entered -= 1
            tail = enqueue(queue, values, head, tail, entered, source[entered], smaller)
        while head < tail and queue[head] > i + upper:
            head += 1
        level = values[head] if head < tail else (np.inf if smaller else -np.inf)
        if i + upper >= n:
            level = min(level, unseen) if smaller else max(level, unseen)
        target[i] = level


@jit
def past_extreme(source, target, lower, upper, smaller):
    """Extreme over samples i - upper … i - lower."""
    n = len(source)
    queue, values, head, tail = np.empty(n, np.int64), np.empty(n), 0, 0
    entered = 0
    for i in range(n):
        while entered <= i - lower:
            tail = enqueue(queue, values, head, tail, entered, source[entered], smaller)
            entered += 1
        while head < tail and queue[head] < i - upper:
            head += 1
        target[i] = values[head] if head < tail else (np.inf if smaller else -np.inf)


@jit
def judge_discrete(margins, truths, op, left, right, lower, upper, need):
    """values[operation, quantity, sample]; `lower` and `upper` count samples (upper: at most the length where endless)."""
    size, n = len(op), margins.shape[1]
    values = np.empty((size, 3, n))
    for row in range(size):
        kind, a, b = op[row], left[row], right[row]
        for quantity in range(3):
            if not need[row] >> quantity & 1:
                continue
            target = values[row, quantity]
            plain = quantity != 1
            worst = -np.inf if plain else np.inf  # what `or` starts from
            unseen = np.inf
            if kind == _ATOM:
                for i in range(n):
                    if quantity == 0:
                        target[i] = margins[a, i]
                    else:
                        target[i] = i if truths[a, i] == (quantity == 1) else np.inf
                continue
            if kind == _TRUTH:
                target[:] = np.inf if (a == 1) == plain else -np.inf
                continue
            source = values[a, quantity]
            if kind == _NOT:
                source = values[a, 0 if quantity == 0 else 3 - quantity]
                for i in range(n):
                    target[i] = -source[i] if quantity == 0 else source[i]
            elif kind == _AND or kind == _OR:
                other = values[b, quantity]
                smaller = plain == (kind == _AND)
                for i in range(n):
                    target[i] = min(source[i], other[i]) if smaller else max(source[i], other[i])
            elif kind == _UNTIL or kind == _SINCE:
                other = values[b, quantity]
                carried = worst if quantity == 0 or kind == _SINCE else unseen
                for k in range(n):
                    i = n - 1 - k if kind == _UNTIL else k
                    if plain:
                        carried = max(other[i], min(source[i], carried))
                    else:
                        carried = min(other[i], max(source[i], carried))
                    target[i] = carried
            elif kind == _NEXT or kind == _STRONG_NEXT:
                for i in range(n - 1):
                    target[i] = source[i + 1]
                target[n - 1] = -np.inf if quantity == 0 and kind == _STRONG_NEXT else np.inf
            elif kind == _PREVIOUS or kind == _STRONG_PREVIOUS:
                for i in range(n - 1, 0, -1):
                    target[i] = source[i - 1]
                target[0] = worst if kind == _STRONG_PREVIOUS else -worst
            else:
                before = kind == _ALWAYS_BEFORE or kind == _HISTORICALLY_AFTER
                every = before or kind == _ALWAYS or kind == _HISTORICALLY
                smaller = plain == every
                end = upper[row] - 1 if before else upper[row]
                if kind == _ALWAYS or kind == _EVENTUALLY or kind == _ALWAYS_BEFORE:
                    if quantity == 0:
                        unseen = np.inf if smaller else -np.inf
                    future_extreme(source, target, lower[row], end, smaller, unseen)
                else:
                    past_extreme(source, target, lower[row], end, smaller)
    return values
