"""Operators of discrete time by whole arrays: windows, until and since, the next and the previous sample.

`discrete.py` says what is computed: here are the same functions for traces that are judged once, without compiled code.
Entry i of an array belongs to sample i; `held`: after the last entry its value goes on, else there is nothing.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.logic.stl.piecewise_arrays import carried


def sliding_extreme(source: np.ndarray, width: int, smaller: bool) -> np.ndarray:
    """Extreme over samples i … i + width - 1, as far as there are any, by windows of doubled width."""
    choose = np.minimum if smaller else np.maximum
    if width >= len(source):
        return choose.accumulate(source[::-1])[::-1]
    found, reached = source.copy(), 1
    while reached < width:
        step = min(reached, width - reached)
        choose(found[:-step], found[step:], out=found[:-step])
        reached += step
    return found


def future_extreme(source: np.ndarray, lower: int, upper: int, smaller: bool, held: bool) -> np.ndarray:
    """Extreme over samples i + lower … i + upper; the first of them counts even where upper is less than lower."""
    found = sliding_extreme(source, max(upper - lower, 0) + 1, smaller)
    return shifted(found, -lower, found[-1] if held else nothing(smaller))


def past_extreme(source: np.ndarray, lower: int, upper: int, smaller: bool) -> np.ndarray:
    """Extreme over samples i - upper … i - lower."""
    if upper < lower:
        return np.full(len(source), nothing(smaller))
    found = sliding_extreme(source[::-1], upper - lower + 1, smaller)[::-1]
    return shifted(found, lower, nothing(smaller))


def nothing(smaller: bool) -> float:
    """Extreme over no samples."""
    return np.inf if smaller else -np.inf


def shifted(source: np.ndarray, by: int, filling: float) -> np.ndarray:
    """Move samples to later places (or earlier, where `by` is negative)."""
    if by == 0:
        return source
    moved = np.full(len(source), filling)
    if by > 0:
        moved[by:] = source[:-by]
    else:
        moved[:by] = source[-by:]
    return moved


def until(first: np.ndarray, second: np.ndarray, some_is_max: bool) -> np.ndarray:
    """p until q, without bounds."""
    return since(first[::-1], second[::-1], some_is_max)[::-1]


def since(first: np.ndarray, second: np.ndarray, some_is_max: bool) -> np.ndarray:
    """p since q, without bounds: max(q, min(p, x)) carried on, or min(q, max(p, x))."""
    if some_is_max:
        return carried(second, np.maximum(first, second), -np.inf)
    return carried(first, second, np.inf)
