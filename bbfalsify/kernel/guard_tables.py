"""Simplify parts of guards that depend on one integer or one clock, so that the kernel decides them without bytecode.

A condition that reads one integer of a small range is evaluated for each of its values: `id + pid == pid`,
`front() == 3` and `n % 2 == 0 && n > 1` become `id == 0`, `list[0] == 3` and `n == 2` where that is the same.  Integers
that nothing writes are constants.  A comparison of a clock with a constant added becomes `x ⋈ bound`.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from bbfalsify.kernel.analysis import Analysis, Flow
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.visit import COMPARISONS

MOST_VALUES = 256
MOST_EVALUATIONS = 20_000
"""Evaluations for one model, of about 5 µs each."""
_MOST_TURNS = 200
_MIRRORED = {"<": ">", "<=": ">=", ">=": "<=", ">": "<", "==": "==", "!=": "!="}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class _Unknown(Exception):
    """The value cannot be computed here."""


class _Reads(Exception):  # noqa: N818  (a question, not an error)
    def __init__(self, slot: int) -> None:
        self.slot = slot


class _Returned(Exception):  # noqa: N818  (a jump)
    def __init__(self, value: int) -> None:
        self.value = value


class GuardTables:
    def __init__(self, analysis: Analysis) -> None:
        network = analysis.network
        self._analysis = analysis
        self._left = MOST_EVALUATIONS
        self._ranges = {
            v.slot + i: (v.low, v.high) if v.kind is Kind.INT else (0, 1)
            for v in network.variables if not v.kind.is_real
            for i in range(v.size)
        }  # fmt: skip
        written = {
            place
            for process in network.processes for edge in process.edges for branch in edge.branches
            for place in analysis.statements(branch.updates).writes
        }  # fmt: skip
        self._constants = {
            slot: int(value) for slot, value in enumerate(network.initial_integers()) if ("i", slot) not in written
        }

    def simplified(self, part: Expression) -> list[Expression]:
        """Conjuncts that hold in exactly the same states; the part itself where there are no simpler ones."""
        clock = _clock_comparison(part)
        if clock is not None:
            return [clock]
        if self._analysis.flow(part) != Flow.DISCRETE or self._left <= 0:
            return [part]
        try:
            return [Constant(int(self._value(part, {}, {}) != 0), Kind.BOOL)]
        except _Reads as read:
            return self._tabulated(part, read.slot)
        except _Unknown:
            return [part]

    def special_values(self, e: Expression, slot: int) -> set[int] | None:
        """Values of an integer at which e is not what it is at most values; None if e depends on anything else."""
        low, high = self._ranges[slot]
        if high - low >= MOST_VALUES or self._left <= 0:
            return None
        self._left -= high - low + 1
        try:
            found = {value: self._number(e, {slot: value}) for value in range(low, high + 1)}
        except (_Reads, _Unknown):
            return None
        usual, _ = Counter(found.values()).most_common(1)[0]
        return {value for value, number in found.items() if number != usual}

    def _number(self, e: Expression, known: dict[int, int]) -> int | Fraction:
        match e:
            case Constant(value=value):
                return value
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                return self._number(then if self._value(condition, known, {}) != 0 else otherwise, known)
        return self._value(e, known, {})

    def _tabulated(self, part: Expression, slot: int) -> list[Expression]:
        low, high = self._ranges.get(slot, (0, MOST_VALUES))
        if high - low >= MOST_VALUES or slot not in self._ranges:
            return [part]
        self._left -= high - low + 1
        try:
            true = [v for v in range(low, high + 1) if self._value(part, {slot: v}, {}) != 0]
        except (_Reads, _Unknown):
            return [part]
        return _described(slot, true, low, high) or [part]

    def _value(self, e: Expression, known: dict[int, int], frame: dict[int, int]) -> int:
        """Compute an integer; raise _Reads at a variable that is not known."""
        if e.kind.is_real:
            raise _Unknown
        match e:
            case Constant(value=value):
                return int(value)
            case Read(slot=slot, index=index, size=size):
                place = slot + self._index(index, size, known, frame)
                if place in self._constants:
                    return self._constants[place]
                if place not in known:
                    raise _Reads(place)
                return known[place]
            case ex.Bound(slot=slot, index=None):
                return frame.get(slot, 0)
            case ex.Unary(operator="!", operand=operand):
                return int(self._value(operand, known, frame) == 0)
            case ex.Unary(operator="-", operand=operand):
                return -self._value(operand, known, frame)
            case Binary(operator=("&&" | "||" | "imply") as name, left=left, right=right):
                first = self._value(left, known, frame) != 0
                if first == (name == "||"):
                    return int(name == "||")
                return (
                    int(name == "imply") if not first and name != "||" else int(self._value(right, known, frame) != 0)
                )
            case Binary(operator=name, left=left, right=right) if name in _BINARY:
                return int(_BINARY[name](self._value(left, known, frame), self._value(right, known, frame)))
            case Binary(operator=("/" | "%") as name, left=left, right=right):
                a, b = self._value(left, known, frame), self._value(right, known, frame)
                if b == 0:
                    raise _Unknown
                quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                return quotient if name == "/" else a - b * quotient
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                return self._value(then if self._value(condition, known, frame) != 0 else otherwise, known, frame)
            case ex.Call():
                return self._called(e, known, frame)
        raise _Unknown

    def _index(self, index: Expression | None, size: int, known: dict[int, int], frame: dict[int, int]) -> int:
        value = 0 if index is None else self._value(index, known, frame)
        if not 0 <= value < size:
            raise _Unknown
        return value

    def _called(self, e: ex.Call, known: dict[int, int], frame: dict[int, int]) -> int:
        function = self._analysis.network.functions[e.function]
        if any(kind.is_real for kind in function.parameters) or function.result is None or function.result.is_real:
            raise _Unknown
        values = [self._value(argument, known, frame) for argument in e.arguments]
        inner = {
            slot: int(value != 0) if kind is Kind.BOOL else value
            for slot, (value, kind) in enumerate(zip(values, function.parameters, strict=True))
        }
        try:
            self._run(function.body, known, inner)
        except _Returned as returned:
            return int(returned.value != 0) if function.result is Kind.BOOL else returned.value
        return 0

    def _run(self, statements: Sequence[ex.Statement], known: dict[int, int], frame: dict[int, int]) -> None:
        for s in statements:
            match s:
                case ex.Assign(target=ex.Bound(slot=slot, kind=Kind.INT | Kind.BOOL as kind, index=None)):
                    value = self._value(s.value, known, frame)
                    if s.low is not None and s.high is not None and s.low <= s.high and not s.low <= value <= s.high:
                        raise _Unknown
                    frame[slot] = int(value != 0) if kind is Kind.BOOL else value
                case ex.If(condition=condition, then=then, otherwise=otherwise):
                    self._run(then if self._value(condition, known, frame) != 0 else otherwise, known, frame)
                case ex.While(condition=condition, body=body):
                    for _ in range(_MOST_TURNS):
                        if self._value(condition, known, frame) == 0:
                            break
                        self._run(body, known, frame)
                    else:
                        raise _Unknown
                case ex.Return(value=value) if value is not None:
                    raise _Returned(self._value(value, known, frame))
                case _:
                    raise _Unknown


def _described(slot: int, true: list[int], low: int, high: int) -> list[Expression]:
    """Comparisons that hold for these values of an integer, if two are enough."""
    read = Read(slot, Kind.INT)

    def compared(operator: str, value: int) -> Expression:
        return Binary(operator, read, Constant(value, Kind.INT), Kind.BOOL)

    if not true:
        return [compared("<", low)]
    if len(true) == 1:
        return [compared("==", true[0])]
    if len(true) == true[-1] - true[0] + 1:
        bounds = [compared(">=", true[0])] if true[0] > low else []
        bounds += [compared("<=", true[-1])] if true[-1] < high else []
        return bounds or [Constant(1, Kind.BOOL)]
    missing = sorted(set(range(low, high + 1)) - set(true))
    return [compared("!=", missing[0])] if len(missing) == 1 else []


def _clock_comparison(part: Expression) -> Expression | None:
    """`x ⋈ bound` for a comparison of x + a with b; None if it is none, or in that form already."""
    if not isinstance(part, Binary) or part.operator not in COMPARISONS:
        return None
    for side, other, name in (
        (part.left, part.right, part.operator), (part.right, part.left, _MIRRORED[part.operator]),
    ):  # fmt: skip
        shifted = _shifted_clock(side)
        if shifted is not None and shifted[1] != 0 and isinstance(other, Constant):
            return Binary(name, shifted[0], Constant(Fraction(other.value) - shifted[1], Kind.DOUBLE), Kind.BOOL)
    return None


def _shifted_clock(e: Expression) -> tuple[Read, Fraction] | None:
    """The clock x and the constant a of `x + a` or `x - a`."""
    if isinstance(e, Read) and e.kind is Kind.CLOCK:
        return e, Fraction(0)
    if isinstance(e, Binary) and e.operator in ("+", "-") and isinstance(e.right, Constant):
        inner = _shifted_clock(e.left)
        if inner is not None:
            shift = Fraction(e.right.value)
            return inner[0], inner[1] + (shift if e.operator == "+" else -shift)
    return None
