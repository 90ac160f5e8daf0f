"""Replace priorities by guards: a transition can fire only if none of higher priority can.

Channels are compared first, then processes.  Engines know no priorities: each edge that may be blocked gets the guard
"no higher transition is possible now", a function over locations, guards and the invariants entered.  Models for which
there is no such function are refused.  A synchronisation has the highest priority of all processes that take part.

A sender whose partners have different priorities is copied, once per priority: on a channel of its own per priority of
the receivers, or for a broadcast with a condition on who receives.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language.folding import FALSE, TRUE, join_all, make_binary, make_unary
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network import expressions as ex
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.effects import Place as Slot
from bbfalsify.modelling.network.network import Branch, Edge, Network
from bbfalsify.modelling.network.substitution import NotPlain, before

Rank = tuple[int, int]
"""Level of the channel, level of the process."""
Part = tuple[int, Edge]
"""A process and one of its edges."""


class Priorities:
    def __init__(
        self, network: Network, channels: dict[int | None, int], processes: dict[int, int], place: Place,
        assembly: Assembly,
    ) -> None:  # fmt: skip
        self.network = network
        self.levels = channels
        """Channel → level; None is the default."""
        self.processes = processes
        self.place = place
        self.assembly = assembly
        self.functions: list[ex.Function] = list(network.functions)
        self.effects = EffectAnalysis(self.functions)
        self.channels = list(network.channels)
        self.receivers: dict[int, list[Part]] = {}
        for number, process in enumerate(network.processes):
            for edge in process.edges:
                if edge.channel is not None and not edge.sends:
                    self.receivers.setdefault(edge.channel, []).append((number, edge))
        self.split: dict[int, dict[int, int]] = {}
        """Channel → level of the receivers → channel that only these listen to."""
        for channel, parts in self.receivers.items():
            self.split_channel(channel, {self.processes[number] for number, _ in parts})
        self.committed_somewhere = self.function_of("committed location somewhere", self.some_committed())

    def split_channel(self, channel: int, levels: set[int]) -> None:
        if self.network.channels[channel].broadcast or len(levels) < 2:
            return
        first, *others = sorted(levels)
        self.split[channel] = {first: channel}
        for level in others:
            self.split[channel][level] = len(self.channels)
            self.channels.append(self.network.channels[channel])

    def applied(self) -> Network:
        ways = [[self.ways(n, edge) for edge in p.edges] for n, p in enumerate(self.network.processes)]
        ranked = [
            (rank, parts)
            for number, edges in enumerate(ways)
            for edge in edges
            for rank, way in edge
            if rank is not None
            for parts in self.transitions(number, way)
        ]
        ranks = sorted({rank for rank, _ in ranked})
        blocked: dict[Rank, ex.Expression] = {}
        for rank in ranks[:-1]:
            possible = join_all("||", [self.possible(parts) for other, parts in ranked if other > rank])
            name = f"higher priority than {rank} possible"
            blocked[rank] = self.function_of(name, None if possible == FALSE else possible)
        processes = []
        for process, edges in zip(self.network.processes, ways, strict=True):
            guarded = [
                way if rank is None or rank not in blocked else self.guarded(way, blocked[rank])
                for edge in edges
                for rank, way in edge
            ]
            processes.append(replace(process, edges=tuple(guarded)))
        functions, channels = tuple(self.functions), tuple(self.channels)
        return replace(self.network, processes=tuple(processes), functions=functions, channels=channels)

    def guarded(self, edge: Edge, blocked: ex.Expression) -> Edge:
        return with_guard(edge, make_unary("!", blocked, ex.Kind.BOOL))

    def function_of(self, name: str, condition: ex.Expression | None) -> ex.Expression:
        """Add a function with this body and return a call of it; false if there is no condition."""
        if condition is None:
            return FALSE
        size = max((e.guard_frame_size for p in self.network.processes for e in p.edges), default=0)
        self.functions.append(ex.Function(name, (), ex.Kind.BOOL, size, (ex.Return(condition),)))
        return ex.Call(len(self.functions) - 1, (), ex.Kind.BOOL)

    def some_committed(self) -> ex.Expression | None:
        found: ex.Expression | None = None
        for number, process in enumerate(self.network.processes):
            for position, location in enumerate(process.locations):
                if location.committed:
                    here = ex.AtLocation(number, position)
                    found = here if found is None else make_binary("||", found, here, ex.Kind.BOOL)
        return found

    # --- transitions and their ranks ---

    def ways(self, number: int, edge: Edge) -> list[tuple[Rank | None, Edge]]:
        """The edge, once per rank that its transitions can have; receivers have no rank of their own."""
        own = self.processes[number]
        if edge.channel is None:
            return [((self.levels[None], own), edge)]
        split = self.split.get(edge.channel, {})
        if not edge.sends:
            return [(None, replace(edge, channel=split.get(own, edge.channel)))]
        level = self.levels.get(edge.channel, self.levels[None])
        receivers = [part for part in self.receivers.get(edge.channel, ()) if part[0] != number]
        others = {self.processes[other] for other, _ in receivers}
        if self.network.channels[edge.channel].broadcast:
            return self.broadcasts((level, own), edge, receivers)
        if not split:
            return [((level, max(own, other)), edge) for other in others] or [(None, edge)]
        return [((level, max(own, other)), replace(edge, channel=split[other])) for other in sorted(others)]

    def broadcasts(self, rank: Rank, edge: Edge, receivers: list[Part]) -> list[tuple[Rank | None, Edge]]:
        """One edge per highest priority among those that can receive."""
        level, own = rank
        ready: dict[int, ex.Expression] = {}
        for higher in sorted({self.processes[number] for number, _ in receivers if self.processes[number] > own}):
            parts = [self.ready(part) for part in receivers if self.processes[part[0]] == higher]
            ready[higher] = join_all("||", parts)
        found: list[tuple[Rank | None, Edge]] = []
        for highest in (own, *ready):
            way = edge if highest == own else with_guard(edge, ready[highest])
            for other, condition in ready.items():
                if other > highest:
                    way = with_guard(way, make_unary("!", condition, ex.Kind.BOOL))
            found.append(((level, highest), way))
        return found

    def ready(self, part: Part) -> ex.Expression:
        here = ex.AtLocation(part[0], part[1].source)
        return here if part[1].guard is None else make_binary("&&", here, part[1].guard, ex.Kind.BOOL)

    def transitions(self, number: int, edge: Edge) -> list[list[Part]]:
        """Sender and receiver of a handshake, only the sender of a broadcast."""
        if edge.channel is None or self.channels[edge.channel].broadcast:
            return [[(number, edge)]]
        pairs = []
        for channel, parts in self.receivers.items():
            for other, receiver in parts:
                listens = self.split.get(channel, {}).get(self.processes[other], channel)
                if listens == edge.channel and other != number:
                    pairs.append([(number, edge), (other, receiver)])
        return pairs

    # --- whether a transition is possible ---

    def possible(self, parts: list[Part]) -> ex.Expression:
        condition = join_all("&&", [self.ready(part) for part in parts])
        if self.committed_somewhere != FALSE and not any(map(self.is_committed, parts)):
            allowed = [make_unary("!", self.committed_somewhere, ex.Kind.BOOL)]
            number, channel = parts[0][0], parts[0][1].channel
            if len(parts) == 1 and channel is not None:  # a broadcast also leaves the locations of its receivers
                heard = [part for part in self.receivers.get(channel, ()) if part[0] != number]
                allowed += [self.ready(part) for part in heard if self.is_committed(part)]
            condition = make_binary("&&", condition, join_all("||", allowed), ex.Kind.BOOL)
        self.check_receivers(parts[0][1])
        return make_binary("&&", condition, self.may_enter(parts), ex.Kind.BOOL)

    def check_receivers(self, sender: Edge) -> None:
        """Refuse broadcasts that a receiver could forbid: the receivers are not known in advance."""
        if sender.channel is None or not self.channels[sender.channel].broadcast:
            return
        for number, edge in self.receivers.get(sender.channel, ()):
            targets = [self.network.processes[number].locations[branch.target] for branch in edge.branches]
            updates = [update for branch in edge.branches for update in branch.updates]
            if any(t.invariant is not None for t in targets) or not self.effects.statements(updates).writes.isdisjoint(
                self.in_invariants
            ):
                name = self.channels[sender.channel].name
                self.refuse(f"a receiver of the broadcast channel '{name}', above another, changes what invariants "
                            "read, or enters a location with an invariant")  # fmt: skip
                return

    @cached_property
    def in_invariants(self) -> set[Slot]:
        locations = (location for process in self.network.processes for location in process.locations)
        return {slot for location in locations for slot in self.effects.expression(location.invariant).reads}

    def is_committed(self, part: Part) -> bool:
        return self.network.processes[part[0]].locations[part[1].source].committed

    def may_enter(self, parts: list[Part]) -> ex.Expression:
        """The invariants of the locations entered, as conditions on the state before the updates."""
        ways: list[list[Branch]] = [[]]
        for _, edge in parts:
            ways = [[*way, branch] for way in ways for branch in edge.branches]
        found: ex.Expression = FALSE
        for way in ways:
            updates = [update for branch in way for update in branch.updates]
            invariants: ex.Expression = TRUE
            for (number, _), branch in zip(parts, way, strict=True):
                target = self.network.processes[number].locations[branch.target]
                if target.invariant is not None:
                    invariants = make_binary("&&", invariants, target.invariant, ex.Kind.BOOL)
            invariants = make_binary("&&", invariants, self.of_others(parts, updates), ex.Kind.BOOL)
            found = make_binary("||", found, self.before(updates, invariants, parts[0][1].line), ex.Kind.BOOL)
        return found

    def of_others(self, parts: list[Part], updates: list[ex.Statement]) -> ex.Expression:
        """The invariants of the other processes, if the updates change what they read."""
        written = self.effects.statements(updates).writes
        taking_part = {number for number, _ in parts}
        condition: ex.Expression = TRUE
        for number, process in enumerate(self.network.processes):
            for position, location in enumerate(process.locations):
                if number not in taking_part and not written.isdisjoint(
                    self.effects.expression(location.invariant).reads
                ):
                    assert location.invariant is not None
                    stays = make_binary("imply", ex.AtLocation(number, position), location.invariant, ex.Kind.BOOL)
                    condition = make_binary("&&", condition, stays, ex.Kind.BOOL)
        return condition

    def before(self, updates: list[ex.Statement], condition: ex.Expression, line: int | None) -> ex.Expression:
        """The condition before the updates that makes the given one hold after them."""
        try:
            return before(self.effects, updates, condition)
        except NotPlain:
            where = "" if line is None else f" (line {line})"
            self.refuse(f"an edge of higher priority{where} enters a location with an invariant after updates that are "
                        "more than plain assignments")  # fmt: skip
            return TRUE

    def refuse(self, why: str) -> None:
        self.assembly.fail(self.place, f"these priorities are not supported: {why}.")


def with_guard(edge: Edge, condition: ex.Expression) -> Edge:
    return replace(
        edge, guard=condition if edge.guard is None else make_binary("&&", edge.guard, condition, ex.Kind.BOOL)
    )
