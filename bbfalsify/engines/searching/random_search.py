"""Random search (Definitions 2 and 3 of the highway paper): a path whose next state is drawn among the successors.

It may return to where it was, and keeps nothing but its path.  The definition has one endless path; here one that ends,
in a deadlock or at the depth allowed, is followed by another.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

from bbfalsify.engines.searching.bookkeeping import Reached, Search
from bbfalsify.engines.searching.transition_system import State


def random_simulation(search: Search, first: State) -> Iterator[tuple[State, list[State]]]:
    """One random simulation: each visited state, with its successors (which are considered)."""
    state = first
    while True:
        successors = list(dict.fromkeys(search.successors(state)))
        yield state, successors
        if not successors:
            return
        state = successors[int(search.rng.random() * len(successors))]


def random_search(search: Search) -> str:
    initial = search.first()
    search.parent.clear()
    for first in chain.from_iterable(repeat(initial)):
        path: list[State] = []
        try:
            for state, successors in random_simulation(search, first):
                path.append(state)
                search.visits += 1
                search.check_states(search.visits)
                for successor in successors:
                    if search.target(successor):
                        raise Reached([successor])
                search.deepest = max(search.deepest, len(path) - 1)
                if len(path) - 1 == search.settings.depth:
                    break
        except Reached as reached:
            raise Reached(without_loops([*path, *reached.path])) from None
    raise AssertionError("unreachable: a random search ends by a target or by a limit")


def without_loops(path: list[State]) -> list[State]:
    """Cut out every part of a path that returns to where it began."""
    last = {state: place for place, state in enumerate(path)}
    kept, place = [], 0
    while place < len(path):
        kept.append(path[place])
        place = last[path[place]] + 1
    return kept
