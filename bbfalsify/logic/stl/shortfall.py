"""Shortfalls: what a trace lacks to violate a requirement, one amount per comparison, at the moment closest to it.

A search compares runs by these amounts.  Robustness does not serve it well: of two conditions that must hold together
it shows only the worse one, it mixes units, and `gear == 3` has none.  Here, for a condition to be true (or false):

    comparison        the margin by which it fails, 0 where it holds
    a and b           both amounts, added
    a or b            the smaller amount
    always a          the largest amount in the window,  eventually a  the smallest

Amounts of different comparisons are compared in units of their range in the trace.  Only the comparisons that decide
are returned, in their own units, so that the search can scale them by the ranges of all runs that it has seen.

`==` and `!=` compare levels, not distances: their amount is the time until they hold next, as a share of the trace;
1 where they hold only earlier, and 1 + d/(1 + d) where they never hold and are off by d (time robustness, Donzé and
Maler 2010, in one direction).  An implication whose antecedent has such comparisons is a trigger: the consequent counts
only where the antecedent holds, else that is lacking and the consequent is not looked at.  Otherwise the moment
just before a change would count as an almost complete violation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bbfalsify.jit import jit
from bbfalsify.logic.stl.formula import Formula
from bbfalsify.logic.stl.program import Op, Program, atom_values, compile_formula

MISSING_ANTECEDENT = 2.0
"""More than the amount of any level comparison of the consequent."""
TRUE, FALSE = 0, 1
NOWHERE = -1
_SLACK = 1e-9
_ATOM, _TRUTH, _NOT, _AND, _OR = int(Op.ATOM), int(Op.TRUTH), int(Op.NOT), int(Op.AND), int(Op.OR)
_EVENTUALLY, _ONCE = int(Op.EVENTUALLY), int(Op.ONCE)
_ALWAYS_BEFORE, _HISTORICALLY_AFTER = int(Op.ALWAYS_BEFORE), int(Op.HISTORICALLY_AFTER)
_HISTORICALLY, _UNTIL, _SINCE = int(Op.HISTORICALLY), int(Op.UNTIL), int(Op.SINCE)
_NEXT, _STRONG_NEXT, _STRONG_PREVIOUS = int(Op.NEXT), int(Op.STRONG_NEXT), int(Op.STRONG_PREVIOUS)


@jit
def append(queue, head, tail, source, index, smallest):
    """Append to a monotone queue of indices, without those that the new one makes superfluous."""
    while tail > head and (
        (source[queue[tail - 1]] >= source[index]) if smallest else (source[queue[tail - 1]] <= source[index])
    ):
        tail -= 1
    queue[tail] = index
    return tail + 1


@jit
def future_window(source, times, lower, upper, smallest, target, where):
    """Extreme over the samples that are valid in [t + lower, t + upper], and its place; the last sample holds on."""
    n = len(times)
    queue, head, tail, entered = np.empty(n, np.int64), 0, 0, n - 1
    for i in range(n - 1, -1, -1):
        near, far = times[i] + lower + _SLACK, times[i] + upper + _SLACK
        while entered >= 0 and (entered == n - 1 or times[entered + 1] > near):
            tail = append(queue, head, tail, source, entered, smallest)
            entered -= 1
        while head < tail - 1 and times[queue[head]] > far:
            head += 1
        where[i] = queue[head]
        target[i] = source[queue[head]]


@jit
def past_window(source, times, lower, upper, smallest, target, where):
    """Extreme over the samples that are valid in [t - upper, t - lower], and its place; nowhere before the trace."""
    n = len(times)
    queue, head, tail, entered = np.empty(n, np.int64), 0, 0, 0
    for i in range(n):
        near, far = times[i] - lower + _SLACK, times[i] - upper + _SLACK
        while entered < n and times[entered] <= near:
            tail = append(queue, head, tail, source, entered, smallest)
            entered += 1
        while head < tail - 1 and times[queue[head] + 1] <= far:
            head += 1
        where[i] = queue[head] if head < tail else NOWHERE
        target[i] = source[queue[head]] if head < tail else (np.inf if smallest else 0.0)


@jit
def until(left, right, forward, truth, target, where):
    """p until q (or p since q); a place below -1 is one of p: -2 - index."""
    n = len(target)
    value, place = np.inf if truth else 0.0, NOWHERE
    for k in range(n):
        i = n - 1 - k if forward else k
        p, q = left[i], right[i]
        # The way over p: the worse of p now and the rest later (to be true), the better of them (to be false).
        over_p = (p >= value) if truth else (p < value)
        over, over_place = (p, -2 - i) if over_p else (value, place)
        if (q <= over) if truth else (q >= over):
            value, place = q, i
        else:
            value, place = over, over_place
        target[i], where[i] = value, place


@jit
def neighbour(source, step, holds_outside, truth, target, where):
    """Take the amounts of the next or previous sample; outside the trace the condition holds, or does not."""
    n = len(target)
    for i in range(n):
        inside = 0 <= i + step < n
        where[i] = i + step if inside else NOWHERE
        target[i] = source[i + step] if inside else (0.0 if holds_outside == truth else np.inf)


@jit
def time_until(holds, times, distances, target):
    """Amounts of a comparison of levels: see the module."""
    n = len(times)
    span = times[n - 1] - times[0]
    ever, following = False, np.inf
    for i in range(n):
        ever |= holds[i]
    for i in range(n - 1, -1, -1):
        if holds[i]:
            following = times[i]
        if following < np.inf:
            target[i] = (following - times[i]) / span if span > 0.0 else 0.0
        else:
            target[i] = 1.0 if ever else 1.0 + distances[i] / (1.0 + distances[i])


@jit
def all_amounts(times, scaled, program, needed, triggers):
    """amounts[operation, TRUE or FALSE, sample], and the places from which windows and until take theirs."""
    op, left, right, lower, upper, _ = program
    size, n = len(op), len(times)
    amounts, places = np.empty((size, 2, n)), np.empty((size, 2, n), np.int64)
    for row in range(size):
        kind, a, b = op[row], left[row], right[row]
        for aim in range(2):
            if not needed[row] >> aim & 1:
                continue
            target, where, truth = amounts[row, aim], places[row, aim], aim == TRUE
            if kind == _ATOM:
                target[:] = scaled[a, aim]
            elif kind == _TRUTH:
                target[:] = 0.0 if (a == 1) == truth else np.inf
            elif kind == _NOT:
                target[:] = amounts[a, 1 - aim]
            elif kind == _AND or kind == _OR:
                first, second = amounts[a, aim], amounts[b, aim]
                if triggers[row] and not truth:
                    for i in range(n):
                        target[i] = MISSING_ANTECEDENT + first[i] if first[i] > 0.0 else second[i]
                elif (kind == _AND) == truth:
                    for i in range(n):
                        target[i] = first[i] + second[i]
                else:
                    for i in range(n):
                        target[i] = min(first[i], second[i])
            elif kind == _UNTIL or kind == _SINCE:
                until(amounts[a, aim], amounts[b, aim], kind == _UNTIL, truth, target, where)
            elif kind >= _NEXT:
                strong = kind == _STRONG_NEXT or kind == _STRONG_PREVIOUS
                step = 1 if kind == _NEXT or kind == _STRONG_NEXT else -1
                neighbour(amounts[a, aim], step, not strong, truth, target, where)
            elif (kind == _ALWAYS_BEFORE or kind == _HISTORICALLY_AFTER) and upper[row] == 0.0:
                target[:] = 0.0 if truth else np.inf  # nothing lies in it
                where[:] = NOWHERE
            else:
                smallest = (kind == _EVENTUALLY or kind == _ONCE) == truth
                if kind == _HISTORICALLY or kind == _ONCE or kind == _HISTORICALLY_AFTER:
                    past_window(amounts[a, aim], times, lower[row], upper[row], smallest, target, where)
                else:
                    end = upper[row] - 2 * _SLACK if kind == _ALWAYS_BEFORE else upper[row]  # without its end
                    future_window(amounts[a, aim], times, lower[row], end, smallest, target, where)
    return amounts, places


@jit
def deciding_amounts(amounts, places, program, triggers, root, raw, lacking):
    """Add up, per comparison, the amounts that decide the root at the first sample to be false."""
    op, left, right, _, _, _ = program
    todo = [(root, FALSE, 0)]
    while len(todo) > 0:
        row, aim, i = todo.pop()
        kind, a, b = op[row], left[row], right[row]
        if kind == _ATOM:
            lacking[a] += raw[a, aim, i]
        elif kind == _NOT:
            todo.append((a, 1 - aim, i))
        elif kind == _AND or kind == _OR:
            if triggers[row] and aim == FALSE:
                missing = amounts[a, aim, i] > 0.0
                lacking[len(lacking) - 1] += MISSING_ANTECEDENT if missing else 0.0
                todo.append((a if missing else b, aim, i))
            elif (kind == _AND) == (aim == TRUE):
                todo.append((a, aim, i))
                todo.append((b, aim, i))
            else:
                todo.append((a if amounts[a, aim, i] <= amounts[b, aim, i] else b, aim, i))
        elif kind != _TRUTH:
            place = places[row, aim, i]
            if place >= 0:
                todo.append((b if kind == _UNTIL or kind == _SINCE else a, aim, place))
            elif place < NOWHERE:
                todo.append((a, aim, -2 - place))


def shortfalls(
    formula: Formula, times: np.ndarray, signals: Mapping[str, np.ndarray]
) -> tuple[tuple[float, float, float], ...]:
    """Return per comparison the amount that is lacking, and the lowest and highest margin in the trace.

    The amount of the antecedent comes last.
    """
    program = compile_formula(formula)
    times = np.ascontiguousarray(times, np.float64)
    values = {name: np.asarray(signals[name], np.float64) for name in formula.signals}
    raw, ends = _margins(program, values, times)
    width = ends[:, 1] - ends[:, 0]
    width = np.where(width > 0.0, width, np.maximum(np.abs(ends).max(axis=1), 1e-300))
    triggers = _triggers(program)
    scaled = raw / width[:, None, None]
    amounts, places = all_amounts(times, scaled, program.table, _needed(program), triggers)
    lacking = np.zeros(len(program.atoms) + 1)
    if np.isfinite(amounts[program.root, FALSE, 0]):
        deciding_amounts(amounts, places, program.table, triggers, program.root, raw, lacking)
    else:
        lacking[:] = np.inf
    ends = np.append(ends, [[0.0, 1.0]], axis=0)
    return tuple(zip(lacking.tolist(), ends[:, 0].tolist(), ends[:, 1].tolist(), strict=True))


def _margins(program: Program, signals: dict[str, np.ndarray], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute raw amounts (comparison, TRUE or FALSE, sample), and the lowest and highest margin of each."""
    margins, truths = atom_values(program.atoms, signals, len(times))
    raw, ends = np.empty((len(margins), 2, len(times))), np.empty((len(margins), 2))
    for row, atom in enumerate(program.atoms):
        if atom.operator in ("==", "!="):
            distances = np.abs(margins[row])
            time_until(truths[row], times, distances, raw[row, TRUE])
            time_until(~truths[row], times, distances, raw[row, FALSE])
            ends[row] = 0.0, 1.0
        else:
            np.maximum(-margins[row], 0.0, out=raw[row, TRUE])
            np.maximum(margins[row], 0.0, out=raw[row, FALSE])
            ends[row] = margins[row].min(), margins[row].max()
    return raw, ends


def _needed(program: Program) -> np.ndarray:
    """Mark per operation whether its amounts to be true (bit 0) and to be false (bit 1) are needed."""
    op, left, right = program.table[:3]
    needed = np.zeros(len(op), np.int64)
    needed[program.root] = 1 << FALSE
    for row in reversed(range(len(op))):
        if op[row] in (_ATOM, _TRUTH):
            continue
        bits = needed[row]
        if op[row] == _NOT:
            bits = (bits & 1) << 1 | bits >> 1
        needed[left[row]] |= bits
        if right[row] >= 0:
            needed[right[row]] |= bits
    return needed


def _triggers(program: Program) -> np.ndarray:
    """Mark the implications (not a or b) whose antecedent compares levels."""
    op, left, right = program.table[:3]
    levels, triggers = np.zeros(len(op), np.bool_), np.zeros(len(op), np.bool_)
    for row in range(len(op)):
        if op[row] == _ATOM:
            levels[row] = program.atoms[left[row]].operator in ("==", "!=")
        elif op[row] != _TRUTH:
            levels[row] = levels[left[row]] or (right[row] >= 0 and levels[right[row]])
            triggers[row] = op[row] == _OR and op[left[row]] == _NOT and levels[left[row]]
    return triggers
