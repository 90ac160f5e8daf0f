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

from dataclasses import dataclass, field
from typing import Protocol

from bbfalsify.kernel import layout as at
from bbfalsify.modelling.network import expressions as ex

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


class Functions(Protocol):
    """The functions of a network, as a writer asks for them."""

    all: tuple[ex.Function, ...]
    counted: bool
    """Turns of loops are counted, because some loop may not end."""
    constants: dict[float, int]
    """Places of the real constants in F."""
    first_sites: list[int]

    def written(self, number: int) -> tuple[str, Body]:
        """Name and text of a function."""


@dataclass
class ExpressionWriter:
    """Writes expressions into the text of one code or function."""

    functions: Functions
    first_location: list[int]
    site: int
    """The next site."""
    first_site: int = 0
    failed: str = "return 0"
    result: ex.Kind | None = None
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

    def truth(self, e: ex.Expression) -> str:
        if e.kind.is_real:
            value = self.real(e)
            return self.kept(f"1 if {value} < 0.0 or {value} > 0.0 else 0")
        value = self.integer(e)
        return value if e.kind == ex.Kind.BOOL else self.kept(f"1 if {value} != 0 else 0")

    def converted(self, e: ex.Expression, kind: ex.Kind) -> str:
        return self.real(e) if kind.is_real else self.truth(e) if kind == ex.Kind.BOOL else self.integer(e)

    def element(self, e: ex.Read | ex.Bound) -> str:
        """Evaluate the index of an element and check it."""
        assert e.index is not None
        index = self.integer(e.index)
        self.fail(f"{index} < 0 or {index} >= {self.gap(e.size)}", at.ERROR_INDEX, self.next_site(), index)
        return index

    def place(self, e: ex.Read | ex.Bound, index: str | None) -> str:
        """The name or memory of a variable; the index is checked."""
        offset = "" if index is None else f" + {index}"
        if isinstance(e, ex.Read):
            slot = f"{self.gap(e.slot)}{offset}"
            return f"X[clocks + 3 * ({slot})]" if e.kind.is_real else f"S[ints + {slot}]"
        if (e.kind.is_real, e.slot) not in self.arrays:
            return f"{'r' if e.kind.is_real else 'i'}{e.slot}"
        slot = f"frame + {e.slot}{offset}"
        return f"X[T[{at.H_X_FRAME}] + 3 * ({slot})]" if e.kind.is_real else f"S[T[{at.H_S_FRAME}] + {slot}]"

    def load(self, e: ex.Read | ex.Bound) -> str:
        index = None if e.index is None else self.element(e)
        if isinstance(e, ex.Bound) or not e.kind.is_real:
            return self.kept(self.place(e, index))
        self.body.frozen_only = True
        clock = self.kept(f"clocks + 3 * ({self.gap(e.slot)}{'' if index is None else f' + {index}'})")
        return self.kept(
            f"X[{clock}] if X[{clock} + 2] == 0.0 else X[{clock}] + X[{clock} + 2] * (X[{at.X_NOW}] - X[{clock} + 1])"
        )

    def integer(self, e: ex.Expression) -> str:
        if e.kind.is_real:
            return self.truncated(self.real(e))
        match e:
            case ex.Constant(value=value):
                return self.gap(int(value))
            case ex.Read() | ex.Bound():
                return self.load(e)
            case ex.Unary(operator="!", operand=operand):
                return self.kept(f"1 if {self.truth(operand)} == 0 else 0")
            case ex.Unary(operator=operator, operand=operand):
                return self.kept(f"{operator}({self.integer(operand)})")
            case ex.Binary():
                return self.integer_binary(e)
            case ex.Builtin(name="fint", arguments=(argument,)):
                return self.truncated(self.real(argument))
            case ex.Builtin(name="abs", arguments=(argument,)):
                return self.kept(f"abs({self.integer(argument)})")
            case ex.Builtin(name=("min" | "max") as name, arguments=(left, right)):
                a, b = self.integer(left), self.integer(right)
                return self.kept(f"{name}({a}, {b})")
            case ex.AtLocation(process=process, location=location):
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

    def integer_binary(self, e: ex.Binary) -> str:
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

    def real(self, e: ex.Expression) -> str:
        if isinstance(e, ex.Constant):
            return self.kept(f"F[{self.gap(self.functions.constants[float(e.value)])}]")
        if not e.kind.is_real:
            return self.kept(f"float({self.integer(e)})")
        match e:
            case ex.Read() | ex.Bound():
                return self.load(e)
            case ex.Unary(operand=operand):
                return self.kept(f"-({self.real(operand)})")
            case ex.Binary(operator="%") | ex.Builtin(name="fint"):
                raise Unwritten
            case ex.Binary(operator=operator, left=left, right=right):
                a, b = self.real(left), self.real(right)
                if operator == "/":
                    self.fail(f"{b} == 0.0", at.ERROR_DIVISION, self.next_site(), "0")
                return self.kept(f"({a}) {operator} ({b})")
            case ex.Builtin(name="abs", arguments=(argument,)):
                value = self.real(argument)
                return self.kept(f"-({value}) if {value} < 0.0 else {value}")
            case ex.Builtin(name=("min" | "max") as name, arguments=(left, right)):
                a, b = self.real(left), self.real(right)
                return self.kept(f"{b} if {a} {'>' if name == 'min' else '<'} {b} else {a}")
        return self.shared(e, real=True)

    def shared(self, e: ex.Expression, *, real: bool) -> str:
        """Write conditionals, calls and quantifiers, which work alike for both kinds."""
        as_kind = self.real if real else self.integer
        match e:
            case ex.Conditional(condition=condition, then=then, otherwise=otherwise):
                holds = self.truth(condition)
                result = self.kept("0.0" if real else "0")
                for test, part in ((f"if {holds} != 0:", then), ("else:", otherwise)):
                    self.put(test)
                    self.indent += 1
                    self.put(f"{result} = {as_kind(part)}")
                    self.indent -= 1
                return result
            case ex.Call():
                return self.call(e)
            case ex.Quantifier():
                return self.quantifier(e, real=real)
        raise Unwritten

    def call(self, e: ex.Call) -> str:
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

    def quantifier(self, e: ex.Quantifier, *, real: bool) -> str:
        variable = self.place(ex.Bound(e.slot, ex.Kind.INT), None)
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
