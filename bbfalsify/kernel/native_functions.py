"""Write statements, and functions with their locals, as Python source that numba compiles (`native_source`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.native_source import Body, ExpressionWriter, Unwritten
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.visit import expressions_of, subexpressions, substatements


class Writer(ExpressionWriter):
    """Writes one code or function."""

    def statements(self, statements: tuple[ex.Statement, ...]) -> None:
        for s in statements:
            match s:
                case ex.Assign():
                    self.assign(s)
                case ex.If(condition=condition, then=then, otherwise=otherwise):
                    self.put(f"if {self.truth(condition)} != 0:")
                    self.block(then)
                    self.put("else:")
                    self.block(otherwise)
                case ex.While(condition=condition, body=body):
                    self.put("while True:")
                    self.indent += 1
                    self.put(f"if {self.truth(condition)} == 0:")
                    self.put("    break")
                    self.statements(body)
                    self.count_loop(self.next_site())
                    self.indent -= 1
                case ex.Return(value=value):
                    returns = value is not None and self.result is not None
                    self.put(f"return {self.converted(value, self.result) if returns else 0}")  # type: ignore[arg-type]
                case ex.Evaluate(expression=ex.Call() as call):
                    self.call(call)
                case ex.Evaluate(expression=expression):
                    self.converted(expression, expression.kind)

    def block(self, statements: tuple[ex.Statement, ...]) -> None:
        self.indent += 1
        self.put("pass")
        self.statements(statements)
        self.indent -= 1

    def assign(self, s: ex.Assign) -> None:
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

    def store_real(self, target: ex.Read | ex.Bound, index: str | None, value: str) -> None:
        if isinstance(target, ex.Bound):
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


@dataclass(eq=False)
class FunctionTexts:
    """The functions of a network, written when they are first called."""

    all: tuple[ex.Function, ...]
    first_sites: list[int]
    first_location: list[int]
    constants: dict[float, int]
    counted: bool = True
    bodies: dict[int, Body] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Text → name of the function that it becomes."""
    _depth: dict[int, int] = field(default_factory=dict)
    _writing: set[int] = field(default_factory=set)

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


def _called(statements: tuple[ex.Statement, ...]) -> set[int]:
    return {
        part.function for e in expressions_of(statements) for part in subexpressions(e) if isinstance(part, ex.Call)
    }  # fmt: skip


def _bounds(statements: tuple[ex.Statement, ...]) -> list[ex.Bound]:
    found = [p for e in expressions_of(statements) for p in subexpressions(e) if isinstance(p, ex.Bound)]
    found += [
        s.target for s in substatements(statements) if isinstance(s, ex.Assign) and isinstance(s.target, ex.Bound)
    ]
    return found


def _array_slots(statements: tuple[ex.Statement, ...]) -> dict[tuple[bool, int], bool]:
    return {
        (bound.kind.is_real, bound.slot + i): True
        for bound in _bounds(statements) if bound.index is not None
        for i in range(bound.size)
    }  # fmt: skip


def _begin_locals(writer: Writer, function: ex.Function, parameters: int) -> None:
    """Begin all locals with 0, as the bytecode does at each call."""
    arrays = writer.arrays
    for real, slot in sorted(arrays):
        place = writer.place(ex.Bound(slot, ex.Kind.DOUBLE if real else ex.Kind.INT), None)
        own = f"{'r' if real else 'i'}{slot}"
        given = slot < parameters and function.parameters[slot].is_real == real
        writer.put(f"{place} = {own if given else 0}")
    plain = {(b.kind.is_real, b.slot) for b in _bounds(function.body)} - set(arrays)
    for real, slot in sorted(plain):
        if slot >= parameters or function.parameters[slot].is_real != real:
            writer.put(f"{'r' if real else 'i'}{slot} = {'0.0' if real else '0'}")
