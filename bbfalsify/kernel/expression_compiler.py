"""Compile expressions, statements and functions of a network to bytecode (`bytecode.execute`).

Types are known, so every instruction works either on integers or on reals; conversions are inserted where an integer
meets a real.  Instructions that may fail at run time (ranges, array bounds, divisions, loops, calls, domains) carry the
number of a *site*, a readable place in the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import bytecode as op
from bbfalsify.kernel.layout import *
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
    Random,
    Read,
    Return,
    Statement,
    Unary,
    While,
)
from bbfalsify.modelling.network.network import Network

COMPARISONS = {
    "<": LESS, "<=": LESS_EQUAL, ">=": GREATER_EQUAL, ">": GREATER, "==": EQUAL, "!=": NOT_EQUAL,
}  # fmt: skip
_INTEGER_BINARY = {
    "+": op.ADD_I, "-": op.SUBTRACT_I, "*": op.MULTIPLY_I, "&": op.BIT_AND, "|": op.BIT_OR, "^": op.BIT_XOR,
    "<<": op.SHIFT_LEFT, ">>": op.SHIFT_RIGHT,
}  # fmt: skip
_REAL_BINARY = {"+": op.ADD_R, "-": op.SUBTRACT_R, "*": op.MULTIPLY_R}
_MATH = {
    "sqrt": op.MATH_SQRT, "exp": op.MATH_EXP, "ln": op.MATH_LN, "log": op.MATH_LOG, "sin": op.MATH_SIN,
    "cos": op.MATH_COS, "tan": op.MATH_TAN, "asin": op.MATH_ASIN, "acos": op.MATH_ACOS, "atan": op.MATH_ATAN,
    "floor": op.MATH_FLOOR, "ceil": op.MATH_CEIL, "atan2": op.MATH_ATAN2, "pow": op.MATH_POW, "fmod": op.MATH_FMOD,
}  # fmt: skip
_DRAWS = {
    "random": op.DRAW_RANDOM, "random_uniform": op.DRAW_UNIFORM, "random_normal": op.DRAW_NORMAL,
    "random_exponential": op.DRAW_EXPONENTIAL,
}  # fmt: skip
_LOADS = {
    (False, False): (op.LOAD_I, op.LOAD_I_AT), (False, True): (op.LOAD_R, op.LOAD_R_AT),
    (True, False): (op.LOCAL_I, op.LOCAL_I_AT), (True, True): (op.LOCAL_R, op.LOCAL_R_AT),
}  # fmt: skip
"""(is local, is real) → instructions for a scalar and for an element."""
UNCHECKED = (1, 0)
"""A range that is not checked: its low end is above its high end."""


@dataclass(frozen=True, eq=False)
class Code:
    """A piece of code that the kernel executes, in the form from which it can be compiled to machine code, too."""

    start: int
    """Its place in T."""
    content: Expression | tuple[Statement, ...]
    is_number: bool
    """It leaves a real; else a condition or updates."""
    first_site: int


class Compiler:
    """The collection of all code of a model; addresses are places in T, where the code follows the header."""

    def __init__(self, network: Network, first_address: int = HEADER_SIZE) -> None:
        self.network = network
        self.first_address = first_address
        self.code: list[int] = []
        self.constants: list[float] = []
        self.sites: list[str] = []
        self.codes: list[Code] = []
        self.function_sites: list[int] = []
        """Number of the first site of each function."""
        self._constant_index: dict[tuple[float, str], int] = {}
        self.place = ""
        self._result: Kind | None = None
        self._names: dict[tuple[bool, int], str] = {}
        self.first_location: list[int] = []
        total = 0
        for process in network.processes:
            self.first_location.append(total)
            total += len(process.locations)

    # --- entry points ------------------------------------------------------------------------------------------------

    def condition(self, expression: Expression, place: str) -> int:
        """Compile to code that leaves 0 or 1 on the integer stack."""
        start = self._enter(place, expression, is_number=False)
        self._truth(expression)
        self._emit(op.HALT)
        return start

    def number(self, expression: Expression, place: str) -> int:
        """Compile to code that leaves a real on the real stack, whatever the expression's kind."""
        start = self._enter(place, expression, is_number=True)
        self._real(expression)
        self._emit(op.HALT)
        return start

    def updates(self, statements: tuple[Statement, ...], frame_size: int, place: str) -> int:
        if frame_size > TOP_FRAME:
            raise UserError(f"{place}: more than {TOP_FRAME} bound names in one update.")
        start = self._enter(place, statements, is_number=False)
        self._emit(op.PUSH_I, 0)  # HALT returns the top of the integer stack
        self._statements(statements)
        self._emit(op.HALT)
        return start

    def function(self, function: Function) -> int:
        start = self._begin(f"function {function.name}")
        self.function_sites.append(len(self.sites))
        self._result = function.result
        self._statements(function.body)
        if function.result is not None:  # a path without return gives 0
            if function.result.is_real:
                self._emit(op.PUSH_R, self.constant(0.0))
            else:
                self._emit(op.PUSH_I, 0)
        self._emit(op.RETURN)
        self._result = None
        return start

    def constant(self, value: Fraction | int | float) -> int:
        number = float(value)
        key = (number, str(number))
        if key not in self._constant_index:
            self._constant_index[key] = len(self.constants)
            self.constants.append(number)
        return self._constant_index[key]

    def site(self, text: str, line: int | None = None) -> int:
        where = f"{self.place}, line {line}" if line else self.place
        self.sites.append(f"{text} in {where}" if where else text)
        return len(self.sites) - 1

    # --- plumbing ----------------------------------------------------------------------------------------------------

    def _begin(self, place: str) -> int:
        self.place = place
        return self.first_address + len(self.code)

    def _enter(self, place: str, content: Expression | tuple[Statement, ...], *, is_number: bool) -> int:
        start = self._begin(place)
        self.codes.append(Code(start, content, is_number, len(self.sites)))
        self._emit(op.ENTER, -1, 0, 0)
        return start

    def _emit(self, *words: int) -> int:
        """Append an instruction; return the position of its last word (for patching jumps)."""
        self.code.extend(words)
        return len(self.code) - 1

    def _here(self) -> int:
        return self.first_address + len(self.code)

    def _patch(self, position: int) -> None:
        self.code[position] = self._here()

    def _name(self, slot: int, kind: Kind) -> str:
        if not self._names:
            for v in self.network.variables:
                self._names |= {(v.kind.is_real, v.slot + i): f"'{v.name}'" for i in range(v.size)}
        return self._names.get((kind.is_real, slot), f"slot {slot}")

    # --- expressions -------------------------------------------------------------------------------------------------

    def _value(self, e: Expression) -> None:
        """Leave the value on the stack of its own kind."""
        if e.kind.is_real:
            self._real(e)
        else:
            self._integer(e)

    def _converted(self, e: Expression, kind: Kind) -> None:
        """Leave the value converted to a kind."""
        if kind.is_real:
            self._real(e)
        elif kind == Kind.BOOL:
            self._truth(e)
        else:
            self._integer(e)

    def _load(self, e: Read | Bound) -> None:
        local = isinstance(e, Bound)
        scalar, element = _LOADS[local, e.kind.is_real]
        if e.index is None:
            self._emit(scalar, e.slot)
        else:
            self._integer(e.index)
            name = "a local array" if local else f"array {self._name(e.slot, e.kind)}"
            self._emit(element, e.slot, e.size, self.site(name))

    def _truth(self, e: Expression) -> None:
        if e.kind.is_real:
            self._real(e)
            self._emit(op.TO_TRUTH)
        else:
            self._integer(e)
            if e.kind != Kind.BOOL:
                self._emit(op.TRUTH)

    def _push_integer(self, value: int) -> None:
        if -(2**31) < value < 2**31:
            self._emit(op.PUSH_I, value)
        else:
            self._emit(op.PUSH_LONG, value >> 31, value & (2**31 - 1))

    def _integer(self, e: Expression) -> None:
        if e.kind.is_real:
            self._real(e)
            self._emit(op.TO_INTEGER, self.site("a real that no integer can hold"))
        elif isinstance(e, Constant):
            self._push_integer(int(e.value))
        elif isinstance(e, Read | Bound):
            self._load(e)
        elif isinstance(e, Unary):
            if e.operator == "!":
                self._truth(e.operand)
                self._emit(op.NOT)
            else:
                self._integer(e.operand)
                self._emit(op.NEGATE_I if e.operator == "-" else op.INVERT)
        elif isinstance(e, Binary):
            self._integer_binary(e)
        elif isinstance(e, Builtin):
            self._integer_builtin(e)
        elif isinstance(e, AtLocation):
            self._emit(op.AT_LOCATION, e.process, self.first_location[e.process] + e.location)
        else:
            self._shared(e, real=False)

    def _integer_binary(self, e: Binary) -> None:
        name = e.operator
        if name in ("&&", "||", "imply"):
            self._truth(e.left)
            if name == "||":
                self._emit(op.NOT)
            jump = self._emit(op.JUMP_ZERO, 0)
            self._truth(e.right)
            end = self._emit(op.JUMP, 0)
            self._patch(jump)
            self._emit(op.PUSH_I, 0 if name == "&&" else 1)
            self._patch(end)
        elif name in COMPARISONS:
            if e.left.kind.is_real or e.right.kind.is_real:
                self._real(e.left)
                self._real(e.right)
                self._emit(op.COMPARE_R, COMPARISONS[name])
            else:
                self._integer(e.left)
                self._integer(e.right)
                self._emit(op.COMPARE_I, COMPARISONS[name])
        else:
            self._integer(e.left)
            self._integer(e.right)
            if name in ("/", "%"):
                self._emit(op.DIVIDE_I if name == "/" else op.MODULO_I, self.site("division by zero"))
            else:
                self._emit(_INTEGER_BINARY[name])

    def _integer_builtin(self, e: Builtin) -> None:
        if e.name == "fint":
            self._real(e.arguments[0])
            self._emit(op.TO_INTEGER, self.site("fint"))
            return
        for argument in e.arguments:
            self._integer(argument)
        self._emit({"abs": op.ABSOLUTE_I, "min": op.MINIMUM_I, "max": op.MAXIMUM_I}[e.name])

    def _real(self, e: Expression) -> None:
        if isinstance(e, Constant):
            self._emit(op.PUSH_R, self.constant(e.value))
        elif not e.kind.is_real:
            self._integer(e)
            self._emit(op.TO_REAL)
        elif isinstance(e, Read | Bound):
            self._load(e)
        elif isinstance(e, Unary):
            self._real(e.operand)
            self._emit(op.NEGATE_R)
        elif isinstance(e, Binary):
            self._real(e.left)
            self._real(e.right)
            if e.operator == "/":
                self._emit(op.DIVIDE_R, self.site("division by zero"))
            elif e.operator == "%":
                self._emit(op.MATH, op.MATH_FMOD, self.site("%"))
            else:
                self._emit(_REAL_BINARY[e.operator])
        elif isinstance(e, Builtin):
            for argument in e.arguments:
                self._real(argument)
            simple = {"abs": op.ABSOLUTE_R, "min": op.MINIMUM_R, "max": op.MAXIMUM_R}
            if e.name in simple:
                self._emit(simple[e.name])
            else:
                self._emit(op.MATH, _MATH[e.name], self.site(e.name))
        elif isinstance(e, Random):
            for argument in e.arguments:
                self._real(argument)
            self._emit(op.RANDOM, _DRAWS[e.name])
        else:
            self._shared(e, real=True)

    def _shared(self, e: Expression, *, real: bool) -> None:
        """Compile conditionals, calls and quantifiers, which work alike for both kinds."""
        as_kind = self._real if real else self._integer
        if isinstance(e, Conditional):
            self._truth(e.condition)
            jump = self._emit(op.JUMP_ZERO, 0)
            as_kind(e.then)
            end = self._emit(op.JUMP, 0)
            self._patch(jump)
            as_kind(e.otherwise)
            self._patch(end)
        elif isinstance(e, Call):
            self._call(e)
        elif isinstance(e, Quantifier):
            self._quantifier(e, real=real)
        else:
            raise TypeError(f"no such expression: {e!r}")

    def _call(self, e: Call) -> None:
        function = self.network.functions[e.function]
        kinds = 0
        for i, (argument, kind) in enumerate(zip(e.arguments, function.parameters, strict=True)):
            kinds |= int(kind.is_real) << i
            self._converted(argument, kind)
        self._emit(op.CALL, e.function, len(e.arguments), 0, kinds, self.site(f"function {function.name}"))

    def _quantifier(self, e: Quantifier, *, real: bool) -> None:
        """Compile a loop, which forall and exists leave at the first witness."""
        self._push_integer(e.low)
        self._emit(op.STORE_LOCAL_I, e.slot, *UNCHECKED, 0)
        if real:
            self._emit(op.PUSH_R, self.constant(0))
        elif e.name == "sum":
            self._emit(op.PUSH_I, 0)
        top = self._here()
        self._emit(op.LOCAL_I, e.slot)
        self._push_integer(e.high)
        self._emit(op.COMPARE_I, LESS_EQUAL)
        leave = self._emit(op.JUMP_ZERO, 0)
        witness = -1
        if e.name == "sum":
            (self._real if real else self._integer)(e.body)
            self._emit(op.ADD_R if real else op.ADD_I)
        else:
            self._truth(e.body)
            if e.name == "exists":
                self._emit(op.NOT)
            witness = self._emit(op.JUMP_ZERO, 0)
        self._emit(op.LOCAL_I, e.slot)
        self._emit(op.PUSH_I, 1)
        self._emit(op.ADD_I)
        self._emit(op.STORE_LOCAL_I, e.slot, *UNCHECKED, 0)
        self._emit(op.LOOP, top, self.site(e.name))
        self._patch(leave)
        if e.name != "sum":
            self._emit(op.PUSH_I, 1 if e.name == "forall" else 0)
            end = self._emit(op.JUMP, 0)
            self._patch(witness)
            self._emit(op.PUSH_I, 0 if e.name == "forall" else 1)
            self._patch(end)

    # --- statements --------------------------------------------------------------------------------------------------

    def _statements(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, s: Statement) -> None:
        if isinstance(s, Assign):
            self._assign(s)
        elif isinstance(s, If):
            self._truth(s.condition)
            jump = self._emit(op.JUMP_ZERO, 0)
            self._statements(s.then)
            end = self._emit(op.JUMP, 0)
            self._patch(jump)
            self._statements(s.otherwise)
            self._patch(end)
        elif isinstance(s, While):
            top = self._here()
            self._truth(s.condition)
            leave = self._emit(op.JUMP_ZERO, 0)
            self._statements(s.body)
            self._emit(op.LOOP, top, self.site("a loop"))
            self._patch(leave)
        elif isinstance(s, Return):
            if s.value is not None and self._result is not None:
                self._converted(s.value, self._result)
            self._emit(op.RETURN)
        elif isinstance(s, Evaluate):
            e = s.expression
            result = self.network.functions[e.function].result if isinstance(e, Call) else e.kind
            if isinstance(e, Call):
                self._call(e)
            else:
                self._value(e)
            if result is not None:
                self._emit(op.DROP_R if result.is_real else op.DROP_I)
        else:
            raise TypeError(f"no such statement: {s!r}")

    def _assign(self, s: Assign) -> None:
        target = s.target
        local = isinstance(target, Bound)
        name = s.name or ("a local variable" if local else self._name(target.slot, target.kind))
        if target.index is not None:
            self._integer(target.index)
        self._converted(s.value, target.kind)
        if target.kind.is_real:
            if target.index is None:
                self._emit(op.STORE_LOCAL_R if local else op.STORE_R, target.slot)
            else:
                site = self.site(f"array {name}", s.line)
                self._emit(op.STORE_LOCAL_R_AT if local else op.STORE_R_AT, target.slot, target.size, site)
            return
        low, high = UNCHECKED if s.low is None or s.high is None else (s.low, s.high)
        ranged = f"variable {name} with range [{low}, {high}]" if low <= high else f"variable {name}"
        site = self.site(s.name or ranged, s.line)
        if target.index is None:
            self._emit(op.STORE_LOCAL_I if local else op.STORE_I, target.slot, low, high, site)
        else:
            self._emit(op.STORE_LOCAL_I_AT if local else op.STORE_I_AT, target.slot, target.size, low, high, site)
