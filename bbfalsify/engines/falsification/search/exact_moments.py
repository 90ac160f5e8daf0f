"""Find out which counterexamples are possible only at exact moments, and so have probability zero.

Accelerated walks often choose the ends of windows: two actions at the same moment, five delays that are all as short
as allowed.  Some of their words violate there and nowhere near.  Such a counterexample exists, but no user meets it:
the law of the delays gives a single moment no weight.

The test repeats the run with the delays that sit at ends moved a little inside, by random amounts of several sizes;
all else stays as it was, the system's seed too.  A word that keeps its key in one of these runs has a positive
probability.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.search.run_edits import LATEST, RunEditor, Step, SteppedRun, placed
from bbfalsify.engines.falsification.space import ProfileSpace
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
    editor = RunEditor(ProfileSpace(usage), own.child("completion").word())
    for j, near in enumerate(_nearby(editor, finding, walk, own)):
        if near is None or j == most or _keeps_key(ask, usage, finding, near, j):
            return False
    return True


def _keeps_key(ask: Ask, usage: Usage, finding: Finding, near: SteppedRun, number: int) -> bool:
    """Execute a run; tell whether it violates with the key of the finding, or failed."""
    stop = float(near.walk.times[-1])
    walk = near.until(stop)
    name = f"exact/{finding.requirement}/{finding.name}/{number}"
    [answer] = ask([Query(name, usage.draft(walk, stop=stop), seed_name=finding.query)])
    if not answer.ok or not answer.judgements:
        return True
    seen = answer.judgements[finding.requirement]
    steps = violating_step(walk.times, seen.first_violation_time)
    return seen.verdict is Verdict.VIOLATED and tuple(walk.actions(usage.model)[:steps]) == finding.actions


def _nearby(editor: RunEditor, finding: Finding, walk: Walk, seeds: SeedTree) -> Iterator[SteppedRun | None]:
    """Runs of the word a little inside the ends at which the walk sits; a None if it sits at none.

    There are none at all if the profile allows the word at no other moments.
    """
    # As far as its steps have a positive probability.
    word = finding.word[: len(finding.actions)]
    run = editor.retraced(word, seeds.child("retrace"), walk, finding.choices)
    known = len(run.spans)
    other_edges = not np.array_equal(run.walk.edges, walk.edges[:known])
    impossible = known < len(word)
    places = np.array([*run.places, *[0.5] * (len(word) - known)])
    ends = (places <= 0.0) | (places >= LATEST)
    if (known and other_edges) or (not ends.any() and not impossible):
        yield None
        return
    steps = [*editor.steps_of(run), *(Step(action) for action in finding.actions[known:])]
    for size in SIZES:
        for number in range(RUNS):
            own = seeds.child(str(size), number)
            moves = size * own.child("moves").rng().random(len(places))
            inside = np.where(places <= 0.0, moves, np.where(places >= LATEST, 1 - moves, places))
            near = editor.along(run.prefix(0), placed(steps, inside), own)
            if near is not None:  # those that the profile does not allow are left out
                yield near
