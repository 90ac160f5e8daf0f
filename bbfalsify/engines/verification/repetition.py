"""Runs that show that a clock grows without bound, because a part of them can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace
from bbfalsify.modelling.reference.state import State
from bbfalsify.modelling.reference.step_replay import Replayer
from bbfalsify.zones import ZoneTables


def grows_by_repeating(tables: ZoneTables, trace: ConcreteTrace, slots: Sequence[int]) -> bool:
    """Tell whether one of the clocks grows in a part of the trace that can be repeated, and is not set after it.

    The part begins and ends with the same locations, integers and clocks.  Clocks beyond all constants that they are
    compared with may differ: the same delays lead on from both states.
    """
    if tables.diagonal is not None or tables.stopwatch is not None:
        return False
    replayer = Replayer(tables.network)
    states = [replayer.initial_state()]
    for step in trace.steps:
        states.append(replayer.follow(states[-1], step.moves, step.time)[0])
    return any(_grows(tables, states, trace.end, slot) for slot in slots)


def _grows(tables: ZoneTables, states: Sequence[State], end: State, slot: int) -> bool:
    seen: dict[object, State] = {}
    for state in reversed(states):
        if end.reals[slot] - state.reals[slot] != end.time - state.time:
            return False  # it was set since
        if state.reals[slot] * tables.scale <= tables.constants.get(slot, -1):
            return False
        later = seen.setdefault(_key(tables, state), state)
        if later.time > state.time:
            return True
    return False


def _key(tables: ZoneTables, state: State) -> object:
    """Equal for states from which the same runs lead on."""
    clocks = []
    for slot in tables.slots[1:]:
        value, largest = Fraction(state.reals[slot]), tables.constants.get(slot, -1)
        clocks.append(None if value * tables.scale > largest else value)
    return state.locations, state.integers, tuple(clocks)
