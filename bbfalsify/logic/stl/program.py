"""Compile a formula to a table of core operations, which the compiled monitors evaluate in order.

Everything is rewritten to: atoms, not, and, or, windows of the future and past, unbounded until and since, next and
previous.  Equal parts appear once.  Bounded until uses  p until[a:b] q  =  eventually[a:b] q  and  (always p on [t,
t+a))  and (p until q) at t+a,  which holds in every distributive lattice and therefore for robustness and for
certainty times alike.

iff and xor are built from and, or, not.  (RTAMT takes -|l - r| and |l - r| instead, which is negative where both
sides hold.)

**Vacuity.**  trigger(p implies q) = p and trigger(q); trigger(always p) = eventually trigger(p), and so for the other
windows; trigger(p and q) = trigger(p or q) = trigger(p) or trigger(q); trigger of anything else is true.  A
requirement that is not violated is vacuous when its trigger is not known to have been true: no antecedent ever
occurred where it would have mattered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from bbfalsify.logic.stl import formula as stl


class Op(IntEnum):
    ATOM = 0
    """left: index of the comparison."""
    TRUTH = 1
    """left: 1 for true, 0 for false."""
    NOT = 2
    AND = 3
    OR = 4
    ALWAYS = 5
    EVENTUALLY = 6
    ALWAYS_BEFORE = 7
    """always on [t, t + upper), without its end."""
    HISTORICALLY = 8
    ONCE = 9
    HISTORICALLY_AFTER = 10
    """historically on (t - upper, t], without its beginning."""
    UNTIL = 11
    SINCE = 12
    NEXT = 13
    STRONG_NEXT = 14
    PREVIOUS = 15
    STRONG_PREVIOUS = 16


TRUE_AT = 1
"""Bit of one of the three quantities: robustness (0), and the earliest times of certain truth (1) and falsity (2)."""


_HISTORICALLY, _UNTIL, _SINCE = int(Op.HISTORICALLY), int(Op.UNTIL), int(Op.SINCE)


def certainty_positions(op: np.ndarray, lower: np.ndarray, upper: np.ndarray, n: int) -> int:
    """Samples until nothing becomes certain in discrete time any more; `discrete.py` says why, and compiles this."""
    found = n + 1
    for row in range(len(op)):
        if op[row] >= _HISTORICALLY and op[row] != _UNTIL and op[row] != _SINCE:
            found += 1 + (lower[row] if upper[row] < 0 else upper[row])
    return found


@dataclass(frozen=True)
class Program:
    atoms: tuple[stl.Compare, ...]
    table: tuple[np.ndarray, ...]
    """Per operation: op, left, right, lower, upper (in the trace's unit of time), a bit for each needed quantity."""
    root: int
    trigger: int
    """-1 when the formula has no implication that could be vacuous."""
    seldom: bool | None
    """True where until, since or a window of the past occurs, else None: numba then leaves them out of the monitor."""


_SELDOM = (Op.HISTORICALLY, Op.ONCE, Op.HISTORICALLY_AFTER, Op.UNTIL, Op.SINCE)
_WINDOWS = {
    "always": Op.ALWAYS, "eventually": Op.EVENTUALLY, "historically": Op.HISTORICALLY, "once": Op.ONCE,
}  # fmt: skip
_STEPS = {
    "next": Op.NEXT, "s_next": Op.STRONG_NEXT, "prev": Op.PREVIOUS, "s_prev": Op.STRONG_PREVIOUS,
}  # fmt: skip


class _Compiler:
    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, float, float]] = []
        self.known: dict[tuple[int, int, int, float, float], int] = {}
        self.atoms: list[stl.Compare] = []

    def row(self, op: Op, left: int, right: int = -1, lower: float = 0.0, upper: float = math.inf) -> int:
        row = (int(op), left, right, lower, upper)
        if row not in self.known:
            self.known[row] = len(self.rows)
            self.rows.append(row)
        return self.known[row]

    def negation(self, node: int) -> int:
        return self.rows[node][1] if self.rows[node][0] == Op.NOT else self.row(Op.NOT, node)

    def condition(self, node: stl.Condition) -> int:
        match node:
            case stl.Truth(value):
                return self.row(Op.TRUTH, int(value))
            case stl.Compare():
                if node not in self.atoms:
                    self.atoms.append(node)
                return self.row(Op.ATOM, self.atoms.index(node))
            case stl.Not(body):
                return self.negation(self.condition(body))
            case stl.Connective(operator, left, right):
                return self.connective(operator, self.condition(left), self.condition(right))
            case stl.Window(operator, lower, upper, body):
                return self.row(_WINDOWS[operator], self.condition(body), -1, lower, upper)
            case stl.Reach():
                return self.reach(node)
            case stl.Step("rise", body):
                inner = self.condition(body)
                return self.row(Op.AND, self.negation(self.row(Op.STRONG_PREVIOUS, inner)), inner)
            case stl.Step("fall", body):
                inner = self.condition(body)
                return self.row(Op.AND, self.row(Op.PREVIOUS, inner), self.negation(inner))
            case stl.Step(operator, body):
                return self.row(_STEPS[operator], self.condition(body))
        raise TypeError(f"not a condition: {node!r}")

    def connective(self, operator: str, left: int, right: int) -> int:
        if operator == "and":
            return self.row(Op.AND, left, right)
        if operator == "or":
            return self.row(Op.OR, left, right)
        if operator == "implies":
            return self.row(Op.OR, self.negation(left), right)
        both = self.row(Op.AND, self.connective("implies", left, right), self.connective("implies", right, left))
        return both if operator == "iff" else self.negation(both)

    def reach(self, node: stl.Reach) -> int:
        left, right = self.condition(node.left), self.condition(node.right)
        future = node.operator == "until"
        window = Op.EVENTUALLY if future else Op.ONCE
        result = self.row(Op.UNTIL if future else Op.SINCE, left, right)
        if node.lower > 0:
            before = self.row(Op.ALWAYS_BEFORE if future else Op.HISTORICALLY_AFTER, left, -1, 0.0, node.lower)
            result = self.row(Op.AND, before, self.row(window, result, -1, node.lower, node.lower))
        if not math.isinf(node.upper):
            result = self.row(Op.AND, result, self.row(window, right, -1, node.lower, node.upper))
        return result

    def trigger(self, node: stl.Condition) -> int:
        """Compile the trigger of a condition; -1 where it is true."""
        match node:
            case stl.Connective("implies", left, right):
                first, second = self.condition(left), self.trigger(right)
                return first if second < 0 else self.row(Op.AND, first, second)
            case stl.Connective("and" | "or", left, right):
                first, second = self.trigger(left), self.trigger(right)
                return -1 if first < 0 or second < 0 else self.row(Op.OR, first, second)
            case stl.Window(operator, lower, upper, body):
                inner = self.trigger(body)
                window = Op.EVENTUALLY if operator in ("always", "eventually") else Op.ONCE
                return -1 if inner < 0 else self.row(window, inner, -1, lower, upper)
        return -1


