"""Patterns of uses: a core of actions in order, with conditions on delays and values.

A use matches a pattern if the core is a subsequence of its actions (of those up to the violation, if it violates) at
places where every condition holds.  A pattern without a core speaks about values alone.

    Pattern(("shower", "shower"), (Condition(Gap(1), high=90.0),))     shower, then shower within 90
    Pattern((), (Condition(Window("throttle", 0, 14, "least"), low=93.0),))     throttle ≥ 93 from 0 to 14
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bbfalsify.engines.falsification.modes.use import Use

MOST_PLACES = 2_000
"""Places of a core that are tried in one use."""


@dataclass(frozen=True)
class Gap:
    """Time between two neighbouring actions of the core; of the first one, since the start."""

    action: int

    def value(self, use: Use, places: Sequence[int]) -> float:
        before = float(use.times[places[self.action - 1]]) if self.action else 0.0
        return float(use.times[places[self.action]]) - before


@dataclass(frozen=True)
class Level:
    """Value in force from an action of the core on."""

    name: str
    action: int

    def value(self, use: Use, places: Sequence[int]) -> float:
        return use.values[self.name].at(float(use.times[places[self.action]]))


@dataclass(frozen=True)
class Window:
    """The least or the greatest value within fixed times; of a parameter, its value."""

    name: str
    start: float
    end: float
    extreme: str
    """least or greatest"""

    def value(self, use: Use, places: Sequence[int]) -> float:
        levels = use.values[self.name].window(self.start, self.end)
        return float(levels.min() if self.extreme == "least" else levels.max())


Feature = Gap | Level | Window


@dataclass(frozen=True)
class Condition:
    feature: Feature
    low: float = -math.inf
    high: float = math.inf

    def holds(self, use: Use, places: Sequence[int]) -> bool:
        return self.low <= self.feature.value(use, places) <= self.high


@dataclass(frozen=True)
class Pattern:
    core: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()

    def matches(self, use: Use) -> bool:
        return next(self.places(use), None) is not None

    def without(self, action: int) -> Pattern | None:
        """The pattern without an action of its core; None if a condition speaks about it."""
        conditions = []
        for condition in self.conditions:
            feature = condition.feature
            if not isinstance(feature, Window):
                tied = (feature.action, feature.action - 1) if isinstance(feature, Gap) else (feature.action,)
                if action in tied:
                    return None
                condition = replace(
                    condition, feature=replace(feature, action=feature.action - (action < feature.action))
                )
            conditions.append(condition)
        return Pattern(self.core[:action] + self.core[action + 1 :], tuple(conditions))

    def places(self, use: Use) -> Iterator[tuple[int, ...]]:
        """Yield where the core stands such that all conditions hold, latest places first."""
        if not all(c.holds(use, ()) for c in self.conditions if isinstance(c.feature, Window)):
            return
        at: list[list[Condition]] = [[] for _ in self.core]
        """Conditions that can be checked once this action of the core, and those after it, have their places."""
        for condition in self.conditions:
            if isinstance(condition.feature, Gap):
                at[max(0, condition.feature.action - 1)].append(condition)
            elif isinstance(condition.feature, Level):
                at[condition.feature.action].append(condition)
        # Features look at places by their number in the core, those before the first known one are not asked for.
        found = embeddings(self.core, use.word, lambda k, known: all(c.holds(use, (0,) * k + known) for c in at[k]))
        yield from itertools.islice(found, MOST_PLACES)


def embeddings(
    core: Sequence[str], word: Sequence[str], allowed: Callable[[int, tuple[int, ...]], bool] = lambda k, known: True
) -> Iterator[tuple[int, ...]]:
    """Yield the places of a core in a word as a subsequence, latest ones first.

    `allowed(k, known)` refuses the places `known` of the actions k, k + 1, … of the core.
    """
    if not is_subsequence(core, word):
        return
    stack: list[tuple[int, tuple[int, ...]]] = [(len(core) - 1, ())]
    while stack:
        left, places = stack.pop()
        if left < 0:
            yield places
            continue
        end = places[0] if places else len(word)
        # Pushed in ascending order, so that the latest place is tried first.
        for at in range(left, end):
            if word[at] == core[left] and allowed(left, (at, *places)):
                stack.append((left - 1, (at, *places)))


def is_subsequence(core: Sequence[str], word: Sequence[str]) -> bool:
    rest = iter(word)
    return all(action in rest for action in core)
