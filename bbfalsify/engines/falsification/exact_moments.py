"""Find out which counterexamples are possible only at exact moments, and so have probability zero.

Accelerated walks often choose the ends of windows: two actions at the same moment, five delays that are all as short
as allowed.  Some of their words violate there and nowhere near.  Such a counterexample exists, but no user meets it:
the law of the delays gives a single moment no weight.

The test repeats the walk with the delays that sit at ends moved a little inside, by random amounts of several sizes;
all else stays as it was, the system's seed too.  A word that keeps its key in one of these runs has a positive
probability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    follower = WordFollower(usage.model)
    quantiles = _at_ends(follower, finding, walk, own)
    if quantiles is None:
        return False
    # A common word keeps its key in the first runs: the others are not made.
    for size in SIZES:
        nearby = [replace(near, values=walk.values) for near in _moved(follower, finding, walk, quantiles, size, own)]
        if _keeps_its_key(ask, usage, finding, nearby, own.child("moment", str(size)), str(size)):
            return False
    return True


def _keeps_its_key(
    ask: Ask, usage: Usage, finding: Finding, nearby: Sequence[Walk], seeds: SeedTree, size: str
) -> bool:
    """Tell whether one of these runs violates with the finding's key, or fails, which says nothing."""
    walks = whole_moments(usage.model, nearby, seeds)
    queries = [
        Query(
            f"exact/{finding.requirement}/{finding.name}/{size}/{j}",
            usage.draft(near, stop=float(near.times[-1])),
            seed_name=finding.query,
        )
        for j, near in enumerate(walks)
    ]
    for near, answer in zip(walks, ask(queries) if queries else (), strict=True):
        if not answer.ok or not answer.judgements:
            return True
        seen = answer.judgements[finding.requirement]
        if seen.verdict is not Verdict.VIOLATED:
            continue
        steps = violating_step(near.times, seen.first_violation_time)
        if tuple(near.actions(usage.model)[:steps]) == finding.actions:
            return True
    return False


def _at_ends(follower: WordFollower, finding: Finding, walk: Walk, seeds: SeedTree) -> np.ndarray | None:
    """Quantiles of the walk's delays; None if none of them sits at an end, and the word is possible elsewhere."""
    retraced = _retrace(follower, finding, walk, seeds.child("retrace"))
    known = () if retraced is None else retraced.quantiles
    if retraced is not None and not np.array_equal(retraced.walk.edges, walk.edges[: len(known)]):
        return None
    impossible = len(known) < len(finding.actions)
    quantiles = np.array([*known, *[0.5] * (len(finding.actions) - len(known))])
    ends = (quantiles <= 0.0) | (quantiles >= LATEST)
    return quantiles if ends.any() or impossible else None


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
    follower: WordFollower, finding: Finding, walk: Walk, quantiles: np.ndarray, size: float, seeds: SeedTree
) -> Iterator[Walk]:
    """Runs with delays moved from the ends; those that the profile does not allow are left out."""
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
