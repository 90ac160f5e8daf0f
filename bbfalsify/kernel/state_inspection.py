"""Load a single state into a walker, and compute how long time may pass in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.layout import X_DEADLINE
from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.kernel.refreshing import load_state, refresh
from bbfalsify.kernel.walk_frame import global_deadline
from bbfalsify.kernel.walker import Walker, initial_state, limits


@dataclass(frozen=True, eq=False)
class ConcreteState:
    locations: np.ndarray
    integers: np.ndarray
    reals: np.ndarray
    time: float = 0.0

    @classmethod
    def initial(cls, model: CompiledModel) -> ConcreteState:
        locations, integers, reals = initial_state(model)
        return cls(locations[0], integers[0], reals[0])


class ModelFailed(Exception):
    """The model failed with a run-time error."""


@entry_point
def look(T, F, S, X, R, states_locations, states_integers, states_reals, time, largest, ode_step):
    """Load a state; compute the deadline of all invariants, urgency included."""
    load_state(T, F, S, X, R, states_locations, states_integers, states_reals, 0, time, largest, ode_step)
    refresh(T, F, S, X, R, False)
    deadline, strict = global_deadline(T, F, S, X, R)
    X[X_DEADLINE] = deadline
    return strict


def loaded(model: CompiledModel, state: ConcreteState) -> tuple[Walker, float, int]:
    """Load a state into a new walker; return it with its deadline and whether that is strict."""
    walker = Walker.of(model)
    with np.errstate(over="ignore"):
        strict = look(
            *walker.arrays, np.array([state.locations], np.int32).reshape(1, -1),
            np.array([state.integers], np.int64).reshape(1, -1), np.array([state.reals], np.float64).reshape(1, -1),
            float(state.time), *limits(model),
        )  # fmt: skip
    raise_errors(walker)
    return walker, float(walker.X[X_DEADLINE]), int(strict)


def raise_errors(walker: Walker) -> None:
    """Raise ModelFailed if the walker has met a run-time error."""
    message = walker.error()
    if message is not None:
        raise ModelFailed(message)


def maximal_delay(model: CompiledModel, state: ConcreteState) -> tuple[float, bool]:
    """Longest time that may pass: (delay, strict); negative if an invariant is violated already."""
    _, deadline, strict = loaded(model, state)
    return deadline - state.time, bool(strict)
