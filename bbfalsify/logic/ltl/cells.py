"""Quantities that formulas compare with numbers, and the cells between their thresholds.

A cell knows which of its ends belong to it, so that a comparison has one truth value throughout each cell.
"""

from __future__ import annotations

import math
import operator as op
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bbfalsify.logic.stl import formula as stl

_TURNED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "==": "==", "!=": "!="}
_FUNCTIONS: dict[str, Callable[[float], float]] = {"abs": abs, "sqrt": math.sqrt, "exp": math.exp}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "pow": math.pow,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": op.le, "<": op.lt, ">=": op.ge, ">": op.gt, "==": op.eq, "!=": op.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The values between two thresholds; a closed end belongs to it."""

    low: float
    high: float
    low_closed: bool = False
    high_closed: bool = False

    def inside(self) -> float:
        """One value of the cell."""
        if self.low == self.high:
            return self.low
        if math.isinf(self.low):
            return self.high if self.high_closed else math.nextafter(self.high, -math.inf)
        if math.isinf(self.high):
            return self.low if self.low_closed else math.nextafter(self.low, math.inf)
        return self.low if self.low_closed else self.high if self.high_closed else (self.low + self.high) / 2

    def text(self, quantity: str) -> str:
        low, high = stl.render_number(self.low), stl.render_number(self.high)
        if self.low == self.high:
            return f"{quantity}={low}"
        if math.isinf(self.low):
            return f"{quantity}{'<=' if self.high_closed else '<'}{high}"
        if math.isinf(self.high):
            return f"{quantity}{'>=' if self.low_closed else '>'}{low}"
        return f"{low}{'<=' if self.low_closed else '<'}{quantity}{'<=' if self.high_closed else '<'}{high}"


class Quantity:
    """Something that is compared with numbers, and the cells that the comparisons cut."""

    def __init__(self, term: stl.Term) -> None:
        self.term = term
        self.name = stl.render(term)
        self._cuts: dict[float, set[str]] = {}

    def cut(self, operator: str, value: float) -> None:
        # The threshold itself belongs below for "<=" and ">", above for "<" and ">=".
        sides = {"<=": "below", ">": "below", "<": "above", ">=": "above"}
        self._cuts.setdefault(value, set()).add(sides.get(operator, "alone"))

    @property
    def thresholds(self) -> tuple[float, ...]:
        return tuple(sorted(self._cuts))

    def cells(self) -> list[Cell]:
        cells, low, closed = [], -math.inf, False
        for value in self.thresholds:
            sides = self._cuts[value]
            if sides == {"below"}:
                cells.append(Cell(low, value, closed, True))
                low, closed = value, False
            elif sides == {"above"}:
                cells.append(Cell(low, value, closed, False))
                low, closed = value, True
            else:
                cells += [Cell(low, value, closed, False), Cell(value, value, True, True)]
                low, closed = value, False
        return [*cells, Cell(low, math.inf, closed, False)]

    def cell_of(self, value: float) -> int:
        cells = self.cells()
        number = bisect_left([cell.high for cell in cells], value)
        cell = cells[number]
        return number if value < cell.high or cell.high_closed else number + 1


def normal(node: stl.Compare) -> tuple[stl.Term, str, float]:
    """Write a comparison as quantity, operator, number."""
    left, operator, right = node.left, node.operator, node.right
    if not any(isinstance(part, stl.Signal) for part in stl.nodes_of(right)):
        return left, operator, evaluate(right, {})
    if not any(isinstance(part, stl.Signal) for part in stl.nodes_of(left)):
        return right, _TURNED[operator], evaluate(left, {})
    return stl.Arithmetic("-", left, right), operator, 0.0


def evaluate(term: stl.Term, values: Mapping[str, float]) -> float:
    """Compute a term in one sample; NaN where it has no value."""
    try:
        match term:
            case stl.Signal(name):
                return float(values[name])
            case stl.Number(value):
                return value
            case stl.Function(name, argument):
                return float(_FUNCTIONS[name](evaluate(argument, values)))
            case stl.Arithmetic(operator, left, right):
                return _ARITHMETIC[operator](evaluate(left, values), evaluate(right, values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan
    raise TypeError(f"not a term: {term!r}")


def holds(operator: str, a: float, b: float) -> bool:
    return _COMPARISONS[operator](a, b)
