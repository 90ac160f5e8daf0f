"""A tiny evaluator of resolved expressions and statements, for tests only: exact, slow, and written independently."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

from bbfalsify.modelling.network import expressions as e
from bbfalsify.modelling.network.expressions import Kind


class Returned(Exception):
    def __init__(self, value):
        self.value = value


class Evaluator:
    def __init__(self, network=None, frame_size: int = 0):
        self.network = network
        self.integers = [] if network is None else network.initial_integers()
        self.reals = [] if network is None else network.initial_reals()
        self.frame = [0] * frame_size

    def store(self, node):
        if isinstance(node, e.Bound):
            return self.frame
        return self.reals if node.kind.is_real else self.integers

    def position(self, node):
        if node.index is None:
            return node.slot
        index = self.value(node.index)
        if not 0 <= index < node.size:
            raise IndexError(index)
        return node.slot + index

    def value(self, node):
        match node:
            case e.Constant():
                return node.value
            case e.Read() | e.Bound():
                return self.store(node)[self.position(node)]
            case e.Unary():
                inner = self.value(node.operand)
                return {"-": operator.neg, "~": operator.invert, "!": lambda v: int(not v)}[node.operator](inner)
            case e.Binary():
                return self.binary(node)
            case e.Conditional():
                return self.value(node.then if self.value(node.condition) else node.otherwise)
            case e.Builtin():
                arguments = [self.value(a) for a in node.arguments]
                return {"min": min, "max": max, "abs": abs, "sin": math.sin, "fint": math.trunc}[node.name](*arguments)
            case e.Quantifier():
                results = []
                for value in range(node.low, node.high + 1):
                    self.frame[node.slot] = value
                    results.append(self.value(node.body))
                return {"forall": all, "exists": any, "sum": sum}[node.name](results)
            case e.Call():
                return self.call(node)
        raise AssertionError(node)

    def binary(self, node):
        left = self.value(node.left)
        match node.operator:
            case "&&":
                return int(bool(left) and bool(self.value(node.right)))
            case "||":
                return int(bool(left) or bool(self.value(node.right)))
            case "imply":
                return int(not left or bool(self.value(node.right)))
        right = self.value(node.right)
        if node.operator in ("/", "%") and node.kind is Kind.INT:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if node.operator == "/" else left - right * quotient
        signs = {
            "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_,
            "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
            "/": lambda a, b: Fraction(a) / Fraction(b),
            "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
            ">=": operator.ge,
        }  # fmt: skip
        result = signs[node.operator](left, right)
        return int(result) if isinstance(result, bool) else result

    def call(self, node):
        function = self.network.functions[node.function]
        arguments = [self.value(a) for a in node.arguments]
        outer, self.frame = self.frame, arguments + [0] * (function.frame_size - len(arguments))
        try:
            self.run(function.body)
        except Returned as returned:
            return returned.value
        finally:
            self.frame = outer
        return 0

    def run(self, statements):
        for s in statements:
            match s:
                case e.Assign():
                    value = self.value(s.value)
                    if s.low is not None and not s.low <= value <= s.high:
                        raise OverflowError(value)
                    self.store(s.target)[self.position(s.target)] = value
                case e.If():
                    self.run(s.then if self.value(s.condition) else s.otherwise)
                case e.While():
                    while self.value(s.condition):
                        self.run(s.body)
                case e.Return():
                    raise Returned(None if s.value is None else self.value(s.value))
                case e.Evaluate():
                    self.value(s.expression)
