"""Transient values of a chain by uniformisation, with a proven truncation error.

    v(t) = e^{Qt} v = Σ_k e^{−qt} (qt)^k / k! · P^k v,      P = I + Q/q,  q ≥ every exit rate

All terms are nonnegative, so nothing cancels.  The Poisson weights grow from the mode outwards (Fox and Glynn); both
tails are bounded by geometric series, so the mass left out is known.  ‖P^{k+1} v − P^k v‖ never grows, so the sum can
end early where that difference times the mass still to come is below the error allowed.  Where states differ in speed
by many orders, a slow change can be lost in the rounding of P: the error of an early end comes from Qv/q, computed by
differences, or from the range of v, which no later P^k v leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, eye

ERROR = 1e-14
"""Poisson mass that may be left out."""
_UNIT = 2.0**-52
_ABOVE = 1.1
_LONG = 1_000_000
"""Steps that are not made one by one where only rounding still moves the values."""


@dataclass(frozen=True, eq=False)
class Values:
    """Values per state, and a bound of their numerical error, per state too."""

    values: np.ndarray
    errors: np.ndarray


def poisson_weights(rate: float, error: float = ERROR, *, more: int = 0) -> tuple[int, np.ndarray, float]:
    """Poisson probabilities of left, left + 1, …: (left, weights, mass left out at most).

    `more`: so many weights beyond those that the error needs.
    """
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
    for _ in range(more):
        k += 1
        weight *= rate / k
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
    exits, q = _uniform(rates)
    if time == 0 or q == 0:
        return Values(values.astype(float), np.zeros(len(values)))
    left, weights, missed = poisson_weights(q * time, error)
    return _Sum(left, 0.0, weights, missed, 2 * len(weights) * _UNIT).of(rates, exits, q, values)


def accumulated(rates: csr_matrix, values: np.ndarray, time: float, *, error: float = ERROR) -> Values:
    """Expected integral of nonnegative values over [0, time], from every state.

    ∫ e^{Qs} ds = 1/q Σ_k P(more than k jumps) P^k.  What is cut off to the right of weight n amounts to
    time · P(n jumps or more): one weight more than the mass needs keeps that below the error, too.
    """
    exits, q = _uniform(rates)
    if time == 0 or q == 0:
        return Values(values * time, np.abs(values) * time * _UNIT)
    left, weights, missed = poisson_weights(q * time, error, more=1)
    beyond = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0)  # summed from the small end: 1 − Σ would cancel
    return _Sum(left, 1 / q, beyond / q, missed * time, 3 * len(weights) * _UNIT).of(rates, exits, q, values)


def _uniform(rates: csr_matrix) -> tuple[np.ndarray, float]:
    """Exit rates, and a rate a little above all of them: so P has no period, and its powers converge."""
    exits = np.asarray(rates.sum(axis=1)).ravel()
    return exits, _ABOVE * float(exits.max(initial=0.0))


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


@dataclass(frozen=True, eq=False)
class _Sum:
    """Σ_k weight(k) · P^k · values."""

    left: int
    before: float
    """Weight of every k below `left`."""
    weights: np.ndarray
    """Those from `left` on."""
    missed: float
    """Bound of the weights beyond."""
    rounded: float
    """Bound of the relative error of the weights."""

    def rest(self, k: int) -> float:
        """Sum of the weights from k on."""
        return max(0, self.left - k) * self.before + math.fsum(self.weights[max(0, k - self.left) :])

    def of(self, rates: csr_matrix, exits: np.ndarray, q: float, values: np.ndarray) -> Values:
        step = (eye(rates.shape[0], format="csr") + (rates - diags(exits)) / q).tocsr()
        current, total = values.astype(float), np.zeros(len(values))
        largest, allowed = float(np.abs(values).max(initial=0.0)), self.missed / max(self.rest(0), self.missed)
        ended, last = 0.0, self.left + len(self.weights)
        for k in range(last):
            total += (self.weights[k - self.left] if k >= self.left else self.before) * current
            following = step @ current
            if k % 16 == 15:
                change = float(np.abs(following - current).max(initial=0.0))
                stands = last - k > _LONG and bool((np.abs(following - current) <= 16 * _UNIT * current).all())
                if stands or change * (last - k) <= allowed * largest:
                    rest = self.rest(k + 1)
                    ended = min(float(np.ptp(following)), (last - k) * _fastest_change(rates, following) / q) * rest
                    total += rest * following
                    last = k + 1
                    break
            current = following
        errors = _rounding(total, last, step) + np.abs(total) * self.rounded + self.missed * largest + ended
        return Values(total, errors)


def _fastest_change(rates: csr_matrix, values: np.ndarray) -> float:
    """Upper bound of |Q · values|, by differences of values: those of nearly equal ones are exact."""
    moves = rates.tocoo()
    differences = moves.data * (values[moves.col] - values[moves.row])
    change, size = (np.bincount(moves.row, d, len(values)) for d in (differences, np.abs(differences)))
    widest = int(np.diff(rates.indptr).max(initial=0))
    return float((np.abs(change) + size * _UNIT * (widest + 3)).max(initial=0.0))


def _rounding(values: np.ndarray, steps: int, step: csr_matrix) -> np.ndarray:
    """Bound of the accumulated rounding: relative, because every term is nonnegative."""
    widest = int(np.diff(step.indptr).max(initial=0))
    return np.abs(values) * _UNIT * (steps * (widest + 2) + 8)
