"""Build the edges of one process: guards, synchronisations, branches and costs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields

from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary
from bbfalsify.modelling.language.matched_channels import LARGE, OpenEdge, Unmatched
from bbfalsify.modelling.language.model_text import BranchText, EdgeText
from bbfalsify.modelling.language.resolve_access import chain
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import Frame, Scope
from bbfalsify.modelling.language.statements import StatementResolver
from bbfalsify.modelling.language.storage import element_suffix
from bbfalsify.modelling.language.template_resolver import TemplateResolver
from bbfalsify.modelling.language.typed_symbols import ChannelSymbol, Symbol, Type, VariableSymbol
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind, Quantifier, Statement
from bbfalsify.modelling.network.network import Branch, Edge
from bbfalsify.modelling.network.visit import reads_clock, subexpressions
from bbfalsify.records.documents import Text


class EdgeBuilder(TemplateResolver):
    def edges(self, text: EdgeText) -> Iterator[Edge]:
        source = self.number(text.source, text.place)
        targets = [self.number(branch.target, branch.place) for branch in text.branches]
        if text.action is not None:
            self.check_action(text)
        if text.select is None:
            scopes: Iterator[Scope] = iter((self.scope,))
        else:
            selections = self.assembly.parse(text.select, "selects", "select")
            if selections is None:
                return
            resolver = self.resolver(text.select, Context("select"))
            indices = self.matched_indices(text)
            matched = [selection for selection in selections if selection.name in indices]
            resolver.scope = self.hidden_names(matched, resolver)
            scopes = self.bindings(tuple(s for s in selections if s not in matched), resolver)
        for scope in scopes:
            found = self.edge(text, source or 0, [target or 0 for target in targets], scope)
            if source is not None and None not in targets:
                yield from found

    def matched_indices(self, text: EdgeText) -> set[str]:
        """The names that are indices of a large array of handshake channels; none if it is to be unfolded."""
        node = None if text.sync is None else self.assembly.parse(text.sync, "sync", "sync")
        if node is None or not self.assembly.matching or node.sends is None:
            return set()
        base, steps = chain(node.channel)
        symbol = self.scope.find(base.name) if isinstance(base, tree.Name) else None
        if not isinstance(symbol, ChannelSymbol) or not self.is_matched(symbol):
            return set()
        indices = [step.index for step in steps if isinstance(step, tree.Index)]
        return {index.name for index in indices if isinstance(index, tree.Name)}

    def is_matched(self, symbol: ChannelSymbol) -> bool:
        large = len(symbol.type.dimensions) > 1 and symbol.type.size >= LARGE
        return self.assembly.matching and large and not self.assembly.channels[symbol.first].broadcast

    def hidden_names(self, selections: Sequence[tree.Selection], resolver: ExpressionResolver) -> Scope:
        """A scope in which selected names are variables of this process."""
        symbols: dict[str, Symbol] = {}
        for selection in selections:
            type_ = resolver.type_of(selection.type)
            if type_ is None or type_.values is None:
                raise Unmatched  # unfolding reports the problem
            ranged = Type(Kind.INT, type_.values.start, type_.values.stop - 1)
            key = selection.name, ranged.low, ranged.high
            if key not in self.hidden:
                self.hidden[key] = self.assembly.add_hidden(self.name, selection.name, ranged)
            symbols[selection.name] = VariableSymbol(selection.name, ranged, self.hidden[key], line=0)
        return Scope(resolver.scope, symbols)

    def check_action(self, text: EdgeText) -> None:
        if text.sync is not None:
            self.assembly.fail(
                text.place, "an edge has either an action or a sync: the action of an output is its channel."
            )
        elif not re.fullmatch(r"[^\s,]+", text.action or ""):
            self.assembly.fail(text.place, f"an action's name has neither spaces nor commas, found '{text.action}'.")

    def edge(self, text: EdgeText, source: int, targets: list[int], scope: Scope) -> list[Edge]:
        frame = Frame()
        guard: Expression = TRUE
        if text.guard is not None:
            node = self.assembly.parse(text.guard, "expression", "guard")
            if node is not None:
                context = Context("guard", frame, unroll_clocks=True)
                guard = self.resolver(text.guard, context, scope).condition(node)
                guard = TRUE if guard is BROKEN else guard
        weight = self.number_of(text.weight, "weight", scope)
        cost = self.number_of(text.cost, "cost", scope)
        if cost is None:
            cost = self.cost_in_updates(text, scope)
        branches = tuple(
            self.branch(branch, target, scope) for branch, target in zip(text.branches, targets, strict=True)
        )
        if branches and all(isinstance(b.weight, Constant) and b.weight.value == 0 for b in branches):
            self.assembly.fail(text.place, "the weights of all branches are zero.")

        def made(guard: Expression, channel: int | None, sends: bool, action: str) -> Edge:
            condition = None if guard == TRUE else guard
            size = 0 if condition is None else frame.size
            return Edge(source, branches, condition, size, channel, sends, action, weight, cost, text.place.line)

        if text.sync is None:
            default = f"{text.source}->{'|'.join(dict.fromkeys(branch.target for branch in text.branches))}"
            return [made(guard, None, False, text.action or default)]
        opened = self.open_channel(text, scope, frame)
        if opened is not None:
            symbol, indices, sending = opened
            known = [s for _, s in scope.all() if isinstance(s, VariableSymbol)]
            kept = [s for s in known if s.type.kind is Kind.INT and s.slot in self.hidden.values()]
            hidden = {s.slot: (s.type.low, s.type.high) for s in kept}
            plain = made(guard, symbol.first, sending, symbol.name)
            parts = {part.name: getattr(plain, part.name) for part in fields(plain)}
            return [OpenEdge(**parts, indices=indices, dimensions=symbol.type.dimensions, hidden=hidden)]
        edges: list[Edge] = []
        for full_guard, channel, sends in self.synchronisations(text, guard, scope, frame):
            name = self.assembly.channels[channel].name
            if sends is not None:
                edges.append(made(full_guard, channel, sends, name))
                continue
            partners = self.partners(text.sync, channel)
            if len(partners) == 1:
                edges.append(made(full_guard, None, False, name))
            elif partners:
                edges.append(made(full_guard, channel, partners[0] == self.name, name))
        return edges

    def open_channel(
        self, text: EdgeText, scope: Scope, frame: Frame
    ) -> tuple[ChannelSymbol, tuple[Expression, ...], bool] | None:
        """Array, indices and direction of a synchronisation that is matched pair by pair; None for others."""
        assert text.sync is not None
        node: tree.Synchronisation | None = self.assembly.parse(text.sync, "sync", "sync")
        if node is None or not self.assembly.matching or node.sends is None:
            return None
        found = self.resolver(text.sync, Context("sync", frame), scope).channel(node.channel)
        if found is None or not self.is_matched(found[0]):
            return None
        if any(isinstance(index, Quantifier) for e in found[1] for index in subexpressions(e)):
            raise Unmatched  # the guard's frame would be shared
        return found[0], tuple(found[1]), node.sends

    def partners(self, sync: Text, channel: int) -> list[str]:
        """The processes of a synchronisation without ! and ?; none after reporting a problem."""
        name, partners = self.assembly.channels[channel].name, self.assembly.alphabets.get(channel, [])
        if not self.assembly.alphabets:
            problem = f"sync: '{name}' is followed by ! (send) or ? (receive)."
        elif self.name not in partners:
            problem = f"sync: process '{self.name}' uses '{name}' without ! or ?, but does not have it in its alphabet."
        elif len(partners) > 2:
            problem = f"sync: '{name}' joins {len(partners)} processes; at most two can synchronise without ! and ?."
        elif self.assembly.channels[channel].broadcast:
            problem = f"sync: '{name}' is a broadcast channel, which needs ! and ?."
        else:
            return partners
        self.assembly.fail(sync.place, problem)
        return []

    def cost_in_updates(self, text: EdgeText, scope: Scope) -> Expression | None:
        """The value of `cost += …` among the updates, as UPPAAL writes it; evaluated before the other updates."""
        found: list[tuple[Text, tree.Assignment]] = []
        for branch in text.branches:
            for update in (branch.before, branch.update):
                if update is not None and "cost" in update.text:
                    nodes = self.assembly.parse(update, "updates", "update") or ()
                    found += [(update, node) for node in nodes if _adds_to_cost(node, scope)]
        if not found:
            return None
        if len(text.branches) > 1 or len(found) > 1:
            self.assembly.report(found[0][0].place.problem("update: 'cost += …' can be given once per edge, and not "
                                                           "where it branches."))  # fmt: skip
            return None
        update, node = found[0]
        value = self.resolver(update, Context("cost"), scope).number(node.value)
        return None if value is BROKEN else value

    def synchronisations(
        self, text: EdgeText, guard: Expression, scope: Scope, frame: Frame
    ) -> Iterator[tuple[Expression, int, bool | None]]:
        """(guard, channel, sends): one for a constant index, else one per element with a condition on the index."""
        assert text.sync is not None
        node: tree.Synchronisation | None = self.assembly.parse(text.sync, "sync", "sync")
        if node is None:
            return
        resolver = self.resolver(text.sync, Context("sync", frame), scope)
        found = resolver.channel(node.channel)
        if found is None:
            return
        symbol, indices = found
        channels = self.assembly.channels
        if channels[symbol.first].urgent and reads_clock(guard, self.assembly.functions):
            self.assembly.note(
                (text.guard or text.sync).place,
                f"guard: '{symbol.name}' is urgent: the edge is taken as soon as its clocks allow it; with a strict "
                "bound such as x > 3, which has no first moment, time stops there.",
            )
        outside = [
            (index.value + origin, dimension)
            for index, dimension, origin in zip(indices, symbol.type.dimensions, symbol.type.origins, strict=True)
            if isinstance(index, Constant) and not 0 <= index.value < dimension
        ]
        if outside and guard != FALSE:
            last = symbol.name + element_suffix(symbol.type.size - 1, symbol.type)
            message = f"sync: index {outside[0][0]} is outside '{symbol.name}', whose last element is '{last}'."
            resolver.fail(message, node.line)
        for position, here in resolver.positions(symbol, indices):
            yield make_binary("&&", guard, here, Kind.BOOL), symbol.first + position, node.sends

    def branch(self, text: BranchText, target: int, scope: Scope) -> Branch:
        frame = Frame()
        updates: list[Statement] = []
        for update in (text.before, text.update):
            if update is not None:
                nodes = self.assembly.parse(update, "updates", "update")
                context = Context("update", frame, random=True, effects=True)
                statements = StatementResolver(self.resolver(update, context, Scope(scope)))
                for node in nodes or ():
                    if not _adds_to_cost(node, scope):
                        updates += statements.statement(node)
        return Branch(target, tuple(updates), frame.size, self.number_of(text.weight, "weight", scope))


def _adds_to_cost(node: tree.Statement, scope: Scope) -> bool:
    """Tell whether this is `cost += …` and the model has no variable of that name."""
    return (
        isinstance(node, tree.Assignment)
        and node.operator == "+="
        and isinstance(node.target, tree.Name)
        and node.target.name == "cost"
        and scope.find("cost") is None
    )
