"""Transitions of single states in the kernel: their exact windows, and firing one of them."""

from __future__ import annotations

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.firing import fire as fire_compiled
from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.kernel.rng import seed_stream
from bbfalsify.kernel.state_inspection import ConcreteState, loaded, raise_errors
from bbfalsify.kernel.walk_frame import write_state
from bbfalsify.kernel.walker import Walker
from bbfalsify.kernel.windows import transition_windows

Window = tuple[float, bool, float, bool]
"""low, low is strict, high, high is strict — delays from now."""


@entry_point
def windows_of(T, F, S, X, R, e1, e2, deadline, strict):
    """Windows of a transition in the loaded state, left in the walker; how many."""
    return transition_windows(T, F, S, X, R, e1, e2, deadline, strict, 0)


@entry_point
def transition_at(T, F, S, X, R, e1, e2, t, locations, integers, reals, seed):
    """Fire in the loaded state and record the state entered."""
    seed_stream(R, seed)
    fire_compiled(T, F, S, X, R, e1, e2, t, False, False)
    write_state(T, S, X, X[at.X_NOW], locations[0], integers[0], reals[0], 0)


def enabled_windows(model: CompiledModel, state: ConcreteState) -> list[tuple[tuple[int, ...], list[Window]]]:
    """Eventually enabled transitions: global edge numbers (sender first; a broadcast is its sender) and windows."""
    walker, deadline, strict = loaded(model, state)
    if deadline < state.time:
        return []
    network = model.network
    active = [
        (p, model.edge_number(p, i), edge)
        for p, process in enumerate(network.processes)
        for i, edge in enumerate(process.edges)
        if edge.source == state.locations[p]
    ]
    result = []
    for p, number, edge in active:
        if not edge.is_output:
            continue
        partners = [-1]
        if edge.channel is not None and not network.channels[edge.channel].broadcast:
            partners = [r for q, r, other in active if q != p and other.channel == edge.channel and not other.sends]
        for partner in partners:
            with np.errstate(over="ignore"):
                count = windows_of(*walker.arrays, number, partner, deadline, strict)
            raise_errors(walker)
            if count:
                edges = (number,) if partner < 0 else (number, partner)
                result.append((edges, _windows(model, walker, count, state.time)))
    return result


def _windows(model: CompiledModel, walker: Walker, count: int, now: float) -> list[Window]:
    first = int(model.T[at.H_X_WINDOWS])
    rows = walker.X[first : first + 5 * count].reshape(count, 5)
    return [(float(r[0] - now), bool(r[1]), float(r[2] - now), bool(r[3])) for r in rows]


def fire(
    model: CompiledModel, state: ConcreteState, transition: tuple[int, ...], delay: float, seed: int = 0
) -> ConcreteState:
    """The state after `delay` and the transition; branches, receivers and random draws come from the seed."""
    walker, _, _ = loaded(model, state)
    locations = np.zeros((1, 1, len(state.locations)), np.int32)
    integers = np.zeros((1, 1, len(state.integers)), np.int64)
    reals = np.zeros((1, 1, len(state.reals)), np.float64)
    partner = transition[1] if len(transition) > 1 else -1
    with np.errstate(over="ignore"):
        transition_at(
            *walker.arrays, transition[0], partner, state.time + delay, locations, integers, reals, np.uint64(seed)
        )
    raise_errors(walker)
    return ConcreteState(locations[0, 0], integers[0, 0], reals[0, 0], state.time + delay)