def compile_formula(formula: stl.Formula) -> Program:
    """Return the program of a formula, made once per formula object."""
    program = formula.__dict__.get("_program")
    if program is None:
        program = _compile(formula.root)
        formula.__dict__["_program"] = program
    return program


def _compile(root: stl.Condition) -> Program:
    compiler = _Compiler()
    top = compiler.condition(root)
    trigger = compiler.trigger(root)
    rows = compiler.rows
    need = [0] * len(rows)
    need[top] = 0b111
    if trigger >= 0:
        need[trigger] |= 1 << TRUE_AT
    for index in reversed(range(len(rows))):
        op, left, right, _, _ = rows[index]
        if op in (Op.ATOM, Op.TRUTH):
            continue
        bits = need[index]
        if op == Op.NOT:
            bits = bits & 1 | (bits & 2) << 1 | (bits & 4) >> 1
        need[left] |= bits
        if right >= 0:
            need[right] |= bits
    kinds = (np.int64, np.int64, np.int64, np.float64, np.float64, np.int64)
    columns = [*zip(*rows, strict=True), need]
    table = tuple(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True))
    seldom = True if any(op in _SELDOM for op, *_ in rows) else None
    return Program(tuple(compiler.atoms), table, top, trigger, seldom)


def term_values(term: stl.Term, signals: dict[str, np.ndarray]) -> np.ndarray | float:
    """Compute a term at every sample; undefined values (square root of -1) are nan, which the caller checks."""
    match term:
        case stl.Signal(name):
            return signals[name]
        case stl.Number(value):
            return value
        case stl.Function(name, argument):
            return {"abs": np.abs, "sqrt": np.sqrt, "exp": np.exp}[name](term_values(argument, signals))
        case stl.Arithmetic(operator, left, right):
            function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "pow": np.power}[operator]
            return function(term_values(left, signals), term_values(right, signals))
    raise TypeError(f"not a term: {term!r}")


_COMPARE = {
    "<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


def atom_values(
    atoms: tuple[stl.Compare, ...], signals: dict[str, np.ndarray], n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute per atom and sample the margin of the comparison, and whether it holds (strict or not, as written)."""
    margins = np.empty((len(atoms), n))
    truths = np.empty((len(atoms), n), np.bool_)
    for i, atom in enumerate(atoms):
        with np.errstate(all="ignore"):
            left, right = term_values(atom.left, signals), term_values(atom.right, signals)
        _COMPARE[atom.operator](left, right, out=truths[i])
        if atom.operator in ("<=", "<"):
            np.subtract(right, left, out=margins[i])
        else:
            np.subtract(left, right, out=margins[i])
        if atom.operator in ("==", "!="):
            np.abs(margins[i], out=margins[i])
            if atom.operator == "==":
                np.negative(margins[i], out=margins[i])
    return margins, truths
