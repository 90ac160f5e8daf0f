"""Build one process of a network: resolve the locations and edges of a template for given parameters."""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.edge_builder import EdgeBuilder
from bbfalsify.modelling.language.folding import TRUE, join_all
from bbfalsify.modelling.language.model_text import LocationText
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import Scope
from bbfalsify.modelling.language.tree_search import contains_prime, written
from bbfalsify.modelling.network.expressions import Expression, Kind, Read
from bbfalsify.modelling.network.network import Location, Process, Rate
from bbfalsify.records.documents import Text


class ProcessBuilder(EdgeBuilder):
    def build(self) -> Process:
        locations = tuple(self.location(text) for text in self.template.locations)
        initial = 0
        if self.template.initial is not None:
            place = self.template.initial_place or self.template.place
            initial = self.number(self.template.initial, place, "initial location") or 0
        edges = tuple(edge for text in self.template.edges for edge in self.edges(text))
        return Process(self.name, locations, initial, edges)

    def location(self, text: LocationText) -> Location:
        if text.urgent and text.committed:
            self.assembly.fail(
                text.place, f"location '{text.name}' is urgent and committed; committed alone says it all."
            )
        conditions: list[Expression] = []
        rates: list[Rate] = []
        cost_rate = self.number_of(text.cost_rate, "cost rate")
        if text.invariant is not None:
            node = self.assembly.parse(text.invariant, "expression", "invariant")
            for part, scope in () if node is None else self.parts(node, text.invariant, self.scope):
                resolver = self.resolver(text.invariant, Context("invariant"), scope)
                if isinstance(part, tree.Binary) and part.operator == "==" and contains_prime(part):
                    prime, value = (part.left, part.right) if isinstance(part.left, tree.Prime) else (
                        part.right, part.left)  # fmt: skip
                    if not isinstance(prime, tree.Prime) or contains_prime(value):
                        resolver.fail("invariant: a rate has the form x' == expression.", part.line)
                    elif isinstance(prime.base, tree.Name) and prime.base.name == "cost" and scope.find("cost") is None:
                        cost_rate = resolver.number(value)
                    else:
                        self.rate(rates, resolver, prime.base, resolver, value, text.name)
                    continue
                condition = resolver.condition(part)
                if condition is not BROKEN:
                    conditions.append(condition)
        for clock, rate in text.rates:
            clock_node = self.assembly.parse(clock, "expression", "clock of a rate")
            rate_node = self.assembly.parse(rate, "expression", "rate")
            if clock_node is not None and rate_node is not None:
                context = Context("rate")
                self.rate(
                    rates, self.resolver(clock, context), clock_node, self.resolver(rate, context), rate_node, text.name
                )
        invariant = join_all("&&", conditions) if conditions else TRUE
        return Location(
            text.name,
            None if invariant == TRUE else invariant,
            tuple(rates),
            self.number_of(text.exponential_rate, "exponential rate", positive=not self.assembly.as_uppaal),
            text.urgent,
            text.committed,
            cost_rate,
            text.place.line,
        )

    def parts(self, node: tree.Expression, text: Text, scope: Scope) -> Iterator[tuple[tree.Expression, Scope]]:
        """The conjuncts of an invariant; a `forall` over rates is one conjunct per value."""
        if isinstance(node, tree.Binary) and node.operator == "&&":
            yield from self.parts(node.left, text, scope)
            yield from self.parts(node.right, text, scope)
        elif isinstance(node, tree.Quantified) and node.name == "forall" and contains_prime(node):
            resolver = self.resolver(text, Context("invariant"), scope)
            for binding in self.bindings((node.variable,), resolver):
                yield from self.parts(node.body, text, binding)
        else:
            yield node, scope

    def rate(
        self,
        rates: list[Rate],
        clock_resolver: ExpressionResolver,
        clock: tree.Expression,
        rate_resolver: ExpressionResolver,
        value: tree.Expression,
        location: str,
    ) -> None:
        target = clock_resolver.access(clock) if isinstance(clock, tree.Name | tree.Index | tree.Member) else None
        if target is None:
            clock_resolver.fail("only clocks have rates.", clock.line)
        expression = rate_resolver.number(value)
        if target is None or target is BROKEN:
            return
        name = written(clock)
        if not isinstance(target, Read) or target.kind is not Kind.CLOCK:
            clock_resolver.fail(f"only clocks have rates; '{name}' is {clock_resolver.describe(target)}.", clock.line)
            return
        if target.index is not None:
            clock_resolver.fail(f"the index of '{name}' must be constant where a rate is given.", clock.line)
            return
        if Rate(target.slot, expression) in rates:
            return  # a `forall` reaches to the end of its line, and so says some things once for each value
        if any(rate.slot == target.slot for rate in rates):
            clock_resolver.fail(f"location '{location}' gives the rate of '{name}' twice.", clock.line)
            return
        if expression is not BROKEN:
            rates.append(Rate(target.slot, expression))
            self.rates.append((target.slot, name, clock_resolver.place))
