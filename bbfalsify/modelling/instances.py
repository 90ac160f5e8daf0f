"""Which processes a network has: the entries of `system`, their arguments, and the parameters they leave open."""

from __future__ import annotations

import math
from itertools import product

from bbfalsify.core.errors import unknown_name
from bbfalsify.modelling import tree
from bbfalsify.modelling.declarations import Declarer, array_type, define, initial_value
from bbfalsify.modelling.expressions import Kind
from bbfalsify.modelling.network import Process
from bbfalsify.modelling.process_builder import ProcessBuilder
from bbfalsify.modelling.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.resolve_names import BROKEN, Context
from bbfalsify.modelling.scopes import (
    MANY,
    Assembly,
    BrokenSymbol,
    ChannelSymbol,
    ConstantSymbol,
    Scope,
    Symbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.source import InstanceText, ModelText, TemplateText
from bbfalsify.modelling.tree import Place


class Instances:
    """The processes of a network: one per entry of `system` and value of the parameters it leaves open."""

    def __init__(self, model: ModelText, assembly: Assembly, scope: Scope) -> None:
        self.model = model
        self.assembly = assembly
        self.scope = scope
        self.templates = {template.name: template for template in model.templates}
        self.processes: list[Process] = []
        self.names: set[str] = set()
        self.rates: dict[int, str] = {}

    def build(self) -> list[Process]:
        if self.model.system is None:
            for template in self.model.templates:
                self.every_value(template, template.name, template.place)
        else:
            for entry in self.model.system:
                self.entry(entry)
        return self.processes

    def entry(self, entry: InstanceText) -> None:
        text = entry.text
        node: tree.Instance | None = self.assembly.parse(text.text, "instance", text.place, "system")
        if node is None:
            return
        template = self.templates.get(node.template)
        if template is None:
            self.assembly.report(
                unknown_name("automaton", node.template, self.templates, file=text.place.file, line=text.place.line)
            )
            return
        name = entry.name or node.name
        if node.arguments:
            self.with_arguments(template, name, node.arguments, text.place)
        else:
            self.every_value(template, name or template.name, text.place)

    def parameters(self, template: TemplateText) -> tuple[tree.Parameter, ...]:
        if template.parameters is None:
            return ()
        text = template.parameters
        return self.assembly.parse(text.text, "parameters", text.place, "parameters") or ()

    def every_value(self, template: TemplateText, name: str, place: Place) -> None:
        parameters = self.parameters(template)
        if not parameters:
            self.process(template, name, {}, place)
            return
        assert template.parameters is not None
        resolver = ExpressionResolver(self.assembly, self.scope, template.parameters.place, Context("parameters"))
        types: list[Type] = []
        for parameter in parameters:
            type_ = None
            if isinstance(parameter.type, tree.TypeName):
                type_ = resolver.type_of(parameter.type)
                if type_ is None:
                    return
            if type_ is None or type_.values is None or parameter.reference or parameter.dimensions:
                self.assembly.report(
                    place.problem(
                        f"automaton '{template.name}' needs a value for its parameter '{parameter.name}': write "
                        f"'{template.name}(…)' in the system, or give the parameter a range such as int[0,3]."
                    )
                )
                return
            types.append(type_)
        if math.prod(len(type_.values or ()) for type_ in types) > MANY:
            self.assembly.report(place.problem(f"automaton '{template.name}' would have more than {MANY} instances."))
            return
        for values in product(*(type_.values or () for type_ in types)):
            symbols = {
                parameter.name: ConstantSymbol(parameter.name, type_, (value,), line=0)
                for parameter, type_, value in zip(parameters, types, values, strict=True)
            }
            self.process(template, f"{name}({','.join(str(v) for v in values)})", symbols, place)

    def with_arguments(
        self, template: TemplateText, name: str | None, arguments: tuple[tree.Expression, ...], place: Place
    ) -> None:
        parameters = self.parameters(template)
        if len(arguments) != len(parameters):
            self.assembly.report(
                place.problem(
                    f"automaton '{template.name}' takes {len(parameters)} argument{'s' * (len(parameters) != 1)}, "
                    f"found {len(arguments)}."
                )
            )
            return
        symbols: dict[str, Symbol] = {}
        shown: list[str] = []
        for parameter, argument in zip(parameters, arguments, strict=True):
            symbol = self.argument(template, parameter, argument, place)
            if symbol is None:
                return
            symbol.line = 0
            symbols[parameter.name] = symbol
            value = symbol.values[0] if isinstance(symbol, ConstantSymbol) else symbol.name
            shown.append(str(value))
        self.process(template, name or f"{template.name}({','.join(shown)})", symbols, place)

    def argument(
        self, template: TemplateText, parameter: tree.Parameter, node: tree.Expression, place: Place
    ) -> Symbol | None:
        assert template.parameters is not None
        declared = ExpressionResolver(self.assembly, self.scope, template.parameters.place, Context("parameters"))
        given = ExpressionResolver(self.assembly, self.scope, place, Context(f"argument '{parameter.name}'"))
        if isinstance(parameter.type, tree.ChannelType):
            return self.channel_argument(declared, given, parameter, node)
        base = declared.type_of(parameter.type)
        type_ = None if base is None else array_type(declared, base, parameter.dimensions)
        if type_ is None:
            return None
        if parameter.reference or type_.kind is Kind.CLOCK or type_.dimensions:
            return self.reference(given, parameter, type_, node)
        value = initial_value(given, type_, node, f"the argument '{parameter.name}' of '{template.name}'")
        return None if value is None else ConstantSymbol(parameter.name, type_, (value,))

    def channel_argument(
        self, declared: ExpressionResolver, given: ExpressionResolver, parameter: tree.Parameter, node: tree.Expression
    ) -> Symbol | None:
        type_ = array_type(declared, Type(Kind.INT), parameter.dimensions)
        if type_ is None:
            return None
        if type_.dimensions:
            symbol = self.scope.find(node.name) if isinstance(node, tree.Name) else None
            if not isinstance(symbol, ChannelSymbol) or symbol.dimensions != type_.dimensions:
                given.fail(f"the argument '{parameter.name}' must be an array of {type_.size} channels.", node.line)
                return None
            return ChannelSymbol(symbol.name, symbol.first, symbol.dimensions)
        found = given.channel(node)
        if found is None:
            return None
        symbol, index = found
        position = 0 if index is None else getattr(index, "value", -1)
        if not 0 <= position < math.prod(symbol.dimensions):
            given.fail(f"the argument '{parameter.name}' needs a constant index inside '{symbol.name}'.", node.line)
            return None
        return ChannelSymbol(self.assembly.channels[symbol.first + position].name, symbol.first + position, ())

    def reference(
        self, given: ExpressionResolver, parameter: tree.Parameter, type_: Type, node: tree.Expression
    ) -> Symbol | None:
        """The variable, array or element that the parameter stands for."""
        symbol = given.lookup(node.name, node.line) if isinstance(node, tree.Name) else None
        if isinstance(node, tree.Name) and symbol is None:
            return None
        if isinstance(symbol, VariableSymbol | ConstantSymbol) and symbol.type.dimensions == type_.dimensions:
            if symbol.type.kind is type_.kind:
                return symbol
        elif isinstance(node, tree.Index):
            element = given.access(node)
            if element is BROKEN:
                return None
            slot = getattr(element, "slot", None)
            if slot is not None and element.kind is type_.kind and getattr(element, "index", None) is None:
                low, high = self.assembly.range_of(element) or (type_.low, type_.high)  # type: ignore[arg-type]
                return VariableSymbol(parameter.name, Type(element.kind, low, high), slot)
        given.fail(f"the argument '{parameter.name}' must be a variable of type {type_}.", node.line)
        return None

    def process(self, template: TemplateText, name: str, symbols: dict[str, Symbol], place: Place) -> None:
        if name in self.names:
            self.assembly.report(
                place.problem(f"there are two processes '{name}'; name them: 'A = {template.name}', 'B = …'.")
            )
            return
        self.names.add(name)
        scope = Scope(self.scope, {})
        parameter_place = template.parameters.place if template.parameters is not None else template.place
        for parameter in self.parameters(template):
            symbol = symbols.get(parameter.name, BrokenSymbol(parameter.name))
            define(self.assembly, scope, parameter.name, symbol, parameter_place, parameter.line)
        for text in template.declarations:
            declarations, unread = self.assembly.parse_declarations(text.text, text.place)
            scope.silent |= unread
            Declarer(self.assembly, scope, text.place, prefix=f"{name}.").declare(declarations)
        builder = ProcessBuilder(self.assembly, scope, template, name)
        process = builder.build()
        for slot, clock, rate_place in builder.rates:
            other = self.rates.setdefault(slot, name)
            if other != name:
                message = f"the rate of clock '{clock}' is given by two processes, '{other}' and '{name}'."
                self.assembly.report(rate_place.problem(message))
        self.processes.append(process)
