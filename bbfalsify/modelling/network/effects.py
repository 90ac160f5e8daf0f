"""Analyse what expressions and statements read, write and draw, also through functions.

A *place* is ("i", slot), ("r", slot) or ("l", process): an integer, a real, the location of a process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.visit import children

Place = tuple[str, int]


@dataclass(frozen=True)
class Effects:
    reads: frozenset[Place] = frozenset()
    writes: frozenset[Place] = frozenset()
    random: bool = False
    may_fail: bool = False
    calls: bool = False

    def __or__(self, other: Effects) -> Effects:
        if self is _NONE or other is _NONE:
            return other if self is _NONE else self
        return Effects(
            _together(self.reads, other.reads),
            _together(self.writes, other.writes),
            self.random or other.random,
            self.may_fail or other.may_fail,
            self.calls or other.calls,
        )


_NONE = Effects()


class EffectAnalysis:
    def __init__(self, functions: Sequence[ex.Function]) -> None:
        self.functions = functions
        self._functions: dict[int, Effects] = {}
        self._statements: dict[int, tuple[tuple[ex.Statement, ...], Effects]] = {}
        self._expressions: dict[int, tuple[ex.Expression, Effects]] = {}

    def expression(self, e: ex.Expression | None) -> Effects:
        """Effects of an expression; it is looked at once, and kept, so that no other has its identity."""
        if e is None or isinstance(e, ex.Constant):
            return _NONE
        if id(e) not in self._expressions:
            self._expressions[id(e)] = e, self._effects_of(e)
        return self._expressions[id(e)][1]

    def _effects_of(self, e: ex.Expression) -> Effects:
        result = _NONE
        for child in children(e):
            result |= self.expression(child)
        if isinstance(e, ex.Read):
            result |= Effects(reads=places_of(e), may_fail=e.index is not None)
        elif isinstance(e, ex.Bound):
            result |= Effects(may_fail=e.index is not None)
        elif isinstance(e, ex.AtLocation):
            result |= Effects(reads=frozenset({("l", e.process)}))
        elif isinstance(e, ex.Random):
            result |= Effects(random=True)
        elif isinstance(e, ex.Binary) and e.operator in ("/", "%"):
            result |= Effects(may_fail=True)
        elif isinstance(e, ex.Builtin):
            result |= Effects(may_fail=e.name not in ("abs", "min", "max"))
        elif isinstance(e, ex.Call):
            result |= self.function(e.function)
        return result

    def function(self, number: int) -> Effects:
        if number not in self._functions:
            self._functions[number] = Effects(may_fail=True, calls=True)  # cuts recursion; the fixpoint adds nothing
            self._functions[number] |= self.statements(self.functions[number].body)
        return self._functions[number]

    def statements(self, statements: Iterable[ex.Statement]) -> Effects:
        """Effects of a sequence; a tuple is looked at once, and kept, so that no other has its identity."""
        if not isinstance(statements, tuple):
            return self._effects(statements)
        if id(statements) not in self._statements:
            self._statements[id(statements)] = statements, self._effects(statements)
        return self._statements[id(statements)][1]

    def _effects(self, statements: Iterable[ex.Statement]) -> Effects:
        result = _NONE
        for s in statements:
            if isinstance(s, ex.Assign):
                result |= self.expression(s.value) | self.expression(s.target.index)
                if isinstance(s.target, ex.Read):
                    may_fail = s.low is not None or s.target.index is not None
                    result |= Effects(writes=places_of(s.target), may_fail=may_fail)
            elif isinstance(s, ex.If):
                result |= self.expression(s.condition) | self.statements(s.then) | self.statements(s.otherwise)
            elif isinstance(s, ex.While):
                result |= self.expression(s.condition) | self.statements(s.body) | Effects(may_fail=True)
            elif isinstance(s, ex.Return):
                result |= self.expression(s.value)
            elif isinstance(s, ex.Evaluate):
                result |= self.expression(s.expression)
        return result


def places_of(e: ex.Read) -> frozenset[Place]:
    store = "r" if e.kind.is_real else "i"
    if e.index is None:
        return frozenset({(store, e.slot)})
    if isinstance(e.index, ex.Constant) and 0 <= e.index.value < e.size:
        return frozenset({(store, e.slot + int(e.index.value))})
    return _array(store, e.slot, e.size)


@lru_cache(maxsize=4096)
def _array(store: str, first: int, size: int) -> frozenset[Place]:
    """All elements of an array; one set for all that read it, because arrays of constants are long and read often."""
    return frozenset((store, slot) for slot in range(first, first + size))


@lru_cache(maxsize=1024)
def _together(one: frozenset[Place], other: frozenset[Place]) -> frozenset[Place]:
    """The union; one of both where it holds the other, so that equal sets are kept once."""
    if other <= one:
        return one
    return other if one <= other else one | other
