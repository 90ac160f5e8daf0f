"""Explore the zone graph, compiled: breadth first, depth first, or the earliest states first.

All arrays belong to the caller; when one is full, `explore` returns NO_ROOM and can go on with larger ones.
"""

from __future__ import annotations

from bbfalsify.kernel.numba_types import compiled, entry_point
from bbfalsify.zones.constraints import (
    constrain_by_case,
    constrain_by_list,
    data_holds,
    list_invariants,
    load_row,
    store_row,
)
from bbfalsify.zones.dbm import copied
from bbfalsify.zones.entering import keep, settle
from bbfalsify.zones.passed_list import add_node, fetch_node, fill_rows, find_or_cover, number_of_row
from bbfalsify.zones.successors import list_successors
from bbfalsify.zones.target_zones import ending_zone, ends_here, meets, run_lasts
from bbfalsify.zones.waiting_list import add_waiting, earliest, next_node, order_added, remove_next
from bbfalsify.zones.zone_layout import *


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


@entry_point
def stuck_zone(T, F, S, X, R, Z, D, W, found, count):
    """Find states of the first record, with `count` detailed successors, in which a run ends; see `ending_zone`."""
    S[S_ERROR] = 0
    return ending_zone(T, F, S, X, R, Z, D, W, found, count)


@compiled
def look_at(T, F, S, X, R, Z, D, W, found, place, node, progress, order):
    """Look for targets in the state at found[place:], a new node: MET, DONE, or a problem.

    In the order of time the earliest target so far is kept, and the search goes on.
    """
    if Z[Z_DEADLOCKS] or Z[Z_ALIVE] < 0:
        return DONE
    met = meets(T, F, S, X, R, Z, D, W, found, place, Z[Z_ALIVE], 0, -1)
    if met <= 0:
        progress[P_MET] = node if met < 0 else progress[P_MET]
        return met
    if order != EARLIEST:
        progress[P_MET] = node
        return MET
    key = earliest(Z, D, M_CELL * Z[Z_CLOCKS] * Z[Z_CLOCKS])
    if key < progress[P_LATEST]:
        progress[P_LATEST] = key
        progress[P_MET] = node
    return DONE


@entry_point
def explore(
    T, F, S, X, R, Z, D, W, found, nodes, discrete, stored, work, waiting, links, progress, limit, order, merging,
    targets,
):  # fmt: skip
    """Expand nodes until none is left (DONE), the target is met (MET), `limit` more are expanded (PAUSED).

    In the order of time, MET is returned when no state is left that could meet the target earlier.
    A negative result is a problem at node P_MET, or NO_ROOM.  Without `targets` all states are explored.  With EQUALITY
    a state where a run may last is met, and `links` are the transitions: (node, node, number of the successor).
    """
    budget = limit
    while True:
        node = next_node(waiting, progress, order)
        if node < 0 or (order == EARLIEST and waiting[1] >= progress[P_LATEST]):
            return MET if order == EARLIEST and progress[P_LATEST] < NEVER else DONE
        if nodes[node, N_FLAGS] & COVERED:
            remove_next(waiting, progress, order)
            continue
        if budget <= 0:
            return PAUSED
        budget -= 1
        fetch_node(Z, found, node, nodes, discrete, stored)
        lasting = merging == EQUALITY
        detailed = 1 if lasting or (targets and Z[Z_DEADLOCKS]) else 0
        count = list_successors(T, F, S, X, R, Z, D, W, found, detailed)
        if count < 0:
            progress[P_MET] = node
            return count
        if (
            progress[P_NODES] + count > len(nodes)
            or progress[P_ROWS] + count > len(discrete)
            or 2 * (progress[P_ROWS] + count) > len(work)
            or progress[P_MATRICES] + count > len(stored)
            or (order != BREADTH and 2 * (progress[P_NEXT] + count) > len(waiting))
            or (lasting and progress[P_LINKS] + count > len(links))
        ):
            return NO_ROOM
        if lasting:
            lasts = run_lasts(T, F, S, X, R, Z, D, W, found, count)
            if lasts != 0:
                progress[P_MET] = node
                progress[P_KIND] = lasts
                return MET if lasts > 0 else lasts
        elif detailed:
            met = ends_here(T, F, S, X, R, Z, D, W, found, count)
            if met != 0:
                progress[P_MET] = node
                return MET if met == 1 else met
        remove_next(waiting, progress, order)
        progress[P_VISITED] += 1
        progress[P_TRANSITIONS] += count
        nodes[node, N_FLAGS] |= EXPANDED
        begun = progress[P_NEXT]
        for k in range(count):
            place = Z[Z_RECORD] * (k + 1)
            if lasting and found[place + Z[Z_DETAILS]] & 1 == 0:
                continue  # the run does not keep its condition there
            row = number_of_row(Z, found, place, discrete, work, progress)
            known = find_or_cover(Z, found, place, row, nodes, discrete, stored, progress, merging)
            if lasting:
                links[progress[P_LINKS], 0] = node
                links[progress[P_LINKS], 1] = known if known >= 0 else progress[P_NODES]
                links[progress[P_LINKS], 2] = k
                progress[P_LINKS] += 1
            if known >= 0:
                continue
            new = add_node(Z, found, place, row, node, k, nodes, discrete, stored, progress)
            add_waiting(waiting, progress, order, new, earliest(Z, found, place + Z[Z_WIDTH]))
            if targets:
                met = look_at(T, F, S, X, R, Z, D, W, found, place, new, progress, order)
                if met != DONE:
                    return met
        if order == DEPTH or order == RANDOM_DEPTH:
            order_added(waiting, progress, order, begun)


