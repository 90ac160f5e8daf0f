"""Sample expressions along a recorded walk; clocks and ODE variables are continued from the recorded states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.layout import H_X_STACK, MODE_NUMERIC, S_ERROR
from bbfalsify.kernel.numba_types import entry_point
from bbfalsify.kernel.ode import values_at
from bbfalsify.kernel.refreshing import load_state
from bbfalsify.kernel.walk_results import Walk
from bbfalsify.kernel.walker import Walker, limits
from bbfalsify.modelling.network.expressions import Expression


@entry_point
def sample_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, largest, ode_step, numbers, rows,
    codes, matrix,
):  # fmt: skip
    """Set matrix[e, i] to expression e at moment numbers[i] in state rows[i], which began no later."""
    loaded = -1
    for i in range(len(numbers)):
        t, row = numbers[i], rows[i]
        if row != loaded:
            time = states_time[row]
            load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, time, largest, ode_step)
            loaded = row
        values_at(T, F, S, X, R, t)
        for e in range(len(codes)):
            execute(T, F, S, X, R, codes[e], MODE_NUMERIC, t)
            matrix[e, i] = X[T[H_X_STACK]]
        if S[S_ERROR] != 0:
            return


class Sampler:
    """Some expressions over a model's variables, compiled once for any number of walks."""

    def __init__(self, model: CompiledModel, expressions: Sequence[tuple[Expression, int]]) -> None:
        compiler = Compiler(model.network, first_address=len(model.T))
        compiler.constants, compiler.sites = list(model.F), list(model.sites)
        self._codes = np.array([compiler.number(e, "an expression") for e, _ in expressions], np.int64)
        extended = replace(
            model,
            T=np.concatenate([model.T, np.array(compiler.code, np.int32)]),
            F=np.array(compiler.constants, np.float64),
            sites=tuple(compiler.sites),
        )
        self._walker = Walker.of(extended)

    def warm_up(self) -> None:
        sample_batch.prepare()

    def sample(self, walk: Walk, times: np.ndarray, *, start: float = 0.0) -> np.ndarray:
        """Return one row per expression, one column per time; at the time of a transition the value right after it.

        `start` is the time of the walk's first state.
        """
        moments = np.asarray(times, np.float64)
        if moments.size and moments.min() < start:
            raise ValueError(f"times must not be before {start:g}, where the walk starts")
        order = np.argsort(moments, kind="stable")
        began = np.concatenate([[start], walk.times])
        unsorted = np.empty((len(self._codes), len(moments)))
        unsorted[:, order] = self._sampled(
            walk, began, moments[order], np.searchsorted(began, moments[order], "right") - 1
        )
        return unsorted

    def sample_states(self, walk: Walk, until: float, inside: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return moments up to `until`, and one row per expression: at the begin and the end of every state.

        So a state that lasts no time is seen, too.  `inside`: so many moments within each state.
        """
        began = np.concatenate([[0.0], walk.times])
        began = began[: np.searchsorted(began, until, "right")]
        ended = np.minimum(np.append(walk.times, np.inf)[: len(began)], until)
        shares = np.linspace(0.0, 1.0, inside + 2)
        moments = began[:, None] + (ended - began)[:, None] * shares
        moments[:, -1] = ended
        rows = np.repeat(np.arange(len(began)), len(shares))
        return moments.ravel(), self._sampled(walk, np.concatenate([[0.0], walk.times]), moments.ravel(), rows)

    def _sampled(self, walk: Walk, began: np.ndarray, moments: np.ndarray, rows: np.ndarray) -> np.ndarray:
        result = np.zeros((len(self._codes), len(moments)))
        walker = self._walker
        with np.errstate(over="ignore"):
            sample_batch(
                *walker.arrays, np.ascontiguousarray(walk.locations, np.int32),
                np.ascontiguousarray(walk.integers, np.int64), np.ascontiguousarray(walk.reals, np.float64),
                began, *limits(walker.model), moments, np.ascontiguousarray(rows, np.int64), self._codes, result,
            )  # fmt: skip
        failure = walker.error()
        if failure is not None:
            raise UserError(f"an expression failed: {failure}")
        return result


def sample_expressions(
    model: CompiledModel, walk: Walk, expressions: Sequence[tuple[Expression, int]], times: np.ndarray
) -> np.ndarray:
    """Sample one walk; see `Sampler.sample`."""
    return Sampler(model, expressions).sample(walk, times)
