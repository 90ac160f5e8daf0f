"""Depth-first search, in the system's order or in random order (RDFS).

The stack holds the states of the current path, each with the successors that are still to be visited, so a trace needs
no memory beside it.  That is why visited states may be kept as bits only (`bit_states.py`).
"""

from __future__ import annotations

from bbfalsify.engines.searching.bit_states import BitStates
from bbfalsify.engines.searching.bookkeeping import Reached, Search
from bbfalsify.engines.searching.transition_system import State


def depth_first(search: Search, *, randomised: bool) -> str | None:
    bits = BitStates(search.settings.memory) if search.settings.store == "bits" else None
    cut = False
    for first in search.first():
        stack = [(first, _next(search, [], first, randomised))]
        if bits is not None:
            bits.add(first)
        while stack:
            state, waiting = stack[-1]
            if not waiting:
                stack.pop()
                continue
            successor = waiting.pop()
            if successor in (search.parent if bits is None else bits):
                continue
            if bits is None:
                search.remember(successor, state)
            else:
                bits.add(successor)
                search.visits = len(bits)
                search.check_states(search.visits)
            if len(stack) == search.settings.depth:
                cut = True
                continue
            stack.append((successor, _next(search, stack, successor, randomised)))
            search.deepest = max(search.deepest, len(stack) - 1)
    if bits is not None:
        return f"states were kept as bits, and about {bits.missed:.2g} of {len(bits):,} may have been missed"
    return f"there are states after more than {search.settings.depth:,} steps" if cut else None


def _next(search: Search, stack: list[tuple[State, list[State]]], state: State, randomised: bool) -> list[State]:
    """Look at the successors of a state; return them with the one to be visited first at the end."""
    try:
        successors = search.successors(state)
        for successor in successors:
            if search.target(successor):
                raise Reached([state, successor])
    except Reached as reached:
        end = reached.path[-1]
        raise Reached([*(s for s, _ in stack), state, *([] if end == state else [end])]) from None
    if randomised:
        search.rng.shuffle(successors)
    else:
        successors.reverse()
    return successors
