"""Instantiate the processes of a network: the entries of `system`, with arguments for their parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language import typed_symbols as typed
from bbfalsify.modelling.language.declarations import Declarer, channel_type, define, initial_value
from bbfalsify.modelling.language.model_text import InstanceText, ModelText, TemplateText
from bbfalsify.modelling.language.process_builder import ProcessBuilder
from bbfalsify.modelling.language.resolve_access import part_type
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import Context
from bbfalsify.modelling.language.scopes import Assembly, Scope
from bbfalsify.modelling.language.tree_search import assigned_names
from bbfalsify.modelling.network.expressions import AtLocation, Kind
from bbfalsify.modelling.network.network import Process
from bbfalsify.records.documents import Text


@dataclass(eq=False)
class Pattern:
    """A template, or a partial instance such as `Fast(int[0,3] i) = Train(i, 10)`."""

    name: str
    parameters: tuple[tree.FormalParameter, ...]
    place: Place
    template: TemplateText | None = None
    target: Pattern | None = None
    arguments: tuple[tree.Expression, ...] = ()


class ProcessInstances:
    """Builds the processes of a network: one per entry of `system` and value of its open parameters."""

    def __init__(self, model: ModelText, assembly: Assembly, scope: Scope) -> None:
        self.model = model
        self.assembly = assembly
        self.scope = scope
        self.patterns: dict[str, Pattern] = {}
        self.processes: list[Process] = []
        self.names: set[str] = set()
        self.rates: dict[int, str] = {}
        self.assigned: dict[str, set[str]] = {}

    def build(self) -> list[Process]:
        for template in self.model.templates:
            text = template.parameters
            parameters = () if text is None else self.assembly.parse(text, "parameters", "parameters")
            place = template.place if text is None else text.place
            self.patterns[template.name] = Pattern(template.name, parameters or (), place, template)
        for text in self.model.definitions:
            self.definition(text)
        for process, text in self.model.alphabets:
            self.alphabet(process, text)
        if self.model.system is None:
            for template in self.model.templates:
                self.every_value(self.patterns[template.name], template.name, template.place)
        else:
            for entry in self.model.system:
                self.entry(entry)
        for process, text in self.model.alphabets:
            if process not in self.names:
                self.assembly.report(text.place.unknown("process", process, self.names))
        return self.processes

    def alphabet(self, process: str, text: Text) -> None:
        resolver = ExpressionResolver(self.assembly, self.scope, text.place, Context("alphabet"))
        call = self.assembly.parse(Text(f"_({text.text})", text.place), "expression", "alphabet")
        for node in call.arguments if isinstance(call, tree.Invocation) else ():
            found = resolver.fixed_channels(node)
            for number in () if found is None else range(found.first, found.first + found.type.size):
                self.assembly.alphabets.setdefault(number, []).append(process)

    def definition(self, text: Text) -> None:
        node: tree.Instance | None = self.assembly.parse(text, "definition", "instance")
        target = None if node is None else self.pattern(node.template, text.place, node.line)
        if node is None or node.name is None:
            return
        if node.name in self.patterns:
            self.assembly.fail(text.place, f"there is already an automaton '{node.name}'.", node.line)
            return
        self.patterns[node.name] = Pattern(node.name, node.parameters, text.place, None, target, node.arguments)

    def pattern(self, name: str, place: Place, line: int = 1) -> Pattern | None:
        if name not in self.patterns:
            self.assembly.report(place.unknown("automaton", name, self.patterns, line))
        return self.patterns.get(name)

    def entry(self, entry: InstanceText) -> None:
        text = entry.text
        node: tree.Instance | None = self.assembly.parse(text, "instance", "system")
        pattern = None if node is None else self.pattern(node.template, text.place)
        if node is None or pattern is None:
            return
        name = entry.name or node.name
        if node.arguments:
            symbols = self.bound(pattern, node.arguments, text.place, self.scope)
            if symbols is not None:
                shown = [str(s.values[0] if isinstance(s, typed.ConstantSymbol) else s.name) for s in symbols.values()]
                self.instantiate(pattern, name or f"{pattern.name}({','.join(shown)})", symbols, text.place)
        else:
            self.every_value(pattern, name or pattern.name, text.place)

    def every_value(self, pattern: Pattern, name: str, place: Place) -> None:
        if not pattern.parameters:
            self.instantiate(pattern, name, {}, place)
            return
        resolver = ExpressionResolver(self.assembly, self.scope, pattern.place, Context("parameters"))
        types: list[typed.Type] = []
        for parameter in pattern.parameters:
            type_ = None
            if isinstance(parameter.type, tree.TypeName) and channel_type(self.scope, parameter.type) is None:
                type_ = resolver.type_of(parameter.type)
                if type_ is None:
                    return
            if type_ is None or type_.values is None or parameter.reference or parameter.dimensions:
                self.assembly.fail(
                    place,
                    f"automaton '{pattern.name}' needs a value for its parameter '{parameter.name}': write "
                    f"'{pattern.name}(…)' in the system, or give the parameter a range such as int[0,3].",
                )
                return
            types.append(type_)
        if math.prod(len(type_.values or ()) for type_ in types) > typed.MANY:
            self.assembly.fail(place, f"automaton '{pattern.name}' would have more than {typed.MANY} instances.")
            return
        for values in product(*(type_.values or () for type_ in types)):
            symbols: dict[str, typed.Symbol] = {
                parameter.name: typed.ConstantSymbol(parameter.name, type_, (value,), line=0)
                for parameter, type_, value in zip(pattern.parameters, types, values, strict=True)
            }
            self.instantiate(pattern, f"{name}({','.join(str(v) for v in values)})", symbols, place)

    def instantiate(self, pattern: Pattern, name: str, symbols: dict[str, typed.Symbol], place: Place) -> None:
        if pattern.template is not None:
            self.process(pattern, pattern.template, name, symbols, place)
        elif pattern.target is not None:  # one that was not understood is reported already
            inner = self.bound(pattern.target, pattern.arguments, pattern.place, Scope(self.scope, symbols))
            if inner is not None:
                self.instantiate(pattern.target, name, inner, pattern.place)

    def bound(
        self, pattern: Pattern, arguments: tuple[tree.Expression, ...], place: Place, scope: Scope
    ) -> dict[str, typed.Symbol] | None:
        """The symbols of the parameters; None after reporting a wrong argument."""
        parameters = pattern.parameters
        if len(arguments) != len(parameters):
            self.assembly.fail(
                place,
                f"automaton '{pattern.name}' takes {len(parameters)} argument{'s' * (len(parameters) != 1)}, "
                f"found {len(arguments)}.",
            )
            return None
        symbols: dict[str, typed.Symbol] = {}
        for parameter, argument in zip(parameters, arguments, strict=True):
            symbol = self.argument(pattern, parameter, argument, place, scope, Scope(self.scope, dict(symbols)))
            if symbol is None:
                return None
            symbols[parameter.name] = replace(symbol, line=0)
        return symbols

    def argument(
        self, pattern: Pattern, parameter: tree.FormalParameter, node: tree.Expression, place: Place, scope: Scope,
        earlier: Scope,
    ) -> typed.Symbol | None:  # fmt: skip
        """The symbol of a parameter; sizes of arrays may depend on `earlier` parameters."""
        declared = ExpressionResolver(self.assembly, earlier, pattern.place, Context("parameters"))
        given = ExpressionResolver(self.assembly, scope, place, Context(f"argument '{parameter.name}'"))
        channel = parameter.type if isinstance(parameter.type, tree.ChannelType) else None
        if channel is not None:
            return self.channel_argument(channel, typed.Type(Kind.INT), declared, given, parameter, node)
        assert isinstance(parameter.type, tree.TypeName)
        named = channel_type(self.scope, parameter.type)
        if named is not None and named.channel is not None:
            return self.channel_argument(named.channel, named.type, declared, given, parameter, node)
        base = declared.type_of(parameter.type)
        type_ = None if base is None else declared.array(base, parameter.dimensions)
        if type_ is None:
            return None
        by_reference = parameter.reference and not (parameter.constant and type_.is_single)
        if by_reference or type_.kind is Kind.CLOCK or not type_.is_single:
            return self.reference(given, parameter, type_, node)
        what = f"the argument '{parameter.name}' of '{pattern.name}'"
        value = initial_value(given, type_, node, what, constant=True)
        return None if value is None else typed.ConstantSymbol(parameter.name, type_, (value,))

    def channel_argument(
        self, wanted: tree.ChannelType, base: typed.Type, declared: ExpressionResolver, given: ExpressionResolver,
        parameter: tree.FormalParameter, node: tree.Expression,
    ) -> typed.Symbol | None:  # fmt: skip
        type_ = declared.array(base, parameter.dimensions)
        if type_ is None:
            return None
        found = given.fixed_channels(node, len(type_.dimensions))
        if found is None:
            return None
        if found.type.dimensions != type_.dimensions:
            given.fail(f"the argument '{parameter.name}' must be an array of {type_.size} channels.", node.line)
            return None
        found.type = type_
        real = self.assembly.channels[found.first]
        if wanted.broadcast and not real.broadcast:
            message = f"the argument '{parameter.name}' must be a broadcast channel; '{real.name}' is not."
            given.fail(message, node.line)
            return None
        return found

    def reference(
        self, given: ExpressionResolver, parameter: tree.FormalParameter, type_: typed.Type, node: tree.Expression
    ) -> typed.Symbol | None:
        """The variable, array, struct or element that is passed by reference."""
        if isinstance(node, tree.Name | tree.Index | tree.Member):
            part = given.part(node)
            if part is None:
                return None
            if not isinstance(part, AtLocation) and part_type(part).shape == type_.shape:
                found = given.reference(part)
                if found is None:
                    return None
                if found[1] is None:
                    return found[0]
        given.fail(f"the argument '{parameter.name}' must be a variable of type {type_}.", node.line)
        return None

    def assigned_in(self, template: TemplateText) -> set[str]:
        """The names that updates and functions of the template assign."""
        if template.name not in self.assigned:
            texts = (b.update for edge in template.edges for b in edge.branches)
            updates = (b.before for edge in template.edges for b in edge.branches)
            nodes = [self.assembly.parse(t, "updates", "update") for t in (*texts, *updates) if t is not None]
            nodes += [self.assembly.parse_declarations(text)[0] for text in template.declarations]
            self.assigned[template.name] = assigned_names(tuple(nodes))
        return self.assigned[template.name]

    def process(
        self, pattern: Pattern, template: TemplateText, name: str, symbols: dict[str, typed.Symbol], place: Place
    ) -> None:
        if name in self.names:
            self.assembly.fail(place, f"there are two processes '{name}'; name them: 'A = {template.name}', 'B = …'.")
            return
        self.names.add(name)
        scope = Scope(self.scope, {})
        for parameter in pattern.parameters:
            symbol = symbols.get(parameter.name, typed.BrokenSymbol(parameter.name))
            if isinstance(symbol, typed.ConstantSymbol) and not parameter.constant and not parameter.reference:
                if parameter.name in self.assigned_in(template):  # as in C, it is a variable of the process
                    slot = self.assembly.add_variable(f"{name}.{parameter.name}", symbol.type, symbol.values)
                    symbol = typed.VariableSymbol(parameter.name, symbol.type, slot)
            define(self.assembly, scope, parameter.name, symbol, pattern.place, parameter.line)
        for text in template.declarations:
            declarations, unread = self.assembly.parse_declarations(text)
            scope.silent |= unread
            Declarer(self.assembly, scope, text.place, prefix=f"{name}.").declare(declarations)
        builder = ProcessBuilder(self.assembly, scope, template, name)
        process = builder.build()
        for slot, clock, rate_place in builder.rates:
            other = self.rates.setdefault(slot, name)
            if other != name:
                message = f"the rate of clock '{clock}' is given by two processes, '{other}' and '{name}'."
                self.assembly.fail(rate_place, message)
        self.processes.append(process)
