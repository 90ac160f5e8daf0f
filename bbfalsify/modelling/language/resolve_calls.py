"""Resolve calls of functions, and convert values to the types of parameters and variables."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.builtin_functions import LIBRARY
from bbfalsify.modelling.language.folding import make_binary, make_builtin, make_conditional
from bbfalsify.modelling.language.resolve_access import Part, leaves_of, part_type
from bbfalsify.modelling.language.resolve_channels import ChannelResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, is_number, kind_of
from bbfalsify.modelling.language.typed_symbols import (
    KIND_OF_SYMBOL,
    BrokenSymbol,
    FunctionSymbol,
    LocalSymbol,
    ReferenceArgument,
    StructSymbol,
    Symbol,
    Type,
    VariableSymbol,
)
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.records.documents import Text

_SYNONYMS = {"fabs": "abs", "log10": "log"}


class CallResolver(ChannelResolver):
    def as_condition(self, value: ex.Expression, node: tree.Expression) -> ex.Expression:
        if value is BROKEN or kind_of(value) is ex.Kind.BOOL:
            return value
        if kind_of(value) is ex.Kind.INT and self.assembly.as_uppaal:
            return make_binary("!=", value, ex.Constant(0, ex.Kind.INT), ex.Kind.BOOL)
        hint = " Compare it, for example with '!= 0'." if kind_of(value) is ex.Kind.INT else ""
        return self.fail(
            f"{self.context.what}: a condition (bool) is needed, found {self.describe(value)}.{hint}", node.line
        )

    def as_number(self, value: ex.Expression, line: int) -> ex.Expression:
        if value is not BROKEN and kind_of(value) is ex.Kind.BOOL and self.assembly.as_uppaal:
            one, zero = ex.Constant(1, ex.Kind.INT), ex.Constant(0, ex.Kind.INT)
            return make_conditional(value, one, zero, ex.Kind.INT)
        return value

    def converted(self, value: ex.Expression, type_: Type, what: str, node: tree.Expression) -> ex.Expression:
        """Convert the value to this type."""
        if value is BROKEN:
            return BROKEN
        kind, found = type_.kind, kind_of(value)
        if kind is ex.Kind.BOOL and found is not ex.Kind.BOOL:
            if found is ex.Kind.INT and self.assembly.as_uppaal:
                return make_binary("!=", value, ex.Constant(0, ex.Kind.INT), ex.Kind.BOOL)
            return self.fail(f"{what} is a bool, found {self.describe(value)}.", node.line)
        if kind is not ex.Kind.BOOL and found is ex.Kind.BOOL:
            if self.assembly.as_uppaal:
                return self.as_number(value, node.line)
            return self.fail(f"{what} is of type {type_}, found a bool. Write (… ? 1 : 0).", node.line)
        if kind is ex.Kind.INT and found is ex.Kind.DOUBLE:
            clock = " A clock is a real number: fint(…) truncates its value."
            hint = clock if value.kind is ex.Kind.CLOCK else " fint(…) truncates a double."
            return self.fail(f"{what} is of type {type_}, found {self.describe(value)}.{hint}", node.line)
        if kind is not None and kind.is_real and isinstance(value, ex.Constant):
            return ex.Constant(Fraction(value.value), ex.Kind.DOUBLE)
        return value

    def invocation(self, node: tree.Invocation, *, as_statement: bool = False) -> ex.Expression:
        if node.process is not None:
            return self.method(node, node.process)
        symbol = self.scope.find(node.name) or self.from_library(node.name)
        if isinstance(symbol, BrokenSymbol):
            return BROKEN
        if symbol is not None and not isinstance(symbol, FunctionSymbol):
            return self.fail(f"'{node.name}' is {KIND_OF_SYMBOL[type(symbol)]} and cannot be called.", node.line)
        if symbol is not None:
            complete = symbol.index is not None or symbol.specialise is not None
            if symbol.result.fields and complete:
                fields = ", ".join(f"'.{name}'" for name, _ in symbol.result.fields)
                return self.fail(f"'{symbol.name}' returns a struct; choose a field: {fields}.", node.line)
            if symbol.result.kind is None and complete and not as_statement:
                return self.fail(f"function '{symbol.name}' returns nothing, so it has no value.", node.line)
            return self.user_call(symbol, node)
        arguments = [self.resolve(argument) for argument in node.arguments]
        name = _SYNONYMS.get(node.name, node.name)
        if name not in ex.BUILTINS and name not in ex.RANDOM_DRAWS:
            known = {*self.scope.names(FunctionSymbol), *ex.BUILTINS, *ex.RANDOM_DRAWS, *LIBRARY}
            return self.unknown("function", name, known, node.line)
        needed = ex.BUILTINS[name][0] if name in ex.BUILTINS else ex.RANDOM_DRAWS[name]
        if len(arguments) != needed:
            return self.fail(f"{name} takes {_arguments(needed)}, found {len(arguments)}.", node.line)
        if any(argument is BROKEN for argument in arguments):
            return BROKEN
        arguments = [self.as_number(argument, node.line) for argument in arguments]
        for argument in arguments:
            if not is_number(argument):
                return self.fail(f"{name} needs numbers, found {self.describe(argument)}.", node.line)
        if name in ex.RANDOM_DRAWS:
            self.draws = True
            if not self.context.random:
                return self.fail(
                    f"{self.context.what}: '{name}' draws at random, which is only allowed in updates.", node.line
                )
            return ex.Random(name, tuple(arguments))
        result = ex.BUILTINS[name][1]
        if result is None:
            result = ex.Kind.INT if all(kind_of(a) is ex.Kind.INT for a in arguments) else ex.Kind.DOUBLE
        return make_builtin(name, tuple(arguments), result)

    def method(self, node: tree.Invocation, owner: tree.Expression) -> ex.Expression:
        """Call a process's function from a query: `P.f(1)`."""
        network = self.context.network
        if network is None:
            return self.fail(f"{self.context.what}: '.{node.name}' is only allowed in queries and inputs.", node.line)
        process = self.process_name(owner)
        if process is None:
            return BROKEN
        own = {f.name: number for number, f in enumerate(network.functions) if f.name.startswith(f"{process}.")}
        number = own.get(f"{process}.{node.name}")
        if number is None:
            known = [name.removeprefix(f"{process}.") for name in own]
            return self.unknown(f"function of {process}", node.name, known, node.line)
        function = network.functions[number]
        if len(function.parameters) != len(node.arguments):
            count = _arguments(len(function.parameters))
            return self.fail(f"function '{function.name}' takes {count}, found {len(node.arguments)}.", node.line)
        what, pairs = f"an argument of '{function.name}'", zip(function.parameters, node.arguments, strict=True)
        arguments = [self.converted(self.resolve(a), Type(kind), what, a) for kind, a in pairs]
        call = ex.Call(number, tuple(arguments), function.result or ex.Kind.INT)
        effects = EffectAnalysis(network.functions).expression(call)
        if function.result is None or effects.writes or effects.random:
            return self.fail(f"{self.context.what}: '{function.name}' returns nothing, assigns variables or draws at "
                             "random; a query can call functions without effects.", node.line)  # fmt: skip
        return BROKEN if any(argument is BROKEN for argument in arguments) else call

    def from_library(self, name: str) -> Symbol | None:
        """The library's function of this name, declared on its first use."""
        if name not in LIBRARY or self.context.network is not None:
            return None
        from bbfalsify.modelling.language.declarations import Declarer

        outermost = self.scope
        while outermost.parent is not None:
            outermost = outermost.parent
        place = Place(f"the library's {name}")
        declarations, _ = self.assembly.parse_declarations(Text(LIBRARY[name], place))
        Declarer(self.assembly, outermost, place).declare(declarations)
        return outermost.find(name)

    def user_call(self, function: FunctionSymbol, node: tree.Invocation) -> ex.Expression:
        prepared = self.passed(function, node)
        if prepared is None:
            return BROKEN
        passed, references = prepared
        if function.specialise is not None:
            made = self.specialised(function, references, node)
            if made is None:
                return BROKEN
            function = made
        assert function.index is not None
        if not self.may_call(node, writes=function.writes, draws=function.draws):
            return BROKEN
        return ex.Call(function.index, tuple(passed), function.result.kind or ex.Kind.INT)

    def may_call(self, node: tree.Invocation, *, writes: bool, draws: bool) -> bool:
        """Tell whether a function with these effects may be called here; False after reporting a problem."""
        self.draws |= draws
        self.writes |= writes
        for effect, found, allowed in (
            ("draws at random", draws, self.context.random),
            ("assigns variables", writes, self.context.effects),
        ):
            if found and not allowed:
                self.fail(f"{self.context.what}: '{node.name}' {effect}, which is only allowed in updates.", node.line)
                return False
        return True

    def passed(
        self, function: FunctionSymbol, node: tree.Invocation
    ) -> tuple[list[ex.Expression], dict[int, ReferenceArgument]] | None:
        """The values passed to a function, and its arguments by reference; None after reporting a problem."""
        if function.index is None and function.specialise is None:
            self.fail(f"function '{node.name}' calls itself; recursion is not allowed.", node.line)
            return None
        if len(node.arguments) != len(function.parameters):
            self.fail(
                f"function '{node.name}' takes {_arguments(len(function.parameters))}, found {len(node.arguments)}.",
                node.line,
            )
            return None
        passed: list[ex.Expression] = []
        references: dict[int, ReferenceArgument] = {}
        for number, (type_, argument) in enumerate(zip(function.parameters, node.arguments, strict=True)):
            what = f"an argument of '{node.name}'"
            by_reference = function.by_reference and function.by_reference[number]
            if by_reference and not (function.constant[number] and self.is_local(argument)):
                reference = self.referred(argument, type_, what)
                if reference is None:
                    return None
                references[number] = reference
                passed += [] if reference.index is None else [reference.index]
            else:
                values = self.argument_values(argument, type_, what)
                if values is None:
                    return None
                passed += values
        return passed, references

    def argument_values(self, node: tree.Expression, type_: Type, what: str) -> list[ex.Expression] | None:
        """The single values of an argument that is passed by value; None after reporting a problem."""
        if type_.is_single:
            values = [self.converted(self.resolve(node), type_, what, node)]
        else:
            found = self.whole_values(node)
            if found is None or found[0].shape != type_.shape:
                self.fail(f"{what} is of type {type_}, found something else.", node.line)
                return None
            values = found[1]
        return None if any(value is BROKEN for value in values) else values

    @abstractmethod
    def whole_values(self, node: tree.Expression) -> tuple[Type, list[ex.Expression]] | None:
        """The type and the single values of a struct or array; None, without a report, for anything else."""

    @abstractmethod
    def condition(self, node: tree.Expression) -> ex.Expression: ...

    def is_local(self, node: tree.Expression) -> bool:
        """Tell whether the argument is computed or a local variable, which a constant reference takes by value."""
        part = self.whole(node)
        return part is None or any(isinstance(leaf, LocalSymbol) for leaf in leaves_of(part[0]))

    def passed_place(self, node: tree.Expression, type_: Type, what: str) -> Part | None:
        """The variable, or part of one, that is passed by reference; None after reporting a problem."""
        part = self.part(node) if isinstance(node, tree.Name | tree.Index | tree.Member) else None
        if part is None or isinstance(part, ex.AtLocation) or part_type(part).shape != type_.shape:
            if part is not None or not isinstance(node, tree.Name | tree.Index | tree.Member):
                self.fail(f"{what} must be a variable of type {type_}, passed by reference.", node.line)
            return None
        return part

    def referred(self, node: tree.Expression, type_: Type, what: str) -> ReferenceArgument | None:
        """The variable of the state passed by reference; None after reporting a problem."""
        part = self.passed_place(node, type_, what)
        if part is None:
            return None
        symbol, rest = part[0], part_type(part)
        found = self.reference(part)
        if found is None:
            return None
        thing, index = found
        if any(isinstance(leaf, LocalSymbol) for leaf in leaves_of(thing)):
            self.fail(
                f"{what} is a local variable, which can be passed by reference in statements only, outside quantifiers "
                "and braces.",
                node.line,
            )
            return None
        moving = [leaf for leaf in leaves_of(thing) if isinstance(leaf, VariableSymbol) and leaf.offset is not None]
        identity = tuple((leaf.name, getattr(leaf, "slot", None), leaf.type) for leaf in leaves_of(thing))
        if not moving:
            return ReferenceArgument(lambda _: replace(thing), None, identity)
        if isinstance(thing, VariableSymbol):
            return ReferenceArgument(lambda slot: replace(thing, offset=slot), thing.offset, (*identity, thing.extent))
        if isinstance(thing, StructSymbol) and thing is symbol and thing.source is not None:  # passed on as it is
            base, type_, index = thing.source
            return ReferenceArgument(lambda slot: self.portion(base, type_, None, slot), index, (*identity, "moving"))
        if any(leaf.offset is not None for leaf in leaves_of(symbol) if isinstance(leaf, VariableSymbol)):
            self.fail(f"{what}: a part of a struct that was itself passed by reference cannot be passed on.", node.line)
            return None
        return ReferenceArgument(lambda slot: self.portion(symbol, rest, None, slot), index, (*identity, "moving"))

    def specialised(
        self,
        function: FunctionSymbol,
        references: dict[int, ReferenceArgument],
        node: tree.Invocation,
        real: bool = False,
    ) -> FunctionSymbol | None:
        """The function for given arguments of its reference parameters, or for the `real` values of a struct."""
        if self.context.network is not None:
            what = "returns a struct" if function.result.fields else "has reference parameters"
            self.fail(f"'{node.name}' {what} and cannot be called here.", node.line)
            return None
        assert function.specialise is not None
        key = (real, *((number, reference.identity) for number, reference in references.items()))
        if key in function.special:
            made = function.special[key]
            if made is None:
                self.fail(f"function '{node.name}' calls itself; recursion is not allowed.", node.line)
            return made
        function.special[key] = None
        function.special[key] = made = function.specialise(references, real)
        return made


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"
