"""Looking at single states: every eventually enabled transition with its exact windows, and firing one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.firing import fire as fire_compiled
from bbfalsify.kernel.firing import load_state, refresh
from bbfalsify.kernel.layout import X_DEADLINE
from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.kernel.rng import seed_stream
from bbfalsify.kernel.tables import CompiledModel
from bbfalsify.kernel.walk_frame import global_deadline, record_state
from bbfalsify.kernel.walker import Walker, initial_state, limits
from bbfalsify.kernel.windows import transition_windows

Window = tuple[float, bool, float, bool]
"""low, low is strict, high, high is strict — delays from now."""


@dataclass(frozen=True, eq=False)
class State:
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    time: float = 0.0

    @classmethod
    def initial(cls, model: CompiledModel) -> State:
        locations, integers, reals = initial_state(model)
        return cls(locations[0], integers[0], reals[0])


class ModelFailed(Exception):
    """The model has a run-time error here."""


@entry_point
def look(T, F, S, X, R, states_locations, states_integers, states_reals, time, largest, ode_step):
    """Load a state; the deadline of all invariants, urgency included."""
    load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, time, largest, ode_step)
    refresh(T, F, S, X, R, False)
    deadline, strict = global_deadline(T, F, S, X, R)
    X[X_DEADLINE] = deadline
    return strict


@entry_point
def windows_of(T, F, S, X, R, e1, e2, deadline, strict):
    """Windows of a transition in the loaded state, left in the walker; how many."""
    return transition_windows(T, F, S, X, R, e1, e2, deadline, strict, 0)


@entry_point
def transition_at(T, F, S, X, R, e1, e2, t, locations, integers, reals, seed):
    """Fire in the loaded state and record the state entered."""
    seed_stream(R, seed)
    fire_compiled(T, F, S, X, R, e1, e2, t, False, False)
    record_state(T, S, X, locations, integers, reals, 0, 0)


def _load(model: CompiledModel, state: State) -> tuple[Walker, float, int]:
    walker = Walker.of(model)
    with np.errstate(over="ignore"):
        strict = look(
            *walker.arrays, np.array([state.locations], np.int32).reshape(1, -1),
            np.array([state.integers], np.int64).reshape(1, -1), np.array([state.reals], np.float64).reshape(1, -1),
            float(state.time), *limits(model),
        )  # fmt: skip
    _raise_errors(walker)
    return walker, float(walker.X[X_DEADLINE]), int(strict)


def _raise_errors(walker: Walker) -> None:
    message = walker.error()
    if message is not None:
        raise ModelFailed(message)


def maximal_delay(model: CompiledModel, state: State) -> tuple[float, bool]:
    """How long time may pass: (delay, strict); a negative one where an invariant is violated already."""
    _, deadline, strict = _load(model, state)
    return deadline - state.time, bool(strict)


def enabled_windows(model: CompiledModel, state: State) -> list[tuple[tuple[int, ...], list[Window]]]:
    """Eventually enabled transitions: global edge numbers (sender first; a broadcast is its sender) and windows."""
    walker, deadline, strict = _load(model, state)
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
            _raise_errors(walker)
            if count:
                edges = (number,) if partner < 0 else (number, partner)
                result.append((edges, _windows(model, walker, count, state.time)))
    return result


def _windows(model: CompiledModel, walker: Walker, count: int, now: float) -> list[Window]:
    first = int(model.T[at.H_X_WINDOWS])
    rows = walker.X[first : first + 5 * count].reshape(count, 5)
    return [(float(r[0] - now), bool(r[1]), float(r[2] - now), bool(r[3])) for r in rows]


def fire(model: CompiledModel, state: State, transition: tuple[int, ...], delay: float, seed: int = 0) -> State:
    """The state after `delay` and the transition; branches, receivers and random draws come from the seed."""
    walker, _, _ = _load(model, state)
    locations = np.zeros((1, 1, len(state.locations)), np.int32)
    integers = np.zeros((1, 1, len(state.integers)), np.int64)
    reals = np.zeros((1, 1, len(state.reals)), np.float64)
    partner = transition[1] if len(transition) > 1 else -1
    with np.errstate(over="ignore"):
        transition_at(
            *walker.arrays, transition[0], partner, state.time + delay, locations, integers, reals, np.uint64(seed)
        )
    _raise_errors(walker)
    return State(locations[0, 0], integers[0, 0], reals[0, 0], state.time + delay)
