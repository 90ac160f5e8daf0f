"""Compare, at each step of some walks, the candidates that a search keeps in lists with all that the model has.

A program of its own, because it looks into the walks and therefore runs them as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bbfalsify.examples.models.protocols import train_gate
from bbfalsify.examples.models.scheduling import satellite
from bbfalsify.kernel import compile_network, heuristics, target_walks
from bbfalsify.kernel.accelerated_walk import candidate_windows
from bbfalsify.kernel.layout import (
    E_KIND,
    E_PARTNER_COUNT,
    E_PARTNERS,
    E_PROCESS,
    E_SOURCE,
    EDGE_WIDTH,
    H_EDGE_TABLE,
    H_EDGES,
    H_S_LOCATIONS,
    H_X_EARLIEST,
    KIND_BROADCAST_SEND,
    KIND_HANDSHAKE_SEND,
    KIND_INTERNAL,
    S_ASLEEP,
)
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.kernel.walk_frame import stay
from bbfalsify.logic.reach_query import parse_query
from bbfalsify.modelling import Network, parse_network

HEARING = """
format_version: 1
name: hearing
declarations: "broadcast chan b; int[0,3] n; clock g;"
automata:
  Sender:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 2 + n"}}
    edges: [{from: S, to: S, sync: "b!", guard: "x >= 2 * n - 1", update: "x = 0, n = (n + 1) % 4"}]
  Hearer:
    declarations: clock y;
    initial: A
    locations: {A: {invariant: "y <= 9"}, C: {committed: true}, D: {invariant: "g <= 40", rates: {g: "n"}}}
    edges:
      - {from: A, to: C, action: go, guard: "y >= 3"}
      - {from: C, to: D, sync: "b?", update: "y = 0"}
      - {from: C, to: D, action: alone, update: "y = 0"}
      - {from: D, to: A, action: back, guard: "y >= 1 && g >= n", update: "y = 0, g = 0"}
"""


def everything(T: Any, S: Any) -> set[tuple[int, int]]:
    """All transitions from the current locations, whatever their guards."""

    def here(e: int) -> bool:
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
        return S[T[H_S_LOCATIONS] + T[edge + E_PROCESS]] == T[edge + E_SOURCE]

    found = set()
    for e in filter(here, range(T[H_EDGES])):
        edge = T[H_EDGE_TABLE] + EDGE_WIDTH * e
        if T[edge + E_KIND] in (KIND_INTERNAL, KIND_BROADCAST_SEND):
            found.add((e, -1))
        elif T[edge + E_KIND] == KIND_HANDSHAKE_SEND:
            partners = T[T[edge + E_PARTNERS] : T[edge + E_PARTNERS] + T[edge + E_PARTNER_COUNT]]
            found |= {(e, int(r)) for r in partners if here(int(r))}
    return found


def checked(network: Network, heuristic: Heuristic, depth: int) -> None:
    search = TargetSearch(Target(compile_network(network), parse_query("E<> false", network).alive), heuristic)
    work, steps, fire = search._work, 0, target_walks.fire
    asleep = 0

    def fire_checked(T: Any, F: Any, S: Any, X: Any, R: Any, *rest: Any) -> None:
        nonlocal steps, asleep
        _, deadline, strict = stay(T, F, S, X, R)

        def enabled(pair: tuple[int, int]) -> bool:
            return candidate_windows(T, F, S, X, R, *pair, deadline, strict) > 0

        total = heuristics.list_candidates(T, F, S, X, R, work)
        listed = [(int(work[2 * i]), int(work[2 * i + 1])) for i in range(total)]
        assert len(set(listed)) == len(listed), "a candidate is listed twice"
        earliest = slice(T[H_X_EARLIEST], T[H_X_EARLIEST] + T[H_EDGES])
        known = X[earliest].copy()
        X[earliest] = -np.inf
        assert set(filter(enabled, listed)) == set(filter(enabled, everything(T, S))), (steps, network.name)
        X[earliest] = known
        steps += 1
        asleep += int(S[S_ASLEEP])
        fire(T, F, S, X, R, *rest)

    target_walks.fire = fire_checked
    try:
        search.walks(np.array([1, 2, 3], np.uint64), np.array([0, 5, 10]), depth)
    finally:
        target_walks.fire = fire
    assert steps > depth, "the walks end at once"
    sys.stdout.write(f"{network.name} {heuristic.value} {steps} {asleep}\n")


if __name__ == "__main__":
    np.seterr(all="ignore")
    for network in (train_gate(6), satellite(70, 12), parse_network(HEARING)):
        for heuristic in (Heuristic.RET, Heuristic.RLC, Heuristic.SEM, Heuristic.RCF):
            checked(network, heuristic, int(sys.argv[1]))
