"""Split guards, invariants and updates into what the kernel decides without the interpreter, and code for the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import (
    Analysis,
    Flow,
    Place,
    conjunction,
    conjuncts,
)
from bbfalsify.kernel.expression_code import COMPARISONS
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.guard_tables import GuardTables
from bbfalsify.kernel.value_intervals import Intervals
from bbfalsify.modelling.network.expressions import Assign, Binary, Constant, Expression, Kind, Read, Statement, Unary
from bbfalsify.modelling.network.network import Network

_MIRRORED = {"<": ">", "<=": ">=", ">=": "<=", ">": "<", "==": "==", "!=": "!="}


def constant_value(e: Expression) -> Fraction | int | None:
    """Value of an expression of constants, or None."""
    if isinstance(e, Constant):
        return e.value
    if isinstance(e, Unary) and e.operator == "-" and isinstance(e.operand, Constant):
        return -e.operand.value
    return None


def slot_of(e: Expression) -> int | None:
    """Slot of a scalar or of an element with a constant index inside the bounds."""
    if not isinstance(e, Read):
        return None
    if e.index is None:
        return e.slot
    index = constant_value(e.index)
    return e.slot + int(index) if index is not None and 0 <= index < e.size else None


def integer_atom(e: Expression) -> list[int] | None:
    """Row of `integer ⋈ constant`, None for anything else."""
    negated = isinstance(e, Unary) and e.operator == "!"
    read = e.operand if isinstance(e, Unary) and negated else e
    if read.kind == Kind.BOOL and (slot := slot_of(read)) is not None:
        return [slot, at.EQUAL if negated else at.NOT_EQUAL, at.BOUND_CONSTANT, 0]
    if not isinstance(e, Binary) or e.operator not in COMPARISONS:
        return None
    for left, right, operator in ((e.left, e.right, e.operator), (e.right, e.left, _MIRRORED[e.operator])):
        slot, value = slot_of(left), constant_value(right)
        if slot is None or value is None or left.kind.is_real or right.kind.is_real:
            continue
        if abs(int(value)) < 2**31:
            return [slot, COMPARISONS[operator], at.BOUND_CONSTANT, int(value)]
    return None


@dataclass
class Split:
    """The parts of a guard or invariant."""

    integer_atoms: list[list[int]]
    clock_atoms: list[list[int]]
    discrete: int = -1
    timed: int = -1
    numeric: int = -1
    whole: int = -1
    bound_reads: set[Place] = field(default_factory=set)
    """Integers that bounds of clocks depend on."""


class GuardSplitter:
    def __init__(self, network: Network, analysis: Analysis, compiler: Compiler, intervals: Intervals) -> None:
        self.network, self.analysis, self.compiler, self.intervals = network, analysis, compiler, intervals
        self.tables = GuardTables(analysis)

    def _clock_comparison(self, e: Expression) -> tuple[int, int, Expression] | None:
        """(slot, operator, bound) of a comparison of a clock with a constant, or an integer that can be computed."""
        if not isinstance(e, Binary) or e.operator not in COMPARISONS or e.operator == "!=":
            return None
        for left, right, operator in ((e.left, e.right, e.operator), (e.right, e.left, _MIRRORED[e.operator])):
            slot = slot_of(left)
            if slot is None or left.kind != Kind.CLOCK or slot in self.analysis.ode_slots:
                continue
            if constant_value(right) is not None or (not right.kind.is_real and self.intervals.never_fails(right)):
                return slot, COMPARISONS[operator], right
        return None

    def _clock_atom(self, compared: tuple[int, int, Expression], place: str) -> list[int]:
        slot, operator, bound = compared
        value = constant_value(bound)
        if value is not None:
            return [slot, operator, at.BOUND_CONSTANT, self.compiler.constant(value)]
        integer = slot_of(bound)
        if integer is not None:
            return [slot, operator, at.BOUND_INTEGER, integer]
        return [slot, operator, at.BOUND_CODE, self.compiler.number(bound, place)]

    def split(self, e: Expression | None, place: str, *, integers: bool) -> Split:
        result = Split([], [])
        discrete: list[Expression] = []
        timed: list[Expression] = []
        worst = Flow.DISCRETE
        parts = [simple for given in conjuncts(e) for simple in self._simplified(given, integers)]
        for part in parts:
            if isinstance(part, Constant) and part.value != 0:
                continue
            atom = integer_atom(part) if integers else None
            if atom is not None:
                result.integer_atoms.append(atom)
                continue
            compared = self._clock_comparison(part)
            if compared is not None:
                result.clock_atoms.append(self._clock_atom(compared, place))
                result.bound_reads |= self.analysis.expression(compared[2]).reads
                continue
            flow = self.analysis.flow(part)
            # A part that may fail behind a condition on time must not be evaluated before that condition holds.
            guarded = bool(timed or result.clock_atoms) and self.analysis.expression(part).may_fail
            if flow == Flow.DISCRETE and integers and not guarded:
                discrete.append(part)
            else:
                timed.append(part)
                worst = max(worst, flow)
        if discrete:
            result.discrete = self.compiler.condition(conjunction(discrete), place)
        if timed:
            code = self.compiler.condition(conjunction(timed), place)
            if worst == Flow.NUMERIC:
                result.numeric = code
            else:
                result.timed = code
        if e is not None and conjuncts(e):
            result.whole = self.compiler.condition(e, place)
        return result

    def _simplified(self, part: Expression, integers: bool) -> list[Expression]:
        if integer_atom(part) is not None or self._clock_comparison(part) is not None:
            return [part]
        return self.tables.simplified(part) if integers else [part]

    def fast_updates(self, statements: tuple[Statement, ...]) -> list[list[int]] | None:
        """Make rows for updates that are all of the common shapes, or return None."""
        rows = []
        for s in statements:
            if not isinstance(s, Assign) or not isinstance(s.target, Read) or (slot := slot_of(s.target)) is None:
                return None
            value = constant_value(s.value)
            low, high = (-(2**31) + 1, 2**31 - 1) if s.low is None or s.high is None else (s.low, s.high)
            site = self.compiler.site(f"variable '{self._name(s.target)}' with range [{low}, {high}]", s.line)
            if s.target.kind.is_real:
                if value is None:
                    return None
                rows.append([at.UPDATE_REAL, slot, self.compiler.constant(value), 0, 0, site])
            elif value is not None and s.value.kind in (Kind.INT, Kind.BOOL) and low <= value <= high:
                stored = int(value != 0) if s.target.kind == Kind.BOOL else int(value)
                rows.append([at.UPDATE_INTEGER, slot, stored, low, high, site])
            elif s.target.kind == Kind.INT and isinstance(s.value, Binary) and s.value.operator in ("+", "-"):
                step = constant_value(s.value.right)
                if step is None or slot_of(s.value.left) != slot or s.value.left.kind != Kind.INT:
                    return None
                if s.value.right.kind != Kind.INT or abs(int(step)) >= 2**31:
                    return None
                rows.append([at.UPDATE_ADD, slot, int(step if s.value.operator == "+" else -step), low, high, site])
            else:
                return None
        return rows

    def _name(self, target: Read) -> str:
        return self._names.get((target.kind.is_real, target.slot), f"slot {target.slot}")

    @cached_property
    def _names(self) -> dict[tuple[bool, int], str]:
        variables = self.network.variables
        return {(v.kind.is_real, slot): v.name for v in variables for slot in range(v.slot, v.slot + v.size)}
