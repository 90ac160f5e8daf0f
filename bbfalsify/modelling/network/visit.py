"""Walk over resolved expressions and statements, and derive bounds without running the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from bbfalsify.modelling.network.expressions import (
    Assign,
    Binary,
    Bound,
    Builtin,
    Call,
    Conditional,
    Constant,
    Evaluate,
    Expression,
    Function,
    If,
    Kind,
    Quantifier,
    Random,
    Read,
    Return,
    Statement,
    Unary,
    While,
)

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_UNRANGED = 2**30
"""A bound as large as this comes from an integer without a declared range and is ignored."""

Slot = tuple[bool, int]
"""Whether it is in the real store, and its number there."""
Bounds = tuple[Fraction | int, Fraction | int]


def children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Read(index=index) | Bound(index=index):
            return () if index is None else (index,)
        case Unary(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Builtin(arguments=arguments) | Random(arguments=arguments) | Call(arguments=arguments):
            return arguments
        case Quantifier(body=body):
            return (body,)
    return ()


def subexpressions(expression: Expression | None) -> Iterator[Expression]:
    """The expression and everything inside it."""
    if expression is not None:
        pending = [expression]
        while pending:
            current = pending.pop()
            yield current
            pending.extend(children(current))


def substatements(statements: Iterable[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        match statement:
            case If(then=then, otherwise=otherwise):
                yield from substatements(then)
                yield from substatements(otherwise)
            case While(body=body):
                yield from substatements(body)


def expressions_of(statements: Iterable[Statement]) -> Iterator[Expression]:
    """The expressions in the statements, including indices of assigned elements."""
    for statement in substatements(statements):
        match statement:
            case Assign(target=target, value=value):
                yield value
                if target.index is not None:
                    yield target.index
            case If(condition=condition) | While(condition=condition):
                yield condition
            case Return(value=value) if value is not None:
                yield value
            case Evaluate(expression=expression):
                yield expression


def reads_clock(expression: Expression | None, functions: Sequence[Function]) -> bool:
    """Tell whether the value depends on a clock, also through functions."""
    for part in subexpressions(expression):
        if isinstance(part, Read) and part.kind is Kind.CLOCK:
            return True
        if isinstance(part, Call):
            body = functions[part.function].body
            if any(reads_clock(inner, functions) for inner in expressions_of(body)):
                return True
    return False


def slots_read(expression: Expression | None, functions: Sequence[Function]) -> set[Slot]:
    """The variables that the value may depend on, also through functions."""
    found: set[Slot] = set()
    for part in subexpressions(expression):
        if isinstance(part, Read):
            found |= _slots(part)
        elif isinstance(part, Call):
            for inner in expressions_of(functions[part.function].body):
                found |= slots_read(inner, functions)
    return found


def slots_written(statements: Iterable[Statement], functions: Sequence[Function]) -> set[Slot]:
    """The variables that the statements may assign, also through functions."""
    statements = list(substatements(statements))
    found: set[Slot] = set()
    for statement in statements:
        if isinstance(statement, Assign) and isinstance(statement.target, Read):
            found |= _slots(statement.target)
    for expression in expressions_of(statements):
        for part in subexpressions(expression):
            if isinstance(part, Call):
                found |= slots_written(functions[part.function].body, functions)
    return found


def _slots(read: Read) -> set[Slot]:
    return {(read.kind.is_real, read.slot + i) for i in range(1 if read.index is None else read.size)}


def has_effects(expression: Expression, functions: Sequence[Function]) -> bool:
    """Tell whether evaluating the expression assigns variables of the model or draws at random."""
    for part in subexpressions(expression):
        if isinstance(part, Random):
            return True
        if isinstance(part, Call):
            body = functions[part.function].body
            if any(isinstance(s, Assign) and isinstance(s.target, Read) for s in substatements(body)):
                return True
            if any(has_effects(inner, functions) for inner in expressions_of(body)):
                return True
    return False


def conjuncts(expression: Expression | None) -> Iterator[Expression]:
    """Split a && b && c into its parts."""
    if expression is None:
        return
    if isinstance(expression, Binary) and expression.operator == "&&":
        yield from conjuncts(expression.left)
        yield from conjuncts(expression.right)
    else:
        yield expression


def bounds(expression: Expression, range_of: Callable[[Read | Bound], Bounds | None]) -> Bounds | None:
    """An interval that contains every value of the expression, or None."""
    match expression:
        case Constant(value=value):
            return (value, value)
        case Read() | Bound():
            return range_of(expression)
        case Unary(operator="-", operand=operand):
            inner = bounds(operand, range_of)
            return None if inner is None else (-inner[1], -inner[0])
        case Binary(operator=("+" | "-" | "*") as operator, left=left, right=right):
            a, b = bounds(left, range_of), bounds(right, range_of)
            if a is None or b is None:
                return None
            if operator == "+":
                return (a[0] + b[0], a[1] + b[1])
            if operator == "-":
                return (a[0] - b[1], a[1] - b[0])
            corners = [x * y for x in a for y in b]
            return (min(corners), max(corners))
        case Binary(operator="%", right=Constant(value=divisor)) if divisor > 0:
            inner = bounds(expression.left, range_of)
            low = 0 if inner is not None and inner[0] >= 0 else 1 - divisor
            return (low, divisor - 1)
        case Binary(operator="/", left=left, right=Constant(value=divisor)) if divisor != 0:
            inner = bounds(left, range_of)
            if inner is None:
                return None
            ends = sorted((Fraction(inner[0]) / divisor, Fraction(inner[1]) / divisor))
            return (ends[0], ends[1]) if expression.kind is not Kind.INT else (int(ends[0]), int(ends[1]))
        case Conditional(then=then, otherwise=otherwise):
            a, b = bounds(then, range_of), bounds(otherwise, range_of)
            return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
        case Builtin(name=("min" | "max") as name, arguments=(first, second)):
            a, b = bounds(first, range_of), bounds(second, range_of)
            choose = min if name == "min" else max
            return None if a is None or b is None else (choose(a[0], b[0]), choose(a[1], b[1]))
    return None


def clock_constants(
    expression: Expression | None, range_of: Callable[[Read | Bound], Bounds | None]
) -> Iterator[Fraction | int]:
    """The largest absolute values that clocks are compared with: 10 for `x - y <= 2*n` with n in 0…5."""

    def without_clocks(read: Read | Bound) -> Bounds | None:
        return (0, 0) if read.kind is Kind.CLOCK else range_of(read)

    for part in subexpressions(expression):
        if not (isinstance(part, Binary) and part.operator in COMPARISONS):
            continue
        if not any(isinstance(p, Read) and p.kind is Kind.CLOCK for p in subexpressions(part)):
            continue
        for side in (part.left, part.right):
            interval = bounds(side, without_clocks)
            if interval is not None:
                size = max(-interval[0], interval[1], interval[0], -interval[1])
                if size < _UNRANGED:
                    yield size
