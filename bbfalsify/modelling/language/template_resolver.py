"""Resolve the texts of a template for one process: numbers, and scopes for selected names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.model_text import TemplateText
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import Assembly, Scope
from bbfalsify.modelling.language.typed_symbols import MANY, ConstantSymbol, Type
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.records.documents import Text


class TemplateResolver:
    def __init__(self, assembly: Assembly, scope: Scope, template: TemplateText, name: str) -> None:
        self.assembly = assembly
        self.scope = scope
        self.template = template
        self.name = name
        self.rates: list[tuple[int, str, Place]] = []
        """(slot, clock, place) of every rate, to compare with other processes."""
        self.hidden: dict[tuple[str, int, int], int] = {}
        """Slots of selected names whose values follow from the partner, by name and range."""
        self.numbers = {location.name: number for number, location in enumerate(template.locations)}

    def number(self, name: str, place: Place, what: str = "location") -> int | None:
        if name not in self.numbers:
            where = f"of automaton '{self.template.name}'"
            self.assembly.report(place.unknown(what, name, self.numbers, where=where))
            return None
        return self.numbers[name]

    def resolver(self, text: Text, context: Context, scope: Scope | None = None) -> ExpressionResolver:
        return ExpressionResolver(self.assembly, scope or self.scope, text.place, context)

    def number_of(
        self, text: Text | None, what: str, scope: Scope | None = None, *, positive: bool = False
    ) -> Expression | None:
        """Resolve a number without frame (weights, costs, rates); None if it is absent or wrong."""
        if text is None:
            return None
        node = self.assembly.parse(text, "expression", what)
        if node is None:
            return None
        value = self.resolver(text, Context(what), scope).number(node)
        if value is BROKEN:
            return None
        if isinstance(value, Constant) and (value.value < 0 or (positive and value.value == 0)):
            if what in ("weight", "exponential rate"):
                self.assembly.fail(
                    text.place,
                    f"{what}: a {'positive' if positive else 'non-negative'} number is needed, "
                    f"found {float(value.value):g}.",
                )
                return None
        return value

    def bindings(self, selections: tuple[tree.Selection, ...], resolver: ExpressionResolver) -> Iterator[Scope]:
        """One scope per choice of values of the selected names."""
        ranges: list[tuple[str, range]] = []
        for selection in selections:
            type_ = resolver.type_of(selection.type)
            if type_ is None:
                return
            values = type_.values
            if values is None or len(values) > MANY:
                resolver.fail(
                    f"{resolver.context.what}: '{selection.name}' needs a range such as int[0,3], found {type_}.",
                    selection.line,
                )
                return
            ranges.append((selection.name, values))
        if math.prod(len(values) for _, values in ranges) > MANY:
            resolver.fail(f"{resolver.context.what}: more than {MANY} combinations of values.", selections[0].line)
            return
        names = [name for name, _ in ranges]
        for choice in product(*(values for _, values in ranges)):
            yield Scope(
                resolver.scope,
                {
                    name: ConstantSymbol(name, Type(Kind.INT, values.start, values.stop - 1), (value,), line=0)
                    for name, (_, values), value in zip(names, ranges, choice, strict=True)
                },
            )
