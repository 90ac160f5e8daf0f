"""Judge one trace without compiled code, for a command that judges once.

Same results as `stl_monitor.judge`, bit by bit.  A million samples take a second or two and about 150 MB, and nothing
is compiled; where many short traces are judged, compiled code is a hundred times as fast.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Judgement
from bbfalsify.logic.stl import piecewise_arrays, sample_arrays
from bbfalsify.logic.stl.formula import Formula
from bbfalsify.logic.stl.piecewise_arrays import Pieces, constant
from bbfalsify.logic.stl.program import Op, Program, atom_values, certainty_positions, compile_formula
from bbfalsify.logic.stl.requirement import dense_problems
from bbfalsify.logic.stl.ticks import FARTHEST, ticks_per_unit
from bbfalsify.logic.stl.traces import Signals, judgement, sample_bounds, trace_problems

Function = TypeVar("Function")
"""A function of dense time, or values by sample."""
_FUTURE = (Op.ALWAYS, Op.EVENTUALLY, Op.ALWAYS_BEFORE)
_EVERY = (Op.ALWAYS, Op.ALWAYS_BEFORE, Op.HISTORICALLY, Op.HISTORICALLY_AFTER)
_OPEN = (Op.ALWAYS_BEFORE, Op.HISTORICALLY_AFTER)


def judge_once(
    formula: Formula, times: np.ndarray, signals: Signals, *, time: str = "dense", period: float | None = None
) -> Judgement:
    """Judge one trace; `period` (discrete time) is taken from the samples if not given."""
    program = compile_formula(formula)
    times = np.asarray(times, np.float64)
    values = {name: np.asarray(signals[name], np.float64) for name in formula.signals if name in signals}
    sound = len(values) == len(formula.signals) and all(value.shape == times.shape for value in values.values())
    if not sound or not _is_sound(program, times, values):
        raise UserError(trace_problems(formula, program, times, signals))
    trace: _DenseTrace | _DiscreteTrace
    if time == "dense":
        if formula.discrete_only:
            raise UserError(dense_problems(formula))
        trace = _DenseTrace(program, times, values)
    else:
        trace = _DiscreteTrace(program, times, values, sample_bounds(formula, program, times, period))
    [robustness, _], [true_at, false_at, occurred] = trace.evaluate((0,)), trace.evaluate((1, 2))
    violated = trace.moment(false_at) if false_at < math.inf else math.inf
    return judgement(robustness, true_at, false_at, violated, occurred)


def _is_sound(program: Program, times: np.ndarray, values: dict[str, np.ndarray]) -> bool:
    """Tell whether the times are finite and increasing, and no comparison is undefined."""
    if not len(times) or not np.isfinite(times).all() or not (times[1:] > times[:-1]).all():
        return False
    return not any(np.isnan(atom_values((atom,), values, len(times))[0]).any() for atom in program.atoms)


def _readers(program: Program) -> list[list[int]]:
    """Operations that read each one; none for the outermost, of which only the first moment matters."""
    op, left, right = program.table[:3]
    readers: list[list[int]] = [[] for _ in op]
    for row in range(len(op)):
        if op[row] not in (Op.ATOM, Op.TRUTH):
            for source in {int(left[row]), int(right[row])} - {-1}:
                readers[source].append(row)
    return readers


class _Trace(ABC, Generic[Function]):
    """The part of an evaluation that dense and discrete time have in common."""

    def __init__(self, program: Program, times: np.ndarray, values: dict[str, np.ndarray]) -> None:
        self._program, self._times, self._values = program, times, values
        self._readers = _readers(program)

    def evaluate(self, quantities: tuple[int, ...]) -> list[float]:
        """Values of the root's quantities at the first moment; then true_at of the trigger.

        A function is forgotten after the last operation that reads it.
        """
        program, readers = self._program, self._readers
        need, ends = program.table[5], {program.root, program.trigger}
        made: dict[tuple[int, int], Function] = {}  # by operation and quantity
        for row in range(len(need)):
            for quantity in quantities:
                if need[row] >> quantity & 1:
                    made[row, quantity] = self._operation(row, quantity, made)
            made = {(r, q): f for (r, q), f in made.items() if r in ends or max(readers[r], default=-1) > row}
        found = [self._first(made[program.root, quantity]) for quantity in quantities]
        trigger = made.get((program.trigger, 1))
        return [*found, -math.inf if trigger is None else self._first(trigger)]

    def _operation(self, row: int, quantity: int, made: dict[tuple[int, int], Function]) -> Function:
        op, left, right = self._program.table[:3]
        kind, a, plain = Op(int(op[row])), int(left[row]), quantity != 1
        if kind == Op.ATOM:
            margins, truths = atom_values((self._program.atoms[a],), self._values, len(self._times))
            return self._margins(margins[0]) if quantity == 0 else self._certain(truths[0] == (quantity == 1))
        if kind == Op.TRUTH:
            return self._constant(math.inf if (a == 1) == plain else -math.inf, quantity)
        if kind == Op.NOT:
            return made[a, 3 - quantity] if quantity > 0 else self._negated(made[a, 0])
        if right[row] < 0:
            return self._moved(row, kind, made[a, quantity], quantity)
        return self._joined(kind, made[a, quantity], made[int(right[row]), quantity], plain)

    @abstractmethod
    def moment(self, certain: float) -> float:
        """Time of the sample or tick at which something became certain."""

    @abstractmethod
    def _first(self, f: Function) -> float: ...

    @abstractmethod
    def _margins(self, margins: np.ndarray) -> Function: ...

    @abstractmethod
    def _certain(self, now: np.ndarray) -> Function:
        """Earliest moment from which something is certain that is seen at some samples."""

    @abstractmethod
    def _constant(self, value: float, quantity: int) -> Function: ...

    @abstractmethod
    def _negated(self, f: Function) -> Function: ...

    @abstractmethod
    def _joined(self, kind: Op, first: Function, second: Function, plain: bool) -> Function:
        """And, or, until, since."""

    @abstractmethod
    def _moved(self, row: int, kind: Op, source: Function, quantity: int) -> Function:
        """Windows, next and previous."""


class _DenseTrace(_Trace[Pieces]):
    def __init__(self, program: Program, times: np.ndarray, values: dict[str, np.ndarray]) -> None:
        super().__init__(program, times, values)
        self._scale = ticks_per_unit(float(times[-1] - times[0]))
        order = np.arange(len(times))
        ticks = np.floor((times - times[0]) * self._scale + 0.5).astype(np.int64)
        # Samples closer than a tick keep their order and their own moment.
        ticks -= order
        np.maximum.accumulate(ticks, out=ticks)
        ticks += order
        ticks *= 2
        self._keys = ticks

    def moment(self, certain: float) -> float:
        """Time of a tick: exactly that of the sample there, if there is one."""
        if certain <= 0:
            return float(self._times[0])
        index = int(np.searchsorted(self._keys, 2 * certain))
        if index >= len(self._keys):
            return float(self._times[-1])
        exact = self._keys[index] == 2 * certain
        return float(self._times[index] if exact else self._times[0] + certain / self._scale)

    def _first(self, f: Pieces) -> float:
        return float(f.consts[0])  # at key 0 a line has the value of its constant

    def _margins(self, margins: np.ndarray) -> Pieces:
        return Pieces(self._keys, margins, np.zeros(len(margins), np.bool_)).merged()

    def _certain(self, now: np.ndarray) -> Pieces:
        changes = np.flatnonzero(np.append(True, now[1:] != now[:-1]))
        now = now[changes]
        keys = np.append(self._keys[changes], self._keys[-1] + 1)
        return Pieces(keys, np.append(np.where(now, 0.0, np.inf), np.inf), np.append(now, False)).merged()

    def _constant(self, value: float, quantity: int) -> Pieces:
        return constant(value)

    def _negated(self, f: Pieces) -> Pieces:
        return Pieces(f.keys, -f.consts, f.rising)

    def _joined(self, kind: Op, first: Pieces, second: Pieces, plain: bool) -> Pieces:
        if kind in (Op.AND, Op.OR):
            return piecewise_arrays.pointwise(first, second, plain == (kind == Op.AND))
        return (piecewise_arrays.until if kind == Op.UNTIL else piecewise_arrays.since)(first, second, plain)

    def _moved(self, row: int, kind: Op, source: Pieces, quantity: int) -> Pieces:
        lower, upper = self._program.table[3:5]
        endless, open_end, plain = math.isinf(upper[row]), kind in _OPEN, quantity != 1
        delay = self._tick(lower[row])
        width = 0 if endless else self._tick(upper[row]) - delay
        if open_end and delay + width == 0:  # nothing lies in it
            return constant(math.inf if plain else -math.inf)
        smaller = plain == (kind in _EVERY)
        if kind in _FUTURE:
            only_now = not self._readers[row]
            return piecewise_arrays.future_window(source, delay, width, endless, smaller, open_end, only_now)
        return piecewise_arrays.past_window(source, delay, width, endless, smaller, open_end)

    def _tick(self, bound: float) -> int:
        return int(math.floor(min(bound * self._scale, FARTHEST) + 0.5))


class _DiscreteTrace(_Trace[np.ndarray]):
    """Robustness has as many entries as the trace samples; certainty goes on after the last sample."""

    def __init__(
        self,
        program: Program,
        times: np.ndarray,
        values: dict[str, np.ndarray],
        bounds: tuple[np.ndarray, np.ndarray],
    ) -> None:
        super().__init__(program, times, values)
        self._lower, self._upper = bounds
        self._size = int(certainty_positions(program.table[0], *bounds, len(times)))

    def moment(self, certain: float) -> float:
        return float(self._times[int(max(certain, 0.0))])

    def _first(self, f: np.ndarray) -> float:
        return float(f[0])

    def _margins(self, margins: np.ndarray) -> np.ndarray:
        return margins

    def _certain(self, now: np.ndarray) -> np.ndarray:
        found = np.full(self._size, np.inf)
        at = np.flatnonzero(now)
        found[at] = at
        return found

    def _constant(self, value: float, quantity: int) -> np.ndarray:
        return np.full(len(self._times) if quantity == 0 else self._size, value)

    def _negated(self, f: np.ndarray) -> np.ndarray:
        return -f

    def _joined(self, kind: Op, first: np.ndarray, second: np.ndarray, plain: bool) -> np.ndarray:
        if kind in (Op.AND, Op.OR):
            return (np.minimum if plain == (kind == Op.AND) else np.maximum)(first, second)
        return (sample_arrays.until if kind == Op.UNTIL else sample_arrays.since)(first, second, plain)

    def _moved(self, row: int, kind: Op, source: np.ndarray, quantity: int) -> np.ndarray:
        plain, held = quantity != 1, quantity > 0
        if kind in (Op.NEXT, Op.STRONG_NEXT):
            end = float(source[-1]) if held else sample_arrays.nothing(kind == Op.NEXT)
            return sample_arrays.shifted(source, -1, end)
        if kind in (Op.PREVIOUS, Op.STRONG_PREVIOUS):
            return sample_arrays.shifted(source, 1, sample_arrays.nothing(plain == (kind == Op.PREVIOUS)))
        smaller, lower, upper = plain == (kind in _EVERY), int(self._lower[row]), int(self._upper[row])
        end = (self._size if upper < 0 else upper) - (kind in _OPEN)
        if kind in _FUTURE:
            return sample_arrays.future_extreme(source, lower, end, smaller, held)
        return sample_arrays.past_extreme(source, lower, end, smaller)
