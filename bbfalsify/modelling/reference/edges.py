"""The edges that may fire together, by locations and channels alone; guards and invariants are not evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bbfalsify.modelling.network.network import Edge, Network
from bbfalsify.modelling.reference.state import EdgeName, Transition


class Edges:
    """The edges of a network, indexed by the locations of the processes."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._leaving: list[dict[int, list[int]]] = [{} for _ in network.processes]
        """Per process: location → the edges that leave it."""
        self._listening: dict[int | None, list[int]] = {}
        """Channel → the processes that may receive on it."""
        self._urgent: dict[int, dict[int, list[int]]] = {}
        """The same for edges on urgent channels, per process that has any."""
        for p, process in enumerate(network.processes):
            for e, edge in enumerate(process.edges):
                self._leaving[p].setdefault(edge.source, []).append(e)
                if edge.channel is not None and network.channels[edge.channel].urgent:
                    self._urgent.setdefault(p, {}).setdefault(edge.source, []).append(e)
                if not edge.is_output and p not in self._listening.setdefault(edge.channel, []):
                    self._listening[edge.channel].append(p)

    def __getitem__(self, name: EdgeName) -> Edge:
        return self._network.processes[name[0]].edges[name[1]]

    def candidates(self, locations: Sequence[int]) -> Iterator[Transition]:
        for p, here in enumerate(locations):
            for e in self._leaving[p].get(here, ()):
                yield from self._transitions((p, e), locations)

    def urgent_candidates(self, locations: Sequence[int]) -> Iterator[Transition]:
        """The candidates on urgent channels."""
        for p, leaving in self._urgent.items():
            for e in leaving.get(locations[p], ()):
                yield from self._transitions((p, e), locations)

    def _transitions(self, name: EdgeName, locations: Sequence[int]) -> Iterator[Transition]:
        """The transitions whose internal or sending edge is this one."""
        edge = self[name]
        if edge.channel is None:
            yield Transition(name)
        elif edge.sends and self._network.channels[edge.channel].broadcast:
            yield Transition(name, self.hearing(name, locations), broadcast=True)
        elif edge.sends:
            yield from (Transition(name, (receiver,)) for receiver in self.hearing(name, locations))

    def hearing(self, sender: EdgeName, locations: Sequence[int]) -> tuple[EdgeName, ...]:
        """The edges of other processes, in their current locations, that receive on the channel of a sending edge."""
        channel = self[sender].channel
        return tuple(
            (p, e)
            for p in self._listening.get(channel, ())
            if p != sender[0]
            for e in self._leaving[p].get(locations[p], ())
            if self.receives((p, e), channel)
        )

    def receives(self, name: EdgeName, channel: int | None) -> bool:
        edge = self[name]
        return edge.channel == channel and not edge.is_output
