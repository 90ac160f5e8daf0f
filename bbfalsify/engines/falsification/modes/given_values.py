"""Uses in which a pattern of values occurs, drawn directly: the values that it limits are drawn within the limits.

    throttle ≥ 95 until 10      the first two values of throttle have quantiles in [0.95, 1]: probability 0.0025

Values are independent, so the probability that all of them lie within their limits is a product.  A mean implies
limits, too: with two values of at least 0 and a mean of at most 1, none is above 2.  What limits do not imply, and
conditions of another kind (at some time), are left to chance: uses that do not match are thrown away, and the others'
share is counted.  Only signals whose values are held at fixed times can be drawn like this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.modes.pattern import Condition, Pattern, Window
from bbfalsify.engines.falsification.modes.sampling import everyday_walks
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk

TRIES = 20
"""Uses that are drawn for each that is wanted, at most."""
STEPS = 45
"""Halvings that find the quantile of a limit."""
LEAST = 1e-12
"""A single value has no such part of the quantiles."""


@dataclass(frozen=True, eq=False)
class Given:
    """Quantiles within the limits of a pattern."""

    limits: np.ndarray
    """[values, 2]: the lowest and the highest quantile of each."""

    @property
    def probability(self) -> float:
        return float(np.prod(self.limits[:, 1] - self.limits[:, 0]))

    def walks(self, usage: Usage, wanted: int, seeds: SeedTree) -> Iterator[Walk]:
        """Yield at most TRIES times as many uses as wanted."""
        count = TRIES * wanted
        low, high = self.limits.T
        rows = seeds.child("given").rng().random((count, len(low)))
        for walk, row in zip(everyday_walks(usage, seeds.child("walks"), count), rows, strict=False):
            yield replace(walk, values=low + row * (high - low))


def given(usage: Usage, pattern: Pattern) -> Given | None:
    """The quantiles of a pattern of values; None where it limits none that can be drawn."""
    if usage.profile.has_actions or pattern.core or not usage.values.width:
        return None
    limits = np.tile([0.0, 1.0], (usage.values.width, 1))
    for condition in pattern.conditions:
        for place, implied in _limited(usage, condition):
            limits[place] = _within(_level(usage, place), implied, limits[place])
    found = Given(limits)
    return found if 0 < found.probability < 1 else None


def _limited(usage: Usage, condition: Condition) -> Iterator[tuple[int, Condition]]:
    """Yield values and limits that a condition implies for each of them; none if it is left to chance."""
    window = condition.feature
    if not isinstance(window, Window):
        return
    own = [place for place, label in enumerate(usage.values.labels) if label.name == window.name]
    drawn = usage.values.values(np.full(usage.values.width, 0.5))
    if any(usage.values.labels[place].kind not in ("value", "parameter") for place in own):
        return
    shares = np.ones(len(own))
    if window.name not in drawn.parameters:
        curve = drawn.curves.get(window.name)
        if curve is None or curve.shape != "constant" or len(curve.times) != len(own):
            return
        times = np.array(curve.times)
        first = max(0, int(np.searchsorted(times, window.start, "right")) - 1)
        end = max(first + 1, int(np.searchsorted(times, window.end, "left")))
        own, shares = own[first:end], np.ones(end - first)
        if window.extreme == "mean":
            edges = np.append(np.maximum(times[first:end], window.start), window.end)
            shares = np.diff(edges) / (edges[-1] - edges[0])
    side = {"least": condition.low, "greatest": -condition.high, "mean": 0.0}[window.extreme]
    if not math.isfinite(side):
        return
    for place, share in zip(own, shares.tolist(), strict=True):
        yield place, _of_mean(_level(usage, place), condition, share) if window.extreme == "mean" else condition


def _of_mean(level: Callable[[float], float], condition: Condition, share: float) -> Condition:
    """The limits that a mean implies for one value with this share of it: no other one is beyond its range."""
    lowest, highest = level(LOWEST), level(HIGHEST)
    most, least = lowest + (condition.high - lowest) / share, highest - (highest - condition.low) / share
    return replace(
        condition,
        low=least if math.isfinite(least) else -math.inf,
        high=most if math.isfinite(most) else math.inf,
    )


def _level(usage: Usage, place: int) -> Callable[[float], float]:
    """A value by its quantile."""
    middle, label = np.full(usage.values.width, 0.5), usage.values.labels[place]
    number = sum(other.name == label.name for other in usage.values.labels[:place])

    def level(quantile: float) -> float:
        middle[place] = quantile
        drawn = usage.values.values(middle)
        if label.name in drawn.parameters:
            return drawn.parameters[label.name]
        return float(drawn.curves[label.name].values[number])

    return level


def _within(level: Callable[[float], float], condition: Condition, known: Sequence[float]) -> tuple[float, float]:
    """The part of known quantiles at which a value, which grows with its quantile, lies within limits.

    It is rather too large than too small, by rounding: what does not match is thrown away.
    """
    low, high = float(known[0]), float(known[1])
    if level(low) < condition.low:
        low, _ = _change(lambda quantile: level(quantile) >= condition.low, low, high)
    if level(high) > condition.high:
        _, high = _change(lambda quantile: level(quantile) > condition.high, low, high)
    return (low, high) if high - low > LEAST else (0.0, 0.0)


def _change(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """The neighbouring places between which something begins to hold, that does not at the lower end."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
