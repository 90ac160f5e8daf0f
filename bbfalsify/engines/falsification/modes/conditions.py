"""Conditions of a mode on delays and values: limits that tell its violating uses from passing ones.

A condition is chosen by what it gains (Quinlan's FOIL): with T the violating and F the passing uses that match,

    gain = T'/T · log2( (T'/(T' + F')) / (T/(T + F)) )

so it may leave some violating uses out if it excludes many passing ones; the uses that the mode began with must stay.
Of limits that gain about the same the widest is taken, rounded outwards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.engines.falsification.modes.moments import Held, Rise, at_moments
from bbfalsify.engines.falsification.modes.pattern import (
    Condition,
    Feature,
    Free,
    Gap,
    Level,
    Pattern,
    Window,
    Without,
)
from bbfalsify.engines.falsification.modes.use import Use

MOST_CONDITIONS = 3
FEWEST_USES = 8
"""Violating uses below which no condition is learned: it would describe chance."""
EXCLUDES = 0.2
"""Smallest part of the remaining passing uses, by weight, that a condition must exclude."""
GAINS = 0.5
"""Smallest gain of a condition, in bits …"""
TELLS = 0.3
"""… and, of one on values alone, as part of the gain of one that tells all violating from all passing uses."""
KEEPS, LOSES = 0.97, 0.7
"""Share of the uses that a mode began with that every condition must keep, with a margin for those that were not seen;
a pattern that then mostly fails (MOSTLY) needs no margin, and may lose more."""
BOX = 0.15
"""The same for patterns of values alone: violations without actions have no words to begin with."""
DOUBT = 0.5
"""Passing uses that patterns of values are thought to match beside those that are known."""
MOSTLY = 0.6
NEARLY = 1.1
"""Another action in between is a better reason than a delay that gains nearly as much."""
AS_GOOD, SHARP = 0.75, 0.95
"""Limits whose gain is at least this part of the best are as good; the second for patterns that mostly fail."""
STILL = 0.8
"""A pattern may fail less often by this factor if it lets further violating uses in."""
MOST_PIECES, FEW_PIECES = 24, 8
"""Pieces of a signal that windows are made of; of more than the second, means are taken from the start only."""
MOST_LIMITS = 40
"""Limits of a value at a moment that are looked at."""
MOST_PLACES = 12
"""Places of a core in one use that are looked at."""


Placed = tuple[Use, list[tuple[int, ...]], np.ndarray]
"""A use with the places of the core in it, and the moments at which what a pattern says about them holds."""
Features = Callable[[Pattern, "Sample"], Iterable[Feature]]


def _places(pattern: Pattern, use: Use) -> list[tuple[int, ...]]:
    return list(itertools.islice(pattern.places(use), MOST_PLACES))


@dataclass(frozen=True, eq=False)
class Sample:
    """Uses to learn conditions from."""

    first: Sequence[Use]
    """The violating uses that the mode begins with."""
    bad: Sequence[Use]
    """All violating uses to explain, the first ones included."""
    good: Sequence[Use]

    def matching(self, pattern: Pattern) -> Sample:
        return Sample(*([use for use in uses if pattern.matches(use)] for uses in (self.first, self.bad, self.good)))

    def placed(self, pattern: Pattern) -> list[list[Placed]]:
        """The places of the pattern in the uses of each kind."""
        known = {id(u): (u, _places(pattern, u), pattern.moments(u)) for u in (*self.bad, *self.good)}
        return [[known[id(use)] for use in uses] for uses in (self.first, self.bad, self.good)]


def refine(pattern: Pattern, sample: Sample) -> Pattern:
    """Ask for a time without another action where a pattern mostly passes; leave out what this makes needless."""
    if not pattern.core or precision(pattern, sample) >= MOSTLY:
        return pattern
    sharper = tighten(pattern, sample, _quiet_features)
    if sharper == pattern or precision(sharper, sample) < MOSTLY:
        return pattern
    for condition in pattern.conditions:
        fewer = replace(sharper, conditions=tuple(c for c in sharper.conditions if c != condition))
        if precision(fewer, sample) >= SHARP * precision(sharper, sample):
            sharper = fewer
    return sharper


def tighten(pattern: Pattern, sample: Sample, features: Features | None = None) -> Pattern:
    """Add conditions, one by one, each time the one that gains most."""
    most = MOST_CONDITIONS + (features is not None)
    while True:
        still = sample.matching(pattern)
        if not still.good or len(still.bad) < FEWEST_USES:
            return pattern
        placed, weights = (
            still.placed(pattern),
            [np.array([u.weight for u in uses]) for uses in (still.bad, still.good)],
        )
        best: tuple[float, Condition] | None = None
        taken = {c.feature for c in pattern.conditions}
        for feature in (features or _features)(pattern, still):
            if len(taken) == most and feature not in taken:
                continue
            for found in limits(feature, placed, weights, len(sample.first)):
                if best is None or found[0] > best[0]:
                    best = found
        if best is None:
            return pattern
        pattern = narrowed(pattern, best[1])


def widen(pattern: Pattern, sample: Sample) -> Pattern:
    """Move limits outwards to let further violating uses in, unless the pattern then fails much less often.

    The first uses of the sample are those that match already.
    """
    bare = replace(pattern, conditions=tuple(c for c in pattern.conditions if isinstance(c.feature, Without)))
    further = [use for use in sample.bad if not pattern.matches(use) and bare.matches(use)]
    if not further or bare == pattern:
        return pattern
    usual, (_, bad, good) = precision(pattern, sample), sample.matching(bare).placed(bare)
    outside = [placed for placed in bad if any(placed[0] is one for one in further)]
    for share in (1.0, 0.9, 0.5):
        wider = replace(pattern, conditions=tuple(_wider(c, outside, bad + good, share) for c in pattern.conditions))
        if precision(wider, sample) >= STILL * usual:
            return wider
    return pattern


def _wider(condition: Condition, further: Sequence[Placed], everyone: Sequence[Placed], share: float) -> Condition:
    """The condition with limits that hold for this share of further uses."""
    if isinstance(condition.feature, Without):
        return condition
    values, step = _extremes(condition.feature, further), step_of(_extremes(condition.feature, everyone))
    values = values[np.isfinite(values).all(axis=1)]  # of a use without such a moment nothing is known
    if not len(values):
        return condition
    low, high = float(np.quantile(values[:, 1], 1 - share)), float(np.quantile(values[:, 0], share))
    return replace(
        condition,
        low=min(condition.low, clean(-outward(-low, step))),
        high=max(condition.high, clean(outward(high, step))),
    )


def precision(pattern: Pattern, sample: Sample) -> float:
    """How often uses of a sample that match a pattern violate."""
    still = sample.matching(pattern)
    bad, good = (math.fsum(use.weight for use in uses) for uses in (still.bad, still.good))
    return bad / (bad + good) if bad else 0.0


def told(pattern: Pattern, sample: Sample) -> float:
    """Bits that a pattern tells about the violations of a sample."""
    still = sample.matching(pattern)
    bad, matched = (math.fsum(use.weight for use in uses) for uses in (sample.bad, still.bad))
    if not matched:
        return 0.0
    everything = bad + math.fsum(use.weight for use in sample.good)
    return matched / bad * math.log2(precision(pattern, sample) * everything / bad)


def narrowed(pattern: Pattern, condition: Condition) -> Pattern:
    """Add a condition; one on the same feature is narrowed."""
    others = [c for c in pattern.conditions if c.feature != condition.feature]
    for old in pattern.conditions:
        if old.feature == condition.feature:
            condition = replace(condition, low=max(old.low, condition.low), high=min(old.high, condition.high))
    return replace(pattern, conditions=(*others, condition))


def _features(pattern: Pattern, sample: Sample) -> Iterator[Feature]:
    bad = sample.bad
    names = list(bad[0].values)
    for action in range(len(pattern.core)):
        yield Gap(action)
        yield from (Level(name, action) for name in names)
    if len(pattern.core) > 1:
        absent = {action for use in sample.good for action in use.actions} - set(pattern.core) - pattern.absent
        yield from (Without(name) for name in sorted(absent))
    if pattern.core:
        return
    # Without actions, series mostly have the same times in every use: from the start, the whole use, single pieces.
    typical = float(np.median([use.violated_at for use in bad]))
    for name in names:
        times = [float(t) for t in bad[0].values[name].times]
        starts = [t for t in times if t < typical][:MOST_PIECES] or times[:1]
        ends = [next((t for t in times if t > start), math.inf) for start in starts]
        windows = {(starts[0], end) for end in (*ends, math.inf)} | set(zip(starts, ends, strict=True))
        for start, end in sorted(windows):
            yield from (Window(name, start, end, extreme) for extreme in ("least", "greatest"))
        for first, start in enumerate(starts if len(starts) <= FEW_PIECES else starts[:1]):
            yield from (Window(name, start, end, "mean") for end in ends[first + 1 :] if math.isfinite(end))


def _quiet_features(pattern: Pattern, sample: Sample) -> Iterator[Feature]:
    """Times without another action, from the first or the last one of the core on."""
    absent = {action for use in sample.good for action in use.actions} - set(pattern.core)
    for action in sorted({0, len(pattern.core) - 1}):
        yield from (Free(name, action) for name in sorted(absent))


def limits(
    feature: Feature, placed: Sequence[list[Placed]], weights: Sequence[np.ndarray], begun: int
) -> Iterator[tuple[float, Condition]]:
    """Yield the best upper and the best lower limit of a feature, with their gains.

    Of conditions on a moment one alone may gain little; `some_moment.py` looks at several together.
    """
    first, bad, good = (_extremes(feature, uses) for uses in placed)
    # Violations come at the end of such a time, so its limit is sharp.
    step = step_of(np.concatenate([bad, good])) * (0.1 if isinstance(feature, Free) else 1.0)
    # None of few passing uses may be chance; those along a word are many, and their weights differ.
    moving = isinstance(feature, Held | Rise)
    of_values = moving or isinstance(feature, Window)
    doubt = DOUBT * float(weights[1].mean()) if of_values else 0.0
    if isinstance(feature, Without):
        sides = [(0, np.zeros(1))]
    elif isinstance(feature, Window):
        throughout = 1 if feature.extreme == "least" else 0
        several = any(len(feature.levels(use)) > 1 for use, _, _ in placed[1][:3])
        some_time = [1 - throughout] if several else []
        sides = [(side, bad[:, side]) for side in (throughout, *some_time)]
    elif isinstance(feature, Free) or (isinstance(feature, Held) and feature.extreme == "least"):
        sides = [(1, bad[:, 1])]
    elif isinstance(feature, Held) and feature.extreme == "greatest":
        sides = [(0, bad[:, 0])]
    else:
        sides = [(0, bad[:, 0]), (1, bad[:, 1])]
    for side, values in sides:
        sign = 1.0 if side == 0 else -1.0
        # An upper limit lets a use pass if one of its places is below; negated, lower limits are the same.
        own, others, begin = (sign * table[:, side] for table in (bad, good, first))
        rounded = np.unique([outward(sign * v, step) for v in values[np.isfinite(values)]])[-200:]
        rounded = rounded[:: max(1, -(-len(rounded) // MOST_LIMITS))] if moving else rounded
        margin = float(np.ptp(begin)) / math.sqrt(len(begin)) if len(begin) and not moving else 0.0
        tried: list[tuple[float, float, float]] = []
        for limit, more in itertools.product(rounded.tolist(), {0.0, margin}):
            far = outward(limit + more, step)
            kept, passing = weights[0][own <= far].sum(), weights[1][others <= far].sum() + doubt
            mostly = bool(kept >= MOSTLY * (kept + passing))
            loses = BOX if of_values else LOSES
            enough = np.count_nonzero(begin <= limit) >= int((loses if mostly or moving else KEEPS) * begun)
            if (
                enough
                and passing - doubt <= (1 - EXCLUDES) * weights[1].sum()
                and (moving or mostly != bool(more) or not margin)
            ):
                gain = _gain(kept, passing, *(w.sum() for w in weights))
                tried.append((gain, far, SHARP if mostly else AS_GOOD))
        most = max((gain for gain, _, _ in tried), default=0.0)
        bits = math.log2(1 + weights[1].sum() / weights[0].sum())
        if most >= (0.0 if moving else max(GAINS, TELLS * bits) if of_values else GAINS) and tried:
            widest = max(limit for gain, limit, as_good in tried if gain >= as_good * most)
            limit = clean(sign * plainest(widest, np.concatenate([own, others]), step))
            most *= NEARLY if isinstance(feature, Without) else 1.0
            yield most, Condition(feature, high=limit) if side == 0 else Condition(feature, low=limit)


def _gain(kept: float, passing: float, bad: float, good: float) -> float:
    """Gain of a condition that keeps so much of the violating and passing uses, by weight."""
    if kept <= 0:
        return 0.0
    least = 1e-3 * bad  # so that a few uses without a passing one are not worth more than their number
    return float(kept / bad * math.log2(kept / (kept + passing + least) * (bad + good + least) / bad))


def _extremes(feature: Feature, uses: Sequence[Placed]) -> np.ndarray:
    """The least and the greatest value of a feature in each use, over the places of the pattern."""
    found = np.zeros((len(uses), 2))
    for number, (use, places, moments) in enumerate(uses):
        if isinstance(feature, Held | Rise):
            values = at_moments(feature, use)[moments]
            values = values[~np.isnan(values)]
            found[number] = values.min(initial=math.inf), values.max(initial=-math.inf)
        else:
            each = [feature.value(use, at) for at in ([()] if isinstance(feature, Window) else places)]
            found[number] = min(each), max(each)
    return found


def step_of(values: np.ndarray) -> float:
    """Limits are rounded outwards to multiples of this: about a twentieth of the range of all uses."""
    values = values[np.isfinite(values)]
    spread = float(values.max() - values.min()) if values.size else 0.0
    return 10.0 ** math.floor(math.log10(spread / 20)) if spread > 0 else 1.0


def clean(limit: float) -> float:
    return float(f"{limit:.9g}") + 0.0


def plainest(limit: float, values: np.ndarray, step: float) -> float:
    """The number with the fewest digits among the limits that no use tells from this one."""
    below, above = values[values <= limit], values[values > limit]
    low, high = float(below.max(initial=-math.inf)), float(above.min(initial=limit + 10 * step))
    if math.isinf(low):
        return limit
    sizes = (10.0**power * step for power in (3, 2, 1, 0, -1))
    return next((n for size in sizes if (n := outward(low, size)) < min(high, limit + 10 * step)), limit)


def outward(limit: float, step: float) -> float:
    return float(f"{math.ceil(limit / step - 1e-9) * step:.12g}")  # 9.5, not 9.500000000000002
