"""Statistical model checking, the baseline (Kiviriga, Paper D, section 2.1 and Figure D.2).

Draw usage from the profile's true stochastic semantics, execute it, count violations.  The fraction estimates the
*overall* probability that a user meets a violation, and shows those that are common.  Beside falsification it answers
two questions: what share of all violations do the listed counterexamples explain, and which of them would plain
simulation never have shown.

    progress = Progress()
    run(ask, usage, progress, SmcOptions(epsilon=0.001), requirements=1, seeds=seeds.child("smc"), listener=listener)
    baseline = progress.baseline(0, options, found=keys, found_probability=total)
    baseline.probability, baseline.explained, baseline.never_met

Simulations without a verdict (the system failed, or the walk stood still) widen the interval to both sides; see
`StoppingRule`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.query import Answer, Ask, AskUses, Query, UsesQuery, UseVerdicts
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import VERDICTS, StopReason, Verdict
from bbfalsify.engines.falsification.baseline.seeded_uses import SeededUses
from bbfalsify.engines.falsification.baseline.smc_counts import Progress as Progress
from bbfalsify.engines.falsification.baseline.smc_counts import SmcOptions as SmcOptions
from bbfalsify.engines.falsification.baseline.smc_counts import Tally as Tally
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, WalkStatus
from bbfalsify.results.falsify_insights import Key
from bbfalsify.stats.sequential import Counts

_LARGEST_BATCH = 20_000


class Stopping(Protocol):
    """When to stop."""

    @property
    def samples(self) -> int | None:
        """The number of simulations, where it is fixed in advance."""

    def reached(self, counts: Counts) -> bool: ...


class Listener(Protocol):
    def counted(self, progress: Progress) -> None:
        """A batch has been counted."""


def run(
    ask: Ask,
    usage: Usage,
    progress: Progress,
    options: SmcOptions,
    *,
    requirements: int,
    seeds: SeedTree,
    listener: Listener,
    watched: Sequence[Collection[Key]] = (),
    ask_uses: AskUses | None = None,
    stopping: Stopping | None = None,
) -> None:
    """Simulate until every requirement's interval is narrow enough, or the budget is spent.

    `watched` names, per requirement, keys to count even when there is no room for more; `names` begins the names of
    the queries; `stopping` replaces the rule of the options.  With `ask_uses` many uses are asked for at once; the
    counts are the same, but visits and statuses are not kept, and nobody is told of single answers.
    """
    progress.tallies = [Tally() for _ in range(requirements)]
    for tally, keys in zip(progress.tallies, watched, strict=False):
        tally.keys.update(dict.fromkeys(keys, 0))
    words, reservoir = seeds.child("walks").rng(), seeds.child("reservoir").rng()
    rule: Stopping = options.stopping if stopping is None else stopping
    limits = [n for n in (options.simulations, rule.samples) if n is not None]
    while progress.stopped is None:
        if all(rule.reached(progress.counts(i)) for i in range(requirements)):
            progress.stopped = StopReason.COMPLETED
        elif options.simulations is not None and progress.iterations >= options.simulations:
            progress.stopped = StopReason.BUDGET_SIMULATIONS
        else:
            wanted = max(options.batch, min(_LARGEST_BATCH, int(options.growth * progress.iterations)))
            size = min([wanted, *(n - progress.iterations for n in limits)])
            # Full 64-bit words come one by one from the stream: walk i is the same for every size of batch.
            seed_words = words.integers(0, 2**64, size=size, dtype=np.uint64)
            if ask_uses is not None and _many(ask_uses, usage, progress, seed_words, reservoir):
                listener.counted(progress)
                continue
            walks = usage.stochastic_walks(seed_words)
            usage.check(walks)
            progress.visits.add(usage.model, walks)
            # The walks of a batch whose answers did not all come are counted up to the first missing one.
            made = usage.values.seeded({i: walks.walk(i) for i in range(size)}, seed_words)
            batch = _Batch(progress, list(made.values()), usage, reservoir)
            queries = batch.queries()
            try:
                answers: Sequence[Answer] = ask(queries)
            except BudgetSpent as spent:
                batch.count(spent.answers)
                progress.stopped = spent.reason
                raise
            batch.count(answers)
            listener.counted(progress)


def _many(ask_uses: AskUses, usage: Usage, progress: Progress, seeds: np.ndarray, rng: np.random.Generator) -> bool:
    """Ask for the uses with these seeds at once and count them; False where they have to be asked for one by one."""
    try:
        found = ask_uses(UsesQuery(progress.names, progress.iterations + 1, SeededUses(usage, seeds)))
    except BudgetSpent as spent:
        for answer in spent.answers:
            if answer.uses is not None:
                _count_many(usage, progress, seeds, answer.uses, rng)
                seeds = seeds[len(answer.uses.verdicts) :]
        progress.stopped = spent.reason
        raise
    if found is not None:
        _count_many(usage, progress, seeds, found, rng)
    return found is not None


def _count_many(
    usage: Usage, progress: Progress, seeds: np.ndarray, found: UseVerdicts, rng: np.random.Generator
) -> None:
    """Count as `_Batch` does; the walks of violations are made again from their seeds, for their keys."""
    progress.iterations += len(found.verdicts)
    unknown = len(found.verdicts) - found.executed
    progress.zeno_walks += unknown
    violated = found.verdicts == VERDICTS.index(Verdict.VIOLATED)
    rows = np.flatnonzero(violated.any(axis=1))
    walks = usage.stochastic_walks(seeds[rows]) if len(rows) else None
    for place, row in enumerate(rows.tolist()):
        assert walks is not None
        walk = walks.walk(place)
        for tally, hit, moment in zip(progress.tallies, violated[row], found.moments[row].tolist(), strict=True):
            if hit:
                key = walk.prefix(violating_step(walk.times, moment)).actions(usage.model)
                tally.violated(key, moment, rng)
    for tally in progress.tallies:
        tally.failed += unknown


@dataclass
class _Batch:
    progress: Progress
    walks: list[Walk]
    usage: Usage
    reservoir: np.random.Generator

    def queries(self) -> list[Query]:
        first = self.progress.iterations + 1
        return [
            Query(f"{self.progress.names}/{first + i}", self.usage.draft(walk))
            for i, walk in enumerate(self.walks)
            if walk.status is WalkStatus.REACHED_END
        ]

    def count(self, answers: Sequence[Answer]) -> None:
        arriving = iter(answers)
        for walk in self.walks:
            answer = None
            if walk.status is WalkStatus.REACHED_END:
                answer = next(arriving, None)
                if answer is None:
                    return
            self._count_one(walk, answer)

    def _count_one(self, walk: Walk, answer: Answer | None) -> None:
        progress = self.progress
        progress.iterations += 1
        if answer is None:
            progress.zeno_walks += 1
        else:
            progress.statuses[answer.status] = progress.statuses.get(answer.status, 0) + 1
        if answer is None or not answer.judgements:
            for tally in progress.tallies:
                tally.failed += 1
            return
        if progress.on_answer is not None:
            progress.on_answer(walk, answer)
        for tally, judgement in zip(progress.tallies, answer.judgements, strict=True):
            if judgement.verdict is Verdict.VIOLATED:
                steps = violating_step(walk.times, judgement.first_violation_time)
                key = walk.prefix(steps).actions(self.usage.model) if answer.ok else None
                tally.violated(key, judgement.first_violation_time, self.reservoir)
