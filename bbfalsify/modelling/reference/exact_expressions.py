"""Compile expressions and conditions into Python closures for the exact interpreter.

A closure takes the `Evaluator`, whose memory it reads, and the frame: a list of the arguments, locals and quantified
names.  Decisions go through the sample they are taken at, which records their breakpoints; only integers are compared
directly.  Every error names the variable it concerns.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.exact_values import UNKNOWN, Value

if TYPE_CHECKING:
    from bbfalsify.modelling.reference.evaluation import AnyEvaluator
    from bbfalsify.modelling.reference.exact_code import ExactCode

DEEPEST_CALL = 100

Frame = list[Value]
Closure = Callable[["AnyEvaluator", Frame], Value]
Test = Callable[["AnyEvaluator", Frame], bool]
Place = Callable[["AnyEvaluator", Frame], int]
"""A closure that returns the slot of a variable, after checking its index."""

_ARITHMETIC = {"+": exact.add, "-": exact.subtract, "*": exact.multiply, "%": exact.remainder}
_OF_INTEGERS: dict[str, Callable[[int, int], bool]] = {
    "==": operators.eq, "!=": operators.ne, "<": operators.lt, "<=": operators.le, ">": operators.gt,
    ">=": operators.ge,
}  # fmt: skip
_MOST = 2**63 - 1
_LOGICAL = ("&&", "||", "imply")


class ExpressionCompiler:
    """Compiles one expression."""

    def __init__(self, code: ExactCode) -> None:
        self.code = code
        self.frame_size = 0

    def value(self, node: ex.Expression) -> Closure:
        match node:
            case ex.Constant(value=number, kind=kind):
                constant: Value = exact.fraction(number) if kind.is_real else int(number)
                return lambda e, frame: constant
            case ex.Read() | ex.Bound():
                return self.read(node)
            case ex.Unary(operator="-", operand=operand, kind=kind):
                inner = self.value(operand)
                if kind.is_real:
                    return lambda e, frame: exact.negate(inner(e, frame))
                return lambda e, frame: exact.wrapped(exact.negate(inner(e, frame)))
            case ex.Unary(operator="~", operand=operand):
                inner = self.value(operand)
                return lambda e, frame: _complement(inner(e, frame))
            case ex.Binary(operator=operator) if operator not in _OF_INTEGERS and operator not in _LOGICAL:
                return self.arithmetic(node)
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                holds, yes, no = self.truth(condition), self.value(then), self.value(otherwise)
                return lambda e, frame: yes(e, frame) if holds(e, frame) else no(e, frame)
            case ex.Builtin(name=name, arguments=arguments, kind=kind):
                parts = [self.value(a) for a in arguments]
                if name != "abs" or kind.is_real:
                    return lambda e, frame: exact.apply_builtin(name, [part(e, frame) for part in parts], e.sample)
                return lambda e, frame: exact.wrapped(exact.apply_builtin(name, [parts[0](e, frame)], e.sample))
            case ex.Random(name=name, arguments=arguments):
                parts = [self.value(a) for a in arguments]
                return lambda e, frame: e.draw(name, [part(e, frame) for part in parts])
            case ex.Call():
                return self.call(node)
            case ex.Quantifier(name="sum"):
                return self.sum(node)
        test = self.truth(node)
        return lambda e, frame: 1 if test(e, frame) else 0

    def read(self, node: ex.Read | ex.Bound) -> Closure:
        slot = node.slot
        if isinstance(node, ex.Bound):
            self.frame_size = max(self.frame_size, slot + node.size)
            if node.index is None:
                return lambda e, frame: frame[slot]
            place = self.place(node)
            return lambda e, frame: frame[place(e, frame)]
        if node.index is None:
            return (lambda e, frame: e.reals[slot]) if node.kind.is_real else (lambda e, frame: e.integers[slot])
        if node.kind.is_real:
            place = self.place(node)
            return lambda e, frame: e.reals[place(e, frame)]
        return self.integer_element(node, node.index)

    def integer_element(self, node: ex.Read, index: ex.Expression) -> Closure:
        """Most loops read arrays, mostly at a quantified name: no call but this one then."""
        slot, size, offset = node.slot, node.size, self.offset(node)
        if isinstance(index, ex.Bound) and index.index is None:
            name = index.slot
            self.frame_size = max(self.frame_size, name + 1)

            def element(e: AnyEvaluator, frame: Frame) -> Value:
                number = frame[name]
                return e.integers[slot + number if type(number) is int and 0 <= number < size else offset(number)]

            return element
        place = self.place(node)
        return lambda e, frame: e.integers[place(e, frame)]

    def place(self, node: ex.Read | ex.Bound) -> Place:
        assert node.index is not None
        index, offset = self.value(node.index), self.offset(node)
        slot, size = node.slot, node.size

        def checked(e: AnyEvaluator, frame: Frame) -> int:
            number = index(e, frame)
            return slot + number if type(number) is int and 0 <= number < size else offset(number)

        return checked

    def offset(self, node: ex.Read | ex.Bound) -> Callable[[Value], int]:
        """Check an index of this array and return the slot of the element."""
        code = self.code

        def checked(index: Value) -> int:
            if index is UNKNOWN:
                raise exact.DependsOnDraw("an array index depends on a random draw")
            found = integer(index)
            if 0 <= found < node.size:
                return node.slot + found
            name = code.name(node)
            message = f"{name}[{found}]: the array has {node.size} elements"
            raise exact.ModelRuntimeError("bounds", message, variable=name)

        return checked

    def arithmetic(self, node: ex.Binary) -> Closure:
        operator, left, right = node.operator, self.value(node.left), self.value(node.right)
        if operator in _ARITHMETIC:
            apply = _ARITHMETIC[operator]
            if node.kind.is_real:
                return lambda e, frame: apply(left(e, frame), right(e, frame))
            if isinstance(node.right, ex.Constant) and operator in "+-":
                return self.moved_by(left, int(node.right.value) * (1 if operator == "+" else -1))
            return lambda e, frame: exact.wrapped(apply(left(e, frame), right(e, frame)))
        if operator == "/":
            integer = not node.kind.is_real
            return lambda e, frame: exact.divide(left(e, frame), right(e, frame), integer=integer)
        return lambda e, frame: exact.bitwise(operator, left(e, frame), right(e, frame))

    def moved_by(self, left: Closure, constant: int) -> Closure:
        """An integer and a constant added, as every loop does."""

        def moved(e: AnyEvaluator, frame: Frame) -> Value:
            total = exact.add(left(e, frame), constant)
            return total if type(total) is int and -_MOST <= total <= _MOST else exact.wrapped(total)

        return moved

    def sum(self, node: ex.Quantifier) -> Closure:
        self.frame_size = max(self.frame_size, node.slot + 1)
        slot, numbers, body = node.slot, range(node.low, node.high + 1), self.value(node.body)
        nothing: Value = Fraction(0) if node.kind.is_real else 0
        of_integers = not node.kind.is_real

        def added(e: AnyEvaluator, frame: Frame) -> Value:
            total, before = nothing, frame[slot]
            for frame[slot] in numbers:
                total = exact.add(total, body(e, frame))
                total = exact.wrapped(total) if of_integers else total
            frame[slot] = before
            return total

        return added

    def call(self, node: ex.Call) -> Closure:
        code, number, real = self.code, node.function, node.kind.is_real
        function = code.network.functions[number]
        parts = [self.value(a) for a in node.arguments]
        kinds = [kind.is_real for kind in function.parameters]
        rest: Frame = [0] * max(0, function.frame_size - len(parts))

        def called(e: AnyEvaluator, frame: Frame) -> Value:
            own: Frame = [as_kind(part(e, frame), kind) for part, kind in zip(parts, kinds, strict=True)]
            if e.depth >= DEEPEST_CALL:
                raise exact.ModelRuntimeError(
                    "loop", f"more than {DEEPEST_CALL} calls inside each other, in {function.name}"
                )
            e.depth += 1
            try:
                returned = code.function(number)(e, own + rest)
            finally:
                e.depth -= 1
            return 0 if returned is None else as_kind(returned[0], real)

        return called

    # --- conditions --------------------------------------------------------------------------------------------------

    def truth(self, node: ex.Expression) -> Test:
        match node:
            case ex.Unary(operator="!", operand=operand):
                inner = self.truth(operand)
                return lambda e, frame: not inner(e, frame)
            case ex.Binary(operator=operator) if operator in _LOGICAL:
                left, right = self.truth(node.left), self.truth(node.right)
                if operator == "&&":
                    return lambda e, frame: left(e, frame) and right(e, frame)
                if operator == "||":
                    return lambda e, frame: left(e, frame) or right(e, frame)
                return lambda e, frame: not left(e, frame) or right(e, frame)
            case ex.Binary(operator=operator) if operator in _OF_INTEGERS:
                return self.comparison(node)
            case ex.Quantifier(name="forall" | "exists"):
                return self.quantifier(node)
            case ex.AtLocation(process=process, location=location):
                return lambda e, frame: e.locations[process] == location
        value = self.value(node)

        def holds(e: AnyEvaluator, frame: Frame) -> bool:
            found = value(e, frame)
            return found != 0 if type(found) is int else e.sample.truth(found)

        return holds

    def comparison(self, node: ex.Binary) -> Test:
        operator, left, right = node.operator, self.value(node.left), self.value(node.right)
        of_integers = _OF_INTEGERS[operator]
        if isinstance(node.right, ex.Constant) and not node.right.kind.is_real:
            return self.comparison_with(operator, left, int(node.right.value))

        def compared(e: AnyEvaluator, frame: Frame) -> bool:
            a, b = left(e, frame), right(e, frame)
            if type(a) is int and type(b) is int:
                return of_integers(a, b)
            return e.sample.compare(operator, a, b)

        return compared

    def comparison_with(self, operator: str, left: Closure, constant: int) -> Test:
        of_integers = _OF_INTEGERS[operator]

        def compared(e: AnyEvaluator, frame: Frame) -> bool:
            a = left(e, frame)
            return of_integers(a, constant) if type(a) is int else e.sample.compare(operator, a, constant)

        return compared

    def quantifier(self, node: ex.Quantifier) -> Test:
        self.frame_size = max(self.frame_size, node.slot + 1)
        slot, numbers, body = node.slot, range(node.low, node.high + 1), self.truth(node.body)
        wanted = node.name == "exists"

        def holds(e: AnyEvaluator, frame: Frame) -> bool:
            before, found = frame[slot], not wanted
            for frame[slot] in numbers:
                if body(e, frame) == wanted:
                    found = wanted
                    break
            frame[slot] = before
            return found

        return holds


def _complement(value: Value) -> Value:
    return UNKNOWN if value is UNKNOWN else ~integer(value)


def integer(value: Value) -> int:
    if not isinstance(value, int):
        raise InvariantViolated(f"an integer expected, found {value!r}")
    return value


def as_kind(value: Value, real: bool) -> Value:
    return Fraction(value) if real and isinstance(value, int) else value
