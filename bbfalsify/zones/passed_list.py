"""The passed list of an exploration, compiled: rows, nodes and matrices, found again by hashing and by inclusion.

    nodes       one line per symbolic state: number of its row, parent, which successor of the parent, next with the
                same row, place of its matrix, depth; a state that a larger one covers is taken from the list
    discrete    the rows, each once, and the first node of each
    stored      the matrices; places of covered states are used again

A trace is not stored: parents and numbers of successors tell how to compute it again.
"""

from __future__ import annotations

from bbfalsify.kernel.exploration import mixed
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.zones.zone_layout import *


@inlined
def row_hash(Z, found, place):
    value = 17
    for k in range(Z[Z_WIDTH]):
        value = mixed(value, int(found[place + k]))
    return value


@compiled
def number_of_row(Z, found, place, discrete, work, progress):
    """Return the number of the row at found[place:], maybe a new one."""
    size = len(work)
    slot = row_hash(Z, found, place) % size
    width = Z[Z_WIDTH]
    while work[slot] > 0:
        row = work[slot] - 1
        same = True
        for k in range(width):
            if discrete[row, k] != found[place + k]:
                same = False
                break
        if same:
            return row
        slot = slot + 1 if slot + 1 < size else 0
    row = progress[P_ROWS]
    for k in range(width):
        discrete[row, k] = found[place + k]
    discrete[row, width] = -1
    work[slot] = row + 1
    progress[P_ROWS] = row + 1
    return row


@entry_point
def fill_rows(Z, found, discrete, work, progress):
    """Enter all rows into an empty, larger hash table."""
    for row in range(progress[P_ROWS]):
        for k in range(Z[Z_WIDTH]):
            found[k] = discrete[row, k]
        slot = row_hash(Z, found, 0) % len(work)
        while work[slot] > 0:
            slot = slot + 1 if slot + 1 < len(work) else 0
        work[slot] = row + 1


@compiled
def find_or_cover(Z, found, place, row, nodes, discrete, stored, progress, merging):
    """Return a node that makes the state at found[place:] superfluous, or −1; mark those that it covers."""
    width = Z[Z_WIDTH]
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    zone = place + width
    last = -1
    node = discrete[row, width]
    while node >= 0:
        matrix = nodes[node, N_MATRIX]
        smaller = True
        larger = True
        for k in range(size):
            here = found[zone + k]
            there = stored[matrix, k]
            if here > there:
                smaller = False
                if not larger or merging == EQUALITY:
                    break
            elif here < there:
                larger = False
                if not smaller or merging == EQUALITY:
                    break
        if merging == EQUALITY:
            if smaller and larger:
                return node
            larger = False
        elif smaller:
            return node
        follower = nodes[node, N_NEXT]
        if larger:
            nodes[node, N_FLAGS] |= COVERED
            stored[matrix, 0] = progress[P_FREE]
            progress[P_FREE] = matrix
            progress[P_COVERED] += 1
            if last < 0:
                discrete[row, width] = follower
            else:
                nodes[last, N_NEXT] = follower
        else:
            last = node
        node = follower
    return -1


@compiled
def add_node(Z, found, place, row, parent, choice, nodes, discrete, stored, progress):
    """Append a node for the state at found[place:]; return its number."""
    size = Z[Z_CLOCKS] * Z[Z_CLOCKS]
    matrix = progress[P_FREE]
    if matrix >= 0:
        progress[P_FREE] = stored[matrix, 0]
    else:
        matrix = progress[P_MATRICES]
        progress[P_MATRICES] = matrix + 1
    for k in range(size):
        stored[matrix, k] = found[place + Z[Z_WIDTH] + k]
    node = progress[P_NODES]
    progress[P_NODES] = node + 1
    depth = 0 if parent < 0 else nodes[parent, N_DEPTH] + 1
    nodes[node, N_ROW] = row
    nodes[node, N_PARENT] = parent
    nodes[node, N_CHOICE] = choice
    nodes[node, N_NEXT] = discrete[row, Z[Z_WIDTH]]
    nodes[node, N_MATRIX] = matrix
    nodes[node, N_DEPTH] = depth
    nodes[node, N_FLAGS] = 0
    discrete[row, Z[Z_WIDTH]] = node
    if depth > progress[P_DEPTH]:
        progress[P_DEPTH] = depth
    return node


@compiled
def fetch_node(Z, found, node, nodes, discrete, stored):
    """Write the state of a node into the first record."""
    width = Z[Z_WIDTH]
    row = nodes[node, N_ROW]
    for k in range(width):
        found[k] = discrete[row, k]
    matrix = nodes[node, N_MATRIX]
    for k in range(Z[Z_CLOCKS] * Z[Z_CLOCKS]):
        found[width + k] = stored[matrix, k]
