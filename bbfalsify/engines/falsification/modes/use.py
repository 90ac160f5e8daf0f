"""A use as modes see it: actions with their times, values with theirs, and when the requirement was violated."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk


@dataclass(frozen=True, eq=False)
class Series:
    """A value that changes at some times; a parameter has one time, 0."""

    times: np.ndarray
    levels: np.ndarray

    def at(self, time: float) -> float:
        """The level from this time on."""
        return float(self.levels[max(0, int(np.searchsorted(self.times, time, "right")) - 1)])

    def mean(self, start: float, end: float) -> float:
        """The mean of held levels between two times."""
        levels = self.window(start, end)
        first = max(0, int(np.searchsorted(self.times, start, "right")) - 1)
        edges = np.append(np.maximum(self.times[first : first + len(levels)], start), end)
        return float(np.average(levels, weights=np.maximum(np.diff(edges), 0.0)))

    def window(self, start: float, end: float) -> np.ndarray:
        """The levels between two times."""
        first = max(0, int(np.searchsorted(self.times, start, "right")) - 1)
        return self.levels[first : max(first + 1, int(np.searchsorted(self.times, end, "left")))]


@dataclass(frozen=True, eq=False)
class Use:
    actions: tuple[str, ...]
    times: np.ndarray
    values: Mapping[str, Series] = field(default_factory=dict)
    violated_at: float = math.inf
    """Time at which the violation became certain; infinite for a use that passes."""
    weight: float = 1.0
    """Probability that it stands for, in a sample to learn from."""
    end: float = math.inf
    """Time at which the use ends, or the walk that is known of it."""
    walk: Walk | None = None
    """The walk over the profile; None for a use made by hand."""
    computed: Callable[[int], Mapping[str, np.ndarray]] = field(default=lambda _every: {}, repr=False)
    """The computed inputs at regular times, or every so many of them; made when asked for, as a year has thousands."""
    step: float = 1.0
    """Time between two of them."""
    remembered: dict[Hashable, np.ndarray] = field(default_factory=dict, repr=False)
    """Values at its moments, or of all of it, by feature."""
    sampled: list[int] = field(default_factory=list, repr=False)
    """Numbers of samples of computed inputs that were made so far."""

    @property
    def violating(self) -> bool:
        return math.isfinite(self.violated_at)

    # Learning asks for these some thousand times for each use.

    @cached_property
    def action_times(self) -> list[float]:
        """The times of the actions as numbers that are quick to read."""
        return np.asarray(self.times, dtype=float).tolist()

    @cached_property
    def until_violation(self) -> int:
        """Number of actions up to the violation, those of its moment included; all of a use that passes."""
        return bisect_right(self.action_times, self.violated_at)

    @cached_property
    def word(self) -> tuple[str, ...]:
        """The actions up to the violation."""
        return self.actions[: self.until_violation]

    @cached_property
    def standing(self) -> dict[str, list[int]]:
        """The places of each action in the whole use."""
        found: dict[str, list[int]] = {}
        for place, action in enumerate(self.actions):
            found.setdefault(action, []).append(place)
        return found

    def places_of(self, actions: Iterable[str]) -> list[int]:
        """Places of these actions, up to the violation."""
        known = self.until_violation
        return sorted(place for action in actions for place in self.standing.get(action, ()) if place < known)

    def has(self, core: Sequence[str]) -> bool:
        """Tell whether these actions come in this order up to the violation."""
        place = -1
        for action in core:
            places = self.standing.get(action, ())
            later = bisect_right(places, place)
            if later == len(places):
                return False
            place = places[later]
        return place < self.until_violation

    def regular(self, every: int = 1) -> dict[str, np.ndarray]:
        """The computed inputs at regular times up to the violation, or the end; or `every` so many of these."""
        count = int(min(min(self.violated_at, self.end) / self.step, 1e9) + 1e-9) // every + 1
        made = self.computed(every)
        self.sampled.append(sum(map(len, made.values())))
        return {name: levels[:count] for name, levels in made.items()}

    @property
    def looked_at(self) -> int:
        """Moments of it that were looked at so far."""
        return len(self.actions) + sum(self.sampled)

    @cached_property
    def moments(self) -> np.ndarray:
        """Times up to the violation at which a value changes, the start included."""
        times = [series.times for series in self.values.values()]
        every = np.unique(np.concatenate([np.zeros(1), *times]))
        return every[(every >= 0) & (every <= self.violated_at) & (every < self.end)]

    def free_of(self, action: str, place: int) -> float:
        """Time from a place on until an action comes, or the violation, or the end."""
        until, places = min(self.violated_at, self.end), self.standing.get(action, ())
        if (later := bisect_right(places, place)) < len(places):
            until = min(until, self.action_times[places[later]])
        return round(until - self.action_times[place], 9)  # times that are the same give the same


class LaterMade(Mapping[str, Series]):
    """Series that are made when one is asked for: most patterns ask for none."""

    def __init__(self, make: Callable[[], dict[str, Series]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> dict[str, Series]:
        return self._make()

    def __getitem__(self, name: str) -> Series:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def use_of(usage: Usage, walk: Walk, violated_at: float = math.inf, weight: float = 1.0, *, start: float = 0.0) -> Use:
    """Describe a walk over the profile as a use; inputs that actions set are left out, the actions tell them."""
    end = min(usage.duration, float(walk.times[-1])) if walk.steps else usage.duration
    made = int(np.searchsorted(walk.times, usage.duration, "right"))  # a walk goes one action beyond the end
    actions, moments = walk.actions(usage.model)[:made], walk.times[:made]
    values, computed = LaterMade(partial(_series_of, usage, walk, start)), partial(usage.computed_signals, walk)
    return Use(actions, moments, values, violated_at, weight, end, walk, computed, usage.regular_step)


def _series_of(usage: Usage, walk: Walk, start: float) -> dict[str, Series]:
    times = np.concatenate([[start], walk.times])
    values = {name: Series(times, levels) for name, levels in usage.computed_values(walk, start=start).items()}
    drawn = usage.values.values(walk.values)
    values |= {name: Series(np.array(curve.times), np.array(curve.values)) for name, curve in drawn.curves.items()}
    values |= {name: Series(np.zeros(1), np.array([value])) for name, value in drawn.parameters.items()}
    return values
