"""Elimination that adds, multiplies and divides positive numbers only, so that nothing cancels.

Mean times of 1e12 and shares of 1e-12 lose all their digits where sums of rates are subtracted.  Grassmann, Taksar and
Heyman (1985) eliminate state after state, and the sum of a state's rates is formed anew from what is left of them.
Each number that comes out has a small relative error, however far the rates lie apart (O'Cinneide 1993): at most
`relative_error`.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.jit import jit

MOST = 2_000
"""States whose dense matrix is eliminated: 32 MB, and some seconds."""
_TOO_LARGE = 1e200


def relative_error(states: int) -> float:
    """Bound of the relative error of each number: of the rounded rates, and of the elimination."""
    return 2.0 * (states + 2) ** 3 * 2.0**-53


@jit
def solve_positive(jumps, away, right, solution):
    """Solve (diag(row sums of jumps + away) − jumps) x = right for nonnegative right sides; all but x is overwritten.

    `jumps` leads from state to state, its diagonal counts for nothing; `away` leads out of them.
    """
    count, sides = right.shape
    total = np.zeros(count)
    for k in range(count - 1, -1, -1):
        leaving = away[k]
        for j in range(k):
            leaving += jumps[k, j]
        total[k] = leaving
        for i in range(k):
            if jumps[i, k] > 0.0:
                share = jumps[i, k] / leaving
                for j in range(k):
                    jumps[i, j] += share * jumps[k, j]
                away[i] += share * away[k]
                for side in range(sides):
                    right[i, side] += share * right[k, side]
    for k in range(count):
        for side in range(sides):
            value = right[k, side]
            for j in range(k):
                value += jumps[k, j] * solution[j, side]
            solution[k, side] = value / total[k]


@jit
def stationary_weights(jumps, weights):
    """Weights of an irreducible chain in the long run, up to a factor; `jumps` is overwritten."""
    count = len(weights)
    for k in range(count - 1, 0, -1):
        leaving = 0.0
        for j in range(k):
            leaving += jumps[k, j]
        for i in range(k):
            if jumps[i, k] > 0.0:
                jumps[i, k] /= leaving
                for j in range(k):
                    jumps[i, j] += jumps[i, k] * jumps[k, j]
    weights[0] = 1.0
    for k in range(1, count):
        value = 0.0
        for i in range(k):
            value += weights[i] * jumps[i, k]
        weights[k] = value
        if value > _TOO_LARGE:
            for i in range(k + 1):
                weights[i] /= _TOO_LARGE