@entry_point
def cut_and_settle(T, F, S, X, R, Z, D, W, found, k):
    """Cut the first record by case k of the target, and settle it as second record: 1, 0 if nothing is left, a problem.

    M_CELL is what is left, before time passes.
    """
    n = int(Z[Z_CLOCKS])
    S[S_ERROR] = 0
    load_row(T, S, X, Z, found, 0)
    case = Z[Z_ALIVE] + 1 + CASE_WIDTH * k
    if not data_holds(T, F, S, X, R, Z, case):
        return FAILED if S[S_ERROR] != 0 else 0
    for j in range(n * n):
        D[M_FIRED * n * n + j] = found[Z[Z_WIDTH] + j]
    left = constrain_by_case(T, F, S, X, R, Z, D, W, case, M_FIRED * n * n)
    if left == 1:
        left = keep(T, F, S, X, R, Z, D, W, M_FIRED * n * n)
    if left != 1:
        return left
    copied(D, M_FIRED * n * n, M_CELL * n * n, n)
    end = list_invariants(T, F, S, X, R, Z, W)
    left = settle(T, F, S, X, R, Z, D, W, end)
    if left == 1:
        place = int(Z[Z_RECORD])
        for j in range(Z[Z_WIDTH]):
            found[place + j] = found[j]
        for j in range(n * n):
            found[place + Z[Z_WIDTH] + j] = D[M_NEXT * n * n + j]
    return left


@entry_point
def add_state(T, F, S, X, R, Z, D, W, found, nodes, discrete, stored, work, waiting, progress, order, merging, targets):
    """Add the state in the first record as a node without parent: MET, DONE, or a problem."""
    S[S_ERROR] = 0
    row = number_of_row(Z, found, 0, discrete, work, progress)
    if find_or_cover(Z, found, 0, row, nodes, discrete, stored, progress, merging) >= 0:
        return DONE
    new = add_node(Z, found, 0, row, -1, 0, nodes, discrete, stored, progress)
    add_waiting(waiting, progress, order, new, earliest(Z, found, Z[Z_WIDTH]))
    if not targets:
        return DONE
    return look_at(T, F, S, X, R, Z, D, W, found, 0, new, progress, order)


def warm_up() -> None:
    """Compile everything, or load it from the cache."""
    from bbfalsify.zones.extreme_values import largest_in_state, largest_of_nodes
    from bbfalsify.zones.zone_bits import begin_bits, explore_bits

    for function in (
        largest_in_state,
        largest_of_nodes,
        begin_bits,
        explore_bits,
        explore,
        begin,
        expand,
        target_zone,
        stuck_zone,
        add_state,
        cut_and_settle,
        fill_rows,
    ):
        function.prepare()
