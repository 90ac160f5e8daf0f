"""Resolve channels: those of synchronisations, and those that are named by constant indices."""

from __future__ import annotations

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.resolve_access import AccessResolver, chain, index_message
from bbfalsify.modelling.language.resolve_names import BROKEN
from bbfalsify.modelling.language.symbols import KIND_OF_SYMBOL, BrokenSymbol, ChannelSymbol
from bbfalsify.modelling.network.expressions import Constant, Expression


class ChannelResolver(AccessResolver):
    def channel(self, node: tree.Expression, rest: int = 0) -> tuple[ChannelSymbol, Expression | None] | None:
        """The channel of a synchronisation and its index; with `rest`, the row of so many dimensions that is named.

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
        given = symbol.type.first_dimensions(len(indices))
        index = self.flat_index(base.name, given, indices)
        return None if index is BROKEN else (symbol, index)

    def fixed_channels(self, node: tree.Expression, rest: int | None = None) -> ChannelSymbol | None:
        """The channel or row of channels that constant indices select; None after reporting a problem."""
        base, steps = chain(node)
        named = self.scope.find(base.name) if isinstance(base, tree.Name) else None
        if rest is None:
            rest = len(named.type.dimensions) - len(steps) if isinstance(named, ChannelSymbol) else 0
        found = self.channel(node, max(rest, 0))
        if found is None:
            return None
        symbol, index = found
        index = None if index is None else self.known(index, "the index", node.line)
        begin, type_ = 0, symbol.type.without_dimensions(len(steps))
        if index is not None:
            begin = int(index.value) * type_.size if isinstance(index, Constant) else -1
        if not 0 <= begin < symbol.type.size:
            self.fail(f"{self.context.what}: a constant index inside '{symbol.name}' is needed.", node.line)
            return None
        name = self.assembly.channels[symbol.first + begin].name if type_.is_single else symbol.name
        return ChannelSymbol(name, symbol.first + begin, type_)
