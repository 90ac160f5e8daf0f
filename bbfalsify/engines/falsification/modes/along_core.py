"""Uses in which a rare pattern occurs, by splitting along its own core.

Level k of a use: the first k actions of the core stand in it such that their conditions hold.

    uses := n at the start
    for k = 1 … length of the core
        each goes on under the profile's law until it reaches level k, or ends
        p_k := share that reaches it
        uses := n of those, evenly
    each goes on to its end (a last level, if another action must not come for a while)
    P(pattern occurs) ≈ p_1 · p_2 · …

This is splitting with fixed effort, where every level is entered once, so the product is unbiased (Garvels 2000).  Only
the profile walks: the system executes the uses of the last level alone.  Independent passes give intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy
from bbfalsify.engines.falsification.modes.pattern import Occurrence, Pattern
from bbfalsify.engines.falsification.modes.use import use_of
from bbfalsify.engines.falsification.search.walk_extension import joined, where_they_end
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import Particles, Walk, WalkStatus, stochastic_step, supports_conditional

PASSES = 10
LEAST_EFFORT, EFFORT = 40, 200
"""Uses of one pass at each level: the second, unless a short run may make fewer walks in all."""


@dataclass(frozen=True, eq=False)
class CorePass:
    """One pass: the probability of the pattern, and uses in which it occurs."""

    probability: float
    walks: list[Walk] = field(default_factory=list)
    roots: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each of them the use at the first level that it descends from."""
    shares: list[float] = field(default_factory=list)
    """By level: the share that reached it."""


def can_split(usage: Usage, pattern: Pattern) -> bool:
    """Tell whether uses can be continued step by step, and the pattern has levels."""
    return bool(pattern.core) and not pattern.of_whole and supports_conditional(usage.model) is None


def split_along(
    usage: Usage, pattern: Pattern, seeds: SeedTree, passes: int = PASSES, effort: int = EFFORT
) -> list[CorePass]:
    """All passes walk side by side, which is faster; each has random numbers of its own."""
    own = [seeds.child("pass", number) for number in range(passes)]
    rngs, shares = [one.child("choice").rng() for one in own], [list[float]() for _ in own]

    def count() -> None:
        for known, some in zip(shares, going, strict=True):
            known.append(len(some) / effort)

    going = [_at_the_start(usage, pattern, effort, one.child("start")) for one in own]
    for level in range(1, len(pattern.core) + 1):
        going = _until(usage, going, level, [one.child("level", level) for one in own])
        count()
        going = [_evenly(some, effort, rng) for some, rng in zip(going, rngs, strict=True)]
    going = _until(usage, going, len(pattern.core) + 1, [one.child("rest") for one in own], ended=True)
    if any(pattern.quiet):  # only its end tells whether a use has a time without an action
        going = [[one for one in some if pattern.matches(use_of(usage, one.walk))] for some in going]
        count()
    return [
        CorePass(math.prod(known), [one.walk for one in whole], np.array([one.root for one in whole], np.int64), known)
        for known, whole in zip(shares, going, strict=True)
    ]


def least_scatter(passes: Sequence[CorePass], effort: int) -> float:
    """Relative variance of the mean of the passes if the uses of each level were independent; it is no less.

    Ten passes may agree by chance: intervals of their scatter alone covered 92 %.
    """
    shares = np.mean([one.shares for one in passes], axis=0)
    return float(np.sum((1 - shares) / np.maximum(shares, 1e-300))) / (effort * len(passes)) if shares.all() else 0.0


