"""Compile expressions to bytecode: every kind of expression leaves its value on one of the two stacks."""

from __future__ import annotations

from bbfalsify.kernel import opcodes as op
from bbfalsify.kernel.code_builder import CodeBuilder
from bbfalsify.kernel.layout import *
from bbfalsify.modelling.network import expressions as ex

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


class ExpressionCompiler(CodeBuilder):
    def _value(self, e: ex.Expression) -> None:
        """Leave the value on the stack of its own kind."""
        if e.kind.is_real:
            self._real(e)
        else:
            self._integer(e)

    def _converted(self, e: ex.Expression, kind: ex.Kind) -> None:
        """Leave the value converted to a kind."""
        if kind.is_real:
            self._real(e)
        elif kind == ex.Kind.BOOL:
            self._truth(e)
        else:
            self._integer(e)

    def _load(self, e: ex.Read | ex.Bound) -> None:
        local = isinstance(e, ex.Bound)
        scalar, element = _LOADS[local, e.kind.is_real]
        if e.index is None:
            self._emit(scalar, e.slot)
        else:
            self._integer(e.index)
            name = "a local array" if local else f"array {self._name(e.slot, e.kind)}"
            self._emit(element, e.slot, e.size, self.site(name))

    def _truth(self, e: ex.Expression) -> None:
        if e.kind.is_real:
            self._real(e)
            self._emit(op.TO_TRUTH)
        else:
            self._integer(e)
            if e.kind != ex.Kind.BOOL:
                self._emit(op.TRUTH)

    def _push_integer(self, value: int) -> None:
        if -(2**31) < value < 2**31:
            self._emit(op.PUSH_I, value)
        else:
            self._emit(op.PUSH_LONG, value >> 31, value & (2**31 - 1))

    def _integer(self, e: ex.Expression) -> None:
        if e.kind.is_real:
            self._real(e)
            self._emit(op.TO_INTEGER, self.site("a real that no integer can hold"))
        elif isinstance(e, ex.Constant):
            self._push_integer(int(e.value))
        elif isinstance(e, ex.Read | ex.Bound):
            self._load(e)
        elif isinstance(e, ex.Unary):
            if e.operator == "!":
                self._truth(e.operand)
                self._emit(op.NOT)
            else:
                self._integer(e.operand)
                self._emit(op.NEGATE_I if e.operator == "-" else op.INVERT)
        elif isinstance(e, ex.Binary):
            self._integer_binary(e)
        elif isinstance(e, ex.Builtin):
            self._integer_builtin(e)
        elif isinstance(e, ex.AtLocation):
            self._emit(op.AT_LOCATION, e.process, self.first_location[e.process] + e.location)
        else:
            self._shared(e, real=False)

    def _integer_binary(self, e: ex.Binary) -> None:
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

    def _integer_builtin(self, e: ex.Builtin) -> None:
        if e.name == "fint":
            self._real(e.arguments[0])
            self._emit(op.TO_INTEGER, self.site("fint"))
            return
        for argument in e.arguments:
            self._integer(argument)
        self._emit({"abs": op.ABSOLUTE_I, "min": op.MINIMUM_I, "max": op.MAXIMUM_I}[e.name])

    def _real(self, e: ex.Expression) -> None:
        if isinstance(e, ex.Constant):
            self._emit(op.PUSH_R, self.constant(e.value))
        elif not e.kind.is_real:
            self._integer(e)
            self._emit(op.TO_REAL)
        elif isinstance(e, ex.Read | ex.Bound):
            self._load(e)
        elif isinstance(e, ex.Unary):
            self._real(e.operand)
            self._emit(op.NEGATE_R)
        elif isinstance(e, ex.Binary):
            self._real(e.left)
            self._real(e.right)
            if e.operator == "/":
                self._emit(op.DIVIDE_R, self.site("division by zero"))
            elif e.operator == "%":
                self._emit(op.MATH, op.MATH_FMOD, self.site("%"))
            else:
                self._emit(_REAL_BINARY[e.operator])
        elif isinstance(e, ex.Builtin):
            for argument in e.arguments:
                self._real(argument)
            simple = {"abs": op.ABSOLUTE_R, "min": op.MINIMUM_R, "max": op.MAXIMUM_R}
            if e.name in simple:
                self._emit(simple[e.name])
            else:
                self._emit(op.MATH, _MATH[e.name], self.site(e.name))
        elif isinstance(e, ex.Random):
            for argument in e.arguments:
                self._real(argument)
            self._emit(op.RANDOM, _DRAWS[e.name])
        else:
            self._shared(e, real=True)

    def _shared(self, e: ex.Expression, *, real: bool) -> None:
        """Compile conditionals, calls and quantifiers, which work alike for both kinds."""
        as_kind = self._real if real else self._integer
        if isinstance(e, ex.Conditional):
            self._truth(e.condition)
            jump = self._emit(op.JUMP_ZERO, 0)
            as_kind(e.then)
            end = self._emit(op.JUMP, 0)
            self._patch(jump)
            as_kind(e.otherwise)
            self._patch(end)
        elif isinstance(e, ex.Call):
            self._call(e)
        elif isinstance(e, ex.Quantifier):
            self._quantifier(e, real=real)
        else:
            raise TypeError(f"no such expression: {e!r}")

    def _call(self, e: ex.Call) -> None:
        function = self.network.functions[e.function]
        kinds = 0
        for i, (argument, kind) in enumerate(zip(e.arguments, function.parameters, strict=True)):
            kinds |= int(kind.is_real) << i
            self._converted(argument, kind)
        self._emit(op.CALL, e.function, len(e.arguments), 0, kinds, self.site(f"function {function.name}"))

    def _quantifier(self, e: ex.Quantifier, *, real: bool) -> None:
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
