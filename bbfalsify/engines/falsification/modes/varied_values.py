"""Violating uses of a profile without actions, by a Markov chain from known ones.

Passes under the profile's law meet a rare violation too seldom to show what its values have in common.

    repeat   change some values of a violating use: draw them again by their laws, move them a little, or
             exchange values of a signal at two times
             the changed use violates: go on from it; else stay

Values are quantiles, uniform under the profile's law, so this is Metropolis' rule for the law given that the use
violates.  Chains are correlated and begin where violations are known: good enough to learn from, never to estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk

FEWEST, MOST = 6, 40
"""Chains side by side, one from each known violation within these limits; so many simulations are asked for at once."""
REDRAWN = (99, 0, 2, 1, 0)
"""Values that a step changes, by turns, never more than half of them; 0 exchanges two."""
CLOSE, FAR = 0.003, 0.3
"""Ends of the logarithmic range of small moves, in quantiles."""
CLOSEST = 1e-6
"""The smallest move away from the end of a range.  A search likes to begin there, but no use of the profile has such a
value: before all else, all of them are moved, together."""


def varied_uses(
    ask: Ask, usage: Usage, requirement: int, starts: Sequence[Walk], simulations: int, seeds: SeedTree
) -> list[Use]:
    """The distinct violating uses that chains from these violating walks meet in so many simulations."""
    width = usage.values.width
    if not width or not starts:
        return []
    rng, found, series = seeds.rng(), list[Use](), _series(usage)
    chains = [starts[k % len(starts)] for k in range(min(MOST, max(FEWEST, len(starts))))]
    for step, first in enumerate(range(0, simulations, len(chains))):
        count = min(len(chains), simulations - first)
        some = min(REDRAWN[step % len(REDRAWN)], -(-width // 2))
        changed = [_changed(walk, some, series, rng) for walk in chains[:count]]
        names = [f"modes/{requirement}/varied/{first + k}" for k in range(count)]
        answers = ask([Query(name, usage.draft(walk)) for name, walk in zip(names, changed, strict=True)])
        for k, (walk, answer) in enumerate(zip(changed, answers, strict=True)):
            if answer.ok and answer.judgements[requirement].verdict is Verdict.VIOLATED:
                chains[k] = walk
                found.append(use_of(usage, walk, answer.judgements[requirement].first_violation_time))
    return found


def _series(usage: Usage) -> list[np.ndarray]:
    """The places of each signal's values, of signals that have several."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(usage.values.labels):
        if label.kind == "value":
            places.setdefault(label.name, []).append(place)
    return [np.array(own) for own in places.values() if len(own) > 1]


def _changed(walk: Walk, count: int, series: Sequence[np.ndarray], rng: np.random.Generator) -> Walk:
    """Draw or move this number of values; 0 exchanges two values of a signal, if one has several."""
    assert walk.values is not None
    values = walk.values.copy()
    ends = np.flatnonzero((values <= LOWEST) | (values >= HIGHEST))
    if len(ends) and count != 1:
        moves = CLOSEST * (FAR / CLOSEST) ** rng.random(len(ends))
        values[ends] = np.where(values[ends] <= LOWEST, moves, HIGHEST - moves)
    elif count or not series:
        count = max(1, count)
        places = rng.choice(len(values), count, replace=False)
        moved = values[places] + rng.uniform(-1, 1, count) * CLOSE * (FAR / CLOSE) ** rng.random(count)
        moved = np.where(moved < 0, -moved, np.where(moved >= 1, np.nextafter(2, 0) - moved, moved))  # reflected
        values[places] = np.where(rng.random(count) < 0.5, moved, rng.random(count))
    else:
        two = rng.choice(series[int(rng.integers(len(series)))], 2, replace=False)
        values[two] = values[two[::-1]]
    return replace(walk, values=values)
