"""Least and largest values of integers in any state, and what follows for conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

from bbfalsify.modelling.network.effects import Place, places_of
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Network

Number = int | Fraction
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
