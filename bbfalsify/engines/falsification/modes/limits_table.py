"""Limits of features, chosen for what the pattern is worth.

    worth = harmonic mean of how often the pattern fails, and of the part of the violations that it matches

One feature is limited after the other.  After each new one, the limits of the others are chosen again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.engines.falsification.modes.conditions import clean, outward, plainest, step_of
from bbfalsify.engines.falsification.modes.pattern import Condition, Free, Gap, Lasting, Level
from bbfalsify.engines.falsification.modes.use import Use

MOST_CONDITIONS = 3
BETTER = 1.07
"""A further condition must be worth this much more …"""
AS_GOOD, SHARP = 0.97, 0.995
"""… and of limits that are worth about the same the widest is taken; violations come at the end of a time without an
action, or of a value that lasts, so these limits are sharp."""

Limits = dict[tuple[int, int], float]
"""By feature and side (0: at most, 1: at least): the limit."""
Limited = Gap | Level | Free | Lasting


@dataclass(frozen=True, eq=False)
class LimitsTable:
    """Values of features at places of uses."""

    features: Sequence[Limited]
    values: np.ndarray
    """[places, features]"""
    use: np.ndarray
    """The use of each place."""
    weights: np.ndarray
    """[2, uses]: of those that violate, and of those that pass; the other one is 0."""
    bad_weight: float
    """Weight of all violating uses, also of those without a place."""
    steps: Sequence[float]
    """Limits of each feature are multiples of this."""

    @staticmethod
    def of(
        features: Sequence[Limited], values: np.ndarray, use: np.ndarray, bad: Sequence[Use], good: Sequence[Use]
    ) -> LimitsTable:
        """`use`: numbers of the uses of the places, the violating ones first."""
        weights = np.zeros((2, len(bad) + len(good)))
        weights[0, : len(bad)] = [one.weight for one in bad]
        weights[1, len(bad) :] = [one.weight for one in good]
        steps = [
            step_of(values[:, number]) * (0.1 if isinstance(feature, Free | Lasting) else 1.0)
            for number, feature in enumerate(features)
        ]
        return LimitsTable(features, values, use, weights, float(weights[0].sum()), steps)

    @property
    def sides(self) -> list[tuple[int, int]]:
        """Features that may be limited, from above or below."""
        pairs = itertools.product(range(len(self.features)), (0, 1))
        return [(number, side) for number, side in pairs if side in _sides(self.features[number])]

    def known(self, key: tuple[int, int], limits: Limits) -> bool:
        """Tell whether a side is limited, or the input of a value that lasts, for which one limit is enough."""
        own = self.features[key[0]]
        others = (self.features[number] for number, _ in limits)
        return key in limits or (
            isinstance(own, Lasting) and any(o.name == own.name for o in others if isinstance(o, Lasting))
        )

    def holds(self, limits: Limits) -> np.ndarray:
        """Tell at which places all limits hold."""
        met = np.ones(len(self.use), bool)
        for (number, side), limit in limits.items():
            met &= self.values[:, number] >= limit if side else self.values[:, number] <= limit
        return met

    def worth(self, met: np.ndarray) -> float:
        uses = np.unique(self.use[met])
        return float(self._worth(*self.weights[:, uses].sum(axis=1)))

    def best_limit(self, others: Limits, key: tuple[int, int]) -> tuple[float, float]:
        """The limit of one side of a feature that is worth most beside others, and its worth."""
        number, side = key
        met, sign = self.holds(others), -1.0 if side else 1.0
        if not met.any():
            return sign * np.inf, 0.0
        # A use matches from its least value on; negated, lower limits are the same.
        least = np.full(self.weights.shape[1], np.inf)
        np.minimum.at(least, self.use[met], sign * self.values[met, number])
        order = np.argsort(least, kind="stable")
        order = order[np.isfinite(least[order])]
        sums, known = np.cumsum(self.weights[:, order], axis=1), least[order]
        tried = np.unique([outward(v, self.steps[number]) for v in np.unique(known[self.weights[0, order] > 0])])
        if not len(tried):
            return sign * np.inf, 0.0
        ends = np.searchsorted(known, tried, "right") - 1
        worth = self._worth(*sums[:, ends])
        as_good = SHARP if isinstance(self.features[number], Free | Lasting) else AS_GOOD
        widest = float(tried[worth >= as_good * worth.max()].max())
        limit = plainest(widest, known, self.steps[number])
        return clean(sign * limit), float(worth[np.searchsorted(tried, widest)])

    def _worth(self, bad: np.ndarray, good: np.ndarray) -> np.ndarray:
        return 2 * bad / (bad + good + self.bad_weight)  # 2 p r / (p + r)


def best_conditions(table: LimitsTable) -> Iterator[Condition]:
    """The conditions at one place of a use that together are worth most."""
    limits: Limits = {}
    worth = table.worth(table.holds(limits))
    while len(limits) < MOST_CONDITIONS and table.bad_weight > 0:
        tried = ((key, *table.best_limit(limits, key)) for key in table.sides if not table.known(key, limits))
        key, limit, new = max(tried, key=lambda one: one[2], default=((0, 0), 0.0, 0.0))
        if new <= BETTER * worth:
            break
        limits[key], worth = limit, new
        for known in list(limits):
            others = {other: value for other, value in limits.items() if other != known}
            limits[known], worth = table.best_limit(others, known)
    for number in dict.fromkeys(number for number, _ in limits):
        low, high = limits.get((number, 1), -np.inf), limits.get((number, 0), np.inf)
        yield Condition(table.features[number], low=low, high=high)


def _sides(feature: Limited) -> tuple[int, ...]:
    """A time without an action is limited from below only; a value that lasts is as low, or as high, as its extreme."""
    if isinstance(feature, Lasting):
        return (0,) if feature.extreme == "greatest" else (1,)
    return (1,) if isinstance(feature, Free) else (0, 1)
