"""Write guards, updates, rates and functions of a model as Python source that numba compiles.

The bytecode of `expression_compiler` and this source are two forms of the same code: the same order of evaluation, the
same arithmetic, the same errors at the same sites, so that walks are bit-identical whichever form runs.  Sites are
numbered in the order in which `expression_compiler` makes them, from the first one of each code.

Instances of a template differ in constants and slots only.  Those are *operands*: a code becomes a text with numbered
gaps, codes with the same text share one function, which reads its operands from T; a text that occurs once has them
written into it.

Not written, and left to the bytecode: random draws, mathematical functions, recursion.  Code that reads reals is only
called where they are plain numbers (`MODE_FROZEN`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from bbfalsify.kernel import layout as at
from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
    Binary,
    Bound,
    Builtin,
    Call,
    Conditional,
    Constant,
    Evaluate,
    Expression,
    Function,
    If,
    Kind,
    Quantifier,
    Read,
    Return,
    Statement,
    Unary,
    While,
)
from bbfalsify.modelling.network.visit import children, expressions_of, subexpressions, substatements

_ORDER = {"<": "<", "<=": "<=", ">=": ">=", ">": ">", "==": "==", "!=": "!="}
_INTEGER = {"+": "+", "-": "-", "*": "*", "&": "&", "|": "|", "^": "^"}


class Unwritten(Exception):
    """A code has no source."""


@dataclass
class Body:
    """The text of a code or function, with gaps for its operands."""

    lines: list[str]
    operands: list[int | tuple[str, int]]
    """Values of the gaps; ("function", n): the place of that function's operands."""
    frozen_only: bool
    """It reads reals, which must be plain numbers."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass
class Writer:
    """Writes one code or function."""

    functions: FunctionTexts
    first_location: list[int]
    site: int
    """The next site."""
    first_site: int = 0
    failed: str = "return 0"
    result: Kind | None = None
    arrays: dict[tuple[bool, int], bool] = field(default_factory=dict)
    """(is real, slot) of the frame that are elements of local arrays and live in memory."""
    body: Body = field(default_factory=lambda: Body([], [], False))
    indent: int = 1
    temporaries: int = 0

    # --- text ---------------------------------------------------------------------------------------------------------

    def put(self, line: str) -> None:
        self.body.lines.append("    " * self.indent + line)

    def gap(self, value: int | tuple[str, int]) -> str:
        if isinstance(value, int) and not -(2**31) < value < 2**31:
            return str(value)
        self.body.operands.append(value)
        return f"⟦{len(self.body.operands) - 1}⟧"

    def kept(self, value: str) -> str:
        """Name a value: later statements may change what it was read from."""
        self.temporaries += 1
        self.put(f"t{self.temporaries} = {value}")
        return f"t{self.temporaries}"

    def next_site(self) -> str:
        self.site += 1
        return f"site + {self.site - 1 - self.first_site}"

    def fail(self, condition: str, error: int, site: str, value: str) -> None:
        self.put(f"if {condition}:")
        for place, what in ((at.S_ERROR, str(error)), (at.S_SITE, site), (at.S_ERROR_VALUE, value)):
            self.put(f"    S[{place}] = {what}")
        self.put(f"    {self.failed}")

    def count_loop(self, site: str) -> None:
        if not self.functions.counted:
            return
        self.put(f"S[{at.S_LOOPS}] += 1")
        self.fail(f"S[{at.S_LOOPS}] > {at.LOOP_LIMIT}", at.ERROR_LOOP, site, str(at.LOOP_LIMIT))

    # --- expressions --------------------------------------------------------------------------------------------------

    def truth(self, e: Expression) -> str:
        if e.kind.is_real:
            value = self.real(e)
            return self.kept(f"1 if {value} < 0.0 or {value} > 0.0 else 0")
        value = self.integer(e)
        return value if e.kind == Kind.BOOL else self.kept(f"1 if {value} != 0 else 0")

    def converted(self, e: Expression, kind: Kind) -> str:
        return self.real(e) if kind.is_real else self.truth(e) if kind == Kind.BOOL else self.integer(e)

    def element(self, e: Read | Bound) -> str:
        """Evaluate the index of an element and check it."""
        assert e.index is not None
        index = self.integer(e.index)
        self.fail(f"{index} < 0 or {index} >= {self.gap(e.size)}", at.ERROR_INDEX, self.next_site(), index)
        return index

    def place(self, e: Read | Bound, index: str | None) -> str:
        """The name or memory of a variable; the index is checked."""
        offset = "" if index is None else f" + {index}"
        if isinstance(e, Read):
            slot = f"{self.gap(e.slot)}{offset}"
            return f"X[clocks + 3 * ({slot})]" if e.kind.is_real else f"S[ints + {slot}]"
        if (e.kind.is_real, e.slot) not in self.arrays:
            return f"{'r' if e.kind.is_real else 'i'}{e.slot}"
        slot = f"frame + {e.slot}{offset}"
        return f"X[T[{at.H_X_FRAME}] + 3 * ({slot})]" if e.kind.is_real else f"S[T[{at.H_S_FRAME}] + {slot}]"

    def load(self, e: Read | Bound) -> str:
        index = None if e.index is None else self.element(e)
        if isinstance(e, Bound) or not e.kind.is_real:
            return self.kept(self.place(e, index))
        self.body.frozen_only = True
        clock = self.kept(f"clocks + 3 * ({self.gap(e.slot)}{'' if index is None else f' + {index}'})")
        return self.kept(
            f"X[{clock}] if X[{clock} + 2] == 0.0 else X[{clock}] + X[{clock} + 2] * (X[{at.X_NOW}] - X[{clock} + 1])"
        )

    def integer(self, e: Expression) -> str:
        if e.kind.is_real:
            return self.truncated(self.real(e))
        match e:
            case Constant(value=value):
                return self.gap(int(value))
            case Read() | Bound():
                return self.load(e)
            case Unary(operator="!", operand=operand):
                return self.kept(f"1 if {self.truth(operand)} == 0 else 0")
            case Unary(operator=operator, operand=operand):
                return self.kept(f"{operator}({self.integer(operand)})")
            case Binary():
                return self.integer_binary(e)
            case Builtin(name="fint", arguments=(argument,)):
                return self.truncated(self.real(argument))
            case Builtin(name="abs", arguments=(argument,)):
                return self.kept(f"abs({self.integer(argument)})")
            case Builtin(name=("min" | "max") as name, arguments=(left, right)):
                a, b = self.integer(left), self.integer(right)
                return self.kept(f"{name}({a}, {b})")
            case AtLocation(process=process, location=location):
                here = self.gap(self.first_location[process] + location)
                return self.kept(f"1 if S[locs + {self.gap(process)}] == {here} else 0")
        return self.shared(e, real=False)

    def truncated(self, value: str) -> str:
        site = self.next_site()
        result = self.kept("0")
        self.put(f"if {value} != {value}:")
        self.put(f"    S[{at.S_TAINT}] = 1")
        self.put("else:")
        self.indent += 1
        self.fail(f"abs({value}) >= 9.2e18", at.ERROR_DOMAIN, site, "0")
        self.put(f"{result} = int({value})")
        self.indent -= 1
        return result

    def integer_binary(self, e: Binary) -> str:
        name = e.operator
        if name in ("&&", "||", "imply"):
            left = self.truth(e.left)
            result = self.kept("0" if name == "&&" else "1")
            self.put(f"if {left} {'==' if name == '||' else '!='} 0:")
            self.indent += 1
            self.put(f"{result} = {self.truth(e.right)}")
            self.indent -= 1
            return result
        if name in _ORDER:
            if e.left.kind.is_real or e.right.kind.is_real:
                a, b = self.real(e.left), self.real(e.right)
                self.put(f"if {a} != {a} or {b} != {b}:")
                self.put(f"    S[{at.S_TAINT}] = 1")
                order = f"(-1 if {a} < {b} else (1 if {a} > {b} else 0))"  # as the bytecode: NaN equals everything
                return self.kept(f"1 if {order} {name} 0 else 0")
            a, b = self.integer(e.left), self.integer(e.right)
            return self.kept(f"1 if {a} {name} {b} else 0")
        a, b = self.integer(e.left), self.integer(e.right)
        if name in ("/", "%"):
            self.fail(f"{b} == 0", at.ERROR_DIVISION, self.next_site(), "0")
            quotient = self.kept(f"abs({a}) // abs({b})")
            self.put(f"if ({a} < 0) != ({b} < 0):")
            self.put(f"    {quotient} = -{quotient}")
            return quotient if name == "/" else self.kept(f"{a} - {b} * {quotient}")
        if name in ("<<", ">>"):
            return self.kept(f"{a} {name} ({b} & 63)")
        return self.kept(f"({a}) {_INTEGER[name]} ({b})")

    def real(self, e: Expression) -> str:
        if isinstance(e, Constant):
            return self.kept(f"F[{self.gap(self.functions.constants[float(e.value)])}]")
        if not e.kind.is_real:
            return self.kept(f"float({self.integer(e)})")
        match e:
            case Read() | Bound():
                return self.load(e)
            case Unary(operand=operand):
                return self.kept(f"-({self.real(operand)})")
            case Binary(operator="%") | Builtin(name="fint"):
                raise Unwritten
            case Binary(operator=operator, left=left, right=right):
                a, b = self.real(left), self.real(right)
                if operator == "/":
                    self.fail(f"{b} == 0.0", at.ERROR_DIVISION, self.next_site(), "0")
                return self.kept(f"({a}) {operator} ({b})")
            case Builtin(name="abs", arguments=(argument,)):
                value = self.real(argument)
                return self.kept(f"-({value}) if {value} < 0.0 else {value}")
            case Builtin(name=("min" | "max") as name, arguments=(left, right)):
                a, b = self.real(left), self.real(right)
                return self.kept(f"{b} if {a} {'>' if name == 'min' else '<'} {b} else {a}")
        return self.shared(e, real=True)

    def shared(self, e: Expression, *, real: bool) -> str:
        """Write conditionals, calls and quantifiers, which work alike for both kinds."""
        as_kind = self.real if real else self.integer
        match e:
            case Conditional(condition=condition, then=then, otherwise=otherwise):
                holds = self.truth(condition)
                result = self.kept("0.0" if real else "0")
                for test, part in ((f"if {holds} != 0:", then), ("else:", otherwise)):
                    self.put(test)
                    self.indent += 1
                    self.put(f"{result} = {as_kind(part)}")
                    self.indent -= 1
                return result
            case Call():
                return self.call(e)
            case Quantifier():
                return self.quantifier(e, real=real)
        raise Unwritten

    def call(self, e: Call) -> str:
        function = self.functions.all[e.function]
        name, body = self.functions.written(e.function)
        self.body.frozen_only |= body.frozen_only
        arguments = [self.converted(a, kind) for a, kind in zip(e.arguments, function.parameters, strict=True)]
        self.next_site()
        operands, site = self.gap(("function", e.function)), self.gap(self.functions.first_sites[e.function])
        values = "".join(f", {argument}" for argument in arguments)
        result = self.kept(f"{name}(T, F, S, X, R, {operands}, {site}, mode, inner{values})")
        self.put(f"if S[{at.S_ERROR}] != 0:")
        self.put(f"    {self.failed}")
        return result

    def quantifier(self, e: Quantifier, *, real: bool) -> str:
        variable = self.place(Bound(e.slot, Kind.INT), None)
        self.put(f"{variable} = {self.gap(e.low)}")
        result = self.kept("0.0" if real else "1" if e.name == "forall" else "0")
        self.put("while True:")
        self.indent += 1
        self.put(f"if {variable} > {self.gap(e.high)}:")
        self.put("    break")
        if e.name == "sum":
            self.put(f"{result} = {result} + ({(self.real if real else self.integer)(e.body)})")
        else:
            self.put(f"if {self.truth(e.body)} {'==' if e.name == 'forall' else '!='} 0:")
            self.put(f"    {result} = {0 if e.name == 'forall' else 1}")
            self.put("    break")
        self.put(f"{variable} = {variable} + 1")
        self.count_loop(self.next_site())
        self.indent -= 1
        return result

    # --- statements ---------------------------------------------------------------------------------------------------

    def statements(self, statements: tuple[Statement, ...]) -> None:
        for s in statements:
            match s:
                case Assign():
                    self.assign(s)
                case If(condition=condition, then=then, otherwise=otherwise):
                    self.put(f"if {self.truth(condition)} != 0:")
                    self.block(then)
                    self.put("else:")
                    self.block(otherwise)
                case While(condition=condition, body=body):
                    self.put("while True:")
                    self.indent += 1
                    self.put(f"if {self.truth(condition)} == 0:")
                    self.put("    break")
                    self.statements(body)
                    self.count_loop(self.next_site())
                    self.indent -= 1
                case Return(value=value):
                    returns = value is not None and self.result is not None
                    self.put(f"return {self.converted(value, self.result) if returns else 0}")  # type: ignore[arg-type]
                case Evaluate(expression=Call() as call):
                    self.call(call)
                case Evaluate(expression=expression):
                    self.converted(expression, expression.kind)

    def block(self, statements: tuple[Statement, ...]) -> None:
        self.indent += 1
        self.put("pass")
        self.statements(statements)
        self.indent -= 1

    def assign(self, s: Assign) -> None:
        target = s.target
        index = None if target.index is None else self.integer(target.index)
        value = self.converted(s.value, target.kind)
        site = self.next_site() if not target.kind.is_real or index is not None else ""
        if index is not None:
            self.fail(f"{index} < 0 or {index} >= {self.gap(target.size)}", at.ERROR_INDEX, site, index)
        if target.kind.is_real:
            self.store_real(target, index, value)
            return
        if s.low is not None and s.high is not None and s.low <= s.high:
            low, high = self.gap(s.low), self.gap(s.high)
            self.fail(f"{value} < {low} or {value} > {high}", at.ERROR_RANGE, site, value)
        self.put(f"{self.place(target, index)} = {value}")

    def store_real(self, target: Read | Bound, index: str | None, value: str) -> None:
        if isinstance(target, Bound):
            self.put(f"{self.place(target, index)} = {value}")
            return
        slot = self.kept(f"{self.gap(target.slot)}{'' if index is None else f' + {index}'}")
        self.put(f"if mode == {at.MODE_NUMERIC}:")
        self.put(f"    X[T[{at.H_X_VALUES}] + {slot}] = {value}")
        self.put("else:")
        self.put(f"    X[clocks + 3 * {slot}] = {value}")
        self.put(f"    if mode == {at.MODE_FROZEN}:")
        self.put(f"        X[clocks + 3 * {slot} + 1] = X[{at.X_NOW}]")
        self.put("    else:")
        self.put(f"        X[clocks + 3 * {slot} + 1] = 0.0")
        self.put(f"        X[clocks + 3 * {slot} + 2] = 0.0")


class FunctionTexts:
    """The functions of a network, written when they are first called."""

    def __init__(
        self,
        functions: tuple[Function, ...],
        first_sites: list[int],
        first_location: list[int],
        constants: dict[float, int],
    ) -> None:
        self.all = functions
        self.counted = True
        """Turns of loops are counted, because some loop may not end."""
        self.constants = constants
        """Places of the real constants in F."""
        self.first_sites = first_sites
        self.first_location = first_location
        self.bodies: dict[int, Body] = {}
        self.names: dict[str, str] = {}
        """Text → name of the function that it becomes."""
        self._depth: dict[int, int] = {}
        self._writing: set[int] = set()

    def written(self, number: int) -> tuple[str, Body]:
        if number not in self.bodies:
            if number in self._writing:
                raise Unwritten
            self._writing.add(number)
            self.bodies[number] = self._write(number)
            self._writing.discard(number)
        body = self.bodies[number]
        return self.names.setdefault(body.text, f"f{len(self.names)}"), body

    def _write(self, number: int) -> Body:
        function = self.all[number]
        real = function.result is not None and function.result.is_real
        first = self.first_sites[number]
        writer = Writer(
            self, self.first_location, first, first, "return 0.0" if real else "return 0", function.result,
            _array_slots(function.body),
        )  # fmt: skip
        parameters = [f"{'r' if kind.is_real else 'i'}{slot}" for slot, kind in enumerate(function.parameters)]
        writer.put("|".join(parameters))  # the head, made into one when the text is
        writer.put(f"inner = frame + {function.frame_size}")
        _begin_locals(writer, function, len(parameters))
        writer.statements(function.body)
        writer.put("return 0.0" if real else "return 0")
        self._depth[number] = 1 + max((self._depth[c] for c in _called(function.body)), default=0)
        frames = function.frame_size + sum(sorted((f.frame_size for f in self.all), reverse=True)[: at.CALL_DEPTH])
        if self._depth[number] >= at.CALL_DEPTH or at.TOP_FRAME + frames > at.FRAME_SIZE:
            raise Unwritten  # the bytecode may fail here
        return writer.body


def turns(content: Expression | tuple[Statement, ...] | None, functions: tuple[Function, ...]) -> float:
    """Most turns of loops in an expression or in statements, calls included; infinite if a loop may not end."""
    if content is None:
        return 0
    if not isinstance(content, tuple):
        inner = sum(turns(child, functions) for child in children(content))
        if isinstance(content, Quantifier):
            return (content.high - content.low + 1) * (1 + inner)
        if isinstance(content, Call):
            return inner + turns(functions[content.function].body, functions)
        return inner
    total = 0.0
    for place, s in enumerate(content):
        match s:
            case While(condition=condition, body=body):
                before = content[place - 1] if place else None
                each = 1 + turns(condition, functions) + turns(body, functions)
                total += _range_size(before, s) * each
            case If(condition=condition, then=then, otherwise=otherwise):
                total += turns(condition, functions) + turns(then, functions) + turns(otherwise, functions)
            case _:
                total += sum(turns(e, functions) for e in expressions_of((s,)))
    return total


def _range_size(before: Statement | None, loop: While) -> float:
    """Number of turns of `for (i : int[low, high])`; infinite for other loops."""
    match before, loop:
        case (
            Assign(target=Bound(slot=slot, index=None), value=Constant(value=low)),
            While(condition=Binary(operator="<=", left=Bound(slot=same), right=Constant(value=high)), body=body),
        ) if slot == same and body:
            match body[-1]:
                case Assign(
                    target=Bound(slot=stepped, index=None),
                    value=Binary(operator="+", left=Bound(slot=old), right=Constant(value=1)),
                ) if stepped == old == slot:
                    targets = [s.target for s in substatements(body[:-1]) if isinstance(s, Assign)]
                    written = [t for t in targets if isinstance(t, Bound) and not t.kind.is_real]
                    if all(not t.slot <= slot < t.slot + t.size for t in written):
                        return max(0, int(high) - int(low) + 1)
    return math.inf


def _called(statements: tuple[Statement, ...]) -> set[int]:
    return {
        part.function for e in expressions_of(statements) for part in subexpressions(e) if isinstance(part, Call)
    }  # fmt: skip


def _bounds(statements: tuple[Statement, ...]) -> list[Bound]:
    found = [p for e in expressions_of(statements) for p in subexpressions(e) if isinstance(p, Bound)]
    found += [s.target for s in substatements(statements) if isinstance(s, Assign) and isinstance(s.target, Bound)]
    return found


def _array_slots(statements: tuple[Statement, ...]) -> dict[tuple[bool, int], bool]:
    return {
        (bound.kind.is_real, bound.slot + i): True
        for bound in _bounds(statements) if bound.index is not None
        for i in range(bound.size)
    }  # fmt: skip


def _begin_locals(writer: Writer, function: Function, parameters: int) -> None:
    """Begin all locals with 0, as the bytecode does at each call."""
    arrays = writer.arrays
    for real, slot in sorted(arrays):
        place = writer.place(Bound(slot, Kind.DOUBLE if real else Kind.INT), None)
        own = f"{'r' if real else 'i'}{slot}"
        given = slot < parameters and function.parameters[slot].is_real == real
        writer.put(f"{place} = {own if given else 0}")
    plain = {(b.kind.is_real, b.slot) for b in _bounds(function.body)} - set(arrays)
    for real, slot in sorted(plain):
        if slot >= parameters or function.parameters[slot].is_real != real:
            writer.put(f"{'r' if real else 'i'}{slot} = {'0.0' if real else '0'}")
