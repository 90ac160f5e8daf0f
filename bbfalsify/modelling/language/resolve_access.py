"""Resolve access to values: x, a[i], m[i][j], s.f, s[i].f[j], P.x and P.loc become reads of slots.

A struct has no storage of its own: each field is a variable ("s.f"), and the field of an array of structs is an array.
So `s[i].f[j]` is element (i, j) of "s.f".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language import typed_symbols as typed
from bbfalsify.modelling.language.folding import make_binary, make_conditional
from bbfalsify.modelling.language.resolve_names import BROKEN, NameResolver, kind_of
from bbfalsify.modelling.network.expressions import AtLocation, Bound, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.visit import bounds

Single = typed.ConstantSymbol | typed.VariableSymbol | typed.LocalSymbol
Stored = Single | typed.StructSymbol
Part = tuple[Stored, list[tree.Expression]]
"""A symbol and the indices given so far."""


def chain(node: tree.Expression) -> tuple[tree.Expression, list[tree.Index | tree.Member]]:
    """The innermost expression, and the indices and fields applied to it in order."""
    steps: list[tree.Index | tree.Member] = []
    while isinstance(node, tree.Index | tree.Member):
        steps.insert(0, node)
        node = node.base
    return node, steps


def part_type(part: Part) -> typed.Type:
    """The type of the part that the indices select."""
    symbol, indices = part
    return symbol.type.without_dimensions(len(indices))


def leaves_of(symbol: typed.Symbol) -> Iterator[Single]:
    """The symbols inside that have storage or values."""
    if isinstance(symbol, typed.StructSymbol):
        for field in symbol.fields.values():
            yield from leaves_of(field)
    elif isinstance(symbol, Single):
        yield symbol


class AccessResolver(NameResolver):
    def access(self, node: tree.Expression) -> Expression:
        """Resolve a name with indices and fields to a single value."""
        part = self.part(node)
        if part is None:
            return BROKEN
        if isinstance(part, AtLocation):
            return part
        symbol, indices = part
        if isinstance(symbol, typed.StructSymbol):
            fields = ", ".join(f"'.{name}'" for name in symbol.fields)
            return self.fail(f"{self.context.what}: '{symbol.name}' is a struct; choose a field: {fields}.", node.line)
        return self.element(symbol, indices, node.line)

    def part(self, node: tree.Expression) -> Part | AtLocation | None:
        """Resolve a name with indices and fields, possibly to a whole struct or array; None after a problem."""
        base, steps = chain(node)
        symbol = self.scope.find(base.name) if isinstance(base, tree.Name) else None
        in_process = steps and isinstance(steps[0], tree.Member) and not isinstance(symbol, typed.StructSymbol)
        if isinstance(symbol, typed.BrokenSymbol):
            return None
        found: typed.Symbol | AtLocation | None
        if in_process:
            found = self.member(steps.pop(0))  # type: ignore[arg-type]
        elif isinstance(base, tree.Name):
            found = self.lookup(base.name, base.line)
        else:
            self.fail("only arrays can be indexed.", node.line)
            return None
        if isinstance(found, AtLocation):
            if steps:
                self.fail("a location has no index.", node.line)
                return None
            return found
        if found is None:
            return None
        if not isinstance(found, Stored):
            self.fail(
                f"{self.context.what}: '{found.name}' is {typed.KIND_OF_SYMBOL[type(found)]}, not a value.", node.line
            )
            return None
        return self.inside_part(found, steps)

    def inside_part(self, symbol: Stored, steps: list[tree.Index | tree.Member]) -> Part | None:
        indices: list[tree.Expression] = []
        for step in steps:
            if isinstance(step, tree.Index):
                if len(indices) == len(symbol.type.dimensions):
                    message = index_message(symbol.name, symbol.type.dimensions, len(indices) + 1)
                    self.fail(message, step.line)
                    return None
                indices.append(step.index)
                continue
            if not isinstance(symbol, typed.StructSymbol):
                self.fail(f"{self.context.what}: '{symbol.name}' is not a struct; it has no '.{step.name}'.", step.line)
                return None
            if step.name not in symbol.fields:
                self.unknown(f"field of '{symbol.name}'", step.name, symbol.fields, step.line)
                return None
            field = symbol.fields[step.name]
            if not isinstance(field, Stored):
                return None
            symbol = field
        return symbol, indices

    def whole(self, node: tree.Expression | tree.ArrayInitialiser) -> Part | None:
        """The struct or array named by the expression; None, without a report, if it is something else."""
        if isinstance(node, tree.ArrayInitialiser):
            return None
        base, steps = chain(node)
        symbol = self.scope.find(base.name) if isinstance(base, tree.Name) else None
        if not isinstance(symbol, Stored) or (symbol.type.is_single and not isinstance(symbol, typed.StructSymbol)):
            return None
        for step in steps:
            if isinstance(step, tree.Member):
                symbol = symbol.fields.get(step.name) if isinstance(symbol, typed.StructSymbol) else None
                if not isinstance(symbol, Stored):
                    return None
        indices = [step.index for step in steps if isinstance(step, tree.Index)]
        if len(indices) > len(symbol.type.dimensions):
            return None
        part = (symbol, indices)
        return None if part_type(part).is_single else part

    def elements(self, part: Part, line: int) -> Iterator[tuple[Expression, typed.Type]]:
        """Every single value of a struct or array, field by field."""
        symbol, indices = part
        if isinstance(symbol, typed.StructSymbol):
            for field in symbol.fields.values():
                if isinstance(field, Stored):
                    yield from self.elements((field, indices), line)
            return
        type_ = part_type(part)
        ranges = (range(low, low + size) for low, size in zip(type_.origins, type_.dimensions, strict=True))
        for rest in product(*ranges):
            numbers = [tree.Number(value, False, line) for value in rest]
            yield self.element(symbol, [*indices, *numbers], line), symbol.type.element

    def element(self, symbol: Single, indices: list[tree.Expression], line: int) -> Expression:
        type_ = symbol.type
        assert type_.kind is not None
        if len(indices) != len(type_.dimensions):
            return self.fail(index_message(symbol.name, type_.dimensions, len(indices)), line)
        index = self.flat_index(symbol.name, type_, indices)
        if index is BROKEN:
            return BROKEN
        if isinstance(symbol, typed.ConstantSymbol):
            position = 0 if index is None else int(index.value) if isinstance(index, Constant) else -1
            if 0 <= position < len(symbol.values):
                return Constant(symbol.values[position], type_.kind)
            slot = self.slot_of_constants(symbol)
            if slot is None:
                return self.fail(f"here, an index into the constant array '{symbol.name}' must be constant.", line)
            return Read(slot, type_.kind, index, type_.size)
        node_class = Bound if isinstance(symbol, typed.LocalSymbol) else Read
        size = type_.size
        if symbol.offset is not None:
            index = symbol.offset if index is None else make_binary("+", symbol.offset, index, Kind.INT)
            size = symbol.extent
        if index is None:
            return node_class(symbol.slot, type_.kind)
        if isinstance(index, Constant) and 0 <= index.value < size:
            return node_class(symbol.slot + int(index.value), type_.kind)
        return node_class(symbol.slot, type_.kind, index, size)

    def slot_of_constants(self, symbol: typed.ConstantSymbol) -> int | None:
        """The slot of a constant array; a finished network has only those that it uses itself."""
        if self.context.network is None:
            return self.assembly.slot_of_constants(symbol)
        return next((v.slot for v in self.context.network.variables if v.name == symbol.name), None)

    def flat_index(self, name: str, type_: typed.Type, indices: list[tree.Expression]) -> Expression | None:
        """Compute i*columns + j; an inner index outside its own dimension makes the result out of bounds."""
        offsets = self.offsets(name, type_, indices)
        if offsets is None:
            return BROKEN
        flat: Expression | None = None
        for index, dimension in zip(offsets, type_.dimensions, strict=True):
            if flat is None:
                flat = index
            else:
                rows = make_binary("*", flat, Constant(dimension, Kind.INT), Kind.INT)
                flat = make_binary("+", rows, self.kept_inside(index, dimension), Kind.INT)
        return flat

    def offsets(self, name: str, type_: typed.Type, indices: list[tree.Expression]) -> list[Expression] | None:
        """The indices, counted from 0 in each dimension; None after reporting a problem."""
        found: list[Expression] = []
        for dimension, origin, node in zip(type_.dimensions, type_.origins, indices, strict=True):
            index = self.resolve(node)
            if index is BROKEN:
                continue
            if kind_of(index) is not Kind.INT:
                self.fail(f"the index of '{name}' must be an int, found {self.describe(index)}.", node.line)
                continue
            literal = None if self.context.fails_when_met or not isinstance(node, tree.Number) else node.value
            if literal is not None and not origin <= literal < origin + dimension:
                last = origin + dimension - 1
                self.fail(f"index {literal} is outside '{name}', whose indices are {origin}…{last}.", node.line)
                continue
            found.append(make_binary("-", index, Constant(origin, Kind.INT), Kind.INT) if origin else index)
        return found if len(found) == len(indices) else None

    def kept_inside(self, index: Expression, dimension: int) -> Expression:
        known = bounds(index, lambda read: self.assembly.range_of(read, self.context.frame))
        if known is not None and known[0] >= 0 and known[1] < dimension:
            return index
        not_below = make_binary(">=", index, Constant(0, Kind.INT), Kind.BOOL)
        not_above = make_binary("<", index, Constant(dimension, Kind.INT), Kind.BOOL)
        far_outside = Constant(-(2**31), Kind.INT)
        return make_conditional(make_binary("&&", not_below, not_above, Kind.BOOL), index, far_outside, Kind.INT)

    def reference(self, part: Part) -> tuple[Stored, Expression | None] | None:
        """A symbol for the part, and the flat index of its first element if it is not constant; None: a problem."""
        symbol, indices = part
        if not indices:
            return symbol, None
        type_, rest = symbol.type, part_type(part)
        given = type_.first_dimensions(len(indices))
        index = self.flat_index(symbol.name, given, indices)
        if index is BROKEN or index is None:
            return None
        number = int(index.value) if isinstance(index, Constant) else None
        if number is not None and not 0 <= number < given.size:
            self.fail(f"the index {number + given.origins[0]} is outside '{symbol.name}'.", indices[0].line)
            return None
        return self.portion(symbol, rest, number, index), None if number is not None else index

    def portion(self, symbol: Stored, rest: typed.Type, number: int | None, index: Expression) -> Stored:
        if isinstance(symbol, typed.StructSymbol):
            count = len(symbol.type.dimensions) - len(rest.dimensions)
            fields: dict[str, typed.Symbol] = {}
            for name, field in symbol.fields.items():
                if isinstance(field, Stored):
                    fields[name] = self.portion(field, field.type.without_dimensions(count), number, index)
            return typed.StructSymbol(
                symbol.name, rest, fields, source=(symbol, rest, index) if number is None else None
            )
        if isinstance(symbol, typed.ConstantSymbol) and number is None:
            symbol = typed.VariableSymbol(symbol.name, symbol.type, self.assembly.slot_of_constants(symbol))
        if isinstance(symbol, typed.ConstantSymbol):
            begin = (number or 0) * rest.size
            return typed.ConstantSymbol(symbol.name, rest, symbol.values[begin : begin + rest.size])
        if number is not None and symbol.offset is None:
            return replace(symbol, type=rest, slot=symbol.slot + number * rest.size)
        offset = make_binary("*", index, Constant(rest.size, Kind.INT), Kind.INT)
        if symbol.offset is not None:
            offset = make_binary("+", symbol.offset, offset, Kind.INT)
        extent = symbol.type.size if symbol.offset is None else symbol.extent
        return replace(symbol, type=rest, offset=offset, extent=extent)


def index_message(name: str, dimensions: tuple[int, ...], found: int) -> str:
    if not dimensions:
        return f"'{name}' is not an array."
    shape = "".join(f"[{d}]" for d in dimensions)
    needed = "1 index" if len(dimensions) == 1 else f"{len(dimensions)} indices"
    return f"'{name}{shape}' needs {needed}, found {found}."
