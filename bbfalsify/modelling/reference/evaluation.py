"""Evaluate expressions and execute statements, one node at a time, on a memory.

Simple rather than fast: a frame is a dictionary, every decision goes through the sample it is taken at (which records
its breakpoint), and every error names the variable it concerns.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, Self, TypeVar

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import COMPARISONS
from bbfalsify.modelling.reference import exact_values as exact

_ARITHMETIC = {"+": exact.add, "-": exact.subtract, "*": exact.multiply, "%": exact.remainder}
MOST_LOOP_TURNS = 50_000
DEEPEST_CALL = 100

Draw = Callable[[str, Sequence[exact.Value]], exact.Value]
"""A random draw: name and arguments to value."""
Frame = dict[int, exact.Value]
Content = TypeVar("Content")


def no_draw(name: str, arguments: Sequence[exact.Value]) -> exact.Value:
    """Draw nothing: transitions are only listed."""
    return exact.UNKNOWN


class Slots(Protocol[Content]):
    """The part of a list that an evaluator uses."""

    def __getitem__(self, slot: int, /) -> Content: ...

    def __setitem__(self, slot: int, value: Content, /) -> None: ...


class AnyMemory(Protocol):
    """A memory that an evaluator can read and write; `memory_layers` has one that is no list."""

    @property
    def locations(self) -> Slots[int]: ...

    @property
    def integers(self) -> Slots[exact.Value]: ...

    @property
    def reals(self) -> Slots[exact.Value]: ...

    def copy(self) -> Self: ...


@dataclass
class Memory:
    locations: list[int]
    integers: list[exact.Value]
    """Integers, and UNKNOWN."""
    reals: list[exact.Value]

    def copy(self) -> Memory:
        return Memory(list(self.locations), list(self.integers), list(self.reals))


SomeMemory = TypeVar("SomeMemory", bound=AnyMemory, covariant=True)


class _Returned(Exception):  # noqa: N818  (a jump, not an error)
    def __init__(self, value: exact.Value | None) -> None:
        self.value = value


class Evaluator(Generic[SomeMemory]):
    """Runs code of one network on one memory at one sample delay."""

    def __init__(self, network: Network, memory: SomeMemory, sample: exact.Sample, draw: Draw = no_draw) -> None:
        self.network = network
        self.memory = memory
        self.sample = sample
        self.draw = draw
        self._depth = 0
        self._turns = 0

    # --- expressions -------------------------------------------------------------------------------------------------

    def holds(self, expression: ex.Expression | None) -> bool:
        """Evaluate a condition; a missing one is true."""
        return expression is None or self.sample.truth(self.value(expression, {}))

    def value(self, node: ex.Expression, frame: Frame) -> exact.Value:
        return _VALUES[type(node)](self, node, frame)

    def _constant(self, node: ex.Constant, frame: Frame) -> exact.Value:
        return exact.fraction(node.value) if node.kind.is_real else int(node.value)

    def _read(self, node: ex.Read, frame: Frame) -> exact.Value:
        store = self.memory.reals if node.kind.is_real else self.memory.integers
        return store[node.slot + self._index(node, frame)]

    def _bound(self, node: ex.Bound, frame: Frame) -> exact.Value:
        return frame.get(node.slot + self._index(node, frame), 0)

    def _conditional(self, node: ex.Conditional, frame: Frame) -> exact.Value:
        return self.value(node.then if self._true(node.condition, frame) else node.otherwise, frame)

    def _builtin(self, node: ex.Builtin, frame: Frame) -> exact.Value:
        return exact.apply_builtin(node.name, [self.value(a, frame) for a in node.arguments], self.sample)

    def _random(self, node: ex.Random, frame: Frame) -> exact.Value:
        return self.draw(node.name, [self.value(a, frame) for a in node.arguments])

    def _at_location(self, node: ex.AtLocation, frame: Frame) -> exact.Value:
        return int(self.memory.locations[node.process] == node.location)

    def _true(self, node: ex.Expression, frame: Frame) -> bool:
        value = self.value(node, frame)
        return value != 0 if type(value) is int else self.sample.truth(value)

    def _unary(self, node: ex.Unary, frame: Frame) -> exact.Value:
        if node.operator == "!":
            return int(not self._true(node.operand, frame))
        operand = self.value(node.operand, frame)
        if node.operator == "~":
            return exact.UNKNOWN if operand is exact.UNKNOWN else ~_integer(operand)
        return exact.negate(operand)

    def _binary(self, node: ex.Binary, frame: Frame) -> exact.Value:
        operator = node.operator
        if operator == "&&":
            return int(self._true(node.left, frame) and self._true(node.right, frame))
        if operator == "||":
            return int(self._true(node.left, frame) or self._true(node.right, frame))
        if operator == "imply":
            return int(not self._true(node.left, frame) or self._true(node.right, frame))
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        if operator in COMPARISONS:
            if type(left) is int and type(right) is int:  # most comparisons of functions
                return int(_OF_INTEGERS[operator](left, right))
            return self.sample.compare(operator, left, right)
        if operator in _ARITHMETIC:
            return _ARITHMETIC[operator](left, right)
        if operator == "/":
            return exact.divide(left, right, integer=not node.kind.is_real)
        return exact.bitwise(operator, left, right)

    def _quantifier(self, node: ex.Quantifier, frame: Frame) -> exact.Value:
        total: exact.Value = Fraction(0) if node.kind.is_real else 0
        before = frame.get(node.slot, 0)
        try:
            for number in range(node.low, node.high + 1):
                frame[node.slot] = number
                if node.name == "sum":
                    total = exact.add(total, self.value(node.body, frame))
                elif self._true(node.body, frame) == (node.name == "exists"):
                    return int(node.name == "exists")
        finally:
            frame[node.slot] = before
        return total if node.name == "sum" else int(node.name == "forall")

    def _call(self, node: ex.Call, frame: Frame) -> exact.Value:
        function = self.network.functions[node.function]
        arguments = [self.value(a, frame) for a in node.arguments]
        if self._depth >= DEEPEST_CALL:
            raise exact.ModelRuntimeError(
                "loop", f"more than {DEEPEST_CALL} calls inside each other, in {function.name}"
            )
        self._depth += 1
        try:
            own: Frame = {slot: _as_kind(a, function.parameters[slot]) for slot, a in enumerate(arguments)}
            self.execute(function.body, own)
        except _Returned as returned:
            return 0 if returned.value is None else _as_kind(returned.value, node.kind)
        finally:
            self._depth -= 1
        return 0

    # --- statements --------------------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ex.Statement]) -> None:
        """The updates of a branch."""
        self.execute(statements, {})

    def execute(self, statements: Sequence[ex.Statement], frame: Frame) -> None:
        for statement in statements:
            match statement:
                case ex.Assign():
                    self._assign(statement, frame)
                case ex.If():
                    taken = statement.then if self._true(statement.condition, frame) else statement.otherwise
                    self.execute(taken, frame)
                case ex.While():
                    while self._true(statement.condition, frame):
                        self._count_turn()
                        self.execute(statement.body, frame)
                case ex.Return():
                    raise _Returned(None if statement.value is None else self.value(statement.value, frame))
                case ex.Evaluate():
                    self.value(statement.expression, frame)

    def _assign(self, statement: ex.Assign, frame: Frame) -> None:
        target = statement.target
        index = None if target.index is None else self.value(target.index, frame)
        value = _as_kind(self.value(statement.value, frame), target.kind)
        slot = target.slot + self._offset(target, index)
        if not target.kind.is_real and value is not exact.UNKNOWN:
            low, high, number = statement.low, statement.high, _integer(value)
            if (low is not None and number < low) or (high is not None and number > high):
                name = statement.name or self._name(target)
                line = f", line {statement.line}" if statement.line else ""
                raise exact.ModelRuntimeError(
                    "range", f"{name} = {value} is outside [{low}, {high}]{line}", variable=name
                )
        if isinstance(target, ex.Bound):
            frame[slot] = value
        elif target.kind.is_real:
            self.memory.reals[slot] = value
        else:
            self.memory.integers[slot] = value

    def _count_turn(self) -> None:
        self._turns += 1
        if self._turns > MOST_LOOP_TURNS:
            raise exact.ModelRuntimeError("loop", f"a loop did not end within {MOST_LOOP_TURNS} turns")

    def _index(self, node: ex.Read | ex.Bound, frame: Frame) -> int:
        return 0 if node.index is None else self._offset(node, self.value(node.index, frame))

    def _offset(self, node: ex.Read | ex.Bound, value: exact.Value | None) -> int:
        if value is None:
            return 0
        if value is exact.UNKNOWN:
            raise exact.DependsOnDraw("an array index depends on a random draw")
        index = _integer(value)
        if not 0 <= index < node.size:
            name = self._name(node)
            raise exact.ModelRuntimeError(
                "bounds", f"{name}[{index}]: the array has {node.size} elements", variable=name
            )
        return index

    def _name(self, node: ex.Read | ex.Bound) -> str:
        if isinstance(node, ex.Read):
            for v in self.network.variables:
                if v.kind.is_real == node.kind.is_real and v.slot <= node.slot < v.slot + v.size:
                    return v.name
        return f"local {node.slot}" if isinstance(node, ex.Bound) else f"slot {node.slot}"


AnyEvaluator = Evaluator[AnyMemory]

_VALUES: dict[type, Callable[..., exact.Value]] = {
    ex.Constant: Evaluator._constant, ex.Read: Evaluator._read, ex.Bound: Evaluator._bound, ex.Unary: Evaluator._unary,
    ex.Binary: Evaluator._binary, ex.Conditional: Evaluator._conditional, ex.Builtin: Evaluator._builtin,
    ex.Random: Evaluator._random, ex.Call: Evaluator._call, ex.Quantifier: Evaluator._quantifier,
    ex.AtLocation: Evaluator._at_location,
}  # fmt: skip
_OF_INTEGERS: dict[str, Callable[[int, int], bool]] = {
    "==": operators.eq, "!=": operators.ne, "<": operators.lt, "<=": operators.le, ">": operators.gt,
    ">=": operators.ge,
}  # fmt: skip


def _integer(value: exact.Value) -> int:
    if not isinstance(value, int):
        raise InvariantViolated(f"an integer expected, found {value!r}")
    return value


def _as_kind(value: exact.Value, kind: ex.Kind) -> exact.Value:
    return Fraction(value) if kind.is_real and isinstance(value, int) else value
