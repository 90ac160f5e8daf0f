"""Declarations → symbols: constants get values, variables and channels get slots, functions get bodies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from bbfalsify.modelling import tree
from bbfalsify.modelling.expressions import Function, Kind
from bbfalsify.modelling.network import Channel
from bbfalsify.modelling.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.resolve_names import BROKEN, Context
from bbfalsify.modelling.scopes import (
    MANY,
    Assembly,
    BrokenSymbol,
    ChannelSymbol,
    ConstantSymbol,
    Frame,
    FunctionSymbol,
    LocalSymbol,
    Scope,
    Symbol,
    Type,
    TypeSymbol,
    VariableSymbol,
)
from bbfalsify.modelling.statements import StatementResolver
from bbfalsify.modelling.tree import Place


def language_scope() -> Scope:
    """Names every model knows; its own declarations may hide them."""
    double = Type(Kind.DOUBLE)
    constants = {"M_PI": math.pi, "pi": math.pi, "M_E": math.e}
    return Scope(None, {name: ConstantSymbol(name, double, (Fraction(value),)) for name, value in constants.items()})


class Declarer:
    """Enters the declarations of one text into a scope; `prefix` ("P1.") names what belongs to one process."""

    def __init__(self, assembly: Assembly, scope: Scope, place: Place, prefix: str = "") -> None:
        self.assembly = assembly
        self.scope = scope
        self.place = place
        self.prefix = prefix
        self.resolver = ExpressionResolver(assembly, scope, place, Context("declaration"))

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
        base = self.resolver.type_of(declaration.type)
        for declarator in declaration.declarators:
            symbol = None if base is None else self.variable(declaration, base, declarator)
            self.define(declarator.name, symbol or BrokenSymbol(declarator.name), declarator.line)

    def variable(
        self, declaration: tree.VariableDeclaration, base: Type, declarator: tree.Declarator
    ) -> ConstantSymbol | VariableSymbol | None:
        name, line = declarator.name, declarator.line
        if base.kind is None:
            self.resolver.fail(f"'{name}' cannot be of type void.", line)
            return None
        if declaration.constant and base.kind is Kind.CLOCK:
            self.resolver.fail(f"the clock '{name}' cannot be constant.", line)
            return None
        type_ = array_type(self.resolver, base, declarator.dimensions)
        if type_ is None:
            return None
        if declaration.constant and declarator.initial is None:
            self.resolver.fail(f"the constant '{name}' needs a value.", line)
            return None
        initial = self.initial(type_, type_.dimensions, declarator.initial, name)
        if initial is None:
            return None
        full_name = self.prefix + name
        if declaration.constant:
            return ConstantSymbol(full_name if type_.dimensions else name, type_, initial)
        if name in self.scope.symbols:  # reported by `define`; it must not take slots
            return None
        return VariableSymbol(name, type_, self.assembly.add_variable(full_name, type_, initial))

    def initial(
        self, type_: Type, dimensions: tuple[int, ...], node: tree.Expression | tree.ArrayInitialiser | None, name: str
    ) -> tuple[int | Fraction, ...] | None:
        """One value per slot, in the order of the flattened array."""
        if node is None:
            return (type_.default,) * math.prod(dimensions)
        if dimensions:
            if not isinstance(node, tree.ArrayInitialiser):
                self.resolver.fail(f"the array '{name}' needs a list of values in braces.", node.line)
                return None
            if len(node.elements) != dimensions[0]:
                self.resolver.fail(
                    f"'{name}' has {dimensions[0]} elements, found {len(node.elements)} values.", node.line
                )
                return None
            parts = [self.initial(type_, dimensions[1:], element, name) for element in node.elements]
            return None if any(p is None for p in parts) else tuple(value for p in parts for value in p or ())
        if isinstance(node, tree.ArrayInitialiser):
            self.resolver.fail(f"'{name}' is not an array.", node.line)
            return None
        value = initial_value(self.resolver, type_, node, f"the value of '{name}'")
        return None if value is None else (value,)

    def channels(self, declaration: tree.ChannelDeclaration) -> None:
        for declarator in declaration.declarators:
            dimensions = array_type(self.resolver, Type(Kind.INT), declarator.dimensions)
            if declarator.initial is not None:
                self.resolver.fail(f"the channel '{declarator.name}' has no value.", declarator.line)
            if dimensions is None or declarator.name in self.scope.symbols:
                self.define(declarator.name, BrokenSymbol(declarator.name), declarator.line)
                continue
            symbol = ChannelSymbol(declarator.name, len(self.assembly.channels), dimensions.dimensions)
            for position in range(dimensions.size):
                name = self.prefix + declarator.name + element_suffix(position, dimensions.dimensions)
                self.assembly.channels.append(Channel(name, declaration.type.broadcast, declaration.type.urgent))
            self.define(declarator.name, symbol, declarator.line)

    def typedef(self, definition: tree.TypeDefinition) -> None:
        base = self.resolver.type_of(definition.type)
        type_ = None if base is None else array_type(self.resolver, base, definition.dimensions)
        symbol = BrokenSymbol(definition.name) if type_ is None else TypeSymbol(definition.name, type_)
        self.define(definition.name, symbol, definition.line)

    def function(self, definition: tree.FunctionDefinition) -> None:
        result = self.resolver.type_of(definition.result)
        types = [self.parameter_type(definition, parameter) for parameter in definition.parameters]
        if result is not None and (result.kind is Kind.CLOCK or result.dimensions):
            self.resolver.fail(f"a function cannot return {result}; allowed: void, int, bool, double.", definition.line)
            result = None
        if result is None or None in types:
            self.define(definition.name, BrokenSymbol(definition.name), definition.line)
            return
        parameters = tuple(type_ for type_ in types if type_ is not None)
        symbol = FunctionSymbol(definition.name, parameters, result)
        self.define(definition.name, symbol, definition.line)
        scope, frame = Scope(self.scope), Frame()
        for parameter, type_ in zip(definition.parameters, parameters, strict=True):
            # A range is checked on entry, so inside it can be relied upon.
            local = LocalSymbol(parameter.name, type_, frame.allocate(type_))
            define(self.assembly, scope, parameter.name, local, self.place, parameter.line)
        context = Context(f"function '{definition.name}'", frame, random=True, effects=True)
        resolver = StatementResolver(ExpressionResolver(self.assembly, scope, self.place, context), result)
        body = resolver.function_body(definition, parameters)
        symbol.writes, symbol.draws = resolver.expressions.writes, resolver.expressions.draws
        symbol.index = len(self.assembly.functions)
        kinds = tuple(type_.kind for type_ in parameters if type_.kind is not None)
        line = self.place.line_of(definition.line)
        name = self.prefix + definition.name
        self.assembly.functions.append(Function(name, kinds, result.kind, frame.size, body, line))

    def parameter_type(self, definition: tree.FunctionDefinition, parameter: tree.Parameter) -> Type | None:
        if isinstance(parameter.type, tree.ChannelType):
            self.resolver.fail(f"function '{definition.name}' cannot take a channel.", parameter.line)
            return None
        type_ = self.resolver.type_of(parameter.type)
        if type_ is None:
            return None
        if parameter.reference or parameter.dimensions or type_.dimensions:
            self.resolver.fail(
                f"parameter '{parameter.name}': functions take single values, neither references nor arrays "
                "(they may use the model's arrays directly).",
                parameter.line,
            )
            return None
        if type_.kind not in (Kind.INT, Kind.BOOL, Kind.DOUBLE):
            self.resolver.fail(
                f"parameter '{parameter.name}' cannot be of type {type_}; allowed: int, bool, double.", parameter.line
            )
            return None
        return type_


def define(assembly: Assembly, scope: Scope, name: str, symbol: Symbol, place: Place, line: int) -> None:
    """Enters the symbol, unless its name is taken in this very scope."""
    earlier = scope.symbols.get(name)
    if earlier is not None:
        where = f" (first on line {earlier.line})" if earlier.line else ""
        assembly.report(place.problem(f"'{name}' is declared twice{where}.", line))
        return
    symbol.line = place.line_of(line) or 0
    scope.symbols[name] = symbol


def array_type(resolver: ExpressionResolver, base: Type, dimensions: tuple[tree.Dimension, ...]) -> Type | None:
    """The type with its dimensions evaluated; those of a typedef come last."""
    sizes = [resolver.dimension(node) for node in dimensions]
    if any(size is None for size in sizes):
        return None
    shape = (*(size for size in sizes if size is not None), *base.dimensions)
    if math.prod(shape) > MANY * 100:
        resolver.fail(f"an array has at most {MANY * 100} elements, found {math.prod(shape)}.", dimensions[0].line)
        return None
    return Type(base.kind, base.low, base.high, shape)


def initial_value(resolver: ExpressionResolver, type_: Type, node: tree.Expression, what: str) -> int | Fraction | None:
    """A constant that fits the type; None after reporting a problem."""
    expression = resolver.converted(resolver.resolve(node), type_, what, node)
    if expression is BROKEN:
        return None
    value = getattr(expression, "value", None)
    if value is None:
        resolver.fail(
            f"{what} must be constant; values that are computed or drawn belong into the update of a first edge.",
            node.line,
        )
        return None
    if type_.kind is Kind.INT and not type_.low <= value <= type_.high:
        resolver.fail(f"{what} is {value}, outside {type_.low}…{type_.high}.", node.line)
        return None
    return value


def element_suffix(position: int, dimensions: tuple[int, ...]) -> str:
    """[1][2] for position 5 of a 2×3 array."""
    indices: list[int] = []
    for dimension in reversed(dimensions):
        position, index = divmod(position, dimension)
        indices.insert(0, index)
    return "".join(f"[{i}]" for i in indices)
