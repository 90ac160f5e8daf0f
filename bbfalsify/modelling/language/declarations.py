"""Resolve declarations: constants get values, variables and channels get slots, functions get bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import Assembly, Frame, Scope
from bbfalsify.modelling.language.statements import StatementResolver
from bbfalsify.modelling.language.storage import element_suffix, initial_nodes, kinds_in, laid_out
from bbfalsify.modelling.language.tree_search import contains_call
from bbfalsify.modelling.language.typed_symbols import (
    UPPAAL_RANGE,
    BrokenSymbol,
    ChannelSymbol,
    ConstantSymbol,
    FunctionOrigin,
    FunctionSymbol,
    LocalSymbol,
    ReferenceArgument,
    Symbol,
    Type,
    TypeSymbol,
    VariableSymbol,
)
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Assign, Bound, Expression, Function, Kind, Read
from bbfalsify.modelling.network.network import Channel

_VALUES = (Kind.INT, Kind.BOOL, Kind.DOUBLE)


class Declarer:
    """Enters the declarations of one text into a scope; `prefix` ("P1.") marks variables of one process."""

    def __init__(self, assembly: Assembly, scope: Scope, place: Place, prefix: str = "") -> None:
        self.assembly = assembly
        self.scope = scope
        self.place = place
        self.prefix = prefix
        self.resolver = ExpressionResolver(assembly, scope, place, Context("declaration", random=assembly.as_uppaal))
        self.drawn: dict[tuple[tuple[str, ...], int], Expression] = {}
        """Of the variable being declared: field and position of each value that is drawn at random."""

    def declare(self, declarations: Iterable[tree.Declaration]) -> None:
        for declaration in declarations:
            match declaration:
                case tree.VariableDeclaration():
                    self.variables(declaration)
                case tree.ChannelDeclaration():
                    self.channels(declaration)
                case tree.TypeDefinition():
                    self.typedef(declaration)
                case tree.FunctionDefinition():
                    self.function(declaration)

    def define(self, name: str, symbol: Symbol, line: int) -> None:
        define(self.assembly, self.scope, name, symbol, self.place, line)

    def variables(self, declaration: tree.VariableDeclaration) -> None:
        channel = channel_type(self.scope, declaration.type)
        if channel is not None:
            assert channel.channel is not None
            self.channels(tree.ChannelDeclaration(channel.channel, declaration.declarators, declaration.line), channel)
            return
        base = self.resolver.type_of(declaration.type)
        for declarator in declaration.declarators:
            symbol = None if base is None else self.variable(declaration, base, declarator)
            self.define(declarator.name, symbol or BrokenSymbol(declarator.name), declarator.line)

    def variable(self, declaration: tree.VariableDeclaration, base: Type, declarator: tree.Declarator) -> Symbol | None:
        name, line = declarator.name, declarator.line
        if base.kind is None and not base.fields:
            self.resolver.fail(f"'{name}' cannot be of type void.", line)
            return None
        if declaration.constant and base.kind is Kind.CLOCK:
            self.resolver.fail(f"the clock '{name}' cannot be constant.", line)
            return None
        type_ = self.resolver.array(base, declarator.dimensions)
        if type_ is None:
            return None
        if declaration.constant and declarator.initial is None:
            self.resolver.fail(f"the constant '{name}' needs a value.", line)
            return None
        self.drawn = {}
        values = self.values(type_, declarator.initial, name, constant=declaration.constant)
        if values is None:
            return None
        if name in self.scope.symbols:  # reported by `define`; it must not take slots
            return None

        def make(path: tuple[str, ...], part: str, leaf: Type) -> Symbol:
            initial = values[path] or ()
            if declaration.constant:
                return ConstantSymbol(self.prefix + part if leaf.dimensions else part, leaf, initial)
            slot = self.assembly.add_variable(self.prefix + part, leaf, initial)
            self.draw(path, leaf, slot, line)
            return VariableSymbol(part, leaf, slot)

        return laid_out(name, type_, make)

    def draw(self, path: tuple[str, ...], leaf: Type, slot: int, line: int) -> None:
        low, high = (leaf.low, leaf.high) if leaf.kind is Kind.INT else (None, None)
        for (field, position), value in self.drawn.items():
            if field == path and leaf.kind is not None:
                target = Read(slot + position, leaf.kind)
                self.assembly.initial_draws.append(Assign(target, value, low, high, self.place.line_of(line)))
                self.assembly.note(self.place, "initial values are drawn at time 0 by a process of their own.", line)

    def values(
        self, type_: Type, node: tree.Expression | tree.ArrayInitialiser | None, name: str, *, constant: bool
    ) -> dict[tuple[str, ...], tuple[int | Fraction, ...]] | None:
        """The initial values of each field; None after reporting a problem."""
        nodes = initial_nodes(self.resolver, type_, node, name)
        if nodes is None:
            return None
        found = {path: self.initial(type_, path, leaf, name, constant=constant) for path, leaf in nodes.items()}
        values = {path: leaf for path, leaf in found.items() if leaf is not None}
        return values if len(values) == len(found) else None

    def initial(
        self, type_: Type, path: tuple[str, ...], nodes: list[tree.Expression | None], name: str, *, constant: bool
    ) -> tuple[int | Fraction, ...] | None:
        """One value per slot of a field, in the order of the flattened array."""
        for key in path:
            type_ = dict(type_.fields)[key]
        type_ = type_.element
        what = f"the value of '{'.'.join((name, *path))}'"
        values: list[int | Fraction | None] = []
        for position, node in enumerate(nodes):
            if node is None or (not constant and self.draws_at_random(type_, node, what, (path, position))):
                values.append(type_.default)
            else:
                values.append(initial_value(self.resolver, type_, node, what, constant=constant))
        return None if None in values else tuple(value for value in values if value is not None)

    def draws_at_random(
        self, type_: Type, node: tree.Expression, what: str, place: tuple[tuple[str, ...], int]
    ) -> bool:
        if not self.assembly.as_uppaal or not contains_call(node):
            return False
        value = self.resolver.converted(self.resolver.resolve(node), type_, what, node)
        if value is BROKEN or not EffectAnalysis(self.assembly.functions).expression(value).random:
            return False
        self.drawn[place] = value
        return True

    def channels(self, declaration: tree.ChannelDeclaration, shape: TypeSymbol | None = None) -> None:
        base = Type(Kind.INT) if shape is None else shape.type
        for declarator in declaration.declarators:
            type_ = self.resolver.array(base, declarator.dimensions)
            if declarator.initial is not None:
                self.resolver.fail(f"the channel '{declarator.name}' has no value.", declarator.line)
            if type_ is None or declarator.name in self.scope.symbols:
                self.define(declarator.name, BrokenSymbol(declarator.name), declarator.line)
                continue
            symbol = ChannelSymbol(declarator.name, type_, len(self.assembly.channels))
            for position in range(type_.size):
                name = self.prefix + declarator.name + element_suffix(position, type_)
                self.assembly.channels.append(Channel(name, declaration.type.broadcast, declaration.type.urgent))
            self.define(declarator.name, symbol, declarator.line)

    def typedef(self, definition: tree.TypeDefinition) -> None:
        base: Type | None
        if isinstance(definition.type, tree.ChannelType):
            base, channel = Type(Kind.INT), definition.type
        else:
            base, channel = self.resolver.type_of(definition.type), None
        type_ = None if base is None else self.resolver.array(base, definition.dimensions)
        symbol = BrokenSymbol(definition.name) if type_ is None else TypeSymbol(definition.name, type_, channel)
        self.define(definition.name, symbol, definition.line)

    def function(self, definition: tree.FunctionDefinition) -> None:
        result = self.resolver.type_of(definition.result)
        types = [self.parameter_type(definition, parameter) for parameter in definition.parameters]
        if result is not None and (result.dimensions or Kind.CLOCK in kinds_in(result)):
            message = f"a function cannot return {result}; allowed: void, int, bool, double, structs of them."
            self.resolver.fail(message, definition.line)
            result = None
        if result is None or None in types:
            self.define(definition.name, BrokenSymbol(definition.name), definition.line)
            return
        parameters = tuple(type_ for type_ in types if type_ is not None)
        by_reference = tuple(
            p.reference and not (p.constant and t.is_single)
            for p, t in zip(definition.parameters, parameters, strict=True)
        )
        constant = tuple(parameter.constant for parameter in definition.parameters)
        origin = FunctionOrigin(definition, self.scope, self.place)
        symbol = FunctionSymbol(
            definition.name, parameters, result, by_reference=by_reference, constant=constant, origin=origin
        )
        self.define(definition.name, symbol, definition.line)
        if any(by_reference) or result.fields:
            symbol.specialise = lambda given, real: self.body(definition, replace(symbol), given, real)
        else:
            self.body(definition, symbol, {})

    def body(
        self, definition: tree.FunctionDefinition, symbol: FunctionSymbol, given: Mapping[int, ReferenceArgument],
        real: bool = False,
    ) -> FunctionSymbol:  # fmt: skip
        """Resolve the body of a function; `given` are the arguments of its reference parameters.

        If it returns a struct, its first argument is the number of the integer or `real` value to return.
        """
        scope, frame = Scope(self.scope), Frame()
        kinds: list[Kind] = []

        def slot_for(path: tuple[str, ...], name: str, type_: Type) -> Symbol:
            assert type_.kind is not None
            kinds.extend([type_.kind] * type_.size)
            return LocalSymbol(name, type_, frame.allocate(type_))

        result = symbol.result.kind
        if symbol.result.fields:
            slot_for((), "", Type(Kind.INT))
            result = Kind.DOUBLE if real else Kind.INT
        for number, (parameter, type_) in enumerate(zip(definition.parameters, symbol.parameters, strict=True)):
            if number in given:
                index = Bound(frame.size, Kind.INT)
                local = given[number].symbol(index)
                if given[number].index is not None:
                    slot_for((), "", Type(Kind.INT))
            else:
                # A range is checked on entry, so inside it can be relied upon.
                local = laid_out(parameter.name, type_, slot_for)
            define(self.assembly, scope, parameter.name, local, self.place, parameter.line)
        loose = self.assembly.as_uppaal
        context = Context(f"function '{definition.name}'", frame, random=True, effects=True, fails_when_met=loose)
        resolver = StatementResolver(ExpressionResolver(self.assembly, scope, self.place, context), symbol.result, real)
        body = resolver.function_body(definition, frame)
        symbol.writes, symbol.draws = resolver.expressions.writes, resolver.expressions.draws
        symbol.index = len(self.assembly.functions)
        line = self.place.line_of(definition.line)
        name = self.prefix + definition.name
        self.assembly.functions.append(Function(name, tuple(kinds), result, frame.size, body, line))
        return symbol

    def parameter_type(self, definition: tree.FunctionDefinition, parameter: tree.FormalParameter) -> Type | None:
        if isinstance(parameter.type, tree.ChannelType) or channel_type(self.scope, parameter.type) is not None:
            self.resolver.fail(f"function '{definition.name}' cannot take a channel.", parameter.line)
            return None
        base = self.resolver.type_of(parameter.type)
        type_ = None if base is None else self.resolver.array(base, parameter.dimensions)
        if type_ is None:
            return None
        if not parameter.reference and any(kind not in _VALUES for kind in kinds_in(type_)):
            self.resolver.fail(
                f"parameter '{parameter.name}' cannot be of type {type_}; allowed: int, bool, double, arrays and "
                "structs of them; a clock by reference, with '&'.",
                parameter.line,
            )
            return None
        return type_


def channel_type(scope: Scope, type_: tree.TypeName) -> TypeSymbol | None:
    """The typedef of channels with this name, or None."""
    symbol = scope.find(type_.name)
    return symbol if isinstance(symbol, TypeSymbol) and symbol.channel is not None else None


def define(assembly: Assembly, scope: Scope, name: str, symbol: Symbol, place: Place, line: int) -> None:
    """Enter the symbol; a name that is taken in this scope is a problem."""
    earlier = scope.symbols.get(name)
    if earlier is not None:
        where = f" (first on line {earlier.line})" if earlier.line else ""
        assembly.report(place.problem(f"'{name}' is declared twice{where}.", line))
        return
    symbol.line = place.line_of(line) or 0
    scope.symbols[name] = symbol


def initial_value(
    resolver: ExpressionResolver, type_: Type, node: tree.Expression, what: str, *, constant: bool
) -> int | Fraction | None:
    """A constant that fits the type; None after reporting a problem.  As in UPPAAL, a `const int` has 32 bits."""
    expression = resolver.known(resolver.converted(resolver.resolve(node), type_, what, node), what, node.line)
    if expression is BROKEN:
        return None
    value = getattr(expression, "value", None)
    if value is None:
        resolver.fail(
            f"{what} must be constant; values that are computed or drawn belong into the update of a first edge.",
            node.line,
        )
        return None
    unchecked = constant and (type_.low, type_.high) == UPPAAL_RANGE
    if type_.kind is Kind.INT and not unchecked and not type_.low <= value <= type_.high:
        resolver.fail(f"{what} is {value}, outside {type_.low}…{type_.high}.", node.line)
        return None
    return value
