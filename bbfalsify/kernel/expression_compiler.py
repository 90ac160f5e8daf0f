"""Compile expressions, statements and functions of a network to bytecode (`bytecode.execute`).

Types are known, so every instruction works either on integers or on reals; conversions are inserted where an integer
meets a real.  Instructions that may fail at run time (ranges, array bounds, divisions, loops, calls, domains) carry the
number of a *site*, a readable place in the model.
"""

from __future__ import annotations

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import opcodes as op
from bbfalsify.kernel.expression_code import UNCHECKED, ExpressionCompiler
from bbfalsify.kernel.layout import *
from bbfalsify.modelling.network import expressions as ex


class Compiler(ExpressionCompiler):
    """Compiles whole codes: conditions, numbers, updates and functions."""

    def condition(self, expression: ex.Expression, place: str) -> int:
        """Compile to code that leaves 0 or 1 on the integer stack."""
        start = self._enter(place, expression, is_number=False)
        self._truth(expression)
        self._emit(op.HALT)
        return start

    def number(self, expression: ex.Expression, place: str) -> int:
        """Compile to code that leaves a real on the real stack, whatever the expression's kind."""
        start = self._enter(place, expression, is_number=True)
        self._real(expression)
        self._emit(op.HALT)
        return start

    def updates(self, statements: tuple[ex.Statement, ...], frame_size: int, place: str) -> int:
        if frame_size > TOP_FRAME:
            raise UserError(f"{place}: more than {TOP_FRAME} bound names in one update.")
        start = self._enter(place, statements, is_number=False)
        self._emit(op.PUSH_I, 0)  # HALT returns the top of the integer stack
        self._statements(statements)
        self._emit(op.HALT)
        return start

    def function(self, function: ex.Function) -> int:
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

    # --- statements --------------------------------------------------------------------------------------------------

    def _statements(self, statements: tuple[ex.Statement, ...]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, s: ex.Statement) -> None:
        if isinstance(s, ex.Assign):
            self._assign(s)
        elif isinstance(s, ex.If):
            self._truth(s.condition)
            jump = self._emit(op.JUMP_ZERO, 0)
            self._statements(s.then)
            end = self._emit(op.JUMP, 0)
            self._patch(jump)
            self._statements(s.otherwise)
            self._patch(end)
        elif isinstance(s, ex.While):
            top = self._here()
            self._truth(s.condition)
            leave = self._emit(op.JUMP_ZERO, 0)
            self._statements(s.body)
            self._emit(op.LOOP, top, self.site("a loop"))
            self._patch(leave)
        elif isinstance(s, ex.Return):
            if s.value is not None and self._result is not None:
                self._converted(s.value, self._result)
            self._emit(op.RETURN)
        elif isinstance(s, ex.Evaluate):
            e = s.expression
            result = self.network.functions[e.function].result if isinstance(e, ex.Call) else e.kind
            if isinstance(e, ex.Call):
                self._call(e)
            else:
                self._value(e)
            if result is not None:
                self._emit(op.DROP_R if result.is_real else op.DROP_I)
        else:
            raise TypeError(f"no such statement: {s!r}")

    def _assign(self, s: ex.Assign) -> None:
        target = s.target
        local = isinstance(target, ex.Bound)
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
