"""Lists of candidates: which edges are worth drawing in a state.

    group 0              internal edges and broadcasts without an index
    indexed groups       edges with a guard `variable == constant`, by the value of the variable
    handshake groups     one side of each handshake channel; the partners are looked up when a pair is drawn

Of a handshake that side is listed whose locations have fewer edges, because entering and leaving a location lists all
of its edges: the gate that waits for each of N trains is looked up, the trains are listed.  Channels with the same
number of possible partners share a group, so that the pairs of a group are numbered without a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bbfalsify.kernel import layout as at
from bbfalsify.modelling.network.network import Edge

_MAXIMUM_KEYS = 4
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
    handshake_of = _handshakes(edges, kinds, groups)
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


def _handshakes(edges: Sequence[tuple[int, Edge]], kinds: Sequence[int], groups: Groups) -> dict[int, int]:
    """Choose the listed side of each channel; return the group of each listed edge."""
    leaving: Counter[tuple[int, int]] = Counter()
    sides: dict[int, tuple[list[int], list[int]]] = {}
    for number, (p, edge) in enumerate(edges):
        if kinds[number] in _HANDSHAKES:
            assert edge.channel is not None
            leaving[p, edge.source] += 1
            sides.setdefault(edge.channel, ([], []))[kinds[number] == at.KIND_HANDSHAKE_RECEIVE].append(number)
    group_of: dict[int, int] = {}
    shared: dict[tuple[int, int], int] = {}
    for channel, (senders, receivers) in sides.items():
        groups.partners[channel, at.KIND_HANDSHAKE_SEND] = receivers
        groups.partners[channel, at.KIND_HANDSHAKE_RECEIVE] = senders
        if not senders or not receivers:
            continue
        costs = [max(leaving[edges[e][0], edges[e][1].source] for e in side) for side in (senders, receivers)]
        listed, partners, sends = (senders, receivers, 1) if costs[0] <= costs[1] else (receivers, senders, 0)
        key = len(partners), sends
        if key not in shared:
            shared[key] = len(groups.sizes)
            groups.sizes.append(0)
            groups.handshakes.append((shared[key], *key))
        group_of |= dict.fromkeys(listed, shared[key])
    return group_of
