"""Values around a moment of a use, whenever it comes: a jump, a level that is held for a while.

Without actions nothing marks where a failure begins, so patterns of values speak about some moment at which a value
changes.  All conditions of a pattern that are about a moment must hold at one and the same.

    Rise("u")  ≥ 6                            u rises by 6
    Held("u", 0, 9, "least")  ≥ 3             u is at least 3 for the next 9
    Held("d", -2, 0, "greatest")  ≤ -0.5      d was at most -0.5 for the last 2
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bbfalsify.engines.falsification.modes.use import Use

LONGEST = 8
"""Pieces of a signal over which a level may be held."""
SLACK = 1e-9
"""Part of a piece by which times that are meant to be the same may differ."""


@dataclass(frozen=True)
class Held:
    """A value between two times relative to a moment: the least, the greatest, or that of a single piece."""

    name: str
    start: float
    end: float
    extreme: str
    """least, greatest or level"""

    def values(self, use: Use) -> np.ndarray:
        """The value at each moment of the use; not a number where the times begin before it."""
        series, moments = use.values[self.name], use.moments
        slack = SLACK * (self.end - self.start)
        first = np.searchsorted(series.times, moments + self.start + slack, "right") - 1
        last = np.searchsorted(series.times, moments + self.end - slack, "left")
        pairs = np.column_stack([np.maximum(first, 0), np.maximum(last, np.maximum(first, 0) + 1)]).ravel()
        reduce = np.maximum if self.extreme == "greatest" else np.minimum
        # `reduceat` takes from each place to the next; the added level is never among those that are kept.
        found = reduce.reduceat(np.append(series.levels, series.levels[-1]), pairs)[::2]
        return np.where(first >= 0, found, np.nan)


@dataclass(frozen=True)
class Rise:
    """How much a value changes at a moment; falling is negative."""

    name: str

    def values(self, use: Use) -> np.ndarray:
        series = use.values[self.name]
        at = np.searchsorted(series.times, use.moments, "right") - 1
        changes = np.diff(series.levels, prepend=series.levels[:1])
        return np.where(series.times[at] == use.moments, changes[at], 0.0)


Moving = Held | Rise


def at_moments(feature: Moving, use: Use) -> np.ndarray:
    """The values of a feature at the moments of a use, which remembers them: a search asks many times."""
    if feature not in use.remembered:
        use.remembered[feature] = feature.values(use)
    return use.remembered[feature]


def moving_features(uses: Sequence[Use]) -> Iterator[Moving]:
    """The features of the signals that change within these uses."""
    for name, series in uses[0].values.items():
        if len(series.times) < 2:
            continue
        piece = float(np.median(np.concatenate([np.diff(use.values[name].times) for use in uses[:20]])))
        yield Rise(name)
        yield Held(name, -piece, 0.0, "level")
        yield Held(name, 0.0, piece, "level")
        pieces = 2
        while pieces <= min(LONGEST, len(series.times) - 1):
            yield from (Held(name, 0.0, pieces * piece, extreme) for extreme in ("least", "greatest"))
            pieces *= 2
