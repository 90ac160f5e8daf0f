"""A chain that is too large is recognised by a few thousand walks, long before its states fill the memory.

n independent walks end in states of one law.  Among N possible states, two of the ends are alike with at least the
probability 1 − exp(−n (n − 1) / 2 N), whatever that law is: it is least where all are equally probable.  So ends that
are all different say that there are more than N states; n is such that this is wrong once in a million.

Walks choose among the delays with equal rates, so that what is rare (failures among repairs) is met as well.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bbfalsify.kernel import compile_network
from bbfalsify.kernel import path_walks as kernel
from bbfalsify.kernel.target_search import Target
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.modelling import Network
from bbfalsify.modelling.network.expressions import Constant, Kind

STEPS, MOST_WALKS = 100, 50_000
_DOUBT = 1e-6
_BATCH = 2000


def walks_for(states: int) -> int:
    """Walks whose ends, if all are different, say that there are more states than these."""
    return math.ceil(math.sqrt(-2 * math.log(_DOUBT) * states)) + 1


def more_states_than(network: Network, states: int) -> bool:
    """Tell whether walks show that the network has more states; False where they leave it open."""
    count = walks_for(states)
    if count > MOST_WALKS:
        return False
    model = compile_network(_evenly(network))
    target = Target(model, Constant(0, Kind.BOOL))
    walker, start = Walker.of(target.model), initial_state(model)
    seen: set[bytes] = set()
    for first in range(0, count, _BATCH):
        size = min(_BATCH, count - first)
        status, errors = np.zeros(size, np.int8), np.zeros((size, 3), np.int64)
        locations = np.zeros((size, len(network.processes)), np.int32)
        integers, reals = np.zeros((size, network.integer_count), np.int64), np.zeros((size, network.real_count))
        with np.errstate(over="ignore"):
            kernel.path_batch(
                *walker.arrays, *start, np.zeros(1), np.zeros(size, np.int64), *limits(model),
                np.arange(first, first + size, dtype=np.uint64), math.inf, STEPS, True, target.goal,
                np.full_like(target.goal, -1), status, np.zeros(size), np.zeros(1, np.int64), errors, locations,
                integers, reals, np.zeros((0, 0), np.uint64),
            )  # fmt: skip
        ends = {row.tobytes() for row in np.hstack([locations.astype(np.int64), integers])}
        if len(ends) < size or not seen.isdisjoint(ends) or (status == kernel.FAILED).any():
            return False
        seen |= ends
    return True


def _evenly(network: Network) -> Network:
    """The network with the same rate in all locations."""

    one, processes = Constant(1, Kind.DOUBLE), []
    for process in network.processes:
        locations = (
            replace(location, exponential_rate=location.exponential_rate and one) for location in process.locations
        )
        processes.append(replace(process, locations=tuple(locations)))
    return replace(network, processes=tuple(processes))
