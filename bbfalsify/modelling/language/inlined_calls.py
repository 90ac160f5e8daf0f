"""Make the body of a function inside its caller, where a call alone cannot say what it changes.

A call has a frame of its own and one value.  So a function that takes a local variable by reference, or that changes
something and returns a struct, becomes steps of its caller: parameters and local variables are slots of the caller's
frame, what is passed by reference is the caller's own variable, and `return` (`without_returns`) becomes a flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_access import chain, leaves_of
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import Context
from bbfalsify.modelling.language.scopes import Scope
from bbfalsify.modelling.language.side_effects import EffectResolver
from bbfalsify.modelling.language.storage import laid_out
from bbfalsify.modelling.language.tree_search import assigned_names, calls_in, declared_names
from bbfalsify.modelling.language.typed_symbols import (
    BrokenSymbol,
    FunctionOrigin,
    FunctionSymbol,
    LocalSymbol,
    Symbol,
    Type,
)
from bbfalsify.modelling.network import expressions as ex


class InlinedCalls(EffectResolver):
    def is_inlined(self, call: tree.Invocation) -> bool:
        scope = self.expressions.scope
        function = scope.find(call.name) if call.process is None else None
        if not isinstance(function, FunctionSymbol) or len(call.arguments) != len(function.parameters):
            return False
        if function.result.fields and (has_effects(function) or calls_with_effects(call.arguments, scope)):
            return True
        changed = zip(function.by_reference, function.constant, call.arguments, strict=False)
        return any(reference and not constant and self.is_local(node) for reference, constant, node in changed)

    def is_local(self, node: tree.Expression) -> bool:
        base, _ = chain(node)
        symbol = self.expressions.scope.find(base.name) if isinstance(base, tree.Name) else None
        return symbol is not None and any(isinstance(leaf, LocalSymbol) for leaf in leaves_of(symbol))

    def inlined(self, call: tree.Invocation, steps: list[ex.Statement]) -> tree.Expression:
        """Execute the call as steps; its value is a local variable."""
        function = self.expressions.scope.find(call.name)
        assert isinstance(function, FunctionSymbol) and function.origin is not None
        given = None
        if function.origin.open:
            self.fail(f"function '{call.name}' calls itself; recursion is not allowed.", call.line)
        else:
            given = self.given(function, function.origin, call, steps)
        name = f"#{self.frame.size}"
        result: Symbol = BrokenSymbol(name)
        if given is not None:
            if function.result.kind is not None or function.result.fields:
                result = laid_out(name, function.result, self.slot_for)
            steps += self.body(function, function.origin, given, result, call)
        self.expressions.scope.symbols[name] = result
        return tree.Name(name, call.line)

    def slots(self, symbol: Symbol) -> Iterator[tuple[ex.Bound, Type]]:
        for leaf in leaves_of(symbol):
            if isinstance(leaf, LocalSymbol) and leaf.type.kind is not None:
                for offset in range(leaf.type.size):
                    yield ex.Bound(leaf.slot + offset, leaf.type.kind), leaf.type.element

    def given(
        self, function: FunctionSymbol, origin: FunctionOrigin, call: tree.Invocation, steps: list[ex.Statement]
    ) -> dict[str, Symbol] | None:
        """The symbols of the parameters; values are assigned to slots first.  None after reporting a problem."""
        given: dict[str, Symbol] = {}
        what = f"an argument of '{call.name}'"
        for number, (parameter, type_, node) in enumerate(
            zip(origin.definition.parameters, function.parameters, call.arguments, strict=True)
        ):
            computed = function.constant[number] and self.expressions.whole(node) is None
            if function.by_reference[number] and not computed:
                place = self.expressions.passed_place(self.held_place(node, steps), type_, what)
                found = None if place is None else self.expressions.reference(place)
                if found is None:
                    return None
                given[parameter.name] = replace(found[0])
                continue
            values = self.expressions.argument_values(node, type_, what)
            if values is None:
                return None
            symbol = given[parameter.name] = laid_out(parameter.name, type_, self.slot_for)
            for (slot, element), value in zip(self.slots(symbol), values, strict=True):
                checked = element.kind is ex.Kind.INT and element.ranged
                low, high = (element.low, element.high) if checked else (None, None)
                steps.append(ex.Assign(slot, value, low, high, self.line(node.line)))
        return given

    def body(
        self,
        function: FunctionSymbol,
        origin: FunctionOrigin,
        given: dict[str, Symbol],
        result: Symbol,
        call: tree.Invocation,
    ) -> list[ex.Statement]:
        from bbfalsify.modelling.language.declarations import define
        from bbfalsify.modelling.language.inlined_body import InlinedBody, without_returns

        assembly, scope = self.expressions.assembly, Scope(origin.scope)
        for parameter in origin.definition.parameters:
            define(assembly, scope, parameter.name, given[parameter.name], origin.place, parameter.line)
        what = f"function '{function.name}'"
        loose = assembly.as_uppaal
        context = Context(what, self.frame, random=True, effects=True, fails_when_met=loose)
        resolver = InlinedBody(
            ExpressionResolver(assembly, scope, origin.place, context), function.result, list(self.slots(result))
        )
        origin.open = True
        try:
            statements = resolver.statements_of(origin.definition)
        finally:
            origin.open = False
        writes, draws = resolver.expressions.writes, resolver.expressions.draws
        if not self.expressions.may_call(call, writes=writes, draws=draws):
            return []
        done = ex.Bound(self.frame.allocate(Type(ex.Kind.BOOL)), ex.Kind.BOOL)
        return without_returns(statements, done)


def has_effects(function: FunctionSymbol) -> bool:
    """Tell whether the function assigns anything but its own variables, or draws at random."""
    origin = function.origin
    if origin is None or function.writes or function.draws:
        return function.writes or function.draws
    if origin.has_effects is None:
        origin.has_effects = False  # of a function that calls itself, which is refused
        body = origin.definition.body
        own = declared_names(body) | {p.name for p in origin.definition.parameters if not p.reference}
        origin.has_effects = bool(assigned_names(body) - own) or calls_with_effects(body, origin.scope)
    return origin.has_effects


def calls_with_effects(node: object, scope: Scope) -> bool:
    for call in calls_in(node):
        symbol = scope.find(call.name)
        if symbol is None and call.name in ex.RANDOM_DRAWS:
            return True
        if isinstance(symbol, FunctionSymbol) and (symbol.writes or symbol.draws or has_effects(symbol)):
            return True
    return False
