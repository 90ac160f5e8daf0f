"""Find the shortest way from one place of the profile to another in its graph.

It replaces a part of a word that does not lead back to the place where it began.  Only locations count; whether guards,
invariants and data allow the way shows when the word is followed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from bbfalsify.engines.falsification.search.neighbours import Key, Place
from bbfalsify.modelling.network.network import Edge, Network

MOST_PLACES = 2000
"""Limit of places visited from one start; a network of many components has too many."""


class Routes:
    def __init__(self, network: Network) -> None:
        self._network = network
        self._from: dict[Place, dict[Place, Key]] = {}

    def shortest(self, start: Place, end: Place) -> Key | None:
        """Find the fewest actions that lead from start to end; None if no way was found."""
        if start not in self._from:
            self._from[start] = self._explore(start)
        return self._from[start].get(end)

    def _explore(self, start: Place) -> dict[Place, Key]:
        """Find the shortest ways from a place, breadth first."""
        reached: dict[Place, Key] = {start: ()}
        for place in (queue := [start]):
            for action, after in self._steps(place):
                if after not in reached and len(reached) < MOST_PLACES:
                    reached[after] = (*reached[place], action)
                    queue.append(after)
        return reached

    def _steps(self, place: Place) -> Iterator[tuple[str, Place]]:
        for p, process in enumerate(self._network.processes):
            for edge in process.edges:
                if edge.is_output and edge.source == place[p]:
                    targets = [self._after(place, q, p, edge) for q in range(len(place))]
                    yield from ((edge.action, after) for after in itertools.product(*targets))

    def _after(self, place: Place, q: int, sender: int, edge: Edge) -> list[int]:
        """Possible locations of process q after the edge of the sender; one that may receive may also stay."""
        if q == sender:
            return sorted({branch.target for branch in edge.branches})
        if edge.channel is None:
            return [place[q]]
        received = (e for e in self._network.processes[q].edges if not e.is_output and e.channel == edge.channel)
        targets = {branch.target for e in received if e.source == place[q] for branch in e.branches}
        return [*sorted(targets), *([place[q]] if place[q] not in targets else [])]
