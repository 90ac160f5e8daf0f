"""Split conditions over data and clocks into cases: data that must hold, and bounds on differences of clocks.

    i > 0 && (x <= 3 || y - x > D[i])      [i > 0 | x ≤ 3],  [i > 0 | x − y < −D[i]]

A case is a conjunction, so its clock part is one zone.  Functions and quantifiers that read clocks are expanded first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from bbfalsify.modelling.language.folding import make_binary, make_unary, with_operands
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read, Unary
from bbfalsify.modelling.network.visit import COMPARISONS, reads_clock, subexpressions, substatements

MOST_CASES, FEW_CASES, MOST_PRODUCTS = 256, 8, 1 << 14
"""Cases of a condition; more than the second are looked through for those that add nothing, up to the third."""
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_ZERO = Constant(0, Kind.INT)
_ANY = ex.Bound(1 << 20, Kind.BOOL)
"""A condition of which nothing is known."""


class NoZones(Exception):  # noqa: N818  (an answer, not an error)
    """The set of clock values is no finite union of zones, or too large a one."""


@dataclass(frozen=True)
class Clock:
    slot: int
    index: Expression | None = None
    """Element of an array that is chosen while the model runs."""
    size: int = 1

    @property
    def slots(self) -> range:
        return range(self.slot, self.slot + self.size)


@dataclass(frozen=True)
class Atom:
    """left − right < bound, or ≤; None stands for 0."""

    left: Clock | None
    right: Clock | None
    bound: Expression
    strict: bool

    @property
    def clocks(self) -> tuple[Clock, ...]:
        return tuple(clock for clock in (self.left, self.right) if clock is not None)

    @property
    def diagonal(self) -> bool:
        return self.left is not None and self.right is not None


@dataclass(frozen=True)
class Case:
    data: tuple[Expression, ...] = ()
    atoms: tuple[Atom, ...] = ()

    def __and__(self, other: Case) -> Case:
        return Case(self.data + other.data, self.atoms + other.atoms)


class Conditions:
    """Splits the conditions of one network."""

    def __init__(self, functions: tuple[ex.Function, ...]) -> None:
        self._functions = functions

    def reads_clock(self, e: Expression | None) -> bool:
        return reads_clock(e, self._functions)

    def cases(self, e: Expression | None, *, negated: bool = False) -> list[Case]:
        """Cases whose union is the condition (or its negation)."""
        if e is None:
            return [] if negated else [Case()]
        found = self._cases(self._expanded(e, {}), negated)
        return [case for case in found if not any(_is_false(part) for part in case.data)]

    # --- disjunctive normal form ---

    def _cases(self, e: Expression, negated: bool) -> list[Case]:
        if not self.reads_clock(e):
            part = make_unary("!", e, Kind.BOOL) if negated else e
            return [Case(() if _is_true(part) else (part,))]
        match e:
            case Unary(operator="!", operand=operand):
                return self._cases(operand, not negated)
            case Binary(operator=("&&" | "||" | "imply") as operator, left=left, right=right):
                first = self._cases(left, negated != (operator == "imply"))
                second = self._cases(right, negated)
                return _both(first, second) if (operator == "&&") != negated else _limited(first + second)
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                yes = _both(self._cases(condition, False), self._cases(then, negated))
                return _limited(yes + _both(self._cases(condition, True), self._cases(otherwise, negated)))
            case Binary(operator=("==" | "!=") as operator, left=left, right=right) if left.kind is Kind.BOOL:
                same = (operator == "==") != negated
                yes = _both(self._cases(left, False), self._cases(right, not same))
                return _limited(yes + _both(self._cases(left, True), self._cases(right, same)))
            case Binary(operator=operator) if operator in COMPARISONS:
                return self._comparison(e, _OPPOSITE[operator] if negated else operator)
        raise NoZones("it is neither a comparison of clocks with integers nor made of such comparisons")

    def _comparison(self, e: Binary, operator: str) -> list[Case]:
        left, right, bound = self._difference(e)
        at_most, at_least = Atom(left, right, bound, False), Atom(right, left, _minus(_ZERO, bound), False)
        below, above = replace(at_most, strict=True), replace(at_least, strict=True)
        match operator:
            case "<":
                return [Case(atoms=(below,))]
            case "<=":
                return [Case(atoms=(at_most,))]
            case ">":
                return [Case(atoms=(above,))]
            case ">=":
                return [Case(atoms=(at_least,))]
            case "==":
                return [Case(atoms=(at_most, at_least))]
        return [Case(atoms=(below,)), Case(atoms=(above,))]

    def _difference(self, e: Binary) -> tuple[Clock | None, Clock | None, Expression]:
        """Clocks x, y and bound b of a comparison x − y ⋈ b that is the same as e."""
        clocks: dict[Clock, Fraction] = {}
        data: Expression = _ZERO
        for sign, side in ((1, e.left), (-1, e.right)):
            for factor, term in self._terms(side, Fraction(sign)):
                if isinstance(term, Clock):
                    clocks[term] = clocks.get(term, Fraction(0)) + factor
                else:
                    data = _minus(data, _times(factor, term))
        clocks = {clock: factor for clock, factor in clocks.items() if factor != 0}
        factors = sorted(clocks.values())
        if factors not in ([], [1], [-1], [-1, 1]):
            raise NoZones("only one clock or the difference of two can be compared")
        by_factor = {factor: clock for clock, factor in clocks.items()}
        return by_factor.get(Fraction(1)), by_factor.get(Fraction(-1)), data

    def measured(self, e: Expression) -> Atom:
        """Clocks x, y and data b such that e = x − y + b, as the parts of an atom."""
        left, right, bound = self._difference(Binary("==", self._expanded(e, {}), _ZERO, Kind.BOOL))
        return Atom(left, right, _minus(_ZERO, bound), False)

    def _terms(self, e: Expression, factor: Fraction) -> Iterator[tuple[Fraction, Clock | Expression]]:
        if not self.reads_clock(e):
            yield factor, e
            return
        match e:
            case Read(kind=Kind.CLOCK, slot=slot, index=index, size=size):
                yield factor, clock_of(slot, index, size)
            case Unary(operator="-", operand=operand):
                yield from self._terms(operand, -factor)
            case Binary(operator=("+" | "-") as operator, left=left, right=right):
                yield from self._terms(left, factor)
                yield from self._terms(right, factor if operator == "+" else -factor)
            case (
                Binary(operator="*", left=Constant(value=value), right=other)
                | Binary(operator="*", left=other, right=Constant(value=value))
            ):
                yield from self._terms(other, factor * Fraction(value))
            case _:
                raise NoZones("a clock is used in other ways than compared, added and subtracted")

    # --- functions and quantifiers ---

    def values(self, e: Expression) -> Expression:
        """Replace each call by a choice among all that it may return: an expression for intervals, not for values."""
        if not any(isinstance(part, ex.Call) for part in subexpressions(e)):
            return e
        return _Values(self._functions).values(e)

    def _expanded(self, e: Expression, frame: dict[int, Expression]) -> Expression:
        """Replace bound names by their values, and functions and quantifiers that read clocks by what they mean."""
        if isinstance(e, ex.Quantifier) and self.reads_clock(e):
            return self._unrolled(e, frame)
        if isinstance(e, ex.Call) and self.reads_clock(e):
            body = self._functions[e.function].body
            if len(body) != 1 or not isinstance(body[0], ex.Return) or body[0].value is None:
                name = self._functions[e.function].name
                raise NoZones(f"the function '{name}' reads clocks and is more than one 'return'")
            arguments = {i: self._expanded(a, frame) for i, a in enumerate(e.arguments)}
            return self._expanded(body[0].value, arguments)
        return self._filled(e, frame)

    def _unrolled(self, e: ex.Quantifier, frame: dict[int, Expression]) -> Expression:
        if e.high - e.low > MOST_CASES:
            raise NoZones(f"{e.name} ranges over more than {MOST_CASES} values")
        parts = [
            self._expanded(e.body, {**frame, e.slot: Constant(value, Kind.INT)}) for value in range(e.low, e.high + 1)
        ]
        if e.name not in ("forall", "exists") or not parts:
            raise NoZones(f"{e.name} adds clocks")
        joined = parts[0]
        for part in parts[1:]:
            joined = make_binary("&&" if e.name == "forall" else "||", joined, part, Kind.BOOL)
        return joined

    def _filled(self, e: Expression, frame: dict[int, Expression]) -> Expression:
        def inside(part: Expression) -> Expression:
            return self._expanded(part, frame)

        match e:
            case ex.Bound(slot=slot, index=None) if slot in frame:
                return frame[slot]
            case Read(index=index) | ex.Bound(index=index) if index is not None:
                return replace(e, index=inside(index))
            case ex.Call(arguments=arguments):
                return replace(e, arguments=tuple(inside(argument) for argument in arguments))
            case ex.Quantifier(body=body):
                return replace(e, body=self._expanded(body, {k: v for k, v in frame.items() if k != e.slot}))
        return with_operands(e, inside)


class _Values(Conditions):
    def values(self, e: Expression) -> Expression:
        return self._expanded(e, {})

    def _expanded(self, e: Expression, frame: dict[int, Expression]) -> Expression:
        if not isinstance(e, ex.Call):
            return self._filled(e, frame)
        body = list(substatements(self._functions[e.function].body))
        arguments = {i: self._expanded(a, frame) for i, a in enumerate(e.arguments)}
        for statement in body:
            if isinstance(statement, ex.Assign) and isinstance(statement.target, ex.Bound):
                arguments.pop(statement.target.slot, None)  # it stays a name without a range
        returned = [s.value for s in body if isinstance(s, ex.Return) and s.value is not None]
        choice: Expression | None = None
        for value in returned:
            one = self._expanded(value, arguments)
            choice = one if choice is None else ex.Conditional(_ANY, one, choice, e.kind)
        return e if choice is None else choice


def slots_of(clock: Clock | None) -> range:
    return range(0) if clock is None else clock.slots


def clock_of(slot: int, index: Expression | None, size: int) -> Clock:
    if index is None:
        return Clock(slot)
    if isinstance(index, Constant):
        if not 0 <= index.value < size:
            raise NoZones("the index of a clock is outside its array")
        return Clock(slot + int(index.value))
    return Clock(slot, index, size)


def _both(first: list[Case], second: list[Case]) -> list[Case]:
    if len(first) * len(second) > MOST_PRODUCTS:
        raise NoZones(f"it falls into more than {MOST_CASES} zones")
    return _limited([a & b for a in first for b in second])


def _limited(cases: list[Case]) -> list[Case]:
    if len(cases) > FEW_CASES:
        cases = _without_covered(cases)
    if len(cases) > MOST_CASES:
        raise NoZones(f"it falls into more than {MOST_CASES} zones")
    return cases


def _without_covered(cases: list[Case]) -> list[Case]:
    """The cases without those that are empty, or inside another; each part once."""
    plain = [Case(tuple(dict.fromkeys(case.data)), tuple(dict.fromkeys(case.atoms))) for case in cases]
    parts = {frozenset((*case.data, *case.atoms)): case for case in plain if not _is_empty(case)}
    kept: list[frozenset[Expression | Atom]] = []
    for found in sorted(parts, key=len):
        if not any(smaller <= found for smaller in kept):
            kept.append(found)
    remaining = set(kept)
    return [case for found, case in parts.items() if found in remaining]


def _is_empty(case: Case) -> bool:
    """Tell whether two parts contradict each other at sight: locations, or constant bounds of clocks."""
    here = {part.process: part.location for part in case.data if isinstance(part, ex.AtLocation)}
    for part in case.data:
        place = part.operand if isinstance(part, Unary) and part.operator == "!" else part
        if isinstance(place, ex.AtLocation) and (here.get(place.process) == place.location) != (place is part):
            return place is part or place.process in here
    bounds = [(atom, atom.bound.value) for atom in case.atoms if isinstance(atom.bound, Constant)]
    return any(
        one.left == other.right
        and one.right == other.left
        and (a + b < 0 or (a + b == 0 and (one.strict or other.strict)))
        for number, (one, a) in enumerate(bounds)
        for other, b in bounds[:number]
    )


def _times(factor: Fraction, e: Expression) -> Expression:
    if factor in (1, -1):
        return e if factor == 1 else make_unary("-", e, e.kind)
    kind = Kind.INT if factor.denominator == 1 and e.kind is Kind.INT else Kind.DOUBLE
    return make_binary("*", Constant(int(factor) if factor.denominator == 1 else factor, kind), e, kind)


def _minus(a: Expression, b: Expression) -> Expression:
    if isinstance(b, Unary) and b.operator == "-":
        return b.operand if a == _ZERO else make_binary("+", a, b.operand, _joined(a, b))
    return make_unary("-", b, b.kind) if a == _ZERO else make_binary("-", a, b, _joined(a, b))


def _joined(a: Expression, b: Expression) -> Kind:
    return Kind.DOUBLE if Kind.DOUBLE in (a.kind, b.kind) else Kind.INT


def _is_true(e: Expression) -> bool:
    return isinstance(e, Constant) and e.value != 0


def _is_false(e: Expression) -> bool:
    return isinstance(e, Constant) and e.value == 0