def effort_within(walks: int) -> int:
    """Uses of one pass at each level, where so many walks are allowed."""
    return min(EFFORT, max(LEAST_EFFORT, walks // PASSES))


@dataclass
class _Going:
    """A use that is not at its end."""

    walk: Walk
    seen: Occurrence
    root: int

    def copy(self) -> _Going:
        return _Going(self.walk, self.seen.copy(), self.root)


def _at_the_start(usage: Usage, pattern: Pattern, count: int, seeds: SeedTree) -> list[_Going]:
    """Uses without any step yet, with their values drawn."""
    start = _standing(Particles.initial(usage.model, seeds.words(1)), 0)
    walks = usage.values.drawn([start] * count, seeds)
    return [_Going(walk, Occurrence(pattern), number) for number, walk in enumerate(walks)]


def _evenly(going: Sequence[_Going], count: int, rng: np.random.Generator) -> list[_Going]:
    """Copy uses until there are so many, all of them as often as possible."""
    if not going:
        return []
    picks = np.floor((np.arange(count) + rng.random()) * len(going) / count).astype(np.int64)
    order = rng.permutation(len(going))
    return [going[order[pick]].copy() for pick in rng.permutation(picks)]


def _standing(particles: Particles, row: int, values: np.ndarray | None = None) -> Walk:
    """A walk of no step, in the state of a particle."""
    here, none = slice(row, row + 1), np.zeros(0, np.int32)
    return Walk(
        WalkStatus.REACHED_END,
        np.zeros(0),
        none,
        particles.locations[here],
        particles.integers[here],
        particles.reals[here],
        branches=none,
        values=values,
    )


def _until(
    usage: Usage, passes: Sequence[Sequence[_Going]], level: int, seeds: Sequence[SeedTree], *, ended: bool = False
) -> list[list[_Going]]:
    """Let the uses of all passes go on until they reach a level; return those that do, or with `ended` those that come
    to their end."""
    model, done = usage.model, dict[int, _Going]()
    uses = [one for some in passes for one in some]
    words = np.concatenate([own.words(len(some)) for own, some in zip(seeds, passes, strict=True)])
    family = Genealogy(where_they_end(model, [one.walk for one in uses], words))
    moving = np.arange(len(uses))
    relevant = np.array([bool(uses) and action in uses[0].seen.pattern.relevant for action in model.actions])
    over = np.array([_over(usage, one.walk) for one in uses], dtype=bool)
    for _ in range(MAX_STEPS):
        if ended:
            done |= _ended(uses, moving, family, np.flatnonzero(over))
        kept = np.flatnonzero(~over)
        if not len(kept):
            break
        step = stochastic_step(model, family.particles)
        kept = kept[step.made[kept]]
        family.append(np.arange(family.size), step, kept)
        moving, over = moving[kept], step.particles.time[kept] > usage.duration
        actions, reached = step.action[kept], np.zeros(len(kept), dtype=bool)
        for row in np.flatnonzero(relevant[actions] & ~over).tolist():  # what comes after the end does not count
            reached[row] = _see(usage, uses[moving[row]], family, row, model.actions[actions[row]]) >= level
        done |= _ended(uses, moving, family, np.flatnonzero(reached))
        over |= reached
    ends = np.cumsum([len(some) for some in passes])
    reached_by: list[list[_Going]] = [[] for _ in passes]
    numbers = sorted(done)
    for number, place in zip(numbers, np.searchsorted(ends, numbers, "right").tolist(), strict=True):
        reached_by[place].append(done[number])
    return reached_by


def _over(usage: Usage, walk: Walk) -> bool:
    return bool(walk.steps) and bool(walk.times[-1] > usage.duration)


def _see(usage: Usage, one: _Going, family: Genealogy, row: int, action: str) -> int:
    """Show a use's newest action to its pattern."""
    state = family.particles
    time = float(state.time[row])

    def level(name: str) -> float:
        here = _standing(state, row, one.walk.values)
        return use_of(usage, here, start=time).values[name].at(time)

    return one.seen.see(one.walk.steps + family.levels - 1, action, time, level)


def _ended(uses: Sequence[_Going], moving: np.ndarray, family: Genealogy, rows: np.ndarray) -> dict[int, _Going]:
    """The uses in these rows, by their numbers, with the walks that they have made; all at once, which is faster."""
    if not len(rows):
        return {}
    numbers = moving[rows].tolist()
    made = family.walks(rows=rows) if family.levels else [None] * len(rows)
    return {
        number: one if walk is None else _Going(joined(one.walk, walk), one.seen, one.root)
        for number, walk in zip(numbers, made, strict=True)
        for one in [uses[number]]
    }
