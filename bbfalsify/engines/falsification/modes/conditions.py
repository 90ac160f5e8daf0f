"""Conditions of a mode on delays and values: short intervals that hold for its violating uses, and for few others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.engines.falsification.modes.pattern import Condition, Feature, Gap, Level, Pattern, Window
from bbfalsify.engines.falsification.modes.use import Use

MOST_CONDITIONS = 3
FEWEST_USES = 8
"""Violating uses below which no condition is learned: it would describe chance."""
EXCLUDES = 0.2
"""Smallest share of the remaining passing uses that a condition must exclude."""
SLACK = 0.01
"""Share of the violating uses that a limit may leave out."""
MOST_PIECES = 24


def tighten(pattern: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> Pattern:
    """Add conditions, one by one, each time the one that excludes most of the passing uses that still match."""
    features = list(_features(pattern, bad))
    while len(bad) >= FEWEST_USES and len(pattern.conditions) < MOST_CONDITIONS:
        still = [use for use in good if pattern.matches(use)]
        if not still:
            break
        tried = [c for f in features if (c := _limits(f, pattern, bad, still)) is not None]
        best = max(tried, key=lambda c: _excluded(c, pattern, still), default=None)
        if best is None or _excluded(best, pattern, still) < max(1.0, EXCLUDES * len(still)):
            break
        pattern = replace(pattern, conditions=(*pattern.conditions, best))
        features.remove(best.feature)
    return pattern


def _features(pattern: Pattern, bad: Sequence[Use]) -> Iterator[Feature]:
    names = list(bad[0].values) if bad else []
    for action in range(len(pattern.core)):
        yield Gap(action)
        yield from (Level(name, action) for name in names)
    if pattern.core:
        return
    # Without actions, series mostly have the same times in every use: windows from the start, and single pieces.
    typical = float(np.median([use.violated_at for use in bad])) if bad else 0.0
    for name in names:
        times = [float(t) for t in bad[0].values[name].times]
        starts = [t for t in times if t < typical][:MOST_PIECES] or times[:1]
        ends = [next((t for t in times if t > start), math.inf) for start in starts]
        windows = {(starts[0], end) for end in ends} | set(zip(starts, ends, strict=True))
        for start, end in sorted(windows):
            yield from (Window(name, start, end, extreme) for extreme in ("least", "greatest"))


def _limits(feature: Feature, pattern: Pattern, bad: Sequence[Use], good: Sequence[Use]) -> Condition | None:
    """The condition that nearly all violating uses fulfil; a side that excludes nothing is left open."""
    wanted = np.sort(_values(feature, pattern, bad))
    others = np.sort(_values(feature, pattern, good))
    if not len(wanted) or not len(others):
        return None
    skip = int(SLACK * len(wanted))
    lowest, highest = float(wanted[skip]), float(wanted[len(wanted) - 1 - skip])
    step = _step(lowest, highest, others)
    low, high = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    most = EXCLUDES / 2 * len(others)
    low = _clean(low) if np.count_nonzero(others < low) >= most else -math.inf
    high = _clean(high) if np.count_nonzero(others > high) >= most else math.inf
    return None if math.isinf(low) and math.isinf(high) else Condition(feature, low, high)


def _step(lowest: float, highest: float, others: np.ndarray) -> float:
    """Limits are rounded outwards to multiples of this: about a twentieth of the range of all uses."""
    spread = max(highest, float(others[-1])) - min(lowest, float(others[0]))
    return 10.0 ** math.floor(math.log10(spread / 20)) if spread > 0 else 1.0


def _clean(number: float) -> float:
    return float(f"{number:.9g}")


def _values(feature: Feature, pattern: Pattern, uses: Sequence[Use]) -> np.ndarray:
    """The feature of each use, at the latest places of the pattern."""
    places = ((use, next(pattern.places(use), None)) for use in uses)
    return np.array([feature.value(use, at) for use, at in places if at is not None])


def _excluded(condition: Condition, pattern: Pattern, good: Sequence[Use]) -> float:
    narrower = replace(pattern, conditions=(*pattern.conditions, condition))
    return float(sum(not narrower.matches(use) for use in good))
