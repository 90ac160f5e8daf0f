"""Patterns of values at some moment of a use, of violations that have no fixed times in common.

A jump alone may tell little, nor a disturbance alone, but both together nearly everything.  So this is a beam search:

    repeat   add to each of the best patterns one condition more (`moments.py`)
             keep those that tell most about the violations
    until    a further condition tells hardly more

It looks at many conditions, and the best of many looks better than it is: half of the uses are kept back, and the
pattern counts only if it also tells something about these.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import bdtrc

from bbfalsify.engines.falsification.modes.conditions import (
    FEWEST_USES,
    MOST_CONDITIONS,
    Sample,
    limits,
    narrowed,
    precision,
    told,
)
from bbfalsify.engines.falsification.modes.moments import Held, moving_features
from bbfalsify.engines.falsification.modes.pattern import Pattern

BEAM = 5
FURTHER = 1.1
"""Factor by which a further condition must tell more."""
OFTEN = 1.5
"""A pattern must fail this many times as often as any use …"""
CHANCE = 1e-3
"""… among the uses kept back, where as many violating matches would be chance with at most this probability."""


def at_some_moment(sample: Sample) -> Pattern:
    """The pattern that tells most about the violations; one that any use matches if none tells enough."""
    learned, kept_back = _halves(sample)
    anything = Pattern(())
    if len(learned.bad) < FEWEST_USES or not learned.good or not kept_back.good:
        return anything
    found, tells, beam = anything, 0.0, [anything]
    for _ in range(MOST_CONDITIONS):
        grown = sorted({p: told(p, learned) for b in beam for p in _grown(b, learned)}.items(), key=lambda p: -p[1])
        beam = [pattern for pattern, _ in grown[:BEAM]]
        if not beam or grown[0][1] < FURTHER * tells:
            break
        found, tells = grown[0]
    found = _shorter(found, learned)
    return found if _tells(found, kept_back) else anything


def _grown(pattern: Pattern, sample: Sample) -> list[Pattern]:
    """The pattern with each condition more that is the best of its kind."""
    still = sample.matching(pattern)
    if len(still.bad) < FEWEST_USES or not still.good:
        return []
    placed, weights = still.placed(pattern), [np.array([u.weight for u in uses]) for uses in (still.bad, still.good)]
    return [
        narrowed(pattern, condition)
        for feature in moving_features(still.bad)
        for gain, condition in limits(feature, placed, weights, len(still.first))
        if gain > 0
        and (isinstance(feature, Held) or condition.low > 0 or condition.high < 0)  # a jump, not its absence
    ]


def _shorter(pattern: Pattern, sample: Sample) -> Pattern:
    """Leave out conditions that tell hardly anything beside the others."""
    for condition in pattern.conditions:
        fewer = replace(pattern, conditions=tuple(c for c in pattern.conditions if c != condition))
        if FURTHER * told(fewer, sample) >= told(pattern, sample):
            pattern = fewer
    return pattern


def _tells(pattern: Pattern, sample: Sample) -> bool:
    if pattern == Pattern(()):
        return False
    still, usual = sample.matching(pattern), precision(Pattern(()), sample)
    bad, matching = len(still.bad), len(still.bad) + len(still.good)
    often = precision(pattern, sample) >= min(OFTEN * usual, math.sqrt(usual))
    share = len(sample.bad) / (len(sample.bad) + len(sample.good))
    return often and float(bdtrc(bad - 1, matching, share)) <= CHANCE


def _halves(sample: Sample) -> tuple[Sample, Sample]:
    even, odd = (Sample(sample.first[k::2], sample.bad[k::2], sample.good[k::2]) for k in range(2))
    return even, odd
