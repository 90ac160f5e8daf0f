"""Searches through transition systems that are given state by state.

transition_system.py    what is searched: first states, successors
untimed_system.py       ... of a model without time, compiled;  machine_product.py  ... of a learned machine
search.py               one call for all of them
bookkeeping.py          counts, limits, traces
breadth_first.py depth_first.py random_search.py deep_random_search.py highway.py    one method each
bit_states.py           visited states as bits
"""

from bbfalsify.engines.searching.state_search import search
from bbfalsify.engines.searching.transition_system import TransitionSystem, explicit

__all__ = ["TransitionSystem", "explicit", "search"]
