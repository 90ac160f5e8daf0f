"""Initial values that are drawn at random: `double weight = random(10);`.

A process of its own draws them in a committed location, before anything else happens.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.modelling.language.folding import make_binary
from bbfalsify.modelling.network.expressions import Assign, AtLocation, Kind
from bbfalsify.modelling.network.network import Branch, Edge, Location, Process

NAME = "_initial_draws"


def with_initial_draws(processes: list[Process], draws: list[Assign]) -> list[Process]:
    """Add the process that draws; edges that could go before it wait for it."""
    if not draws:
        return processes
    done = AtLocation(len(processes), 1)

    def waiting(process: Process, edge: Edge) -> Edge:
        if edge.source != process.initial or not process.locations[edge.source].committed:
            return edge
        return replace(edge, guard=done if edge.guard is None else make_binary("&&", done, edge.guard, Kind.BOOL))

    others = [replace(p, edges=tuple(waiting(p, edge) for edge in p.edges)) for p in processes]
    edge = Edge(0, (Branch(1, tuple(draws)),), action=NAME)
    return [*others, Process(NAME, (Location("before", committed=True), Location("after")), 0, (edge,))]
