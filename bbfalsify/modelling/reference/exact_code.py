"""Compile expressions and statements into Python closures, once per network, for the exact interpreter.

    value(node)   -> closure that returns the value of an expression
    truth(node)   -> closure that returns whether it holds
    block(nodes)  -> closure that executes statements and returns None, or (result,) after a `return`

A closure takes the `Evaluator`, whose memory it reads and writes, and the frame: a list of the arguments, locals and
quantified names.  Decisions go through the sample they are taken at, which records their breakpoints; only integers are
compared directly.  Every error names the variable it concerns.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.exact_values import UNKNOWN, Value

if TYPE_CHECKING:
    from bbfalsify.modelling.reference.evaluation import AnyEvaluator

MOST_LOOP_TURNS = 50_000
DEEPEST_CALL = 100

Frame = list[Value]
Closure = Callable[["AnyEvaluator", Frame], Value]
Test = Callable[["AnyEvaluator", Frame], bool]
Action = Callable[["AnyEvaluator", Frame], tuple[Value] | None]
Place = Callable[["AnyEvaluator", Frame], int]
"""A closure that returns the slot of a variable, after checking its index."""

_ARITHMETIC = {"+": exact.add, "-": exact.subtract, "*": exact.multiply, "%": exact.remainder}
_OF_INTEGERS: dict[str, Callable[[int, int], bool]] = {
    "==": operators.eq, "!=": operators.ne, "<": operators.lt, "<=": operators.le, ">": operators.gt,
    ">=": operators.ge,
}  # fmt: skip
_LOGICAL = ("&&", "||", "imply")


class ExactCode:
    """The code of one network; what is asked for again is not compiled again."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._values: dict[int, tuple[object, Closure, int]] = {}
        self._tests: dict[int, tuple[object, Test, int]] = {}
        self._actions: dict[int, tuple[object, Action, int]] = {}
        self._functions: dict[int, Action] = {}

    # Keys are identities, which is faster than comparing trees; the object is kept, so that no other gets its identity.

    def value(self, node: ex.Expression) -> tuple[Closure, int]:
        """The closure of an expression, and the size of its frame."""
        known = self._values.get(id(node))
        if known is None:
            compiler = _Compiler(self)
            closure = compiler.value(node)
            known = self._values[id(node)] = node, closure, compiler.frame_size
        return known[1:]

    def truth(self, node: ex.Expression) -> tuple[Test, int]:
        known = self._tests.get(id(node))
        if known is None:
            compiler = _Compiler(self)
            test = compiler.truth(node)
            known = self._tests[id(node)] = node, test, compiler.frame_size
        return known[1:]

    def block(self, statements: Sequence[ex.Statement]) -> tuple[Action, int]:
        known = self._actions.get(id(statements))
        if known is None:
            compiler = _Compiler(self)
            action = compiler.block(statements)
            known = self._actions[id(statements)] = statements, action, compiler.frame_size
        return known[1:]

    def function(self, number: int) -> Action:
        """The body of a function; compiled at its first call, because functions may call themselves."""
        action = self._functions.get(number)
        if action is None:
            action = self._functions[number] = _Compiler(self).block(self.network.functions[number].body)
        return action

    def name(self, node: ex.Read | ex.Bound) -> str:
        if isinstance(node, ex.Bound):
            return f"local {node.slot}"
        for v in self.network.variables:
            if v.kind.is_real == node.kind.is_real and v.slot <= node.slot < v.slot + v.size:
                return v.name
        return f"slot {node.slot}"


