"""Explore the zone graph, compiled: a passed list with inclusion, breadth or depth first.

    nodes       one line per symbolic state: number of its row, parent, which successor of the parent, next with the
                same row, place of its matrix, depth; a state that a larger one covers is taken from the list
    discrete    the rows, each once, and the first node of each
    stored      the matrices; places of covered states are used again

A trace is not stored: parents and numbers of successors tell how to compute it again.  All arrays belong to the caller;
when one is full, `explore` returns NO_ROOM and can go on with larger ones.
"""

from __future__ import annotations

from bbfalsify.kernel.exploration import mixed
from bbfalsify.kernel.layout import S_ERROR
from bbfalsify.kernel.numba_types import compiled, entry_point, inlined
from bbfalsify.zones.dbm import before, constrain, copied, subtract
from bbfalsify.zones.layout import *
from bbfalsify.zones.successors import (
    constrain_by_case,
    constrain_by_list,
    data_holds,
    list_invariants,
    list_successors,
    load_row,
    settle,
    store_row,
    time_may_pass,
)

DONE, PAUSED, MET, FULL = 0, 1, 2, 3
(N_ROW, N_PARENT, N_CHOICE, N_NEXT, N_MATRIX, N_DEPTH, N_FLAGS, NODE_WIDTH) = range(8)
COVERED, EXPANDED, DIVERGES, STUCK = 1, 2, 4, 8
"""Flags of nodes: covered by a larger one; successors are known; time may pass for ever; a run may end here."""

(
    P_NODES,
    P_ROWS,
    P_MATRICES,
    P_FREE,  # first free matrix, −1 for none; stored[free, 0] is the next
    P_NEXT,  # breadth first: the next node; depth first: size of the stack in `waiting`
    P_VISITED,
    P_TRANSITIONS,
    P_COVERED,
    P_DEPTH,
    P_MET,  # node that met the target
    P_LINKS,
    P_RANDOM,
    P_SIZE,
) = range(13)

INCLUSION, EQUALITY = 0, 1
BREADTH, DEPTH, RANDOM_DEPTH = 0, 1, 2


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


# --- targets ----------------------------------------------------------------------------------------------------------


