"""Choose among the receiving edges of a process only those whose target can be entered, if there is one.

Where several edges of a process receive one broadcast, a transition exists for each whose target's invariant holds
afterwards.  Engines draw among the enabled ones, and do not fire where one of them cannot be entered.  So each edge
that may be forbidden gets the guard

    my target can be entered  or  no other of these edges is enabled with a target that can be entered

(of an edge with branches every target, in UPPAAL's dialect some target), and if none can be entered, the broadcast
cannot happen.  Updates that are more than plain assignments, weights that are computed, and invariants that read
locations or what others write in the same transition, are left alone: where `has_open_choices`, engines draw again what
cannot be entered, which costs more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from bbfalsify.modelling.language.folding import FALSE, TRUE, join_all, make_binary, make_unary
from bbfalsify.modelling.language.priorities import with_guard
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.effects import Place as Slot
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Quantifier
from bbfalsify.modelling.network.network import Branch, Edge, Network, Process
from bbfalsify.modelling.network.substitution import NotPlain, before
from bbfalsify.modelling.network.visit import conjuncts, subexpressions

_EXCLUDED = {
    "<": (">=", ">", "=="), "<=": (">",), ">": ("<=", "<", "=="), ">=": ("<",), "==": ("!=", "<", ">"), "!=": ("==",),
}  # fmt: skip
"""Comparisons of the same two values of which only one can hold."""


def with_receiver_choices(network: Network) -> Network:
    """Return the network with the guards of receiving edges that may be forbidden."""
    choices = _Choices(network)
    processes = tuple(choices.of_process(number, process) for number, process in enumerate(network.processes))
    return network if processes == network.processes else replace(network, processes=processes)


def has_open_choices(network: Network) -> bool:
    """Tell, too often rather than too rarely, whether a choice that cannot be entered may stand beside one that can."""
    choices = _Choices(network)
    return bool(open_branches(network)) or any(
        choices.is_open(number, edge, group)
        for number, process in enumerate(network.processes)
        for group in choices.groups(process).values()
        for edge in group
    )


def open_branches(network: Network) -> set[tuple[int, int]]:
    """The edges (process, number) of which a branch may be impossible to enter, so that others are drawn more often."""
    choices = _Choices(network)
    return {
        (number, index)
        for number, process in enumerate(network.processes if network.as_uppaal else ())
        for index, edge in enumerate(process.edges)
        if len(edge.branches) > 1 and choices.may_fail(number, edge)
    }


class _Choices:
    def __init__(self, network: Network) -> None:
        self.network = network
        self.effects = EffectAnalysis(network.functions)
        self._written: dict[tuple[int, int], frozenset[Slot]] = {}

    def groups(self, process: Process) -> dict[tuple[int, int], list[Edge]]:
        """Edges that receive the same broadcast in the same location, where there are several."""
        groups: dict[tuple[int, int], list[Edge]] = {}
        for edge in process.edges:
            if edge.channel is not None and not edge.sends and self.network.channels[edge.channel].broadcast:
                groups.setdefault((edge.source, edge.channel), []).append(edge)
        return {key: group for key, group in groups.items() if len(group) > 1}

    def is_open(self, number: int, edge: Edge, group: list[Edge]) -> bool:
        """Tell whether the edge may forbid another one that can be entered."""
        if all(other is edge or exclusive(edge.guard, other.guard) for other in group):
            return False
        return self.entered(number, edge) is None or self.changes_invariants(number, edge)

    def may_fail(self, number: int, edge: Edge) -> bool:
        """Tell whether a branch of the edge may be impossible to enter."""
        conditions = self.branches_entered(number, edge)
        return conditions is None or join_all("&&", conditions) != TRUE or self.changes_invariants(number, edge)

    def changes_invariants(self, number: int, edge: Edge) -> bool:
        """Tell whether an invariant of another process reads what the edge changes."""
        updates = [update for branch in edge.branches for update in branch.updates]
        changes = self.effects.statements(updates).writes | {("l", number)}
        return any(self.readers.get(place, {number}) != {number} for place in changes)

    @cached_property
    def readers(self) -> dict[Slot, set[int]]:
        """Place → processes of which an invariant reads it."""
        found: dict[Slot, set[int]] = {}
        for number, process in enumerate(self.network.processes):
            for location in process.locations:
                for place in self.effects.expression(location.invariant).reads:
                    found.setdefault(place, set()).add(number)
        return found

    def of_process(self, number: int, process: Process) -> Process:
        changed = {
            id(edge): self.guarded(edge, group, number)
            for group in self.groups(process).values()
            for edge in group
            if any(process.locations[branch.target].invariant is not None for branch in edge.branches)
        }
        if not changed:
            return process
        return replace(process, edges=tuple(changed.get(id(edge), edge) for edge in process.edges))

    def guarded(self, edge: Edge, group: list[Edge], number: int) -> Edge:
        """Return the edge with the guard of the module's first lines."""
        entered = self.entered(number, edge) or TRUE
        rivals = [other for other in group if other is not edge and not exclusive(edge.guard, other.guard)]
        if entered == TRUE or not rivals:
            return edge
        possible = [
            make_binary("&&", other.guard or TRUE, self.entered(number, other) or TRUE, Kind.BOOL) for other in rivals
        ]
        alone = make_unary("!", join_all("||", possible), Kind.BOOL)
        allowed = entered if alone == FALSE else make_binary("||", entered, alone, Kind.BOOL)
        size = max((frame_size(part) for part in (allowed, edge.guard)), default=0)
        return replace(with_guard(edge, allowed), guard_frame_size=max(edge.guard_frame_size, size))

    def entered(self, number: int, edge: Edge) -> Expression | None:
        """The condition, before the updates, that the edge can be entered; None if it is not known.

        That is every target, in UPPAAL's dialect some target.
        """
        conditions = self.branches_entered(number, edge)
        return None if conditions is None else join_all("||" if self.network.as_uppaal else "&&", conditions)

    def branches_entered(self, number: int, edge: Edge) -> list[Expression] | None:
        """Return the condition of each branch that may be drawn; None if one is not known."""
        conditions: list[Expression] = []
        for branch in edge.branches:
            drawn = _drawn(edge, branch)
            if drawn is False:
                continue
            condition = self.branch_entered(number, edge, branch)
            if condition is None or (drawn is None and condition != TRUE):
                return None
            conditions.append(condition)
        return conditions or [TRUE]  # no branch may be drawn: firing is the error

    def branch_entered(self, number: int, edge: Edge, branch: Branch) -> Expression | None:
        """The condition, before the updates, that the target's invariant holds after them; None if it is not known."""
        invariant = self.network.processes[number].locations[branch.target].invariant
        if invariant is None:
            return TRUE
        try:
            condition = before(self.effects, branch.updates, invariant)
        except NotPlain:
            return None
        # Others may write what this branch reads, and over what it wrote.
        reads = self.effects.expression(condition).reads | self.effects.expression(invariant).reads
        written = frozenset() if edge.channel is None else self.written(number, edge.channel)
        known = reads.isdisjoint(written) and all(store != "l" for store, _ in reads)
        return condition if known else None

    def written(self, number: int, channel: int) -> frozenset[Slot]:
        """The variables that other processes may write in a broadcast on a channel."""
        if (number, channel) not in self._written:
            updates = [
                update
                for other, process in enumerate(self.network.processes)
                for edge in process.edges
                if other != number and edge.channel == channel
                for branch in edge.branches
                for update in branch.updates
            ]
            self._written[number, channel] = self.effects.statements(updates).writes
        return self._written[number, channel]


def _drawn(edge: Edge, branch: Branch) -> bool | None:
    """Tell whether a branch has a positive weight; None if that is computed."""
    if len(edge.branches) == 1 or branch.weight is None:
        return True
    return branch.weight.value > 0 if isinstance(branch.weight, Constant) else None


def exclusive(first: Expression | None, second: Expression | None) -> bool:
    """Tell whether two guards contradict each other in a pair of comparisons."""
    return any(_contradict(a, b) for a in _comparisons(first) for b in _comparisons(second))


def _comparisons(guard: Expression | None) -> Iterator[Binary]:
    return (part for part in conjuncts(guard) if isinstance(part, Binary) and part.operator in _EXCLUDED)


def _contradict(a: Binary, b: Binary) -> bool:
    if a.left != b.left:
        return False
    if a.right == b.right:
        return b.operator in _EXCLUDED[a.operator]
    return a.operator == b.operator == "==" and isinstance(a.right, Constant) and isinstance(b.right, Constant)


def frame_size(expression: Expression | None) -> int:
    """The frame slots that the quantifiers of an expression use."""
    return max((part.slot + 1 for part in subexpressions(expression) if isinstance(part, Quantifier)), default=0)
