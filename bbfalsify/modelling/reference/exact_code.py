"""Compile expressions and statements into Python closures, once per network, for the exact interpreter.

    value(node)   -> closure that returns the value of an expression
    truth(node)   -> closure that returns whether it holds
    block(nodes)  -> closure that executes statements and returns None, or (result,) after a `return`

`exact_expressions` has the first two; statements are here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from bbfalsify.core.errors import InvariantViolated
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference import exact_values as exact
from bbfalsify.modelling.reference.exact_expressions import Closure, ExpressionCompiler, Frame, Test, as_kind, integer
from bbfalsify.modelling.reference.exact_values import UNKNOWN, Value

if TYPE_CHECKING:
    from bbfalsify.modelling.reference.evaluation import AnyEvaluator

MOST_LOOP_TURNS = 50_000

Action = Callable[["AnyEvaluator", Frame], tuple[Value] | None]
Node = TypeVar("Node")
Code = TypeVar("Code")


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
        return (self._values.get(id(node)) or self._compiled(self._values, _Compiler.value, node))[1:]

    def truth(self, node: ex.Expression) -> tuple[Test, int]:
        return (self._tests.get(id(node)) or self._compiled(self._tests, _Compiler.truth, node))[1:]

    def block(self, statements: Sequence[ex.Statement]) -> tuple[Action, int]:
        return (self._actions.get(id(statements)) or self._compiled(self._actions, _Compiler.block, statements))[1:]

    def _compiled(
        self, known: dict[int, tuple[object, Code, int]], compile_one: Callable[[_Compiler, Node], Code], node: Node
    ) -> tuple[object, Code, int]:
        """Compile what is asked for the first time, and keep it."""
        compiler = _Compiler(self)
        compiled = known[id(node)] = node, compile_one(compiler, node), compiler.frame_size
        return compiled

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


class _Compiler(ExpressionCompiler):
    """Compiles one expression or block."""

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
            if index is None and statement.low is None and not real:
                return self.keep(slot, value)

        def assigned(e: AnyEvaluator, frame: Frame) -> None:
            element = None if index is None else index(e, frame)
            number = value(e, frame)
            there = slot if element is None else offset(element)
            if real:
                number = as_kind(number, True)
            elif number is not UNKNOWN and not low <= integer(number) <= high:
                self.leave_range(statement, number)
            if bound:
                frame[there] = number
            elif real:
                e.reals[there] = number
            else:
                e.integers[there] = number

        return assigned

    def keep(self, slot: int, value: Closure) -> Action:
        def kept(e: AnyEvaluator, frame: Frame) -> None:
            frame[slot] = value(e, frame)

        return kept

    def leave_range(self, statement: ex.Assign, value: Value) -> None:
        name = statement.name or self.code.name(statement.target)
        line = f", line {statement.line}" if statement.line else ""
        message = f"{name} = {value} is outside [{statement.low}, {statement.high}]{line}"
        raise exact.ModelRuntimeError("range", message, variable=name)