@compiled
def meets(T, F, S, X, R, Z, D, W, found, place, condition, pieces, count):
    """Tell whether a state of found[place:] satisfies a condition, and lies in one of `count` matrices at `pieces`.

    0 or 1, or a problem; M_CELL is the zone of such states.  `count` −1 stands for all states.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    load_row(T, S, X, Z, found, place)
    for k in range(Z[condition]):
        case = condition + 1 + CASE_WIDTH * k
        if not data_holds(T, F, S, X, R, Z, case):
            continue
        for i in range(1 if count < 0 else count):
            if count < 0:
                for j in range(size):
                    D[M_CELL * size + j] = found[place + Z[Z_WIDTH] + j]
            else:
                copied(D, pieces + size * i, M_CELL * size, n)
            left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_CELL * size)
            if left != 0:
                return left
    return FAILED if S[S_ERROR] != 0 else 0


@compiled
def list_living(T, F, S, X, R, Z, D, W, found, count):
    """Write the states of the first record from which one of `count` detailed successors fires: their number.

    The matrices are M_PIECES and following; dead states are all others.
    """
    n = int(Z[Z_CLOCKS])
    size = n * n
    load_row(T, S, X, Z, found, 0)
    passes = time_may_pass(T, F, S, X, R, Z)
    living = 0
    for k in range(count):
        record = Z[Z_RECORD] * (k + 1) + Z[Z_DETAILS] + 1
        place = (M_PIECES + living) * size
        if living >= Z[Z_PIECES]:
            return TOO_MANY_PIECES
        for i in range(size):
            D[place + i] = found[record + i]
        if passes == 1:
            before(D, place, n)
        for i in range(size):
            D[M_STATE * size + i] = found[Z[Z_WIDTH] + i]
        known = False
        for i in range(living):
            other = (M_PIECES + i) * size
            same = True
            for j in range(size):
                if D[other + j] < D[place + j]:
                    same = False
                    break
            known = known or same
        if not known:
            living += 1
    return living


@compiled
def list_dead(Z, D, found, living):
    """Write the states of the first record outside the `living` matrices; return (place, number) of disjoint pieces."""
    n = int(Z[Z_CLOCKS])
    size = n * n
    here = (M_PIECES + Z[Z_PIECES]) * size
    there = (M_PIECES + 2 * Z[Z_PIECES]) * size
    for k in range(size):
        D[here + k] = found[Z[Z_WIDTH] + k]
    count = 1
    for k in range(living):
        count = subtract(D, (M_PIECES + k) * size, n, here, count, M_SPARE * size, there, Z[Z_PIECES])
        if count <= 0:
            break
        here, there = there, here
    return here, count


@compiled
def ends_here(T, F, S, X, R, Z, D, W, found, count):
    """Look for a target among the states of the first record, given its detailed successors: 0, 1, or a problem."""
    living = list_living(T, F, S, X, R, Z, D, W, found, count)
    if living < 0:
        return living
    if Z[Z_DEAD] >= 0:
        pieces, dead = list_dead(Z, D, found, living)
        if dead < 0:
            return TOO_MANY_PIECES
        if dead > 0:
            met = meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_DEAD], pieces, dead)
            if met != 0:
                return met
    if Z[Z_ALIVE] >= 0 and living > 0:
        n = int(Z[Z_CLOCKS])
        for k in range(living):  # M_PIECES reach beyond the state where time passes backwards
            place = (M_PIECES + k) * n * n
            for i in range(n):
                for j in range(n):
                    constrain(D, place, n, i, j, int(found[Z[Z_WIDTH] + n * i + j]))
        return meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_ALIVE], M_PIECES * n * n, living)
    return 0


# --- the search -------------------------------------------------------------------------------------------------------


@entry_point
def begin(T, F, S, X, R, Z, D, W, found):
    """Write the initial symbolic state, from the row and the matrix of the first record, as second record.

    1, 0 if an invariant forbids it, or a problem.
    """
    n = int(Z[Z_CLOCKS])
    S[S_ERROR] = 0
    load_row(T, S, X, Z, found, 0)
    for k in range(n * n):
        D[M_FIRED * n * n + k] = found[Z[Z_WIDTH] + k]
    end = list_invariants(T, F, S, X, R, Z, W)
    if end <= 0:
        return end
    if not constrain_by_list(D, M_FIRED * n * n, n, W, Z[Z_ATOMS], end):
        return 0
    outcome = settle(T, F, S, X, R, Z, D, W, end)
    if outcome != 1:
        return outcome
    place = int(Z[Z_RECORD])
    store_row(T, S, Z, found, place)
    for k in range(n * n):
        found[place + Z[Z_WIDTH] + k] = D[M_NEXT * n * n + k]
    return 1


@entry_point
def expand(T, F, S, X, R, Z, D, W, found, detailed):
    """List the successors of the state in the first record; see `list_successors`."""
    return list_successors(T, F, S, X, R, Z, D, W, found, detailed)


@entry_point
def target_zone(T, F, S, X, R, Z, D, W, found, count):
    """Find a zone of targets in the first record, given its `count` detailed successors (−1: deadlocks do not matter).

    1 with the zone in M_CELL, 0, or a problem.
    """
    S[S_ERROR] = 0
    if count >= 0:
        return ends_here(T, F, S, X, R, Z, D, W, found, count)
    if Z[Z_ALIVE] < 0:
        return 0
    return meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_ALIVE], 0, -1)


@inlined
def shuffled_choice(progress, k, count):
    """Return a random number from k to count − 1."""
    state = progress[P_RANDOM]
    state = (state * 6364136223846793005 + 1442695040888963407) & 0x3FFFFFFFFFFFFFFF
    progress[P_RANDOM] = state
    return k + (state >> 20) % (count - k)


@entry_point
def explore(
    T, F, S, X, R, Z, D, W, found, nodes, discrete, stored, work, waiting, progress, limit, order, merging, targets
):  # fmt: skip
    """Expand nodes until none is left (DONE), the target is met (MET), `limit` more are expanded (PAUSED).

    A negative result is a problem at node P_MET, or NO_ROOM.  Without `targets` all states are explored.
    """
    budget = limit
    while True:
        if order == BREADTH:
            if progress[P_NEXT] >= progress[P_NODES]:
                return DONE
            node = progress[P_NEXT]
        else:
            if progress[P_NEXT] == 0:
                return DONE
            node = int(waiting[progress[P_NEXT] - 1])
        if nodes[node, N_FLAGS] & COVERED:
            progress[P_NEXT] += 1 if order == BREADTH else -1
            continue
        if budget <= 0:
            return PAUSED
        budget -= 1
        fetch_node(Z, found, node, nodes, discrete, stored)
        detailed = 1 if targets and Z[Z_DEADLOCKS] else 0
        count = list_successors(T, F, S, X, R, Z, D, W, found, detailed)
        if count < 0:
            progress[P_MET] = node
            return count
        if (
            progress[P_NODES] + count > len(nodes)
            or progress[P_ROWS] + count > len(discrete)
            or 2 * (progress[P_ROWS] + count) > len(work)
            or progress[P_MATRICES] + count > len(stored)
            or (order != BREADTH and progress[P_NEXT] + count > len(waiting))
        ):
            return NO_ROOM
        if detailed:
            met = ends_here(T, F, S, X, R, Z, D, W, found, count)
            if met != 0:
                progress[P_MET] = node
                return MET if met == 1 else met
        progress[P_NEXT] += 1 if order == BREADTH else -1
        progress[P_VISITED] += 1
        progress[P_TRANSITIONS] += count
        nodes[node, N_FLAGS] |= EXPANDED
        begun = progress[P_NEXT]
        for k in range(count):
            place = Z[Z_RECORD] * (k + 1)
            row = number_of_row(Z, found, place, discrete, work, progress)
            if find_or_cover(Z, found, place, row, nodes, discrete, stored, progress, merging) >= 0:
                continue
            new = add_node(Z, found, place, row, node, k, nodes, discrete, stored, progress)
            if order != BREADTH:
                waiting[progress[P_NEXT]] = new
                progress[P_NEXT] += 1
            if targets and Z[Z_DEADLOCKS] == 0 and Z[Z_ALIVE] >= 0:
                met = meets(T, F, S, X, R, Z, D, W, found, place, Z[Z_ALIVE], 0, -1)
                if met != 0:
                    progress[P_MET] = new
                    return MET if met == 1 else met
        if order != BREADTH:  # the first successor is the next
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


@entry_point
def add_state(T, F, S, X, R, Z, D, W, found, nodes, discrete, stored, work, waiting, progress, order, merging, targets):
    """Add the state in the first record as a node without parent: MET, DONE, or a problem."""
    S[S_ERROR] = 0
    row = number_of_row(Z, found, 0, discrete, work, progress)
    if find_or_cover(Z, found, 0, row, nodes, discrete, stored, progress, merging) >= 0:
        return DONE
    new = add_node(Z, found, 0, row, -1, 0, nodes, discrete, stored, progress)
    if order != BREADTH:
        waiting[progress[P_NEXT]] = new
        progress[P_NEXT] += 1
    if targets and Z[Z_DEADLOCKS] == 0 and Z[Z_ALIVE] >= 0:
        met = meets(T, F, S, X, R, Z, D, W, found, 0, Z[Z_ALIVE], 0, -1)
        progress[P_MET] = new
        return MET if met == 1 else met
    return DONE


def warm_up() -> None:
    """Compile everything, or load it from the cache."""
    for function in (explore, begin, expand, target_zone, add_state, fill_rows):
        function.prepare()
