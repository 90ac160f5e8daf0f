"""Simulations for modes: those that are learned from, and fresh ones to estimate on.

To learn, further passes along each listed word: traces that violate and traces that do not, weighted by the probability
of the word; and plain simulations for all other uses (without actions: violating ones with varied values).  To
estimate, the passes of the rows serve again (patterns never saw them), and other plain simulations count the violations
that are not on the list.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.query import Answer, Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, estimate
from bbfalsify.engines.falsification.estimates.evidence import Evidence
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.modes.varied_values import FEWEST, varied_uses
from bbfalsify.engines.falsification.usage import MAX_STEPS, Usage
from bbfalsify.kernel import Walk, WalkStatus, stochastic_walks

LEARN, PLAIN, AVOID = 0.1, 0.09, 0.02
"""Parts of the estimates' simulations: passes along the rows to learn from, plain simulations, once to learn from and
once to estimate on, and simulations that look for ways to avoid a mode.  A profile without actions has one row, which
plain simulations would only repeat: in place of those to learn from violating uses are varied (`varied_values.py`)."""


MOST_FURTHER = 300
"""Findings beside the list that are learned from."""
PER_TRACE, MOST_WALKS, PER_SIMULATION = 5, 40_000, 8


def learning_passes(usage: Usage, passes: int) -> int:
    """Passes along each row to learn from."""
    return math.ceil(LEARN * passes)


def varying_simulations(usage: Usage, plan: PassPlan) -> int:
    """Simulations that vary the values of a row's violating uses."""
    return 0 if usage.profile.has_actions else int(PLAIN * plan.passes * plan.traces)


def plain_simulations(usage: Usage, rows: int, plan: PassPlan) -> int:
    """Plain simulations to learn from."""
    return fresh_simulations(rows, plan) if usage.profile.has_actions else 0


def fresh_simulations(rows: int, plan: PassPlan, given: int | None = None) -> int:
    """Simulations to estimate on, or the `given` number; without actions they are uses of patterns alone."""
    return math.ceil(PLAIN * rows * plan.passes * plan.traces) if given is None else given


def most_walks(simulations: int, traces: int) -> int:
    """Limit of the walks that divide uses into strata, by the simulations to estimate on and the rows' traces."""
    return max(PER_SIMULATION * simulations, min(MOST_WALKS, PER_TRACE * traces))


def avoiding_simulations(rows: int, plan: PassPlan) -> int:
    """Simulations that look for ways to avoid the modes."""
    return int(AVOID * rows * plan.passes * plan.traces)


Word = tuple[str, ...]


def learning_uses(
    ask: Ask,
    usage: Usage,
    rows: Sequence[Finding],
    plain: PlainUses,
    plan: PassPlan,
    seeds: SeedTree,
    further: Sequence[tuple[Finding, float]] = (),
) -> tuple[list[Use], list[Use]]:
    """Make further passes along each row, and add the plain simulations: violating uses, and uses that pass.

    What the search found beside the list, with rough masses, shows rare modes that neither would meet.
    """
    bad = [
        use_of(usage, finding.walk, finding.judgement.first_violation_time, mass)
        for finding, mass in further[:MOST_FURTHER]
        if finding.walk is not None and finding.simulation is SimulationStatus.OK
    ]
    good: list[Use] = []
    # Traces along a word that did not violate may still do so along a longer one, which shows them.
    continued = continued_by(row.actions for row in rows)
    for row in rows:
        few = PassPlan(learning_passes(usage, plan.passes), plan.traces, plan.estimator, plan.confidence)
        made = estimate(ask, usage, row, few, seeds.child("learn"), "modes")
        passes, evidence = made.passes, made.evidence
        weight = float(np.mean(passes.cylinders)) / max(1, passes.total_traces)
        violating = [walk for walks in evidence.walks for walk in walks]
        times = np.concatenate(evidence.kept_times) if evidence.kept_times else np.zeros(0)
        bad += [use_of(usage, w, float(t), weight) for w, t in zip(violating, times, strict=True)]
        if row.actions not in continued:
            good += _passing(usage, evidence, weight * passes.total_traces)
        if row.walk is None:
            continue
        # A row none of whose traces violates is known from the walk that found it.
        least = weight * (0.5 if not violating else 0.0)
        bad.append(use_of(usage, row.walk, row.judgement.first_violation_time, least))
        if (simulations := varying_simulations(usage, plan)) > 0:
            starts = violating if len(violating) > FEWEST else [*violating, row.walk]
            bad += varied_uses(ask, usage, plain.requirement, starts, simulations, seeds.child("varied"))
            each = weight * max(0.5, len(violating)) / len(bad)  # all together are as probable as those met by passes
            bad = [replace(use, weight=each) for use in bad]
    bad += plain.violating
    if usage.profile.has_actions and not plain.violating and not any(row.may_be_met for row in rows):
        bad = _alike(bad, plain.weight / 2)
    return bad, good + plain.passing