class _Compiler:
    """Compiles one expression or block."""

    def __init__(self, code: ExactCode) -> None:
        self.code = code
        self.frame_size = 0

    # --- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ex.Expression) -> Closure:
        match node:
            case ex.Constant(value=number, kind=kind):
                constant: Value = exact.fraction(number) if kind.is_real else int(number)
                return lambda e, frame: constant
            case ex.Read() | ex.Bound():
                return self.read(node)
            case ex.Unary(operator="-", operand=operand):
                inner = self.value(operand)
                return lambda e, frame: exact.negate(inner(e, frame))
            case ex.Unary(operator="~", operand=operand):
                inner = self.value(operand)
                return lambda e, frame: _complement(inner(e, frame))
            case ex.Binary(operator=operator) if operator not in _OF_INTEGERS and operator not in _LOGICAL:
                return self.arithmetic(node)
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                holds, yes, no = self.truth(condition), self.value(then), self.value(otherwise)
                return lambda e, frame: yes(e, frame) if holds(e, frame) else no(e, frame)
            case ex.Builtin(name=name, arguments=arguments):
                parts = [self.value(a) for a in arguments]
                return lambda e, frame: exact.apply_builtin(name, [part(e, frame) for part in parts], e.sample)
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
        place = self.place(node)
        if node.kind.is_real:
            return lambda e, frame: e.reals[place(e, frame)]
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
            found = _integer(index)
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
            return lambda e, frame: apply(left(e, frame), right(e, frame))
        if operator == "/":
            integer = not node.kind.is_real
            return lambda e, frame: exact.divide(left(e, frame), right(e, frame), integer=integer)
        return lambda e, frame: exact.bitwise(operator, left(e, frame), right(e, frame))

    def sum(self, node: ex.Quantifier) -> Closure:
        self.frame_size = max(self.frame_size, node.slot + 1)
        slot, numbers, body = node.slot, range(node.low, node.high + 1), self.value(node.body)
        nothing: Value = Fraction(0) if node.kind.is_real else 0

        def added(e: AnyEvaluator, frame: Frame) -> Value:
            total, before = nothing, frame[slot]
            for frame[slot] in numbers:
                total = exact.add(total, body(e, frame))
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
            own: Frame = [_as_kind(part(e, frame), kind) for part, kind in zip(parts, kinds, strict=True)]
            if e.depth >= DEEPEST_CALL:
                raise exact.ModelRuntimeError(
                    "loop", f"more than {DEEPEST_CALL} calls inside each other, in {function.name}"
                )
            e.depth += 1
            try:
                returned = code.function(number)(e, own + rest)
            finally:
                e.depth -= 1
            return 0 if returned is None else _as_kind(returned[0], real)

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

        def compared(e: AnyEvaluator, frame: Frame) -> bool:
            a, b = left(e, frame), right(e, frame)
            if type(a) is int and type(b) is int:
                return of_integers(a, b)
            return e.sample.compare(operator, a, b)

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

    # --- statements --------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ex.Statement]) -> Action:
        actions = [self.statement(statement) for statement in statements]

        def executed(e: AnyEvaluator, frame: Frame) -> tuple[Value] | None:
            for action in actions:
                returned = action(e, frame)
                if returned is not None:
                    return returned
            return None

        return actions[0] if len(actions) == 1 else executed

    def statement(self, statement: ex.Statement) -> Action:
        match statement:
            case ex.Assign():
                return self.assign(statement)
            case ex.If(condition=condition, then=then, otherwise=otherwise):
                holds, yes, no = self.truth(condition), self.block(then), self.block(otherwise)
                return lambda e, frame: yes(e, frame) if holds(e, frame) else no(e, frame)
            case ex.While():
                return self.loop(statement)
            case ex.Return(value=None):
                return lambda e, frame: (0,)
            case ex.Return(value=result) if result is not None:
                value = self.value(result)
                return lambda e, frame: (value(e, frame),)
            case ex.Evaluate(expression=expression):
                ignored = self.value(expression)
                return lambda e, frame: None if ignored(e, frame) is None else None
        raise InvariantViolated(f"no statement: {statement!r}")

    def loop(self, statement: ex.While) -> Action:
        holds, body = self.truth(statement.condition), self.block(statement.body)

        def repeated(e: AnyEvaluator, frame: Frame) -> tuple[Value] | None:
            while holds(e, frame):
                e.turns += 1
                if e.turns > MOST_LOOP_TURNS:
                    raise exact.ModelRuntimeError("loop", f"a loop did not end within {MOST_LOOP_TURNS} turns")
                returned = body(e, frame)
                if returned is not None:
                    return returned
            return None

        return repeated

    def assign(self, statement: ex.Assign) -> Action:
        """Evaluate index, then value; check the index, then the range."""
        target, value = statement.target, self.value(statement.value)
        real, bound, slot = target.kind.is_real, isinstance(target, ex.Bound), target.slot
        index, offset = None if target.index is None else self.value(target.index), self.offset(target)
        low = -math.inf if statement.low is None else statement.low
        high = math.inf if statement.high is None else statement.high
        if bound:
            self.frame_size = max(self.frame_size, slot + target.size)

        def assigned(e: AnyEvaluator, frame: Frame) -> None:
            element = None if index is None else index(e, frame)
            number = value(e, frame)
            there = slot if element is None else offset(element)
            if real:
                number = _as_kind(number, True)
            elif number is not UNKNOWN and not low <= _integer(number) <= high:
                self.leave_range(statement, number)
            if bound:
                frame[there] = number
            elif real:
                e.reals[there] = number
            else:
                e.integers[there] = number

        return assigned

    def leave_range(self, statement: ex.Assign, value: Value) -> None:
        name = statement.name or self.code.name(statement.target)
        line = f", line {statement.line}" if statement.line else ""
        message = f"{name} = {value} is outside [{statement.low}, {statement.high}]{line}"
        raise exact.ModelRuntimeError("range", message, variable=name)


def _complement(value: Value) -> Value:
    return UNKNOWN if value is UNKNOWN else ~_integer(value)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise InvariantViolated(f"an integer expected, found {value!r}")
    return value


def _as_kind(value: Value, real: bool) -> Value:
    return Fraction(value) if real and isinstance(value, int) else value
