"""Nodes that wait for being expanded, compiled: a queue, a stack, or the earliest first.

    BREADTH                the nodes themselves, in the order in which they were made
    DEPTH, RANDOM_DEPTH    a stack in `waiting`
    EARLIEST               a heap in `waiting`: (node, key) with the smallest key first

The key of a state is its lower bound on the time, as 2·c for ≥ c and 2·c + 1 for > c.
"""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.zones.zone_layout import *


@inlined
def earliest(Z, D, m):
    """Return the key of the matrix at D[m:]."""
    return 1 - D[m + Z[Z_TIME]]


@compiled
def next_node(waiting, progress, order):
    """Return the node to expand next, −1 if none is left."""
    if order == BREADTH:
        return progress[P_NEXT] if progress[P_NEXT] < progress[P_NODES] else -1
    if progress[P_NEXT] == 0:
        return -1
    return int(waiting[0] if order == EARLIEST else waiting[progress[P_NEXT] - 1])


@inlined
def swap(waiting, i, j):
    """Exchange two pairs of the heap."""
    for k in range(2):
        kept = waiting[2 * i + k]
        waiting[2 * i + k] = waiting[2 * j + k]
        waiting[2 * j + k] = kept


@compiled
def remove_next(waiting, progress, order):
    """Take the node that is next from the list."""
    if order == BREADTH:
        progress[P_NEXT] += 1
        return
    size = progress[P_NEXT] - 1
    progress[P_NEXT] = size
    if order != EARLIEST:
        return
    swap(waiting, 0, size)
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and waiting[2 * (child + 1) + 1] < waiting[2 * child + 1]:
            child += 1
        if waiting[2 * i + 1] <= waiting[2 * child + 1]:
            return
        swap(waiting, i, child)
        i = child


@compiled
def add_waiting(waiting, progress, order, node, key):
    """Add a node; in a queue it is already."""
    if order == BREADTH:
        return
    i = progress[P_NEXT]
    progress[P_NEXT] = i + 1
    if order != EARLIEST:
        waiting[i] = node
        return
    waiting[2 * i] = node
    waiting[2 * i + 1] = key
    while i > 0 and waiting[2 * ((i - 1) // 2) + 1] > waiting[2 * i + 1]:
        swap(waiting, i, (i - 1) // 2)
        i = (i - 1) // 2


@inlined
def shuffled_choice(progress, k, count):
    """Return a random number from k to count − 1."""
    state = progress[P_RANDOM]
    state = (state * 6364136223846793005 + 1442695040888963407) & 0x3FFFFFFFFFFFFFFF
    progress[P_RANDOM] = state
    return k + (state >> 20) % (count - k)


@compiled
def order_added(waiting, progress, order, begun):
    """Arrange what was added to a stack of `begun` nodes: the first successor is the next, or a random one."""
    end = progress[P_NEXT]
    for k in range((end - begun) // 2):
        swapped = waiting[begun + k]
        waiting[begun + k] = waiting[end - 1 - k]
        waiting[end - 1 - k] = swapped
    if order == RANDOM_DEPTH:
        for k in range(begun, end - 1):
            other = shuffled_choice(progress, k, end)
            swapped = waiting[k]
            waiting[k] = waiting[other]
            waiting[other] = swapped
