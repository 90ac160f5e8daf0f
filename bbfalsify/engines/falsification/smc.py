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

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from bbfalsify.core.budget import BudgetSpent
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Answer, Ask, AskUses, Query, UsesQuery, UseVerdicts
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.settings import Settings, setting
from bbfalsify.core.verdict import VERDICTS, StopReason, Verdict
from bbfalsify.engines.falsification.coverage import Visits
from bbfalsify.engines.falsification.instants import violating_step
from bbfalsify.engines.falsification.seeded_uses import SeededUses
from bbfalsify.engines.falsification.settings import FalsifySettings
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Walk, WalkStatus
from bbfalsify.results.falsify_insights import Baseline, Key, Met
from bbfalsify.results.self_check import Meetings
from bbfalsify.stats.estimates import bounded_by_part, share_explained
from bbfalsify.stats.rules import KINDS
from bbfalsify.stats.sequential import ConfidenceSequence, Counts, StoppingRule

KEPT_TIMES = 10_000
"""Times of first violation kept per requirement; of more, a uniform sample."""
KEPT_KEYS = 10_000
"""Distinct keys counted per requirement, besides those that are watched."""
_LARGEST_BATCH = 20_000
LITTLE = 0.05
"""A share between less than this and 1 is as good as unknown."""


class SmcOptions(Settings):
    """When plain simulation stops; `StoppingRule` explains the first four."""

    rule: str = setting("The stopping rule.", default="sequence", choices=KINDS)
    epsilon: float | None = setting("Wanted half width of the interval.", default=None, above=0)
    relative: float | None = setting("Wanted half width as a share of the estimate.", default=None, above=0)
    confidence: float = setting("Confidence of the interval.", default=0.95, above=0, at_most=1)
    simulations: int | None = setting(
        "Stop after so many, however wide the interval; None: only the rule stops.",
        default=FalsifySettings.smc_simulations,
        at_least=0,
    )
    batch: int = setting(
        "Simulations between two looks at the interval, whatever the number of workers.", default=100, at_least=1
    )
    growth: float = setting(
        "Share of the simulations so far after which the next look comes, if that is more than `batch`.",
        default=0.0, at_least=0, internal=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stopping  # noqa: B018  refuses what does not go together

    @cached_property
    def stopping(self) -> StoppingRule:
        return StoppingRule(self.rule, self.epsilon, self.relative, self.confidence)


OnAnswer = Callable[[Walk, Answer], None]
"""Called with each walk that was executed, and its answer."""


@dataclass
class Tally:
    """One requirement's counts, in bounded memory."""

    hits: int = 0
    failed: int = 0
    """Simulations without a verdict."""
    keys: Counter[Key] = field(default_factory=Counter)
    """How often each key was met, as far as there is room; watched keys are here from the start."""
    other_keys: int = 0
    """Violations whose key found no room, or is not known."""
    unlocated: int = 0
    """Of those, simulations that failed: nobody saw when."""
    times: list[float] = field(default_factory=list)
    """Times of first violation: all of them, or a uniform sample of KEPT_TIMES."""

    def violated(self, key: Key | None, time: float, rng: np.random.Generator) -> None:
        if key is None:
            self.other_keys += 1
            self.unlocated += 1
        elif key in self.keys or len(self.keys) < KEPT_KEYS:
            self.keys[key] += 1
        else:
            self.other_keys += 1
        if len(self.times) < KEPT_TIMES:
            self.times.append(time)
        elif (place := int(rng.integers(self.hits + 1))) < KEPT_TIMES:
            self.times[place] = time  # reservoir sampling: each violation so far is kept with the same probability
        self.hits += 1


@dataclass
class Progress:
    """State of a run, updated in place, so that Ctrl-C keeps it."""

    tallies: list[Tally] = field(default_factory=list)
    iterations: int = 0
    zeno_walks: int = 0
    """Walks that stood still; not simulated, and without a verdict."""
    visits: Visits = field(default_factory=Visits)
    """Parts of the profile that the walks have used."""
    statuses: dict[str, int] = field(default_factory=dict)
    stopped: StopReason | None = None
    on_answer: OnAnswer | None = None
    tilted: dict[int, Estimate] = field(default_factory=dict)
    """By requirement: the probability of any violation by importance sampling, where plain simulation met too few."""

    def counts(self, requirement: int) -> Counts:
        if not self.tallies:
            return Counts()
        tally = self.tallies[requirement]
        return Counts(tally.hits, self.iterations, tally.failed)

    def meetings(self, requirement: int, key: Key) -> Meetings:
        """How often a watched key was met."""
        if not self.tallies:
            return Meetings()
        tally = self.tallies[requirement]
        return Meetings(tally.keys[key], self.iterations, tally.failed + tally.unlocated)

    def baseline(
        self,
        requirement: int,
        options: SmcOptions,
        *,
        found: Iterable[Key] | None = None,
        found_probability: Estimate | None = None,
    ) -> Baseline:
        """Return the results so far; `found` must not come from this run, or `met_share` would be biased."""
        counts = self.counts(requirement)
        tally = self.tallies[requirement] if self.tallies else Tally()
        probability, share, unknown = options.stopping.estimate(counts), None, ""
        if found_probability is not None and requirement in self.tilted:
            probability = _at_least(self.tilted[requirement], found_probability)
            share = share_explained(found_probability, probability)
        elif found_probability is not None:
            share, unknown = _explained(found_probability, probability, counts.hits)
        if found_probability is not None and unknown and found_probability.low > 0:
            probability = bounded_by_part(probability, found_probability)
        met = {key: count for key, count in tally.keys.items() if count}
        keys = None if found is None else list(dict.fromkeys(found))
        # A key that found no room may have been met; watching it avoids that.
        known = [key for key in keys or () if (key in tally.keys or not tally.other_keys) and not tally.unlocated]
        direct = keys is not None and len(known) == len(keys)
        return Baseline(
            probability=probability,
            violations=counts.hits,
            failed=counts.failed,
            simulations=counts.trials,
            met=tuple(Met(*item) for item in sorted(met.items(), key=lambda item: (-item[1], len(item[0]), item[0]))),
            other_keys=tally.other_keys,
            violation_times=tuple(sorted(tally.times)),
            never_met=tuple(key for key in known if key not in met),
            explained=share,
            share_unknown=unknown,
            met_share=_share(sum(met.get(key, 0) for key in known), counts.hits, options) if direct else None,
        )


def _explained(found: Estimate, anything: Estimate, hits: int) -> tuple[Estimate | None, str]:
    """Return the share of all violations that the list accounts for, or why it is unknown."""
    share = share_explained(found, anything)
    if not hits:
        bound = f", so it is at least {share.low:.0%}" if share.low >= LITTLE else ""
        return None, f"plain simulation met none{bound}"
    if share.high >= 1 and share.low < LITTLE:
        return None, f"plain simulation met only {hits}"
    return share, ""


def _at_least(whole: Estimate, part: Estimate) -> Estimate:
    """The whole, which is no less probable than its part."""
    low = max(whole.low, part.low)
    high = max(whole.high, low)
    return replace(whole, value=min(high, max(low, whole.value)), low=low, high=high)


def _share(explained: int, violations: int, options: SmcOptions) -> Estimate:
    """Estimate a share of the violations: given a violation, its key is a fresh draw, so they form Bernoulli trials."""
    low, high = ConfidenceSequence(options.confidence).interval(explained, violations)
    value = explained / violations if violations else high
    return Estimate(value, low, high, options.confidence, "confidence sequence over the violations met", violations)


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
    names: str = "smc",
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
            if ask_uses is not None and _many(ask_uses, usage, progress, seed_words, reservoir, names):
                listener.counted(progress)
                continue
            walks = usage.stochastic_walks(seed_words)
            usage.check(walks)
            progress.visits.add(usage.model, walks)
            # The walks of a batch whose answers did not all come are counted up to the first missing one.
            made = usage.values.seeded({i: walks.walk(i) for i in range(size)}, seed_words)
            batch = _Batch(progress, list(made.values()), usage, reservoir, names)
            queries = batch.queries()
            try:
                answers: Sequence[Answer] = ask(queries)
            except BudgetSpent as spent:
                batch.count(spent.answers)
                progress.stopped = spent.reason
                raise
            batch.count(answers)
            listener.counted(progress)


def _many(
    ask_uses: AskUses, usage: Usage, progress: Progress, seeds: np.ndarray, rng: np.random.Generator, names: str
) -> bool:
    """Ask for the uses with these seeds at once and count them; False where they have to be asked for one by one."""
    try:
        found = ask_uses(UsesQuery(names, progress.iterations + 1, SeededUses(usage, seeds)))
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
    names: str

    def queries(self) -> list[Query]:
        first = self.progress.iterations + 1
        return [
            Query(f"{self.names}/{first + i}", self.usage.draft(walk))
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
