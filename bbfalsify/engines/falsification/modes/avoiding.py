"""Ways to avoid a failure mode: a passing use that differs from a typical violating one in little but one delay.

Both have the same actions up to the one after the violation, and both were simulated: nothing is extrapolated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.use import Use

MOST_USES = 200
"""Violating uses, and passing uses, that are compared."""
REST = 1 / 3
"""Largest other difference, relative to the one that is named; each is measured by its spread over all uses."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

Word = tuple[str, ...]


def avoided_by(patterns: Sequence[Pattern], bad: Sequence[Use], passing: Sequence[Use]) -> dict[Pattern, str]:
    """For each pattern of a decision list, the nearest passing use in words; patterns without one are left out."""
    own: dict[Pattern, list[Use]] = {}
    for use in bad:
        first = next((pattern for pattern in patterns if pattern.matches(use)), None)
        if first is not None:
            own.setdefault(first, []).append(use)
    found = {pattern: _nearest(uses, passing) for pattern, uses in own.items()}
    return {pattern: text for pattern, text in found.items() if text is not None}


def _nearest(bad: Sequence[Use], passing: Sequence[Use]) -> str | None:
    weights: dict[Word, float] = {}
    for use in bad:
        weights[_key(use)] = weights.get(_key(use), 0.0) + use.weight
    key = min(weights, key=lambda word: (-weights[word], word))
    violating = [use for use in bad if _key(use) == key][:MOST_USES]
    passing = [use for use in passing if use.actions[: len(key)] == key][:MOST_USES]
    names = [f"before {_which(key, place)}" for place in range(len(key))]
    if not names or not passing or not _same_values([*violating, *passing]):
        return None
    left, right = (np.array([_delays(use, len(key)) for use in uses]) for uses in (_typical(violating, key), passing))
    spread = np.vstack([left, right]).std(axis=0)
    scaled = np.abs(right[None] - left[:, None]) / np.where(spread > 0, spread, 1.0)
    most = scaled.argmax(axis=2)
    main = scaled.max(axis=2)
    rest = np.partition(scaled, -2, axis=2)[..., -2] if len(key) > 1 else np.zeros_like(main)
    cost = np.where((rest <= REST * main) & (main > 0), main, np.inf)
    one, other = np.unravel_index(int(cost.argmin()), cost.shape)
    if not np.isfinite(cost[one, other]):
        return None
    change, place = right[other] - left[one], int(most[one, other])
    return _text(change, place, names[place])


def _key(use: Use) -> Word:
    """The actions up to the one that ends the delay of the violation."""
    return use.actions[: use.until_violation + 1]


def _delays(use: Use, count: int) -> np.ndarray:
    return np.diff(use.times[:count], prepend=0.0)


def _typical(uses: Sequence[Use], key: Word) -> list[Use]:
    """The half of the uses that is nearest to their median."""
    delays = np.array([_delays(use, len(key)) for use in uses])
    spread = delays.std(axis=0)
    away = (np.abs(delays - np.median(delays, axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)
    return [uses[i] for i in np.argsort(away, kind="stable")[: -(-len(uses) // 2)]]


def _same_values(uses: Sequence[Use]) -> bool:
    """Tell whether delays are all that the uses differ in: values that a profile draws would differ, too."""
    first = uses[0].values
    return all(len(np.unique(np.concatenate([use.values[name].levels for use in uses]))) == 1 for name in first)


def _which(key: Word, place: int) -> str:
    """the third on; an action that comes once needs no number"""
    if key.count(key[place]) == 1:
        return key[place]
    number = key[: place + 1].count(key[place])
    return f"the {ORDINALS[number - 1]} {key[place]}" if number <= len(ORDINALS) else f"{key[place]} number {number}"


def _text(change: np.ndarray, place: int, where: str) -> str:
    by, others = float(change[place]), np.abs(np.delete(change, place))
    text = f"a use passes that waits {abs(by):.2g} {'longer' if by > 0 else 'less'} {where}"
    return f"{text}; no other delay differs by more than {float(others.max()):.2g}" if len(others) else text
