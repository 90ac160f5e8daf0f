"""Lists of candidates: which edges are worth drawing in a state.

    group 0              internal edges and broadcasts without an index
    indexed groups       edges with a guard `variable == constant`, by the value of the variable
    hub groups           edges whose partners are all in one process, by its location and, like indexed groups, by value
    handshake groups     one side of each other handshake channel; the partners are looked up when a pair is drawn

Of a handshake that side is listed whose locations have fewer edges, because entering and leaving a location lists all
of its edges: the gate that waits for each of N trains is looked up, the trains are listed.  Channels with the same
number of possible partners share a group, so that the pairs of a group are numbered without a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from bbfalsify.kernel import layout as at
from bbfalsify.modelling.network.network import Edge

_MAXIMUM_KEYS = 4
_MAXIMUM_HUBS = 12
"""Places of hubs, each of which costs a look at every step."""
_LEAST_AT_HUB = 4
"""Channels that end in a process, from which it is worth being a hub."""
_LARGEST_KEY = 4096
_Channel = tuple[list[int], list[int], int]
"""Listed edges of a handshake channel, those of the other side, 1 if the listed ones send."""
_HANDSHAKES = (at.KIND_HANDSHAKE_SEND, at.KIND_HANDSHAKE_RECEIVE)


@dataclass
class Groups:
    of_edge: list[int]
    """Group of each edge; −1: never drawn as the first of a pair."""
    sizes: list[int]
    """Most members of each group."""
    keys: list[tuple[int, int, int, list[int]]]
    """Indexed variables: slot, least and largest value, group of each value or −1."""
    handshakes: list[tuple[int, int, int]] = field(default_factory=list)
    """Group, number of partners of each member, 1 if the members send."""
    hubs: list[tuple[int, int, int, int, int, list[int], int]] = field(default_factory=list)
    """Process, location in it, slot of an integer or −1, least and largest value, group of each value or −1, 1 if the
    members send."""
    partners: dict[tuple[int | None, int], list[int]] = field(default_factory=dict)
    """(channel, kind) → edges of the other side."""


def candidate_groups(
    edges: Sequence[tuple[int, Edge]], kinds: Sequence[int], atoms: Sequence[Sequence[Sequence[int]]]
) -> Groups:
    """Sort edges (with their processes) into groups; `atoms` are the integer atoms of their guards."""
    chosen, values = _indexed(edges, kinds, atoms)
    sizes, keys = [0], []
    number_of: dict[tuple[int, int], int] = {}
    for slot in (slot for slot in values if values[slot]):
        low, high = min(values[slot]), max(values[slot])
        row = []
        for value in range(low, high + 1):
            if value in values[slot]:
                number_of[slot, value] = len(sizes)
                row.append(len(sizes))
                sizes.append(0)
            else:
                row.append(-1)
        keys.append((slot, low, high, row))
    groups = Groups([], sizes, keys)
    handshake_of = _handshakes(edges, kinds, atoms, groups)
    for number, kind in enumerate(kinds):
        indexed = chosen[number]
        if kind in _HANDSHAKES:
            group = handshake_of.get(number, -1)
        elif kind == at.KIND_BROADCAST_RECEIVE:
            group = -1
        else:
            group = 0 if indexed is None else number_of[indexed]
        if group >= 0:
            sizes[group] += 1
        groups.of_edge.append(group)
    return groups


def _indexed(
    edges: Sequence[tuple[int, Edge]], kinds: Sequence[int], atoms: Sequence[Sequence[Sequence[int]]]
) -> tuple[list[tuple[int, int] | None], dict[int, set[int]]]:
    """Choose the variables that index edges, and (variable, value) of each edge that one indexes."""
    users: dict[int, set[int]] = {}
    uses: Counter[int] = Counter()
    single = [kind in (at.KIND_INTERNAL, at.KIND_BROADCAST_SEND) for kind in kinds]
    for number, (p, _) in enumerate(edges):
        if single[number]:
            for slot, operator, _, _ in atoms[number]:
                if operator == at.EQUAL:
                    users.setdefault(slot, set()).add(p)
                    uses[slot] += 1
    keys = [slot for slot, _ in uses.most_common() if len(users[slot]) > 1][:_MAXIMUM_KEYS]
    values: dict[int, set[int]] = {slot: set() for slot in keys}
    chosen: list[tuple[int, int] | None] = []
    for number in range(len(edges)):
        own = atoms[number] if single[number] else []
        key = next(((s, v) for s, operator, _, v in own if operator == at.EQUAL and s in values), None)
        if key is not None and (abs(key[1]) > 100_000 or len(values[key[0]]) > 4096):
            key = None
        if key is not None:
            values[key[0]].add(key[1])
        chosen.append(key)
    return chosen, values


def _handshakes(
    edges: Sequence[tuple[int, Edge]], kinds: Sequence[int], atoms: Sequence[Sequence[Sequence[int]]], groups: Groups
) -> dict[int, int]:
    """Choose the listed side of each channel; return the group of each listed edge."""
    leaving: Counter[tuple[int, int]] = Counter()
    sides: dict[int, tuple[list[int], list[int]]] = {}
    for number, (p, edge) in enumerate(edges):
        if kinds[number] in _HANDSHAKES:
            assert edge.channel is not None
            leaving[p, edge.source] += 1
            sides.setdefault(edge.channel, ([], []))[kinds[number] == at.KIND_HANDSHAKE_RECEIVE].append(number)
    channels: list[_Channel] = []
    for channel, (senders, receivers) in sides.items():
        groups.partners[channel, at.KIND_HANDSHAKE_SEND] = receivers
        groups.partners[channel, at.KIND_HANDSHAKE_RECEIVE] = senders
        if senders and receivers:
            costs = [max(leaving[edges[e][0], edges[e][1].source] for e in side) for side in (senders, receivers)]
            channels.append((senders, receivers, 1) if costs[0] <= costs[1] else (receivers, senders, 0))
    group_of: dict[int, int] = {}
    shared: dict[tuple[int, int], int] = {}
    for listed, partners, sends in _without_hubs(channels, edges, atoms, groups, group_of):
        key = len(partners), sends
        if key not in shared:
            shared[key] = len(groups.sizes)
            groups.sizes.append(0)
            groups.handshakes.append((shared[key], *key))
        group_of |= dict.fromkeys(listed, shared[key])
    return group_of


def _without_hubs(
    channels: list[_Channel],
    edges: Sequence[tuple[int, Edge]],
    atoms: Sequence[Sequence[Sequence[int]]],
    groups: Groups,
    group_of: dict[int, int],
) -> list[_Channel]:
    """Make groups for channels that end in a hub; return the other channels.

    A hub is a process that is the only partner of many edges; in each of its locations at most one edge is.
    """
    by_process: dict[int, list[_Channel]] = {}
    for channel in channels:
        listed, partners, _ = channel
        processes = {edges[e][0] for e in partners}
        alone = len(processes) == 1 and len({edges[e][1].source for e in partners}) == len(partners)
        if alone and not processes & {edges[e][0] for e in listed}:
            by_process.setdefault(min(processes), []).append(channel)
    taken: list[_Channel] = []
    for process in sorted(by_process, key=lambda p: -len(by_process[p])):
        own = by_process[process]
        if len(own) < _LEAST_AT_HUB:
            break
        members: dict[tuple[tuple[tuple[int, int, int], ...], int], list[int]] = {}
        for listed, partners, sends in own:
            places = tuple(sorted((edges[e][1].source, *_compared(atoms[e])) for e in partners))
            members.setdefault((places, sends), []).extend(listed)
        rows: dict[tuple[int, int, int, int], dict[int, int]] = {}
        for number, (places, sends) in enumerate(members):
            for location, slot, value in places:
                layer = next(k for k in count() if value not in rows.get((location, slot, sends, k), {}))
                rows.setdefault((location, slot, sends, layer), {})[value] = len(groups.sizes) + number
        if len(groups.hubs) + len(rows) > _MAXIMUM_HUBS:
            continue
        for listed in members.values():
            group_of |= dict.fromkeys(listed, len(groups.sizes))
            groups.sizes.append(0)
        for (location, slot, sends, _), by_value in rows.items():
            low, high = min(by_value), max(by_value)
            of_value = [by_value.get(value, -1) for value in range(low, high + 1)]
            groups.hubs.append((process, location, slot, low, high, of_value, sends))
        taken += own
    return [channel for channel in channels if channel not in taken]


def _compared(atoms: Sequence[Sequence[int]]) -> tuple[int, int]:
    """(slot, value) of an integer that a guard compares with a constant; slot −1: none."""
    return next(((s, v) for s, operator, _, v in atoms if operator == at.EQUAL and abs(v) < _LARGEST_KEY), (-1, 0))