def _alike(bad: Sequence[Use], most: float) -> list[Use]:
    """Violating uses along words that nobody meets twice: each word stands for as many others, and what they have in
    common is at most as probable as half a plain simulation.
    """
    if math.fsum(use.weight for use in bad) >= most:
        return list(bad)
    uses = Counter(use.word for use in bad)
    return [replace(use, weight=most / len(uses) / uses[use.word]) for use in bad]


def _passing(usage: Usage, evidence: Evidence, weight: float) -> list[Use]:
    """Uses along a word that violate nowhere; `weight` is that of all uses along it.

    Traces that violate before the last step of the word neither pass nor belong to its row.
    """
    held = set(map(id, evidence.passing))
    share = sum(id(walk) in held for walk in evidence.followers) / max(1, len(evidence.followers))
    each = weight * share / max(1, len(held))
    return [use_of(usage, walk, weight=each) for walk in evidence.passing]


def everyday_walks(usage: Usage, seeds: SeedTree, count: int) -> Iterator[Walk]:
    """Draw walks under the profile's own law; the system does not execute them."""
    words = seeds.words(count)
    walks = stochastic_walks(usage.model, words, until=usage.duration, max_steps=MAX_STEPS)
    made = usage.values.seeded({i: walks.walk(i) for i in range(count)}, words)
    yield from (walk for walk in made.values() if walk.status is WalkStatus.REACHED_END)


@dataclass
class PlainUses:
    """Plain simulations of one requirement, without those that follow a listed word.

    The passes along the rows stand for the others.
    """

    usage: Usage
    requirement: int
    listed: frozenset[Word]
    simulations: int
    """Number of plain simulations; each use stands for one of them."""
    violating: list[Use] = field(default_factory=list)
    on_list: list[Use] = field(default_factory=list)
    """Violating uses that follow a listed word."""
    passing: list[Use] = field(default_factory=list)
    judged: int = 0
    """Simulations with a verdict, also those that follow a listed word."""

    @property
    def weight(self) -> float:
        """Probability that each stands for."""
        return 1 / max(1, self.simulations)

    def add(self, walk: Walk, answer: Answer, failing_step: int = 0) -> None:
        """Add a judged simulation; of one that failed and counts as a violation, with the step in which it failed."""
        judgement, weight = answer.judgements[self.requirement], self.weight
        self.judged += judgement.verdict in (Verdict.SATISFIED, Verdict.VIOLATED)
        if judgement.verdict is not Verdict.VIOLATED:
            if not self._follows(walk):
                self.passing.append(use_of(self.usage, walk, weight=weight))
        elif failing_step or answer.ok:
            at = float(walk.times[failing_step - 1]) if failing_step else judgement.first_violation_time
            steps = failing_step or violating_step(walk.times, at)
            known = walk.prefix(steps).actions(self.usage.model) in self.listed
            use = use_of(self.usage, walk, min(at, self.usage.duration), weight)
            (self.on_list if known else self.violating).append(use)

    def _follows(self, walk: Walk) -> bool:
        """Tell whether the passes along a row stand for this passing use; they do not for rows that others continue."""
        rows = self.listed - continued_by(self.listed)
        longest = max(map(len, rows), default=0)
        actions = walk.actions(self.usage.model)[:longest]
        return any(actions[:n] in rows for n in range(1, len(actions) + 1))


def continued_by(words: Iterable[Word]) -> set[Word]:
    """The beginnings of these words."""
    return {word[:length] for word in words for length in range(len(word))}
