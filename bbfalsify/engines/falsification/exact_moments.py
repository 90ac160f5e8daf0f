"""Find out which counterexamples are possible only at exact moments, and so have probability zero.

Accelerated walks often choose the ends of windows: two actions at the same moment, five delays that are all as short
as allowed.  Some of their words violate there and nowhere near.  Such a counterexample exists, but no user meets it:
the law of the delays gives a single moment no weight.

The test repeats the walk with the delays that sit at ends moved a little inside, by random amounts of several sizes;
all else stays as it was, the system's seed too.  A word that keeps its key in one of these runs has a positive
probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.directed_walks import LATEST, Followed, Wish, WordFollower
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step, whole_moments
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, supports_conditional

SIZES = (1e-1, 1e-2, 1e-4, 1e-6)
"""Largest moves, as parts of the law of a delay."""
RUNS = 4
"""Runs per size."""


def only_at_exact_moments(ask: Ask, usage: Usage, finding: Finding, seeds: SeedTree) -> bool:
    """Tell whether a finding's walk sits at ends of windows, and no run a little inside them violates with its key.

    False where that cannot be told: the law of the next action is not computed, or the system failed or is flaky.
    """
    walk, told = finding.walk, finding.simulation is SimulationStatus.OK and finding.status == "confirmed"
    if walk is None or not told or supports_conditional(usage.model) is not None:
        return False
    own = seeds.child("exact", finding.requirement, finding.name)
    nearby = _nearby(WordFollower(usage.model), finding, walk, own)
    if nearby is None:
        return False
    walks = whole_moments(usage.model, [replace(near, values=walk.values) for near in nearby], own.child("moment"))
    name = f"exact/{finding.requirement}/{finding.name}"
    queries = [
        Query(f"{name}/{j}", usage.draft(near, stop=float(near.times[-1])), seed_name=finding.query)
        for j, near in enumerate(walks)
    ]
    for near, answer in zip(walks, ask(queries) if queries else (), strict=True):
        if not answer.ok or not answer.judgements:
            return False
        seen = answer.judgements[finding.requirement]
        if seen.verdict is not Verdict.VIOLATED:
            continue
        steps = violating_step(near.times, seen.first_violation_time)
        if tuple(near.actions(usage.model)[:steps]) == finding.actions:
            return False
    return True


def _nearby(follower: WordFollower, finding: Finding, walk: Walk, seeds: SeedTree) -> list[Walk] | None:
    """Runs of the word a little inside the ends at which the walk sits; None if it sits at none.

    The list is empty if the profile allows the word at no other moments.
    """
    retraced = _retrace(follower, finding, walk, seeds.child("retrace"))
    known = () if retraced is None else retraced.quantiles
    if retraced is not None and not np.array_equal(retraced.walk.edges, walk.edges[: len(known)]):
        return None
    impossible = len(known) < len(finding.actions)
    quantiles = np.array([*known, *[0.5] * (len(finding.actions) - len(known))])
    ends = (quantiles <= 0.0) | (quantiles >= LATEST)
    if not ends.any() and not impossible:
        return None
    return list(_moved(follower, finding, walk, quantiles, seeds))


def _retrace(follower: WordFollower, finding: Finding, walk: Walk, seeds: SeedTree) -> Followed | None:
    """Follow the walk as far as its steps have a positive probability."""
    run: Followed | None = None
    for k, (time, action) in enumerate(finding.word[: len(finding.actions)], start=1):
        further = follower.follow([Wish(action, moment=time, like=(walk, k))], seeds.child(k), after=run)
        if further is None:
            break
        run = further
    return run


def _moved(
    follower: WordFollower, finding: Finding, walk: Walk, quantiles: np.ndarray, seeds: SeedTree
) -> Iterator[Walk]:
    """Runs with delays moved from the ends; those that the profile does not allow are left out."""
    for size in SIZES:
        for number in range(RUNS):
            own = seeds.child(str(size), number)
            moves = size * own.child("moves").rng().random(len(quantiles))
            places = np.where(quantiles <= 0.0, moves, np.where(quantiles >= LATEST, 1 - moves, quantiles))
            wishes = [
                Wish(action, float(place), like=(walk, k))
                for k, (action, place) in enumerate(zip(finding.actions, places, strict=True), start=1)
            ]
            run = follower.follow(wishes, own)
            if run is not None:
                yield run.walk
