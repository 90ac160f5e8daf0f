"""Random numbers with which a step takes the receivers and branches of a walk; see `retracing.py`."""

from __future__ import annotations

from bbfalsify.kernel.entry_invariants import moves_enter, receiving_edges
from bbfalsify.kernel.firing import branch_at, edge_weight, weight_of
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled
from bbfalsify.kernel.retraced_races import ALL, ATTEMPTS, UNIT, between, put, share_number
from bbfalsify.kernel.rng import unit
from bbfalsify.kernel.windows import receives


@compiled
def branch_to(T, F, S, X, R, seeds, e, branch, target):
    """(branch, weight before it, its weight, total weight) of edge e: the one given, or drawn among those to target."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    total = 0.0
    fitting = 0.0
    chosen = -1
    before = 0.0
    own = 0.0
    for b in range(T[edge + E_BRANCH_COUNT]):
        row = T[edge + E_BRANCHES] + BRANCH_WIDTH * b
        weight = 1.0
        if T[edge + E_BRANCH_COUNT] > 1:
            weight = weight_of(T, F, S, X, R, T[row + B_WEIGHT])
        if weight > 0.0 and T[row + B_TARGET] == target and (branch < 0 or branch == b):
            fitting += weight
            if unit(seeds) * fitting < weight:
                chosen = b
                before = total
                own = weight
        total += weight
    return chosen, before, own, total, fitting


@compiled
def branch_number(T, F, S, X, R, seeds, place, e, branch, target):
    """Write the number with which edge e takes a branch (−1: any that leads to target); (next place or −1, branch)."""
    chosen, before, own, total, _ = branch_to(T, F, S, X, R, seeds, e, branch, target)
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    if chosen < 0 or T[edge + E_BRANCH_COUNT] == 1:
        return (place if chosen >= 0 else -1), chosen
    first = max(int(before / total * ALL), 0)
    beyond = min(int((before + own) / total * ALL) + 1, ALL)
    for _ in range(ATTEMPTS):
        n = between(seeds, first, beyond)
        if branch_at(T, F, S, X, R, edge, n * UNIT * total) == chosen:
            return put(R, place, n), chosen
    return -1, chosen


@compiled
def receiver_numbers(T, F, S, X, R, seeds, place, channel, p, target):
    """Write the numbers with which process p receives and gets to target; (next place or −1, edge or −1: no edge)."""
    chosen = -1
    fitting = 0.0
    enabled = 0
    for k in receiving_edges(T, S, p):
        r = T[k]
        if receives(T, F, S, X, R, r, channel):
            enabled += 1
            _, _, _, total, there = branch_to(T, F, S, X, R, seeds, r, -1, target)
            share = edge_weight(T, F, S, X, R, r) * (there / total if total > 0.0 else 0.0)
            fitting += share
            if share > 0.0 and unit(seeds) * fitting < share:
                chosen = r
    if enabled == 0:
        return place, -1
    if chosen < 0:
        return -1, -1
    total = 0.0
    enabled = 0
    taking = -1
    for k in receiving_edges(T, S, p):
        r = T[k]
        if receives(T, F, S, X, R, r, channel):
            weight = edge_weight(T, F, S, X, R, r)
            total += weight
            enabled += 1
            if enabled > 1:
                place = share_number(R, seeds, place, weight, total, 1 if r == chosen else taking)
                if place < 0:
                    return -1, -1
            if r == chosen:
                taking = 0
    return place, chosen


@compiled
def move_numbers(T, F, S, X, R, seeds, place, e, branch, locations, step):
    """Write the numbers of receivers and branches of a step, at its moment; the next place, or −1."""
    edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
    moves = T[H_S_MOVES]
    S[moves] = e
    count = 1
    if T[edge + E_KIND] == KIND_BROADCAST_SEND:
        row = T[H_BROADCAST_TABLE] + 2 * T[edge + E_CHANNEL]
        for i in range(T[row + 1]):
            p = T[T[row] + i]
            if p != T[edge + E_PROCESS]:
                target = T[T[H_FIRST_LOCATION] + p] + locations[0, step + 1, p]
                place, r = receiver_numbers(T, F, S, X, R, seeds, place, T[edge + E_CHANNEL], p, target)
                if place < 0:
                    return -1
                if r >= 0:
                    S[moves + 2 * count] = r
                    count += 1
    for i in range(count):
        p = T[T[H_EDGE_TABLE] + EDGE_WIDTH * S[moves + 2 * i] + E_PROCESS]
        target = T[T[H_FIRST_LOCATION] + p] + locations[0, step + 1, p]
        known = branch if i == 0 else -1
        place, S[moves + 2 * i + 1] = branch_number(T, F, S, X, R, seeds, place, S[moves + 2 * i], known, target)
        if place < 0:
            return -1
    if T[H_FLAGS] & FLAG_CHOICES and not moves_enter(T, F, S, X, R, count):
        return -1  # it would be drawn again
    return place
