"""Judge one trace in dense time without compiled code, for a command that judges once.

Same results as `stl_monitor.judge`, bit by bit.  A million samples take a second or two and about 150 MB, and nothing
is compiled; where many short traces are judged, compiled code is a hundred times as fast.
"""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Judgement
from bbfalsify.logic.stl.formula import Compare, Formula
from bbfalsify.logic.stl.piecewise_arrays import Pieces, constant, future_window, past_window, pointwise, since, until
from bbfalsify.logic.stl.program import Op, Program, atom_values, compile_formula
from bbfalsify.logic.stl.requirement import dense_problems
from bbfalsify.logic.stl.ticks import FARTHEST, ticks_per_unit
from bbfalsify.logic.stl.traces import Signals, judgement, trace_problems

Made = dict[tuple[int, int], Pieces]
"""Functions by operation and quantity."""
_FUTURE = (Op.ALWAYS, Op.EVENTUALLY, Op.ALWAYS_BEFORE)
_EVERY = (Op.ALWAYS, Op.ALWAYS_BEFORE, Op.HISTORICALLY, Op.HISTORICALLY_AFTER)
_OPEN = (Op.ALWAYS_BEFORE, Op.HISTORICALLY_AFTER)


def judge_once(formula: Formula, times: np.ndarray, signals: Signals) -> Judgement:
    """Judge one trace in dense time."""
    if formula.discrete_only:
        raise UserError(dense_problems(formula))
    program = compile_formula(formula)
    times = np.asarray(times, np.float64)
    values = {name: np.asarray(signals[name], np.float64) for name in formula.signals if name in signals}
    sound = len(values) == len(formula.signals) and all(value.shape == times.shape for value in values.values())
    if not sound or not len(times) or not np.isfinite(times).all() or not (times[1:] > times[:-1]).all():
        raise UserError(trace_problems(formula, program, times, signals))
    trace = _Trace(times, values)
    try:
        ends = [trace.evaluate(program, quantities) for quantities in ((0,), (1, 2))]
    except _Undefined:
        raise UserError(trace_problems(formula, program, times, signals)) from None
    [robustness], [true_at, false_at, occurred] = ends[0][:1], ends[1]
    violated = trace.moment(false_at) if false_at < math.inf else math.inf
    return judgement(robustness, true_at, false_at, violated, occurred)


class _Undefined(Exception):
    """A comparison is not a number at some sample."""


def _readers(program: Program) -> list[list[int]]:
    """Operations that read each one; none for the outermost, of which only the first moment matters."""
    op, left, right = program.table[:3]
    readers: list[list[int]] = [[] for _ in op]
    for row in range(len(op)):
        if op[row] not in (Op.ATOM, Op.TRUTH):
            for source in {int(left[row]), int(right[row])} - {-1}:
                readers[source].append(row)
    return readers


class _Trace:
    def __init__(self, times: np.ndarray, values: dict[str, np.ndarray]) -> None:
        self._times, self._values = times, values
        self._scale = ticks_per_unit(float(times[-1] - times[0]))
        order = np.arange(len(times))
        ticks = np.floor((times - times[0]) * self._scale + 0.5).astype(np.int64)
        # Samples closer than a tick keep their order and their own moment.
        ticks -= order
        np.maximum.accumulate(ticks, out=ticks)
        ticks += order
        ticks *= 2
        self._keys = ticks

    def moment(self, tick: float) -> float:
        """Time of a tick: exactly that of the sample there, if there is one."""
        if tick <= 0:
            return float(self._times[0])
        index = int(np.searchsorted(self._keys, 2 * tick))
        if index >= len(self._keys):
            return float(self._times[-1])
        exact = self._keys[index] == 2 * tick
        return float(self._times[index] if exact else self._times[0] + tick / self._scale)

    def evaluate(self, program: Program, quantities: tuple[int, ...]) -> list[float]:
        """Values of the root's quantities at the first moment; then true_at of the trigger.

        A function is forgotten after the last operation that reads it.
        """
        need, readers = program.table[5], _readers(program)
        ends = {program.root, program.trigger}
        made: Made = {}
        for row in range(len(need)):
            for quantity in quantities:
                if need[row] >> quantity & 1:
                    made[row, quantity] = self._operation(program, row, quantity, made, not readers[row])
            made = {(r, q): f for (r, q), f in made.items() if r in ends or max(readers[r], default=-1) > row}
        # At key 0 a line has the value of its constant.
        found = [float(made[program.root, quantity].consts[0]) for quantity in quantities]
        trigger = made.get((program.trigger, 1))
        return [*found, -math.inf if trigger is None else float(trigger.consts[0])]

    def _operation(self, program: Program, row: int, quantity: int, made: Made, only_now: bool) -> Pieces:
        op, left, right, lower, upper, _ = program.table
        kind, a, plain = Op(int(op[row])), int(left[row]), quantity != 1
        if kind == Op.ATOM:
            return self._atom(program.atoms[a], quantity)
        if kind == Op.TRUTH:
            return constant(math.inf if (a == 1) == plain else -math.inf)
        if kind == Op.NOT:
            if quantity > 0:
                return made[a, 3 - quantity]
            return Pieces(made[a, 0].keys, -made[a, 0].consts, made[a, 0].rising)
        source = made[a, quantity]
        if right[row] >= 0:
            other = made[int(right[row]), quantity]
            if kind in (Op.AND, Op.OR):
                return pointwise(source, other, plain == (kind == Op.AND))
            return (until if kind == Op.UNTIL else since)(source, other, plain)
        endless, open_end = math.isinf(upper[row]), kind in _OPEN
        delay = self._tick(lower[row])
        width = 0 if endless else self._tick(upper[row]) - delay
        if open_end and delay + width == 0:  # nothing lies in it
            return constant(math.inf if plain else -math.inf)
        smaller = plain == (kind in _EVERY)
        if kind in _FUTURE:
            return future_window(source, delay, width, endless, smaller, open_end, only_now)
        return past_window(source, delay, width, endless, smaller, open_end)

    def _tick(self, bound: float) -> int:
        return int(math.floor(min(bound * self._scale, FARTHEST) + 0.5))

    def _atom(self, atom: Compare, quantity: int) -> Pieces:
        [margins], [truths] = atom_values((atom,), self._values, len(self._keys))
        if np.isnan(margins).any():
            raise _Undefined
        if quantity == 0:
            return Pieces(self._keys, margins, np.zeros(len(margins), np.bool_)).merged()
        changes = np.flatnonzero(np.append(True, truths[1:] != truths[:-1]))
        now = truths[changes] == (quantity == 1)
        keys = np.append(self._keys[changes], self._keys[-1] + 1)
        return Pieces(keys, np.append(np.where(now, 0.0, np.inf), np.inf), np.append(now, False)).merged()
