"""Fold constants exactly while a model is read.

Functions without an exact value (sin, sqrt …) give the fraction that equals their float64.  An operation that would be
a run-time error (division by zero, a shift by a negative number, an integer beyond 64 bits) is not folded, so that it
fails when the model executes it.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bbfalsify.modelling.network.expressions import Binary, Builtin, Conditional, Constant, Expression, Kind, Unary

TRUE = Constant(1, Kind.BOOL)
FALSE = Constant(0, Kind.BOOL)

Value = int | Fraction

BITWISE: dict[str, Callable[[int, int], int]] = {"&": operators.and_, "|": operators.or_, "^": operators.xor}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def truth(value: bool) -> Constant:
    return TRUE if value else FALSE


def make_unary(operator: str, operand: Expression, kind: Kind) -> Expression:
    if isinstance(operand, Constant):
        match operator:
            case "-":
                return Constant(-operand.value, kind)
            case "!":
                return truth(not operand.value)
            case "~":
                return Constant(~int(operand.value), kind)
    return Unary(operator, operand, kind)


def with_operands(expression: Expression, changed: Callable[[Expression], Expression]) -> Expression:
    """Change the operands of an operator, a conditional or a builtin; others are returned as they are."""
    match expression:
        case Unary(operator=operator, operand=operand, kind=kind):
            return make_unary(operator, changed(operand), kind)
        case Binary(operator=operator, left=left, right=right, kind=kind):
            return make_binary(operator, changed(left), changed(right), kind)
        case Conditional(condition=condition, then=then, otherwise=otherwise, kind=kind):
            return make_conditional(changed(condition), changed(then), changed(otherwise), kind)
        case Builtin(name=name, arguments=arguments, kind=kind):
            return make_builtin(name, tuple(map(changed, arguments)), kind)
    return expression


def make_binary(operator: str, left: Expression, right: Expression, kind: Kind) -> Expression:
    if operator in ("&&", "||", "imply"):
        return _logical(operator, left, right)
    if isinstance(left, Constant) and isinstance(right, Constant):
        value = _compute(operator, left.value, right.value, integers=left.kind is Kind.INT and right.kind is Kind.INT)
        if value is not None and (kind is Kind.DOUBLE or -(2**63) <= value < 2**63):
            return Constant(value if kind is not Kind.DOUBLE else Fraction(value), kind)
    return Binary(operator, left, right, kind)


def join_all(operator: str, parts: list[Expression]) -> Expression:
    """Join at least one part by `&&`, `||` or `+`, as a balanced tree: a thousand parts are ten levels deep."""
    while len(parts) > 1:
        pairs = [_joined(operator, *parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
        parts = pairs if len(parts) % 2 == 0 else [*pairs, parts[-1]]
    return parts[0]


def _joined(operator: str, left: Expression, right: Expression) -> Expression:
    number = Kind.INT if _kind(left) is _kind(right) is Kind.INT else Kind.DOUBLE
    return make_binary(operator, left, right, number if operator == "+" else Kind.BOOL)


def make_conditional(condition: Expression, then: Expression, otherwise: Expression, kind: Kind) -> Expression:
    if isinstance(condition, Constant):
        chosen = then if condition.value else otherwise
        if isinstance(chosen, Constant) and kind is Kind.DOUBLE:
            return Constant(Fraction(chosen.value), kind)
        if _kind(chosen) is kind:
            return chosen
    return Conditional(condition, then, otherwise, kind)


def make_builtin(name: str, arguments: tuple[Expression, ...], kind: Kind) -> Expression:
    if all(isinstance(a, Constant) for a in arguments):
        value = _apply(name, [a.value for a in arguments])  # type: ignore[union-attr]
        if value is not None:
            return Constant(int(value) if kind is Kind.INT else Fraction(value), kind)
    return Builtin(name, arguments, kind)


def _kind(expression: Expression) -> Kind:
    return Kind.DOUBLE if expression.kind is Kind.CLOCK else expression.kind


def _logical(operator: str, left: Expression, right: Expression) -> Expression:
    if isinstance(left, Constant):
        decided = {"&&": (False, FALSE), "||": (True, TRUE), "imply": (False, TRUE)}[operator]
        return decided[1] if bool(left.value) is decided[0] else right
    neutral = FALSE if operator == "||" else TRUE
    if isinstance(right, Constant) and right == neutral and operator != "imply":
        return left
    return Binary(operator, left, right, Kind.BOOL)


def truncated_quotient(a: int, b: int) -> int:
    """Divide integers as C does: towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _compute(operator: str, a: Value, b: Value, *, integers: bool) -> Value | None:
    if operator in COMPARISONS:
        return int(COMPARISONS[operator](a, b))
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b != 0:
            return truncated_quotient(int(a), int(b)) if integers else Fraction(a) / Fraction(b)
        case "%" if b != 0:
            return int(a) - int(b) * truncated_quotient(int(a), int(b))
        case "&" | "|" | "^":
            return BITWISE[operator](int(a), int(b))
        case "<<" if 0 <= b < 63:
            return int(a) << int(b)
        case ">>" if 0 <= b < 63:
            return int(a) >> int(b)
    return None


_EXACT: dict[str, Callable[..., Value]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "fint": math.trunc,
}
FLOAT_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": math.log,
    "log": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "pow": math.pow,
}
"""Functions without an exact value."""


def _apply(name: str, values: list[Value]) -> Value | None:
    if name in _EXACT:
        return _EXACT[name](*values)
    if name == "fmod":
        a, b = Fraction(values[0]), Fraction(values[1])
        return None if b == 0 else a - b * math.trunc(a / b)
    try:
        result = FLOAT_FUNCTIONS[name](*(float(v) for v in values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return Fraction(result) if math.isfinite(result) else None
