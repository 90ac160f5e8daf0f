"""Simulations for modes: those that are learned from, and fresh ones to estimate on.

To learn, further passes along each listed word: traces that violate and traces that do not, weighted by the probability
of the word.  The plain walks of everyday use are the other passing ones.  To estimate, the passes of the rows serve
again (patterns never saw them), and plain simulations count the violations that are not on the list.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Judgement
from bbfalsify.engines.falsification.estimating import PassPlan, estimate
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import Walk, WalkStatus, stochastic_walks

EVERYDAY = 1_000
"""Walks of everyday use, to learn from."""
LEARN, PLAIN = 0.1, 0.2
"""Parts of the estimates' simulations that are made once more to learn, and that are plain simulations.  A profile
without actions has one row, which plain simulations would only repeat: all of its simulations are to learn."""


def learning_passes(usage: Usage, passes: int) -> int:
    """Passes along each row to learn from."""
    return math.ceil((LEARN if usage.profile.has_actions else LEARN + PLAIN) * passes)


def plain_simulations(usage: Usage, rows: int, plan: PassPlan) -> int:
    """Plain simulations that meet violations which are not on the list."""
    return math.ceil(PLAIN * rows * plan.passes * plan.traces) if usage.profile.has_actions else 0


Word = tuple[str, ...]


def learning_uses(
    ask: Ask, usage: Usage, rows: Sequence[Finding], plan: PassPlan, seeds: SeedTree
) -> tuple[list[Use], list[Use]]:
    """Make one more pass along each row; return its violating uses and those that pass, with everyday ones."""
    bad: list[Use] = []
    good: list[Use] = []
    for row in rows:
        few = PassPlan(learning_passes(usage, plan.passes), plan.traces, plan.estimator, plan.confidence)
        made = estimate(ask, usage, row, few, seeds.child("learn"), "modes")
        passes, evidence = made.passes, made.evidence
        weight = float(np.mean(passes.cylinders)) / max(1, passes.total_traces)
        violating = [walk for walks in evidence.walks for walk in walks]
        times = np.concatenate(evidence.kept_times) if evidence.kept_times else np.zeros(0)
        bad += [use_of(usage, w, float(t), weight) for w, t in zip(violating, times, strict=True)]
        seen = set(map(id, violating))
        held = [walk for walk in evidence.followers if id(walk) not in seen]
        share = weight * (passes.total_traces - passes.total_hits) / max(1, len(held))
        good += [use_of(usage, walk, weight=share) for walk in held]
        if row.walk is not None:  # a row none of whose traces violates is known from the walk that found it
            least = weight * (0.5 if not violating else 0.0)
            bad.append(use_of(usage, row.walk, row.judgement.first_violation_time, least))
    listed = {row.actions for row in rows}
    longest = max((len(word) for word in listed), default=0)
    for walk in everyday_walks(usage, seeds.child("everyday"), EVERYDAY):
        if not _follows(walk.actions(usage.model)[:longest], listed):
            good.append(use_of(usage, walk, weight=1 / EVERYDAY))
    return bad, good


def everyday_walks(usage: Usage, seeds: SeedTree, count: int) -> Iterator[Walk]:
    """Draw walks under the profile's own law; the system does not execute them."""
    words = seeds.words(count)
    walks = stochastic_walks(usage.model, words, until=usage.duration, max_steps=MAX_STEPS)
    made = usage.values.seeded({i: walks.walk(i) for i in range(count)}, words)
    yield from (walk for walk in made.values() if walk.status is WalkStatus.REACHED_END)


def _follows(actions: Word, listed: set[Word]) -> bool:
    """Tell whether a run follows a listed word: the pass along that word stands for it."""
    return any(actions[:n] in listed for n in range(1, len(actions) + 1))


@dataclass
class Unlisted:
    """Violations met by plain simulation that are not on the list of one requirement."""

    usage: Usage
    listed: frozenset[Word]
    simulations: int = 0
    """Plain simulations made, to which the counts refer."""
    uses: list[Use] = field(default_factory=list)
    unlocated: int = 0
    """Violations of which the time is unknown: the simulation failed."""

    def add(self, walk: Walk, judgement: Judgement, *, located: bool) -> None:
        if not located:
            self.unlocated += 1
            return
        steps = violating_step(walk.times, judgement.first_violation_time)
        if walk.prefix(steps).actions(self.usage.model) not in self.listed:
            self.uses.append(use_of(self.usage, walk, judgement.first_violation_time))
