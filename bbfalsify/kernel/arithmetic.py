"""Arithmetic of the interpreter: affine reals (three numbers in X), integers, comparisons, mathematical functions."""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.kernel.layout import *
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.opcodes import *
from bbfalsify.kernel.rng import normal, unit

_OVERFLOW = 709.78


@compiled
def mathematics(function, u, v):
    """Compute a mathematical function, nan outside its domain (where Python's functions raise exceptions)."""
    if function == MATH_SQRT:
        return math.sqrt(u) if u >= 0.0 else math.nan
    if function == MATH_EXP:
        return math.exp(u) if u <= _OVERFLOW else math.inf
    if function == MATH_LN:
        return math.log(u) if u > 0.0 else math.nan
    if function == MATH_LOG:
        return math.log10(u) if u > 0.0 else math.nan
    if function == MATH_ATAN2:
        return math.atan2(u, v)
    if abs(u) == math.inf:
        return math.nan
    if function == MATH_SIN:
        return math.sin(u)
    if function == MATH_COS:
        return math.cos(u)
    if function == MATH_TAN:
        return math.tan(u)
    if function == MATH_ASIN:
        return math.asin(u) if abs(u) <= 1.0 else math.nan
    if function == MATH_ACOS:
        return math.acos(u) if abs(u) <= 1.0 else math.nan
    if function == MATH_ATAN:
        return math.atan(u)
    if function == MATH_FLOOR:
        return float(math.floor(u)) if abs(u) < 4503599627370496.0 else u
    if function == MATH_CEIL:
        return float(math.ceil(u)) if abs(u) < 4503599627370496.0 else u
    if function == MATH_FMOD:
        return float(np.fmod(u, v)) if v != 0.0 else math.nan
    # pow
    if u == 0.0:
        return math.pow(u, v) if v >= 0.0 else math.nan
    if v * math.log(abs(u)) > _OVERFLOW:
        return math.inf
    if u < 0.0 and v != math.floor(v):
        return math.nan
    return math.pow(u, v)


@inlined
def compared(operator, order):
    """Truth of `a operator b`, where order is the sign of a − b."""
    if operator == 0:
        return 1 if order < 0 else 0
    if operator == 1:
        return 1 if order <= 0 else 0
    if operator == 2:
        return 1 if order >= 0 else 0
    if operator == 3:
        return 1 if order > 0 else 0
    if operator == 4:
        return 1 if order == 0 else 0
    return 1 if order != 0 else 0


@inlined
def affine_order(X, at, mode, t):
    """Compute the sign of (real at `at`) − (real at `at` + 3) at t or just after it; lower the next breakpoint."""
    p1 = X[at]
    q1 = X[at + 1]
    s1 = X[at + 2]
    p2 = X[at + 3]
    q2 = X[at + 4]
    s2 = X[at + 5]
    if q1 == 0.0 and q2 == 0.0:
        return -1 if p1 < p2 else (1 if p1 > p2 else 0)
    if q2 == 0.0:
        slope = q1
        crossing = s1 + (p2 - p1) / q1
    elif q1 == 0.0:
        slope = -q2
        crossing = s2 + (p1 - p2) / q2
    else:
        s = max(s1, s2)
        difference = (p1 + q1 * (s - s1)) - (p2 + q2 * (s - s2))
        slope = q1 - q2
        if slope == 0.0:
            return -1 if difference < 0.0 else (1 if difference > 0.0 else 0)
        crossing = s - difference / slope
    sign = 1 if slope > 0.0 else -1
    if t < crossing:
        if crossing < X[X_BREAKPOINT]:
            X[X_BREAKPOINT] = crossing
        return -sign
    if t == crossing and mode == MODE_AT:
        return 0
    return sign


@inlined
def affine_add(X, at, factor):
    """Add factor · (real at `at` + 3) to the real at `at`; factor is 1 or −1."""
    q1 = X[at + 1]
    q2 = X[at + 4] * factor
    if q2 == 0.0:
        X[at] = X[at] + factor * X[at + 3]
    elif q1 == 0.0:
        X[at] = X[at] + factor * X[at + 3]
        X[at + 1] = q2
        X[at + 2] = X[at + 5]
    else:
        s1 = X[at + 2]
        s2 = X[at + 5]
        s = max(s1, s2)
        X[at] = (X[at] + q1 * (s - s1)) + factor * (X[at + 3] + X[at + 4] * (s - s2))
        X[at + 1] = q1 + q2
        X[at + 2] = s


@inlined
def integer_arithmetic(op, a, b):
    """Compute the integer operations that cannot fail."""
    if op == ADD_I:
        return a + b
    if op == SUBTRACT_I:
        return a - b
    if op == MULTIPLY_I:
        return a * b
    if op == BIT_AND:
        return a & b
    if op == BIT_OR:
        return a | b
    if op == BIT_XOR:
        return a ^ b
    if op == SHIFT_LEFT:
        return a << (b & 63)
    if op == SHIFT_RIGHT:
        return a >> (b & 63)
    if op == MINIMUM_I:
        return min(a, b)
    return max(a, b)


@inlined
def plain_real(X, at, u):
    """Put a real that does not change."""
    X[at] = u
    X[at + 1] = 0.0
    X[at + 2] = 0.0


@inlined
def copy_real(X, at, source):
    X[at] = X[source]
    X[at + 1] = X[source + 1]
    X[at + 2] = X[source + 2]


@inlined
def affine_multiply(X, at):
    """Multiply the real at `at` by that at `at` + 3; one of the two is constant."""
    if X[at + 1] == 0.0:
        factor = X[at]
        X[at] = X[at + 3] * factor
        X[at + 1] = X[at + 4] * factor
        X[at + 2] = X[at + 5]
    else:
        factor = X[at + 3]
        X[at] = X[at] * factor
        X[at + 1] = X[at + 1] * factor


@inlined
def drawn(X, R, draw, mode, at):
    """Draw a number; its parameters stand at `at` and `at` + 3."""
    if mode != MODE_FROZEN:
        return math.nan  # unknown before the draw; comparisons with it set S_TAINT
    if draw == DRAW_RANDOM:
        return unit(R) * X[at]
    if draw == DRAW_UNIFORM:
        return X[at] + unit(R) * (X[at + 3] - X[at])
    if draw == DRAW_NORMAL:
        return X[at] + X[at + 3] * normal(R)
    return -math.log(1.0 - unit(R)) / X[at]


@inlined
def fail(S, error, site, value):
    S[S_ERROR] = error
    S[S_SITE] = site
    S[S_ERROR_VALUE] = value
