"""Replace priorities by guards: a transition can fire only if none of higher priority can.

    chan priority a, d[0] < default < b;       channels (and "default": all others, and edges without a channel)
    system Slow < Fast;                        processes; a synchronisation has the higher of its two

Channels are compared first, then processes.  Engines know no priorities: each edge that may be blocked gets the guard
"no higher transition is possible now", a function over locations, guards and the invariants entered.  Models for which
there is no such function are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language.folding import FALSE, TRUE, make_binary, make_unary
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
    Call,
    Expression,
    Function,
    Kind,
    Read,
    Return,
    Statement,
)
from bbfalsify.modelling.network.network import Branch, Edge, Network
from bbfalsify.modelling.network.substitution import NotPlain, substituted
from bbfalsify.modelling.network.visit import subexpressions
from bbfalsify.records.documents import Text

Rank = tuple[int, int]
"""Level of the channel, level of the process."""
EdgeAt = tuple[int, int]
"""Process and number of the edge."""


class Priorities:
    def __init__(
        self, network: Network, channels: dict[int | None, int], processes: dict[int, int], place: Place,
        assembly: Assembly,
    ) -> None:  # fmt: skip
        self.network = network
        self.channels = channels
        """Channel → level; None is the default."""
        self.processes = processes
        self.place = place
        self.assembly = assembly
        self.functions: list[Function] = list(network.functions)
        self.committed_somewhere = self.function_of("committed location somewhere", self.some_committed())

    def applied(self) -> Network:
        ranked = list(self.transitions())
        ranks = sorted({rank for rank, _ in ranked})
        blocked: dict[Rank, Expression] = {}
        for rank in ranks[:-1]:
            higher = [edges for other, edges in ranked if other > rank]
            possible: Expression = FALSE
            for edges in higher:
                possible = make_binary("||", possible, self.possible(edges), Kind.BOOL)
            name = f"higher priority than {rank} possible"
            blocked[rank] = self.function_of(name, None if possible == FALSE else possible)
        rank_of = {edges[0]: rank for rank, edges in ranked}
        processes = []
        for number, process in enumerate(self.network.processes):
            guarded = []
            for position, edge in enumerate(process.edges):
                condition = blocked.get(rank_of.get((number, position), ranks[-1]))
                guarded.append(edge if condition is None else self.guarded(edge, condition))
            processes.append(replace(process, edges=tuple(guarded)))
        return replace(self.network, processes=tuple(processes), functions=tuple(self.functions))

    def guarded(self, edge: Edge, blocked: Expression) -> Edge:
        free = make_unary("!", blocked, Kind.BOOL)
        guard = free if edge.guard is None else make_binary("&&", edge.guard, free, Kind.BOOL)
        return replace(edge, guard=guard)

    def function_of(self, name: str, condition: Expression | None) -> Expression:
        """Add a function with this body and return a call of it; false if there is no condition."""
        if condition is None:
            return FALSE
        size = max((e.guard_frame_size for p in self.network.processes for e in p.edges), default=0)
        self.functions.append(Function(name, (), Kind.BOOL, size, (Return(condition),)))
        return Call(len(self.functions) - 1, (), Kind.BOOL)

    def some_committed(self) -> Expression | None:
        found: Expression | None = None
        for number, process in enumerate(self.network.processes):
            for position, location in enumerate(process.locations):
                if location.committed:
                    here = AtLocation(number, position)
                    found = here if found is None else make_binary("||", found, here, Kind.BOOL)
        return found

    # --- transitions and their ranks ---

    def transitions(self) -> Iterator[tuple[Rank, list[EdgeAt]]]:
        """(rank, edges): sender and receiver of a handshake, only the sender of a broadcast."""
        for number, process in enumerate(self.network.processes):
            for position, edge in enumerate(process.edges):
                here = (number, position)
                if edge.channel is None:
                    yield (self.channels[None], self.processes[number]), [here]
                elif edge.sends:
                    yield from self.synchronisations(here, edge)

    def synchronisations(self, sender: EdgeAt, edge: Edge) -> Iterator[tuple[Rank, list[EdgeAt]]]:
        assert edge.channel is not None
        channel = self.network.channels[edge.channel]
        level = self.channels.get(edge.channel, self.channels[None])
        receivers = [
            (number, position)
            for number, process in enumerate(self.network.processes)
            for position, other in enumerate(process.edges)
            if number != sender[0] and other.channel == edge.channel and not other.sends
        ]
        own = self.processes[sender[0]]
        levels = {max(own, self.processes[number]) for number, _ in receivers}
        if channel.broadcast:
            levels.add(own)
        if len(levels) > 1:
            self.refuse(f"the partners on channel '{channel.name}' have different priorities")
        if channel.broadcast:
            yield (level, own), [sender]
        else:
            for receiver in receivers:
                yield (level, max(own, self.processes[receiver[0]])), [sender, receiver]

    # --- whether a transition is possible ---

    def possible(self, edges: list[EdgeAt]) -> Expression:
        parts = [self.edge(at) for at in edges]
        condition: Expression = TRUE
        for (number, _), edge in zip(edges, parts, strict=True):
            condition = make_binary("&&", condition, AtLocation(number, edge.source), Kind.BOOL)
            if edge.guard is not None:
                condition = make_binary("&&", condition, edge.guard, Kind.BOOL)
        locations = [self.network.processes[n].locations[e.source] for (n, _), e in zip(edges, parts, strict=True)]
        if self.committed_somewhere != FALSE and not any(location.committed for location in locations):
            calm = make_unary("!", self.committed_somewhere, Kind.BOOL)
            condition = make_binary("&&", condition, calm, Kind.BOOL)
        self.check_receivers(parts[0])
        return make_binary("&&", condition, self.may_enter(edges, parts), Kind.BOOL)

    def check_receivers(self, sender: Edge) -> None:
        """Refuse broadcasts that a receiver could forbid: the receivers are not known in advance."""
        if sender.channel is None or not self.network.channels[sender.channel].broadcast:
            return
        for process in self.network.processes:
            for edge in process.edges:
                if edge.channel == sender.channel and not edge.sends:
                    targets = (process.locations[branch.target] for branch in edge.branches)
                    if any(branch.updates for branch in edge.branches) or any(t.invariant is not None for t in targets):
                        name = self.network.channels[sender.channel].name
                        self.refuse(f"a receiver of the broadcast channel '{name}', above another, has updates "
                                    "or enters a location with an invariant")  # fmt: skip
                        return

    def edge(self, at: EdgeAt) -> Edge:
        return self.network.processes[at[0]].edges[at[1]]

    def may_enter(self, edges: list[EdgeAt], parts: list[Edge]) -> Expression:
        """The invariants of the locations entered, as conditions on the state before the updates."""
        ways: list[list[Branch]] = [[]]
        for part in parts:
            ways = [[*way, branch] for way in ways for branch in part.branches]
        found: Expression = FALSE
        for way in ways:
            updates = [update for branch in way for update in branch.updates]
            invariants: Expression = TRUE
            for (number, _), branch in zip(edges, way, strict=True):
                target = self.network.processes[number].locations[branch.target]
                if target.invariant is not None:
                    invariants = make_binary("&&", invariants, target.invariant, Kind.BOOL)
            invariants = make_binary("&&", invariants, self.of_others(edges, updates), Kind.BOOL)
            found = make_binary("||", found, self.before(updates, invariants, parts[0].line), Kind.BOOL)
        return found

    def of_others(self, edges: list[EdgeAt], updates: list[Statement]) -> Expression:
        """The invariants of the other processes, if there are updates."""
        if not updates:
            return TRUE
        taking_part = {number for number, _ in edges}
        condition: Expression = TRUE
        for number, process in enumerate(self.network.processes):
            for position, location in enumerate(process.locations):
                if number not in taking_part and location.invariant is not None:
                    stays = make_binary("imply", AtLocation(number, position), location.invariant, Kind.BOOL)
                    condition = make_binary("&&", condition, stays, Kind.BOOL)
        return condition

    def before(self, updates: list[Statement], condition: Expression, line: int | None) -> Expression:
        """The condition before the updates that makes the given one hold after them."""
        try:
            for update in reversed(updates):
                if not any(isinstance(part, Read | Call) for part in subexpressions(condition)):
                    break
                if not isinstance(update, Assign) or not isinstance(update.target, Read):
                    raise NotPlain
                condition = substituted(condition, update.target, update.value)
        except NotPlain:
            where = "" if line is None else f" (line {line})"
            self.refuse(f"an edge of higher priority{where} enters a location with an invariant after updates that are "
                        "more than plain assignments")  # fmt: skip
            return TRUE
        return condition

    def refuse(self, why: str) -> None:
        self.assembly.fail(self.place, f"these priorities are not supported: {why}.")


# --- reading them -----------------------------------------------------------------------------------------------------


def with_priorities(network: Network, channels: Text | None, processes: Text | None, assembly: Assembly) -> Network:
    text = channels or processes
    if text is None:
        return network
    channel_levels = _channel_levels(network, channels, assembly)
    process_levels = _process_levels(network, processes, assembly)
    if assembly.problems or channel_levels is None:
        return network
    return Priorities(network, channel_levels, process_levels, text.place, assembly).applied()


def _groups(text: Text) -> list[list[str]]:
    return [[name.replace(" ", "") for name in group.split(",")] for group in " ".join(text.text.split()).split("<")]


def _channel_levels(network: Network, text: Text | None, assembly: Assembly) -> dict[int | None, int] | None:
    levels: dict[int | None, int] = {}
    if text is None:
        return {None: 0}
    for level, group in enumerate(_groups(text)):
        for name in group:
            if name == "default":
                levels[None] = level
                continue
            known = [channel.name for channel in network.channels]
            found = [number for number, other in enumerate(known) if other == name or other.startswith(name + "[")]
            if not found:
                assembly.report(text.place.unknown("channel", name, [*known, "default"]))
            levels.update(dict.fromkeys(found, level))
    if None not in levels:
        message = "the channel priorities do not say where 'default' stands: the edges without channel and all others."
        assembly.report(text.place.problem(message))
        return None
    return levels


def _process_levels(network: Network, text: Text | None, assembly: Assembly) -> dict[int, int]:
    levels = dict.fromkeys(range(len(network.processes)), 0)
    for level, group in enumerate([] if text is None else _groups(text)):
        for name in group:
            known = [process.name for process in network.processes]
            found = [number for number, other in enumerate(known) if other == name or other.startswith(name + "(")]
            if not found and text is not None:
                assembly.report(text.place.unknown("process", name, known))
            levels.update(dict.fromkeys(found, level))
    return levels
