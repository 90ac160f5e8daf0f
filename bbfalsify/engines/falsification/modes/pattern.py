"""Patterns of uses: a core of actions in order, with conditions on delays and values.

A use matches a pattern if the core is a subsequence of its actions (of those up to the violation, if it violates) at
places where every condition holds.  A pattern without a core speaks about values alone.

    Pattern(("shower", "shower"), (Condition(Gap(1), high=90.0),))     shower, then shower within 90
    Pattern(("on", "on"), (Condition(Without("off"), high=0.0),))      on, then on, without off in between
    Pattern(("on",), (Condition(Free("off", 0), low=14.0),))           on, then no off for 14
    Pattern((), (Condition(Window("throttle", 0, 14, "least"), low=93.0),))     throttle ≥ 93 from 0 to 14
    Pattern((), (Condition(Rise("u"), low=6.0),))                      u rises by 6 or more, at some time
    Pattern((), (Condition(Lasting("T_out", 24.0, "greatest"), high=-31.5),))   T_out ≤ -31.5 for 24, at some time
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy.ndimage import maximum_filter1d

from bbfalsify.engines.falsification.modes.moments import SLACK, Held, Moving, Rise, at_moments
from bbfalsify.engines.falsification.modes.use import Use


@dataclass(frozen=True)
class Gap:
    """Time between two neighbouring actions of the core; of the first one, since the start."""

    action: int

    def value(self, use: Use, places: Sequence[int]) -> float:
        before = use.action_times[places[self.action - 1]] if self.action else 0.0
        return use.action_times[places[self.action]] - before


@dataclass(frozen=True)
class Level:
    """Value in force from an action of the core on."""

    name: str
    action: int

    def value(self, use: Use, places: Sequence[int]) -> float:
        return use.values[self.name].at(use.action_times[places[self.action]])


@dataclass(frozen=True)
class Without:
    """How often another action comes between the first and the last one of the core; only "never" is a condition."""

    name: str

    def value(self, use: Use, places: Sequence[int]) -> float:
        return float(use.actions[places[0] + 1 : places[-1]].count(self.name))


@dataclass(frozen=True)
class Free:
    """Time from an action of the core on until another one comes; in a use that violates, at most to the violation."""

    name: str
    action: int

    def value(self, use: Use, places: Sequence[int]) -> float:
        return use.free_of(self.name, places[self.action])


@dataclass(frozen=True)
class Window:
    """The least, the greatest or the mean value within fixed times; of a parameter, its value.

    A lower limit of the least value holds throughout, one of the greatest at some time; upper limits the other way.
    The mean is that of held levels; of joined ones it is about right.
    """

    name: str
    start: float
    end: float
    extreme: str
    """least, greatest or mean"""

    def value(self, use: Use, places: Sequence[int]) -> float:
        if self.extreme == "mean":
            return use.values[self.name].mean(self.start, self.end)
        levels = self.levels(use)
        return float(levels.min() if self.extreme == "least" else levels.max())

    def levels(self, use: Use) -> np.ndarray:
        return use.values[self.name].window(self.start, self.end)


@dataclass(frozen=True)
class Lasting:
    """The lowest level that a computed input stays below for so long, or the highest one that it stays above."""

    name: str
    length: float
    extreme: str
    """greatest: it stays below; least: it stays above"""

    def value(self, use: Use, places: Sequence[int]) -> float:
        """Infinite where the use is shorter."""
        if self not in use.remembered:
            use.remembered[self] = np.array(self.among(use.regular(), use.step))
        return float(use.remembered[self])

    def possible(self, use: Use, low: float, high: float) -> bool:
        """Tell by few samples, one in each window, whether the value may lie within limits."""
        levels = use.regular(self._size(use.step)).get(self.name, np.zeros(0))
        return bool(((low <= levels) & (levels <= high)).any())

    def among(self, signals: Mapping[str, np.ndarray], step: float) -> float:
        """The value in a use with these signals."""
        levels, sign, size = signals.get(self.name, np.zeros(0)), self._sign, self._size(step)
        if len(levels) < size:
            return sign * math.inf
        # The greatest of each window of so many samples; those that go beyond an end are left out.
        greatest = maximum_filter1d(sign * levels, size, origin=-(size // 2))[: len(levels) - size + 1]
        return sign * float(greatest.min())

    @property
    def _sign(self) -> float:
        return 1.0 if self.extreme == "greatest" else -1.0

    def _size(self, step: float) -> int:
        return int(self.length / step + SLACK) + 1


ByWhole = Window | Lasting
"""Features of which a use has one value, wherever the core stands."""
Placed = Gap | Level | Without | Free | ByWhole
"""Features of which a use has one value, given the places of the core."""
Feature = Placed | Moving


@dataclass(frozen=True)
class Condition:
    feature: Feature
    low: float = -math.inf
    high: float = math.inf

    def allows(self, value: float) -> bool:
        return self.low <= value <= self.high

    def of_whole(self, use: Use) -> bool:
        """Tell whether a condition about the whole use holds."""
        feature = self.feature
        if isinstance(feature, Lasting) and feature not in use.remembered:
            if not feature.possible(use, self.low, self.high):
                return False
        return isinstance(feature, ByWhole) and self.allows(feature.value(use, ()))


@dataclass(frozen=True)
class Pattern:
    core: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()

    def matches(self, use: Use) -> bool:
        if not self._possible(use):
            return False
        if not self.core:
            return not self.moving or bool(self.moments(use).any())
        if len(self.of_whole) == len(self.conditions):
            return True
        return any(reached == len(self.core) for reached in Occurrence(self).through(use))

    def _possible(self, use: Use) -> bool:
        return use.has(self.core) and all(c.of_whole(use) for c, _ in self.of_whole)

    def without(self, action: int) -> Pattern | None:
        """The pattern without an action of its core; None if a condition speaks about it."""
        conditions = []
        for condition in self.conditions:
            feature = condition.feature
            if isinstance(feature, Gap | Level | Free):
                tied = (feature.action, feature.action - 1) if isinstance(feature, Gap) else (feature.action,)
                if action in tied:
                    return None
                condition = replace(
                    condition, feature=replace(feature, action=feature.action - (action < feature.action))
                )
            if not isinstance(feature, Without) or len(self.core) > 2:
                conditions.append(condition)
        return Pattern(self.core[:action] + self.core[action + 1 :], tuple(conditions))

    def places(self, use: Use) -> Iterator[tuple[int, ...]]:
        """Yield where the core stands such that all conditions hold, latest places first."""
        if not self._possible(use):
            return
        seen = Occurrence(self)
        for _ in seen.through(use):
            pass
        stack: list[tuple[int, ...]] = [()]
        while stack:
            known = stack.pop()
            left = len(self.core) - len(known)
            if not left:
                yield known
                continue
            # Pushed in ascending order, so that the latest place is tried first.
            for place, _ in seen.ends[left - 1]:
                if not known or self._follow(use, left, place, known[0]):
                    stack.append((place, *known))

    def _follow(self, use: Use, action: int, before: int, place: int) -> bool:
        """Tell whether an action of the core may stand at a place if the one before it stands at another."""
        low, high = self.gaps[action]
        between = use.actions[before + 1 : place]
        delay = use.action_times[place] - use.action_times[before]
        return before < place and low <= delay <= high and self.absent.isdisjoint(between)

    def moments(self, use: Use) -> np.ndarray:
        """Tell at which moments of a use all conditions hold that are about one."""
        held = np.full(len(use.moments), fill_value=True)
        for condition, feature in self.moving:
            values = at_moments(feature, use)
            held &= (condition.low <= values) & (values <= condition.high)
        return held

    @cached_property
    def of_whole(self) -> list[tuple[Condition, ByWhole]]:
        return [(c, c.feature) for c in self.conditions if isinstance(c.feature, ByWhole)]

    @cached_property
    def moving(self) -> list[tuple[Condition, Moving]]:
        return [(c, c.feature) for c in self.conditions if isinstance(c.feature, Held | Rise)]

    @cached_property
    def gaps(self) -> list[tuple[float, float]]:
        """Limits of the delay before each action of the core."""
        limits = [(-math.inf, math.inf)] * len(self.core)
        for c in self.conditions:
            if isinstance(c.feature, Gap):
                limits[c.feature.action] = (c.low, c.high)
        return limits

    @cached_property
    def levels(self) -> list[list[tuple[str, Condition]]]:
        """By action of the core: the values that conditions speak about."""
        return self._by_action(Level)

    @cached_property
    def quiet(self) -> list[list[tuple[str, Condition]]]:
        """By action of the core: the actions that must not come for a while."""
        return self._by_action(Free)

    def _by_action(self, kind: type[Level] | type[Free]) -> list[list[tuple[str, Condition]]]:
        found: list[list[tuple[str, Condition]]] = [[] for _ in self.core]
        for c in self.conditions:
            if isinstance(c.feature, kind):
                found[c.feature.action].append((c.feature.name, c))
        return found

    @cached_property
    def standing(self) -> dict[str, list[int]]:
        """The places of each action in the core."""
        return {action: [k for k, one in enumerate(self.core) if one == action] for action in self.core}

    @cached_property
    def relevant(self) -> frozenset[str]:
        return frozenset(self.core) | self.absent

    @cached_property
    def absent(self) -> frozenset[str]:
        """Actions that must not come between the first and the last one of the core."""
        return frozenset(c.feature.name for c in self.conditions if isinstance(c.feature, Without))


class Occurrence:
    """How far a pattern has come in a use, whose actions are seen one by one."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.ends: list[list[tuple[int, float]]] = [[] for _ in pattern.core]
        """Places and times at which the first 1, 2, … actions of the core can end."""
        self._broken = -1
        """The last place of an action that must not come in between."""

    def copy(self) -> Occurrence:
        made = Occurrence(self.pattern)
        made.ends, made._broken = [list(e) for e in self.ends], self._broken
        return made

    def see(
        self,
        place: int,
        action: str,
        time: float,
        level: Callable[[str], float],
        free: Callable[[str], float] = lambda _: math.inf,
    ) -> int:
        """Take the next action; return how many actions of the core can end with it.

        `level` tells values in force, `free` how long an action will not come; unknown, it may never come.
        """
        pattern, reached = self.pattern, 0
        if action in pattern.absent:
            self._broken = place
        for k in pattern.standing.get(action, ()):
            low, high = pattern.gaps[k]
            earlier = self.ends[k - 1] if k else ((0, 0.0),)
            first = self._broken if k else -1
            if (
                any(low <= time - before <= high for at, before in earlier if first < at < place or not k)
                and all(c.allows(level(name)) for name, c in pattern.levels[k])
                and all(c.allows(free(name)) for name, c in pattern.quiet[k])
            ):
                self.ends[k].append((place, time))
                reached = k + 1
        return reached

    def through(self, use: Use) -> Iterator[int]:
        """See the actions of a use up to its violation that matter; yield what `see` returns."""
        at = 0.0

        def level(name: str) -> float:
            return use.values[name].at(at)

        for place in use.places_of(self.pattern.relevant):
            at = use.action_times[place]
            yield self.see(place, use.actions[place], at, level, partial(use.free_of, place=place))
