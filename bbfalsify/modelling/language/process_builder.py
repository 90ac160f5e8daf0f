"""One process of a network: the locations and edges of a template, resolved for one choice of its parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language import syntax_tree as tree
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary
from bbfalsify.modelling.language.model_text import BranchText, EdgeText, LocationText, TemplateText
from bbfalsify.modelling.language.resolve_expressions import ExpressionResolver
from bbfalsify.modelling.language.resolve_names import BROKEN, Context
from bbfalsify.modelling.language.scopes import MANY, Assembly, ConstantSymbol, Frame, Scope, Type
from bbfalsify.modelling.language.statements import StatementResolver
from bbfalsify.modelling.language.storage import element_suffix
from bbfalsify.modelling.network.expressions import Constant, Expression, Kind, Read, Statement
from bbfalsify.modelling.network.network import Branch, Edge, Location, Process, Rate
from bbfalsify.modelling.network.visit import reads_clock
from bbfalsify.records.documents import Text


class ProcessBuilder:
    def __init__(self, assembly: Assembly, scope: Scope, template: TemplateText, name: str) -> None:
        self.assembly = assembly
        self.scope = scope
        self.template = template
        self.name = name
        self.rates: list[tuple[int, str, Place]] = []
        """(slot, clock, place) of every rate given, to compare with other processes."""
        self.numbers = {location.name: number for number, location in enumerate(template.locations)}

    def build(self) -> Process:
        locations = tuple(self.location(text) for text in self.template.locations)
        initial = 0
        if self.template.initial is not None:
            place = self.template.initial_place or self.template.place
            initial = self.number(self.template.initial, place, "initial location") or 0
        edges = tuple(edge for text in self.template.edges for edge in self.edges(text))
        return Process(self.name, locations, initial, edges)

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
        """A numeric expression without frame (weights, costs, rates); None if absent or wrong."""
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

    # --- locations ---

    def location(self, text: LocationText) -> Location:
        if text.urgent and text.committed:
            self.assembly.fail(
                text.place, f"location '{text.name}' is urgent and committed; committed alone says it all."
            )
        invariant: Expression | None = None
        rates: list[Rate] = []
        cost_rate = self.number_of(text.cost_rate, "cost rate")
        if text.invariant is not None:
            node = self.assembly.parse(text.invariant, "expression", "invariant")
            for part, scope in () if node is None else self.parts(node, text.invariant, self.scope):
                resolver = self.resolver(text.invariant, Context("invariant"), scope)
                if isinstance(part, tree.Binary) and part.operator == "==" and tree.contains_prime(part):
                    prime, value = (part.left, part.right) if isinstance(part.left, tree.Prime) else (
                        part.right, part.left)  # fmt: skip
                    if not isinstance(prime, tree.Prime) or tree.contains_prime(value):
                        resolver.fail("invariant: a rate has the form x' == expression.", part.line)
                    elif isinstance(prime.base, tree.Name) and prime.base.name == "cost" and scope.find("cost") is None:
                        cost_rate = resolver.number(value)
                    else:
                        self.rate(rates, resolver, prime.base, resolver, value, text.name)
                    continue
                condition = resolver.condition(part)
                if condition is not BROKEN:
                    invariant = condition if invariant is None else make_binary("&&", invariant, condition, Kind.BOOL)
        for clock, rate in text.rates:
            clock_node = self.assembly.parse(clock, "expression", "clock of a rate")
            rate_node = self.assembly.parse(rate, "expression", "rate")
            if clock_node is not None and rate_node is not None:
                context = Context("rate")
                self.rate(
                    rates, self.resolver(clock, context), clock_node, self.resolver(rate, context), rate_node, text.name
                )
        return Location(
            text.name,
            None if invariant == TRUE else invariant,
            tuple(rates),
            self.number_of(text.exponential_rate, "exponential rate", positive=True),
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
        elif isinstance(node, tree.Quantified) and node.name == "forall" and tree.contains_prime(node):
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
        name = _written(clock)
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

    # --- edges ---

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
            scopes = self.bindings(selections, self.resolver(text.select, Context("select")))
        for scope in scopes:
            found = self.edge(text, source or 0, [target or 0 for target in targets], scope)
            if source is not None and None not in targets:
                yield from found

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

    def partners(self, sync: Text, channel: int) -> list[str]:
        """Who takes part in a synchronisation without ! and ?; none after reporting why that is unknown."""
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
        """`cost += 3` among the updates, as UPPAAL writes it; before the edge's other updates count."""
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
        """(guard, channel, sends): one for a constant index, else one per element with the index as further guard."""
        assert text.sync is not None
        node: tree.Synchronisation | None = self.assembly.parse(text.sync, "sync", "sync")
        if node is None:
            return
        resolver = self.resolver(text.sync, Context("sync", frame), scope)
        found = resolver.channel(node.channel)
        if found is None:
            return
        symbol, index = found
        size = symbol.type.size
        channels = self.assembly.channels
        if channels[symbol.first].urgent and reads_clock(guard, self.assembly.functions):
            place = (text.guard or text.sync).place
            self.assembly.fail(
                place, f"guard: '{symbol.name}' is urgent, so the guards of its edges cannot depend on clocks."
            )
        if index is None:
            yield guard, symbol.first, node.sends
        elif isinstance(index, Constant):
            if 0 <= index.value < size:
                yield guard, symbol.first + int(index.value), node.sends
            elif guard != FALSE:
                last = symbol.name + element_suffix(size - 1, symbol.type)
                number = index.value + symbol.type.origins[0]
                message = f"sync: index {number} is outside '{symbol.name}', whose last element is '{last}'."
                resolver.fail(message, node.line)
        else:
            for position in range(size):
                here = make_binary("==", index, Constant(position, Kind.INT), Kind.BOOL)
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
    """Whether this is `cost += …` and the model has no variable of that name."""
    return (
        isinstance(node, tree.Assignment)
        and node.operator == "+="
        and isinstance(node.target, tree.Name)
        and node.target.name == "cost"
        and scope.find("cost") is None
    )


def _written(node: tree.Expression) -> str:
    """A clock as the user wrote it."""
    match node:
        case tree.Name(name=name):
            return name
        case tree.Index(base=base, index=tree.Number(value=value)):
            return f"{_written(base)}[{value}]"
        case tree.Index(base=base, index=index):
            return f"{_written(base)}[{_written(index)}]"
        case tree.Member(base=base, name=name):
            return f"{_written(base)}.{name}"
    return "…"
