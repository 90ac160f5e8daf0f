"""Highway search: Engels, Groote, van Weerdenburg and Willemse, "Search algorithms for automated validation" (2009).

A highway simulation of width N is a sequence of sets Q₀ Q₁ … of states (Definition 5):

    Q₀ = {s₀},    Q_{j+1} is drawn evenly among the subsets of  succ(Q_j) \\ (Q₀ ∪ … ∪ Q_j)  with N states (or all)

so it is a breadth-first search that keeps at most N states per depth, or N random simulations that never return.  A
highway search finds the targets among the states that are *considered*: those visited, and the successors of those
visited.  It is short-sighted on purpose: memory and time are N times the depth, traces are short, nothing is proved,
and it may end before anything is found.  A width that no layer exceeds makes it a breadth-first search.

Algorithm 1 selects while successors are met, without collecting them.  A state that several states of Q_j lead to is
offered several times, so funnels are preferred; where two states of Q_j share only visited successors, both agree
(Theorem 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from bbfalsify.engines.searching.bookkeeping import Reached, Search, in_batches
from bbfalsify.engines.searching.transition_system import State

Lane = dict[State, State]
"""States of one Q_j, each with a state of Q_{j-1} that leads to it; a first state with itself."""
Considered = list[tuple[State, State]]
"""Pairs (t, s): t was not visited yet, and is a successor of s, in the order met; one t may have several s."""
Select = Callable[[Considered, int, Random], Lane]


def exactly(considered: Considered, width: int, rng: Random) -> Lane:
    """Definition 5: draw `width` of the new states, each set of them alike."""
    eligible = dict(considered)
    if len(eligible) <= width:
        return eligible
    return {state: eligible[state] for state in rng.sample(list(eligible), width)}


def approximately(considered: Considered, width: int, rng: Random) -> Lane:
    """Algorithm 1, lines 3 to 15, with its line numbers; V of line 6 is not among those considered."""
    lane: Lane = {}
    order: list[State] = []  # the states of the lane, so that one can be drawn
    count = 0  # 3
    for state, parent in considered:  # 4, 5
        if state not in lane:  # 6
            count += 1  # 7
            if count <= width:
                lane[state] = parent  # 8
                order.append(state)
            elif rng.random() * count < width:  # 9
                place = int(rng.random() * width)  # 10
                del lane[order[place]]  # 11
                order[place] = state
                lane[state] = parent
    return lane


SELECTIONS: dict[str, Select] = {"exact": exactly, "approximate": approximately}


def highway_simulation(search: Search, width: int, select: Select = exactly) -> Iterator[tuple[Lane, Considered]]:
    """Yield Q₀, Q₁, …, each with the new states of succ(Q_j), as long as there are any."""
    visited = search.parent
    lane = {state: state for state in search.first()}
    while lane:
        states = list(lane)
        considered: Considered = []
        for batch in in_batches(states):
            for state, successors in zip(batch, search.expand(batch), strict=True):
                considered += [(successor, state) for successor in successors if successor not in visited]
        yield lane, considered
        lane = select(considered, width, search.rng)
        for state, parent in lane.items():
            search.remember(state, parent)


def highway_search(search: Search) -> str:
    settings = search.settings
    for depth, (_, considered) in enumerate(highway_simulation(search, settings.width, SELECTIONS[settings.selection])):
        search.deepest = depth
        for state, parent in considered:
            if search.target(state):
                raise Reached([*search.path(parent), state])
        if depth + 1 == settings.depth:
            return f"there may be states after more than {settings.depth:,} steps"
    return f"a highway of width {settings.width} does not keep every state, and this one has ended"
