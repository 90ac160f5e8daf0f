"""Tables of channels: who hears a broadcast, and which locations send on an urgent channel."""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.edge_families import starts_of
from bbfalsify.kernel.table_pool import TablePool
from bbfalsify.modelling.network.network import Edge, Network

_LEAST = 8
"""Number of edges from which a place is indexed by value."""


def pack_channels(
    pool: TablePool,
    network: Network,
    edges: Sequence[tuple[int, Edge]],
    first_location: Sequence[int],
    atoms: Sequence[Sequence[Sequence[int]]],
) -> None:
    """Pack the channels; `atoms` are the integer atoms of the guards of all edges."""
    listeners: dict[int, set[int]] = {}
    for p, edge in edges:
        if edge.channel is not None and not edge.sends:
            listeners.setdefault(edge.channel, set()).add(p)
    rows: list[int] = []
    for number, channel in enumerate(network.channels):
        listening = sorted(listeners.get(number, ())) if channel.broadcast else []
        rows += [pool.add(listening), len(listening)]
    pool.header[at.H_BROADCAST_TABLE] = pool.add(rows)
    sending = [(e.channel, i) for i, (_, e) in enumerate(edges) if e.channel is not None and e.sends]
    urgent: dict[tuple[int, int], list[int]] = {}
    for number, i in sorted(sending):
        if network.channels[number].urgent:
            p, edge = edges[i]
            urgent.setdefault((p, first_location[p] + edge.source), []).append(i)
    places: list[tuple[int, ...]] = []
    listed: list[int] = []
    for (p, location), own in urgent.items():
        index, in_order = _indexed(pool, own, atoms, len(listed))
        places.append((p, location, len(listed), len(own), *index))
        listed += in_order
    pool.add_list(at.H_URGENT_EDGES, at.H_URGENT_COUNT, listed)
    pool.header[at.H_URGENT_PLACES], pool.header[at.H_URGENT_PLACE_COUNT] = pool.add_rows(places), len(places)


def _indexed(
    pool: TablePool, edges: list[int], atoms: Sequence[Sequence[Sequence[int]]], first: int
) -> tuple[tuple[int, int, int, int], list[int]]:
    """Index edges by an integer that all of them compare with a constant: the index, and the edges in its order."""
    compared = [{a[at.A_SLOT]: a[at.A_BOUND] for a in atoms[e] if a[at.A_OPERATOR] == at.EQUAL} for e in edges]
    for slot in sorted(set.intersection(*(set(values) for values in compared))):
        in_order = sorted((own[slot], edge) for own, edge in zip(compared, edges, strict=True))
        low, high = in_order[0][0], in_order[-1][0]
        if len(edges) >= _LEAST and high - low < 8 * len(edges):
            starts = pool.add(starts_of([value for value, _ in in_order], low, high, first))
            return (slot, low, high, starts), [edge for _, edge in in_order]
    return (-1, 0, 0, 0), edges
