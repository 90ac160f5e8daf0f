"""Walk over resolved expressions and statements, and derive bounds without running the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from bbfalsify.core.tree import children as children
from bbfalsify.modelling.network import expressions as ex

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_UNRANGED = 2**30
"""A bound as large as this comes from an integer without a declared range and is ignored."""

Bounds = tuple[Fraction | int, Fraction | int]


def subexpressions(expression: ex.Expression | None) -> Iterator[ex.Expression]:
    """The expression and everything inside it."""
    if expression is not None:
        pending = [expression]
        while pending:
            current = pending.pop()
            yield current
            pending.extend(children(current))


def substatements(statements: Iterable[ex.Statement]) -> Iterator[ex.Statement]:
    for statement in statements:
        yield statement
        match statement:
            case ex.If(then=then, otherwise=otherwise):
                yield from substatements(then)
                yield from substatements(otherwise)
            case ex.While(body=body):
                yield from substatements(body)


def expressions_of(statements: Iterable[ex.Statement]) -> Iterator[ex.Expression]:
    """The expressions in the statements, including indices of assigned elements."""
    for statement in substatements(statements):
        match statement:
            case ex.Assign(target=target, value=value):
                yield value
                if target.index is not None:
                    yield target.index
            case ex.If(condition=condition) | ex.While(condition=condition):
                yield condition
            case ex.Return(value=value) if value is not None:
                yield value
            case ex.Evaluate(expression=expression):
                yield expression


def reads_clock(expression: ex.Expression | None, functions: tuple[ex.Function, ...] | list[ex.Function]) -> bool:
    """Tell whether the value depends on a clock, also through functions."""
    for part in subexpressions(expression):
        if isinstance(part, ex.Read) and part.kind is ex.Kind.CLOCK:
            return True
        if isinstance(part, ex.Call):
            body = functions[part.function].body
            if any(reads_clock(inner, functions) for inner in expressions_of(body)):
                return True
    return False


def conjuncts(expression: ex.Expression | None) -> Iterator[ex.Expression]:
    """Split a && b && c into its parts."""
    if expression is None:
        return
    if isinstance(expression, ex.Binary) and expression.operator == "&&":
        yield from conjuncts(expression.left)
        yield from conjuncts(expression.right)
    else:
        yield expression


def bounds(expression: ex.Expression, range_of: Callable[[ex.Read | ex.Bound], Bounds | None]) -> Bounds | None:
    """An interval that contains every value of the expression, or None."""
    match expression:
        case ex.Constant(value=value):
            return (value, value)
        case ex.Read() | ex.Bound():
            return range_of(expression)
        case ex.Unary(operator="-", operand=operand):
            inner = bounds(operand, range_of)
            return None if inner is None else (-inner[1], -inner[0])
        case ex.Binary(operator=("+" | "-" | "*") as operator, left=left, right=right):
            a, b = bounds(left, range_of), bounds(right, range_of)
            if a is None or b is None:
                return None
            if operator == "+":
                return (a[0] + b[0], a[1] + b[1])
            if operator == "-":
                return (a[0] - b[1], a[1] - b[0])
            corners = [x * y for x in a for y in b]
            return (min(corners), max(corners))
        case ex.Binary(operator="%", right=ex.Constant(value=divisor)) if divisor > 0:
            inner = bounds(expression.left, range_of)
            low = 0 if inner is not None and inner[0] >= 0 else 1 - divisor
            return (low, divisor - 1)
        case ex.Binary(operator="/", left=left, right=ex.Constant(value=divisor)) if divisor != 0:
            inner = bounds(left, range_of)
            if inner is None:
                return None
            ends = sorted((Fraction(inner[0]) / divisor, Fraction(inner[1]) / divisor))
            return (ends[0], ends[1]) if expression.kind is not ex.Kind.INT else (int(ends[0]), int(ends[1]))
        case ex.Conditional(then=then, otherwise=otherwise):
            a, b = bounds(then, range_of), bounds(otherwise, range_of)
            return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
        case ex.Builtin(name=("min" | "max") as name, arguments=(first, second)):
            a, b = bounds(first, range_of), bounds(second, range_of)
            choose = min if name == "min" else max
            return None if a is None or b is None else (choose(a[0], b[0]), choose(a[1], b[1]))
    return None


def clock_constants(
    expression: ex.Expression | None, range_of: Callable[[ex.Read | ex.Bound], Bounds | None]
) -> Iterator[Fraction | int]:
    """The largest absolute values that clocks are compared with: 10 for `x - y <= 2*n` with n in 0…5."""

    def without_clocks(read: ex.Read | ex.Bound) -> Bounds | None:
        return (0, 0) if read.kind is ex.Kind.CLOCK else range_of(read)

    for part in subexpressions(expression):
        if not (isinstance(part, ex.Binary) and part.operator in COMPARISONS):
            continue
        if not any(isinstance(p, ex.Read) and p.kind is ex.Kind.CLOCK for p in subexpressions(part)):
            continue
        for side in (part.left, part.right):
            interval = bounds(side, without_clocks)
            if interval is not None:
                size = max(-interval[0], interval[1], interval[0], -interval[1])
                if size < _UNRANGED:
                    yield size
