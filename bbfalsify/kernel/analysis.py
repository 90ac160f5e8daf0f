"""Analyse how the values of a network change with time.

A guard is split into conjuncts; each is discrete (constant during a delay), affine in the delay (exact breakpoints) or
numeric (ODE variables, products of clocks: scanned and bisected).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from enum import IntEnum
from fractions import Fraction

from bbfalsify.modelling.language.folding import join_all
from bbfalsify.modelling.network.effects import EffectAnalysis, Place, places_of
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
    If,
    Kind,
    Random,
    Read,
    Return,
    Statement,
    Unary,
    While,
)
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import children

Number = int | Fraction


class Flow(IntEnum):
    """Kind of change of a value while time passes."""

    DISCRETE = 0
    AFFINE = 1
    NUMERIC = 2


class Analysis(EffectAnalysis):
    def __init__(self, network: Network) -> None:
        super().__init__(network.functions)
        self.network = network
        self._function_flows: dict[int, Flow] = {}
        self.clocks = frozenset(
            ("r", slot) for v in network.variables if v.kind == Kind.CLOCK for slot in range(v.slot, v.slot + v.size)
        )
        self.ode_slots = self._find_ode_slots()
        self.solved_slots = self._find_solved_slots()

    def _find_ode_slots(self) -> frozenset[int]:
        """Find the clocks that follow an ODE: some location gives them a rate that reads a clock."""
        return frozenset(
            rate.slot
            for process in self.network.processes
            for location in process.locations
            for rate in location.rates
            if self.expression(rate.expression).reads & self.clocks
        )

    def _find_solved_slots(self) -> frozenset[int]:
        """Find the clocks y of `ode_slots` whose ODE has a closed form, because every rate is a·y + b."""
        given: dict[int, list[Expression]] = {slot: [] for slot in self.ode_slots}
        for process in self.network.processes:
            for location in process.locations:
                for rate in location.rates:
                    if rate.slot in given:
                        given[rate.slot].append(rate.expression)
        return frozenset(slot for slot, rates in given.items() if all(self._linear_in(slot, e) for e in rates))

    def _linear_in(self, slot: int, e: Expression) -> bool:
        """Tell whether e is a·y + b, where y is the clock in this slot, and a and b are constant during a delay."""
        if self.flow(e) == Flow.DISCRETE:
            return True
        if isinstance(e, Read):
            return places_of(e) == {("r", slot)}
        if isinstance(e, Unary):
            return e.operator == "-" and self._linear_in(slot, e.operand)
        if isinstance(e, Conditional):
            return self.flow(e.condition) == Flow.DISCRETE and all(
                self._linear_in(slot, part) for part in (e.then, e.otherwise)
            )
        if not isinstance(e, Binary) or not self._linear_in(slot, e.left) or not self._linear_in(slot, e.right):
            return False
        if e.operator == "*":
            return Flow.DISCRETE in (self.flow(e.left), self.flow(e.right))
        return e.operator in ("+", "-") or (e.operator == "/" and self.flow(e.right) == Flow.DISCRETE)

    def flow(self, e: Expression) -> Flow:
        """Kind of change of e during a delay; inside functions every real local counts as following a clock."""
        if isinstance(e, Read):
            inner = Flow.DISCRETE if e.index is None else self.flow(e.index)
            if inner != Flow.DISCRETE:
                return Flow.NUMERIC
            if e.kind != Kind.CLOCK:
                return Flow.DISCRETE
            return Flow.NUMERIC if any(slot in self.ode_slots for _, slot in places_of(e)) else Flow.AFFINE
        if isinstance(e, Bound):
            return Flow.AFFINE if e.kind.is_real else Flow.DISCRETE
        flows = [self.flow(c) for c in children(e)]
        worst = max(flows, default=Flow.DISCRETE)
        if isinstance(e, Random):
            return Flow.DISCRETE
        if isinstance(e, Call):
            if worst == Flow.DISCRETE and not self.function(e.function).reads & self.clocks:
                return Flow.DISCRETE
            return max(worst, self._flow_of_function(e.function))
        if worst != Flow.AFFINE:
            return worst
        if isinstance(e, Binary):
            if e.operator == "*" and e.kind.is_real and min(flows) == Flow.AFFINE:
                return Flow.NUMERIC
            if e.operator == "/" and flows[1] == Flow.AFFINE:
                return Flow.NUMERIC
            if e.operator == "%":
                return Flow.NUMERIC
        if isinstance(e, Builtin) and e.name not in ("abs", "min", "max"):
            return Flow.NUMERIC
        return Flow.AFFINE

    def _flow_of_function(self, number: int) -> Flow:
        if number not in self._function_flows:
            self._function_flows[number] = Flow.DISCRETE  # cuts recursion
            self._function_flows[number] = self.flow_of_statements(self.network.functions[number].body)
        return self._function_flows[number]

    def flow_of_statements(self, statements: Iterable[Statement]) -> Flow:
        """The worst flow of anything the statements evaluate."""
        worst = Flow.DISCRETE
        for s in statements:
            parts: tuple[Expression | None, ...] = ()
            if isinstance(s, Assign):
                parts = (s.value, s.target.index)
                if not s.target.kind.is_real and s.value.kind.is_real and self.flow(s.value) != Flow.DISCRETE:
                    worst = Flow.NUMERIC  # a real stored in an integer is truncated
            elif isinstance(s, If):
                parts = (s.condition,)
                worst = max(worst, self.flow_of_statements(s.then), self.flow_of_statements(s.otherwise))
            elif isinstance(s, While):
                parts = (s.condition,)
                worst = max(worst, self.flow_of_statements(s.body))
            elif isinstance(s, Return):
                parts = (s.value,)
            elif isinstance(s, Evaluate):
                parts = (s.expression,)
            worst = max([worst, *(self.flow(p) for p in parts if p is not None)])
        return worst


def conjuncts(e: Expression | None) -> list[Expression]:
    """The parts of a conjunction, in order; `true` has none."""
    if e is None or (isinstance(e, Constant) and e.value == 1):
        return []
    if isinstance(e, Binary) and e.operator == "&&":
        return conjuncts(e.left) + conjuncts(e.right)
    return [e]


def conjunction(parts: list[Expression]) -> Expression:
    return join_all("&&", parts)


# --- does an update keep an invariant? --------------------------------------------------------------------------------


def substituted(e: Expression, values: dict[Place, Expression | None]) -> Expression | None:
    """Substitute assigned values into e; None if impossible (unknown values, variable indices, calls, quantifiers)."""
    if isinstance(e, Constant):
        return e
    if isinstance(e, Read):
        if e.index is not None and not isinstance(e.index, Constant):
            same = substituted(e.index, values) == e.index and not places_of(e) & values.keys()
            return e if same else None
        place = next(iter(places_of(e)))
        return values.get(place, e)
    if isinstance(e, Unary):
        operand = substituted(e.operand, values)
        return None if operand is None else Unary(e.operator, operand, e.kind)
    if isinstance(e, Binary):
        left, right = substituted(e.left, values), substituted(e.right, values)
        return None if left is None or right is None else Binary(e.operator, left, right, e.kind)
    return None


def plain_assignments(analysis: Analysis, statements: tuple[Statement, ...]) -> dict[Place, Expression | None]:
    """Return the values that a sequence of statements assigns, None where they are not plain."""
    values: dict[Place, Expression | None] = {}
    for s in statements:
        plain = isinstance(s, Assign) and isinstance(s.target, Read)
        if isinstance(s, Assign) and s.target.index is not None and not isinstance(s.target.index, Constant):
            plain = False
        value = substituted(s.value, values) if plain and isinstance(s, Assign) else None
        values |= dict.fromkeys(analysis.statements((s,)).writes, value)
    return values


def implies(known: Expression, part: Expression) -> bool:
    """Tell whether one bound of a variable implies another: `x <= 3` implies `x <= 5`."""
    if not isinstance(known, Binary) or not isinstance(part, Binary) or known.left != part.left:
        return False
    if not isinstance(known.right, Constant) or not isinstance(part.right, Constant):
        return False
    a, b = known.right.value, part.right.value
    if known.operator in ("<", "<=") and part.operator in ("<", "<="):
        return a < b or (a == b and (known.operator == "<" or part.operator == "<="))
    if known.operator in (">", ">=") and part.operator in (">", ">="):
        return a > b or (a == b and (known.operator == ">" or part.operator == ">="))
    return False


Interval = tuple[Number, Number]
_ARITHMETIC: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip


class Intervals:
    """Least and largest values of integers and constants in any state: declared ranges, or values nothing changes."""

    def __init__(self, network: Network, written: frozenset[Place]) -> None:
        self._of_slot: dict[int, Interval] = {}
        initial = network.initial_integers()
        for v in network.variables:
            for slot in range(v.slot, v.slot + v.size) if not v.kind.is_real else ():
                declared = (0, 1) if v.kind is Kind.BOOL else (v.low, v.high)
                self._of_slot[slot] = declared if ("i", slot) in written else (int(initial[slot]),) * 2

    def certainly_true(self, e: Expression) -> bool:
        """Tell whether e is a comparison that holds in every state."""
        if isinstance(e, Constant):
            return e.value != 0
        if not isinstance(e, Binary) or e.operator not in ("<", "<=", ">", ">=", "=="):
            return False
        left, right = self.of(e.left), self.of(e.right)
        if left is None or right is None:
            return False
        if e.operator in (">", ">="):
            left, right = right, left
        if e.operator == "==":
            return left[0] == left[1] == right[0] == right[1]
        return left[1] < right[0] if e.operator in ("<", ">") else left[1] <= right[0]

    def of(self, e: Expression) -> Interval | None:
        if isinstance(e, Constant):
            return e.value, e.value
        if isinstance(e, Read) and not e.kind.is_real:
            found = [self._of_slot.get(slot) for _, slot in places_of(e)]
            known = [interval for interval in found if interval is not None]
            if len(known) < len(found):
                return None
            return min(low for low, _ in known), max(high for _, high in known)
        if isinstance(e, Binary) and e.operator in ("+", "-", "*"):
            left, right = self.of(e.left), self.of(e.right)
            if left is None or right is None:
                return None
            ends = [_ARITHMETIC[e.operator](a, b) for a in left for b in right]
            return min(ends), max(ends)
        return None

    def never_fails(self, e: Expression) -> bool:
        """Tell whether e is an integer of variables and arithmetic that can be computed in every state."""
        match e:
            case Constant():
                return True
            case Read(kind=Kind.INT | Kind.BOOL, index=None):
                return True
            case Read(kind=Kind.INT | Kind.BOOL, index=index, size=size):
                assert index is not None
                found = self.of(index)
                return found is not None and 0 <= found[0] and found[1] < size and self.never_fails(index)
            case Binary(operator="+" | "-" | "*", left=left, right=right):
                return self.never_fails(left) and self.never_fails(right)
            case Binary(operator="/" | "%", left=left, right=Constant(value=value)):
                return value != 0 and self.never_fails(left)
        return False
