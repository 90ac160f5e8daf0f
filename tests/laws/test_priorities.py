"""Priorities as guards, judged by what they mean: at each moment exactly those transitions are possible of which no
higher one is.

Random networks in UPPAAL's dialect (no other language has priorities) get random ones on channels and processes.  The
reference interpreter walks through the network without priorities; at each state, and at several delays, what can fire
in the network with priorities must be what can fire without them and has the highest rank.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from bbfalsify.core.errors import Place
from bbfalsify.modelling.language.priorities import Priorities
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from tests.drawing import examples
from tests.laws.test_kernel_against_reference import accelerated_walks_are_allowed, caches_change_nothing
from tests.support.networks import networks
from tests.support.oracle import Oracle
from tests.support.printing import network_text

DELAYS = [Fraction(n, 8) for n in (0, 1, 8, 13, 16, 24, 33)]


def ranks(network: Network, channels: dict, processes: dict, transition) -> tuple[int, int]:
    process, number = transition.sender
    edge = network.processes[process].edges[number]
    level = channels.get(edge.channel, channels[None])
    together = [process, *(receiver for receiver, _ in transition.receivers)]
    return level, max(processes[one] for one in together)


def originals(priorities: Priorities) -> dict[tuple[int, int], tuple[int, int]]:
    """The edge that each edge of the network with priorities was made from."""
    found = {}
    for number, process in enumerate(priorities.network.processes):
        copies = [old for old, edge in enumerate(process.edges) for _ in priorities.ways(number, edge)]
        found |= {(number, new): (number, old) for new, old in enumerate(copies)}
    return found


def fireable(interpreter: Oracle, state, names: dict | None = None) -> list[dict]:
    """What can fire, one delay after the other."""

    def named(edge: tuple[int, int]) -> tuple[int, int]:
        return edge if names is None else names[edge]

    transitions = {(named(t.sender), tuple(map(named, t.receivers))): t for t in interpreter.transitions(state)}
    return [{k: t for k, t in transitions.items() if interpreter.can_fire(state, t, delay)} for delay in DELAYS]


def with_random_priorities(network: Network, data) -> tuple[Network, Network, Priorities]:
    network = replace(network, as_uppaal=True)
    levels = st.integers(0, 2)
    channels: dict = {number: data.draw(levels) for number in range(len(network.channels))}
    channels[None] = 1
    processes = {number: data.draw(levels) for number in range(len(network.processes))}
    assembly = Assembly()
    priorities = Priorities(network, channels, processes, Place(None), assembly)
    limited = priorities.applied()
    assume(not assembly.problems)
    note(network_text(limited))
    return network, limited, priorities


@examples(50)
@given(network=networks(urgent_channels=False, prepared=False), data=st.data())
def test_only_the_highest_is_possible(network, data):
    only_the_highest_is_possible(network, data)


@pytest.mark.slow
@examples(1000)
@given(network=networks(urgent_channels=False, prepared=False), data=st.data())
def test_only_the_highest_is_possible_in_a_thousand_networks(network, data):
    only_the_highest_is_possible(network, data)


@examples(15)
@given(network=networks(urgent_channels=False, prepared=False), data=st.data())
def test_the_kernel_walks_with_priorities(network, data):
    """The new guards look at other processes' locations and clocks: no cache may miss that."""
    _, limited, _ = with_random_priorities(network, data)
    accelerated_walks_are_allowed(limited, walks=2, steps=12)
    caches_change_nothing(limited, walks=3, steps=100)


def only_the_highest_is_possible(network: Network, data) -> None:
    network, limited, priorities = with_random_priorities(network, data)
    channels, processes, names = priorities.levels, priorities.processes, originals(priorities)
    free, bound = Oracle(network), Oracle(limited)
    state = free.initial_state()
    random = np.random.default_rng(0)
    for _ in range(4):
        possible = fireable(free, state)
        for allowed, left in zip(possible, fireable(bound, state, names), strict=True):
            best = max((ranks(network, channels, processes, t) for t in allowed.values()), default=None)
            highest = {k for k, t in allowed.items() if ranks(network, channels, processes, t) == best}
            assert set(left) == highest
        moves = [(t, delay) for delay, now in zip(DELAYS, possible, strict=True) for t in now.values()]
        if not moves:
            break
        transition, delay = moves[random.integers(len(moves))]
        try:
            state = free.fire_choosing(state, transition, delay, generator=random)
        except ModelRuntimeError:
            break
