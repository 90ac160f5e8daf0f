"""Ratios of means over passes: what a quantity is, weighted by how much each pass says about it.

    N̄/D̄ with D_r the probability a pass has seen and N_r that probability times the pass's mean of the quantity

The ratio's error is that of the mean of its linearised residuals (N_r − ratio·D_r)/D̄, by Student's t over the passes.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special


def ratio_of_means(numerators: np.ndarray, denominators: np.ndarray, confidence: float) -> tuple[np.ndarray, ...]:
    """Values [k] and half widths [k] of k ratios, from R passes: numerators [R, k], denominators [R].

    Half widths are infinite where there is only one pass.
    """
    mean = float(denominators.mean())
    values = numerators.mean(axis=0) / mean
    passes = len(denominators)
    if passes < 2:
        return values, np.full(len(values), math.inf)
    residuals = (numerators - values * denominators[:, None]) / mean
    quantile = float(special.stdtrit(passes - 1, (1 + confidence) / 2))
    return values, quantile * residuals.std(axis=0, ddof=1) / math.sqrt(passes)
