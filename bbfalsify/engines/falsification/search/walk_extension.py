"""Extend walks that follow a word by more steps of the profile's own law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy
from bbfalsify.kernel import CompiledModel, Particles, Walk, WalkStatus, stochastic_step

STRIDE = 8
"""Steps by which a walk is continued to its end."""


def continued(model: CompiledModel, walks: Sequence[Walk], steps: int, seeds: SeedTree) -> list[Walk]:
    """Add `steps` steps to each walk (all of one length); if one of them cannot go on, none does."""
    if not walks:
        return []
    start = where_they_end(model, walks, seeds.words(len(walks)))
    family, everyone = Genealogy(start), np.arange(len(walks))
    for _ in range(steps):
        step = stochastic_step(model, family.particles)
        if not step.made.all():
            break
        family.append(everyone, step, everyone)
    if family.particles is start:
        return list(walks)
    return [joined(first, second) for first, second in zip(walks, family.walks(), strict=True)]


def to_the_end(model: CompiledModel, walk: Walk, duration: float, most: int, seeds: SeedTree) -> Walk:
    """Continue a walk to the first action after the end of the use, as far as `most` steps and the profile let it."""
    while walk.times[-1] <= duration and walk.steps < most:
        [longer] = continued(model, [walk], STRIDE, seeds.child("continued", walk.steps))
        if longer.steps == walk.steps:
            break
        walk = longer
    return walk.prefix(min(walk.steps, int(np.searchsorted(walk.times, duration, "right")) + 1))


def where_they_end(model: CompiledModel, walks: Sequence[Walk], words: np.ndarray) -> Particles:
    """Make one particle in the last state of each walk, each with the random stream of a word."""
    start = Particles.initial(model, words)
    for name in ("locations", "integers", "reals") if walks else ():
        getattr(start, name)[:] = np.stack([getattr(walk, name)[-1] for walk in walks])
    start.time[:] = [walk.times[-1] if walk.steps else 0.0 for walk in walks]
    return start


def joined(first: Walk, second: Walk) -> Walk:
    """Join two walks; `second` begins in the last state of `first`."""
    if not first.steps and first.branches is not None:
        return replace(second, status=WalkStatus.REACHED_END, values=first.values)
    return Walk(
        WalkStatus.REACHED_END,
        np.concatenate([first.times, second.times]),
        np.concatenate([first.edges, second.edges]),
        np.concatenate([first.locations, second.locations[1:]]),
        np.concatenate([first.integers, second.integers[1:]]),
        np.concatenate([first.reals, second.reals[1:]]),
        branches=None if first.branches is None else np.concatenate([first.branches, second.branches]),
        values=first.values,
    )
