"""Values of expressions along a recorded walk: clocks and ODE variables are continued from the recorded states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.compiler import Compiler
from bbfalsify.kernel.compiling import entry_point
from bbfalsify.kernel.firing import load_state
from bbfalsify.kernel.layout import H_X_STACK, MODE_NUMERIC, S_ERROR
from bbfalsify.kernel.ode import values_at
from bbfalsify.kernel.results import Walk
from bbfalsify.kernel.tables import CompiledModel
from bbfalsify.kernel.walker import Walker, error_message, limits
from bbfalsify.modelling.expressions import Expression


@entry_point
def sample_batch(
    T, F, S, X, R, states_locations, states_integers, states_reals, states_time, largest, ode_step, rows, numbers,
    codes, matrix,
):  # fmt: skip
    """matrix[e, i] = expression e at moment numbers[i], which lies behind state rows[i]; the moments are sorted."""
    loaded = -1
    for i in range(len(numbers)):
        row = rows[i]
        if row != loaded:
            time = states_time[row]
            load_state(T, F, S, X, R, states_locations, states_integers, states_reals, row, time, largest, ode_step)
            loaded = row
        values_at(T, F, S, X, R, numbers[i])
        for e in range(len(codes)):
            execute(T, F, S, X, R, codes[e], MODE_NUMERIC, numbers[i])
            matrix[e, i] = X[T[H_X_STACK]]
        if S[S_ERROR] != 0:
            return


def sample_expressions(
    model: CompiledModel, walk: Walk, expressions: Sequence[tuple[Expression, int]], times: np.ndarray
) -> np.ndarray:
    """One row per expression, one column per time; at the time of a transition the value right after it."""
    moments = np.asarray(times, np.float64)
    if moments.size and moments.min() < 0:
        raise ValueError("times must not be negative")
    compiler = Compiler(model.network, first_address=len(model.T))
    compiler.constants = list(model.F)
    codes = np.array([compiler.number(e, "an expression") for e, _ in expressions], np.int64)
    walker = Walker.of(model)
    T = np.concatenate([model.T, np.array(compiler.code, np.int32)])
    F = np.array(compiler.constants, np.float64)
    order = np.argsort(moments, kind="stable")
    rows = np.searchsorted(walk.times, moments[order], side="right").astype(np.int64)
    result = np.zeros((len(codes), len(moments)))
    with np.errstate(over="ignore"):
        sample_batch(
            T, F, walker.S, walker.X, walker.R, np.ascontiguousarray(walk.locations, np.int32),
            np.ascontiguousarray(walk.integers, np.int64), np.ascontiguousarray(walk.reals, np.float64),
            np.concatenate([[0.0], walk.times]), *limits(model), rows, moments[order], codes, result,
        )  # fmt: skip
    error = int(walker.S[S_ERROR])
    if error:
        site = int(walker.S[S_ERROR + 1])
        place = compiler.sites[site] if 0 <= site < len(compiler.sites) else ""
        raise UserError(f"an expression failed: {error_message(model, error, -1, int(walker.S[S_ERROR + 2]))} {place}")
    unsorted = np.empty_like(result)
    unsorted[:, order] = result
    return unsorted
