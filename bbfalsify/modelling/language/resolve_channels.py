"""Resolve channels: those of synchronisations, and those that are named by constant indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import TRUE, make_binary
from bbfalsify.modelling.language.resolve_access import AccessResolver, chain, index_message
from bbfalsify.modelling.language.typed_symbols import KIND_OF_SYMBOL, BrokenSymbol, ChannelSymbol
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind
from bbfalsify.modelling.network.visit import bounds


class ChannelResolver(AccessResolver):
    def channel(self, node: tree.Expression, rest: int = 0) -> tuple[ChannelSymbol, list[Expression]] | None:
        """A channel and its indices, counted from 0; with `rest`, a row of so many dimensions.

        None after reporting a problem.
        """
        base, steps = chain(node)
        indices = [step.index for step in steps if isinstance(step, tree.Index)]
        if not isinstance(base, tree.Name) or len(indices) != len(steps):
            self.fail("a synchronisation is a channel followed by ! or ?.", node.line)
            return None
        symbol = self.scope.find(base.name)
        if symbol is None:
            self.unknown("channel", base.name, self.scope.names(ChannelSymbol), base.line)
            return None
        if not isinstance(symbol, ChannelSymbol):
            if not isinstance(symbol, BrokenSymbol):
                self.fail(f"'{base.name}' is {KIND_OF_SYMBOL[type(symbol)]}, not a channel.", node.line)
            return None
        if len(indices) != len(symbol.type.dimensions) - rest:
            self.fail(index_message(base.name, symbol.type.dimensions, len(indices)), node.line)
            return None
        found = self.offsets(base.name, symbol.type.first_dimensions(len(indices)), indices)
        return None if found is None else (symbol, found)

    def fixed_channels(self, node: tree.Expression, rest: int | None = None) -> ChannelSymbol | None:
        """The channel or row of channels that constant indices select; None after reporting a problem."""
        base, steps = chain(node)
        named = self.scope.find(base.name) if isinstance(base, tree.Name) else None
        if rest is None:
            rest = len(named.type.dimensions) - len(steps) if isinstance(named, ChannelSymbol) else 0
        found = self.channel(node, max(rest, 0))
        if found is None:
            return None
        symbol, indices = found
        position, type_ = 0, symbol.type.without_dimensions(len(steps))
        for index, dimension in zip(indices, symbol.type.dimensions, strict=False):
            value = self.known(index, "the index", node.line)
            if not isinstance(value, Constant) or not 0 <= value.value < dimension:
                self.fail(f"{self.context.what}: a constant index inside '{symbol.name}' is needed.", node.line)
                return None
            position = position * dimension + int(value.value)
        first = symbol.first + position * type_.size
        return ChannelSymbol(self.assembly.channels[first].name if type_.is_single else symbol.name, type_, first)

    def positions(self, symbol: ChannelSymbol, indices: list[Expression]) -> Iterator[tuple[int, Expression]]:
        """The elements that the indices may select, each with the condition that they do."""
        ranges = []
        for index, dimension in zip(indices, symbol.type.dimensions, strict=True):
            known = bounds(index, lambda read: self.assembly.range_of(read, self.context.frame)) or (0, dimension - 1)
            ranges.append(range(max(0, math.ceil(known[0])), min(dimension - 1, math.floor(known[1])) + 1))
        for values in product(*ranges):
            position = 0
            condition: Expression = TRUE
            for index, value, dimension in zip(indices, values, symbol.type.dimensions, strict=True):
                position = position * dimension + value
                if not isinstance(index, Constant):
                    here = make_binary("==", index, Constant(value, Kind.INT), Kind.BOOL)
                    condition = make_binary("&&", condition, here, Kind.BOOL)
            yield position, condition
