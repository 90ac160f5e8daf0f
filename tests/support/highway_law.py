"""The exact law of a highway simulation (Definition 5), by enumeration of all its histories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

State = Hashable
Graph = Mapping[State, Sequence[State]]


def graph_of(system) -> dict[State, list[State]]:
    """All states that can be reached, each with its successors."""
    graph: dict[State, list[State]] = {}
    waiting = list(system.initial())
    while waiting:
        state = waiting.pop()
        if state not in graph:
            graph[state] = list(dict.fromkeys(end for _, end in system.successors(state)))
            waiting += graph[state]
    return graph


class Table:
    """A graph as a transition system."""

    def __init__(self, graph: Graph, first: State) -> None:
        self.graph, self.first = graph, first

    def initial(self):
        return [self.first]

    def successors(self, state):
        return [(f"to {end}", end) for end in self.graph[state]]


def exact_law(graph: Graph, first: State, width: int) -> tuple[dict[State, Fraction], dict[State, Fraction]]:
    """Probabilities that each state is visited, and that it is considered."""
    visited: dict[State, Fraction] = defaultdict(Fraction)
    considered: dict[State, Fraction] = defaultdict(Fraction)
    visited[first] = considered[first] = Fraction(1)
    ahead = _reachable(graph)
    start = frozenset([first])
    # A history is the current lane, and what was visited and considered of that which it can still lead to.
    histories = {(start, start, start): Fraction(1)}
    while histories:
        following: dict[tuple, Fraction] = defaultdict(Fraction)
        for (lane, seen, met), probability in histories.items():
            successors = frozenset(t for s in lane for t in graph[s])
            for state in successors - met:
                considered[state] += probability
            eligible = successors - seen
            if not eligible:
                continue
            size = min(width, len(eligible))
            share = probability / comb(len(eligible), size)
            for drawn in combinations(sorted(eligible), size):  # type: ignore[type-var]
                chosen = frozenset(drawn)
                for state in chosen:
                    visited[state] += share
                to_come = frozenset[State]().union(*(ahead[s] for s in chosen))
                following[chosen, (seen | chosen) & to_come, (met | successors) & to_come] += share
        histories = following
    return dict(visited), dict(considered)


def _reachable(graph: Graph) -> dict[State, frozenset[State]]:
    """Per state, the states after one step or more."""
    ahead = {}
    for state in graph:
        found: set[State] = set()
        waiting = list(graph[state])
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += graph[one]
        ahead[state] = frozenset(found)
    return ahead
