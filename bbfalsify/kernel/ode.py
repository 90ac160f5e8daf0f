"""Compute continuous variables that follow ODEs: in closed form if possible, else by Runge–Kutta on a grid.

An ODE y' = a·y + b with a and b constant during a delay (`Analysis.solved_slots`) has the solution
y(t) = y0 + (a·y0 + b)·(e^(a·d) − 1)/a after the delay d, independent of `ode_step`.  All others are integrated by
Runge–Kutta of order 4.

Row k of the grid is the state at now + k·step; rows are computed when first needed and dropped when a transition fires.
A moment between two rows is one shorter Runge–Kutta step away from the row before it, so a value depends only on its
moment, not on earlier requests: the event location of `windows` bisects on exactly the values that the walk will use.
"""

from __future__ import annotations

import math

from bbfalsify.kernel.bytecode import execute
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined

_OVERFLOW = 709.78


@inlined
def solution(u, rate, factor, h):
    """Compute y after the delay h, where y(0) = u and y' = factor·y + rate."""
    slope = factor * u + rate
    if slope == 0.0:
        return u
    if factor == 0.0:
        return u + slope * h
    exponent = factor * h
    if exponent > _OVERFLOW:
        return slope * math.inf
    return u + slope * (math.expm1(exponent) / factor)


@inlined
def start_flow(T, F, S, X, R):
    """Compute, after a transition, row 0 of the grid and the coefficients of the ODEs with a closed form."""
    count = T[H_ODE_COUNT]
    for i in range(count):
        X[T[H_X_GRID] + i] = X[CLOCKS + 3 * T[T[H_ODE_SLOTS] + i]]
    for i in range(T[H_SOLVED_COUNT]):
        # Affine reals give a and b: execute the rate with y = 0 + 1·(t − 0).
        slot = T[T[H_SOLVED_SLOTS] + i]
        clock = CLOCKS + 3 * slot
        value = X[clock]
        since = X[clock + 1]
        X[clock] = 0.0
        X[clock + 1] = 0.0
        X[clock + 2] = 1.0
        execute(T, F, S, X, R, S[T[H_S_RATE_CODE] + slot], MODE_AT, X[X_NOW])
        X[clock] = value
        X[clock + 1] = since
        X[clock + 2] = 0.0
        X[T[H_X_SOLVED] + 2 * i] = X[T[H_X_STACK] + 1]
        X[T[H_X_SOLVED] + 2 * i + 1] = X[T[H_X_STACK]]
    S[S_GRID] = 1


@compiled
def closed_form_values(T, X, t):
    """Fill the vector of values at t; integrated variables get their value at now."""
    values = T[H_X_VALUES]
    for slot in range(T[H_REALS]):
        clock = CLOCKS + 3 * slot
        rate = X[clock + 2]
        X[values + slot] = X[clock] if rate == 0.0 else X[clock] + rate * (t - X[clock + 1])
    for i in range(T[H_SOLVED_COUNT]):
        slot = T[T[H_SOLVED_SLOTS] + i]
        clock = CLOCKS + 3 * slot
        given = T[H_X_SOLVED] + 2 * i
        X[values + slot] = solution(X[clock], X[given + 1], X[given], t - X[clock + 1])


@inlined
def derivative(T, F, S, X, R, t, y, out):
    """Compute the rates of the integrated variables at time t in state X[y:] into X[out:]."""
    closed_form_values(T, X, t)
    count = T[H_ODE_COUNT]
    slots = T[H_ODE_SLOTS]
    values = T[H_X_VALUES]
    for i in range(count):
        X[values + T[slots + i]] = X[y + i]
    for i in range(count):
        execute(T, F, S, X, R, S[T[H_S_RATE_CODE] + T[slots + i]], MODE_NUMERIC, t)
        X[out + i] = X[T[H_X_STACK]]


@compiled
def runge_kutta(T, F, S, X, R, t, h, y, out):
    """Make one step of length h from X[y:] to X[out:] (the two may be the same)."""
    count = T[H_ODE_COUNT]
    k1 = T[H_X_ODE_WORK]
    k2 = k1 + count
    k3 = k2 + count
    k4 = k3 + count
    middle = k4 + count
    derivative(T, F, S, X, R, t, y, k1)
    for i in range(count):
        X[middle + i] = X[y + i] + 0.5 * h * X[k1 + i]
    derivative(T, F, S, X, R, t + 0.5 * h, middle, k2)
    for i in range(count):
        X[middle + i] = X[y + i] + 0.5 * h * X[k2 + i]
    derivative(T, F, S, X, R, t + 0.5 * h, middle, k3)
    for i in range(count):
        X[middle + i] = X[y + i] + h * X[k3 + i]
    derivative(T, F, S, X, R, t + h, middle, k4)
    for i in range(count):
        X[out + i] = X[y + i] + h / 6.0 * (X[k1 + i] + 2.0 * X[k2 + i] + 2.0 * X[k3 + i] + X[k4 + i])


@compiled
def values_at(T, F, S, X, R, t):
    """Fill the vector of values with every real at time t >= now."""
    if S[S_GRID] == 0:
        start_flow(T, F, S, X, R)
    count = T[H_ODE_COUNT]
    if count == 0:
        closed_form_values(T, X, t)
        return
    grid = T[H_X_GRID]
    now = X[X_NOW]
    step = X[X_ODE_STEP]
    wanted = int(math.floor(min((t - now) / step, GRID_ROWS - 1.0)))
    if wanted > 0 and now + wanted * step > t:
        wanted -= 1
    while S[S_GRID] <= wanted:
        row = grid + count * (S[S_GRID] - 1)
        runge_kutta(T, F, S, X, R, now + (S[S_GRID] - 1) * step, step, row, row + count)
        S[S_GRID] += 1
    y = grid + count * wanted
    moment = now + wanted * step
    out = T[H_X_ODE_WORK] + 6 * count
    for i in range(count):
        X[out + i] = X[y + i]
    while t - moment > step:  # beyond the grid
        runge_kutta(T, F, S, X, R, moment, step, out, out)
        moment += step
    if t > moment:
        runge_kutta(T, F, S, X, R, moment, t - moment, out, out)
    closed_form_values(T, X, t)
    for i in range(count):
        X[T[H_X_VALUES] + T[T[H_ODE_SLOTS] + i]] = X[out + i]


@inlined
def advance(T, F, S, X, R, t):
    """Let time pass to t; clocks at constant rates need nothing, ODE variables get their value at t."""
    if T[H_ODE_COUNT] + T[H_SOLVED_COUNT] > 0:
        values_at(T, F, S, X, R, t)
        for i in range(T[H_ODE_COUNT] + T[H_SOLVED_COUNT]):
            slot = T[T[H_ODE_SLOTS] + i]  # first the integrated ones, then the solved ones
            X[CLOCKS + 3 * slot] = X[T[H_X_VALUES] + slot]
            X[CLOCKS + 3 * slot + 1] = t
    S[S_GRID] = 0
    X[X_NOW] = t
