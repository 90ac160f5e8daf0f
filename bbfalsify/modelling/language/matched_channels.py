"""Match senders and receivers on a large array of channels pair by pair, instead of unfolding the array.

`select v : T`, `c[s][v]!` of one process and `select w : T`, `c[w][t]?` of another meet where v is t and w is s: a
selected name that is an index takes the value of the partner's index.  So each pair of edges gets a channel of its own.
Selected names become hidden variables: the sender's update sets those of both sides first, as the values before all
updates count, and the receiver's update sets them back to 0 last.  Unfolded, there would be as many edges as the array
has elements, in every process.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary
from bbfalsify.modelling.language.priorities import with_guard
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Assign, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Channel, Edge, Process
from bbfalsify.modelling.network.substitution import NotPlain, substituted
from bbfalsify.modelling.network.visit import bounds

LARGE = 1024
"""Arrays of at least so many channels are matched."""


class Unmatched(Exception):  # noqa: N818  (an answer, not an error)
    """The selected names of some pair do not follow from the partner's indices: the array must be unfolded."""


@dataclass(frozen=True)
class OpenEdge(Edge):
    """An edge on an array of channels, before its partners are known."""

    indices: tuple[Expression, ...] = ()
    """Counted from 0."""
    dimensions: tuple[int, ...] = ()
    hidden: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Slots and ranges of its selected names."""


def with_matched_channels(processes: list[Process], assembly: Assembly) -> list[Process]:
    """Replace open edges by one per partner; raise Unmatched if that is impossible."""
    sides: dict[tuple[int | None, bool], list[tuple[int, OpenEdge]]] = {}
    for number, process in enumerate(processes):
        for edge in process.edges:
            if isinstance(edge, OpenEdge):
                sides.setdefault((edge.channel, edge.sends), []).append((number, edge))
    if not sides:
        return processes
    effects = EffectAnalysis(assembly.functions)
    closed: dict[int, list[Edge]] = {id(edge): [] for side in sides.values() for _, edge in side}
    for (channel, sends), senders in sides.items():
        for p, sender in senders if sends else ():
            for q, receiver in sides.get((channel, False), ()):
                if p != q:
                    name = f"{sender.action}[{processes[p].name}->{processes[q].name}]"
                    pair = _Pair(sender, receiver, assembly, effects).closed(name)
                    closed[id(sender)] += pair[:1]
                    closed[id(receiver)] += pair[1:]
    return [
        replace(process, edges=tuple(e for edge in process.edges for e in closed.get(id(edge), [edge])))
        for process in processes
    ]


class _Pair:
    def __init__(self, sender: OpenEdge, receiver: OpenEdge, assembly: Assembly, effects: EffectAnalysis) -> None:
        self.sender, self.receiver, self.assembly = sender, receiver, assembly
        self.hidden = {*sender.hidden, *receiver.hidden}
        self.effects = effects
        self.values: dict[int, Expression] = {}
        """The value of each selected name, over variables of the model."""

    def closed(self, name: str) -> list[Edge]:
        """The two edges on a channel of their own; none if they never meet."""
        condition: Expression = TRUE
        dimensions = self.sender.dimensions
        for mine, theirs, size in zip(self.sender.indices, self.receiver.indices, dimensions, strict=True):
            mine, theirs = self.known(mine), self.known(theirs)
            if self.is_name(mine) or self.is_name(theirs):
                name_, value = (mine, theirs) if self.is_name(mine) else (theirs, mine)
                if self.reads_names(value):
                    raise Unmatched
                assert isinstance(name_, Read)
                self.values[name_.slot] = value
                low, high = self.sender.hidden.get(name_.slot) or self.receiver.hidden[name_.slot]
                condition = _both(condition, self.inside(value, max(low, 0), min(high, size - 1)))
            elif self.reads_names(mine) or self.reads_names(theirs):
                raise Unmatched
            else:
                condition = _both(condition, self.inside(mine, 0, size - 1))
                condition = _both(condition, make_binary("==", mine, theirs, Kind.BOOL))
        if set(self.values) != self.hidden:
            raise Unmatched
        if condition == FALSE:
            return []
        array = self.assembly.channels[self.sender.channel or 0]
        self.assembly.channels.append(Channel(name, False, array.urgent))
        channel = len(self.assembly.channels) - 1
        ranges = self.assembly.integer_ranges
        first = tuple(
            Assign(Read(slot, Kind.INT), value, *ranges[slot]) for slot, value in self.values.items()
        )  # fmt: skip
        last = tuple(
            Assign(Read(slot, Kind.INT), Constant(ranges[slot][0], Kind.INT), *ranges[slot]) for slot in self.values
        )
        sender = with_guard(self.edge(self.sender, channel, name, first, ()), condition)
        return [sender, self.edge(self.receiver, channel, name, (), last)]

    def edge(
        self, edge: OpenEdge, channel: int, name: str, first: tuple[Assign, ...], last: tuple[Assign, ...]
    ) -> Edge:
        guard = None if edge.guard is None else self.known(edge.guard)
        branches = tuple(replace(b, updates=(*first, *b.updates, *last)) for b in edge.branches)
        if any(b.weight is not None and self.reads_names(b.weight) for b in edge.branches):
            raise Unmatched
        return Edge(
            edge.source, branches, guard, edge.guard_frame_size, channel, edge.sends, name, edge.weight, edge.cost,
            edge.line,
        )  # fmt: skip

    def is_name(self, e: Expression) -> bool:
        return isinstance(e, Read) and e.index is None and e.slot in self.hidden and not e.kind.is_real

    def reads_names(self, e: Expression) -> bool:
        return not self.effects.expression(e).reads.isdisjoint({("i", slot) for slot in self.hidden})

    def known(self, e: Expression) -> Expression:
        """The expression with the values of the selected names found so far."""
        for slot, value in self.values.items():
            if ("i", slot) in self.effects.expression(e).reads:
                try:
                    e = substituted(e, Read(slot, Kind.INT), value)
                except NotPlain:
                    raise Unmatched from None
        return e

    def inside(self, e: Expression, low: int, high: int) -> Expression:
        """The condition that a value is in a range; true where its variables say so."""
        known = bounds(e, lambda read: self.assembly.range_of(read))
        if known is not None and low <= known[0] and known[1] <= high:
            return TRUE
        above = make_binary(">=", e, Constant(low, Kind.INT), Kind.BOOL)
        return _both(above, make_binary("<=", e, Constant(high, Kind.INT), Kind.BOOL))


def _both(a: Expression, b: Expression) -> Expression:
    return make_binary("&&", a, b, Kind.BOOL)
