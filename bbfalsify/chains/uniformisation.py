"""Transient values of a chain by uniformisation, with a proven truncation error.

    v(t) = e^{Qt} v = Σ_k e^{−qt} (qt)^k / k! · P^k v,      P = I + Q/q,  q ≥ every exit rate

All terms are nonnegative, so nothing cancels.  The Poisson weights grow from the mode outwards (Fox and Glynn); both
tails are bounded by geometric series, so the mass left out is known.  ‖P^{k+1} v − P^k v‖ never grows, so the sum can
end early where that difference times the mass still to come is below the error allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, eye

ERROR = 1e-14
"""Poisson mass that may be left out."""
_UNIT = 2.0**-52


@dataclass(frozen=True, eq=False)
class Values:
    """Values per state, and a bound of their numerical error, per state too."""

    values: np.ndarray
    errors: np.ndarray


def poisson_weights(rate: float, error: float = ERROR) -> tuple[int, np.ndarray, float]:
    """Poisson probabilities of left, left + 1, …: (left, weights, mass left out at most)."""
    mode = int(rate)
    right, left = [1.0], []
    k, weight = mode, 1.0
    while True:  # the tail from k + 1 on is at most weight · r / (1 − r)
        ratio = rate / (k + 1)
        if ratio < 1 and weight * ratio / (1 - ratio) <= error / 2:
            break
        weight *= ratio
        k += 1
        right.append(weight)
    k, weight = mode, 1.0
    while k > 0:
        ratio = k / rate
        if ratio < 1 and weight * ratio / (1 - ratio) <= error / 2:
            break
        weight *= ratio
        k -= 1
        left.append(weight)
    weights = np.array([*reversed(left), *right])
    total = math.fsum(weights)  # at least 1: the mode's weight
    return mode - len(left), weights / total, error / total


def transient(rates: csr_matrix, values: np.ndarray, time: float, *, error: float = ERROR) -> Values:
    """Expected value after `time`, from every state, for nonnegative values."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    q = float(exits.max(initial=0.0))
    if time == 0 or q == 0:
        return Values(values.astype(float), np.zeros(len(values)))
    step = (eye(rates.shape[0], format="csr") + (rates - diags(exits)) / q).tocsr()
    left, weights, missed = poisson_weights(q * time, error)
    return _summed(step, values, left, weights, missed)


def accumulated(rates: csr_matrix, values: np.ndarray, time: float, *, error: float = ERROR) -> Values:
    """Expected integral of nonnegative values over [0, time], from every state."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    q = float(exits.max(initial=0.0))
    if q == 0:
        return Values(values * time, np.zeros(len(values)))
    step = (eye(rates.shape[0], format="csr") + (rates - diags(exits)) / q).tocsr()
    left, weights, missed = poisson_weights(q * time, error)
    # ∫ e^{Qs} ds = 1/q Σ_k P(more than k jumps) P^k
    tails = np.concatenate([np.ones(left), 1.0 - np.cumsum(weights)]).clip(min=0.0) / q
    return _summed(step, values, 0, tails, missed * time)


def powers(step: csr_matrix, values: np.ndarray, steps: int) -> Values:
    """Expected value after a number of steps of a discrete chain, from every state."""
    current, done = values.astype(float), 0
    while done < steps:
        following = step @ current
        done += 1
        if np.array_equal(following, current):
            break
        current = following
    return Values(current, _rounding(current, done, step))


def _summed(step: csr_matrix, values: np.ndarray, left: int, weights: np.ndarray, missed: float) -> Values:
    """Σ weights[k] · step^(left + k) · values."""
    current = values.astype(float)
    total = np.zeros(len(values))
    largest = float(np.abs(values).max(initial=0.0))
    left_over = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    ended, last = 0.0, left + len(weights)
    for k in range(last):
        if k >= left:
            total += weights[k - left] * current
        following = step @ current
        if k % 16 == 15:
            change = float(np.abs(following - current).max(initial=0.0))
            rest = left_over[max(0, k + 1 - left)]
            ended = change * (last - k) * rest
            if ended <= missed * largest:
                total += rest * following
                last = k + 1
                break
            ended = 0.0
        current = following
    return Values(total, _rounding(total, last, step) + missed * largest + ended)


def _rounding(values: np.ndarray, steps: int, step: csr_matrix) -> np.ndarray:
    """Bound of the accumulated rounding: relative, because every term is nonnegative."""
    widest = int(np.diff(step.indptr).max(initial=0))
    return np.abs(values) * _UNIT * (steps * (widest + 2) + 8)
