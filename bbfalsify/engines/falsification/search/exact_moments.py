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
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step, whole_moments
from bbfalsify.engines.falsification.search.directed_walks import LATEST, Followed, Wish, WordFollower
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, supports_conditional

SIZES = (1e-1, 1e-2, 1e-4, 1e-6)
"""Largest moves, as parts of the law of a delay."""
RUNS = 4
"""Runs per size."""


def only_at_exact_moments(ask: Ask, usage: Usage, finding: Finding, seeds: SeedTree, most: int | None = None) -> bool:
    """Tell whether a finding's walk sits at ends of windows, and no run a little inside them violates with its key.

    Runs are made one after the other, at most so many, until one keeps the key.  False where it cannot be told: the law
    of the next action is not computed, the system failed or is flaky, or more runs would be needed.
    """
    walk, told = finding.walk, finding.simulation is SimulationStatus.OK and finding.status == "confirmed"
    if walk is None or not told or supports_conditional(usage.model) is not None:
        return False
    own = seeds.child("exact", finding.requirement, finding.name)
    for j, near in enumerate(_nearby(WordFollower(usage.model), finding, walk, own)):
        if near is None or j == most or _keeps_key(ask, usage, finding, replace(near, values=walk.values), j, own):
            return False
    return True


def _keeps_key(ask: Ask, usage: Usage, finding: Finding, near: Walk, number: int, seeds: SeedTree) -> bool:
    """Execute a run; tell whether it violates with the key of the finding, or failed."""
    [near] = whole_moments(usage.model, [near], seeds.child("moment", number))
    name = f"exact/{finding.requirement}/{finding.name}/{number}"
    [answer] = ask([Query(name, usage.draft(near, stop=float(near.times[-1])), seed_name=finding.query)])
    if not answer.ok or not answer.judgements:
        return True
    seen = answer.judgements[finding.requirement]
    steps = violating_step(near.times, seen.first_violation_time)
    return seen.verdict is Verdict.VIOLATED and tuple(near.actions(usage.model)[:steps]) == finding.actions


def _nearby(follower: WordFollower, finding: Finding, walk: Walk, seeds: SeedTree) -> Iterator[Walk | None]:
    """Runs of the word a little inside the ends at which the walk sits; a None if it sits at none.

    There are none at all if the profile allows the word at no other moments.
    """
    retraced = _retrace(follower, finding, walk, seeds.child("retrace"))
    known = () if retraced is None else retraced.quantiles
    other_edges = retraced is not None and not np.array_equal(retraced.walk.edges, walk.edges[: len(known)])
    impossible = len(known) < len(finding.actions)
    quantiles = np.array([*known, *[0.5] * (len(finding.actions) - len(known))])
    ends = (quantiles <= 0.0) | (quantiles >= LATEST)
    if other_edges or (not ends.any() and not impossible):
        yield None
    else:
        yield from _moved(follower, finding, walk, quantiles, seeds)


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
