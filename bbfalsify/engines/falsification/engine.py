"""Usage-aware falsification, whole (Paper D, Figure D.3): search, confirm, estimate, rank.

    1. search      the accelerator's walks find words that violate a requirement;
    2. confirm     every finding is executed again: the same violation each time, or it is reported as flaky;
    3. estimate    R passes of splitting per finding: traces that follow its word under the true stochastic semantics,
                   executed and judged, say how probable it is that a user meets exactly this failure;
    4. rank        most probable first.

A counterexample's event is "the run follows a1…ak and is first violated in step k".  These events are disjoint, so
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.engines.falsification.accelerator import Ask, Finding, Listener, Search, accelerate, judgements_of
from bbfalsify.engines.falsification.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.conditional import conditional_split
from bbfalsify.engines.falsification.splitting import METHOD as SPLITTING
from bbfalsify.engines.falsification.splitting import importance_split
from bbfalsify.engines.falsification.usage import Usage, violating_step
from bbfalsify.kernel import supports_conditional
from bbfalsify.stats.intervals import Passes, splitting_estimate, total_estimate

REPLAYS = 2
"""Executions that must repeat a finding before it is called confirmed."""


@dataclass(frozen=True)
class Options:
    counterexamples: int = 10
    simulations: int = 2000
    passes: int = 10
    traces: int = 100
    estimator: str = "auto"
    """conditional, splitting, or auto: conditional where the profile allows it."""
    delays: str = "cycle"
    batch: int = 44
    """Queries per batch of the search, whatever the number of workers: four rounds of the delay cycle."""
    confidence: float = 0.95
    failure_violates: bool = False


@dataclass(frozen=True, eq=False)
class Ranked:
    """A confirmed (or flaky) finding with its probability."""

    finding: Finding
    reproduced: int
    replays: int
    trace: Trace | None
    passes: Passes
    probability: Estimate
    cylinder: Estimate

    @property
    def confirmed(self) -> bool:
        return self.reproduced == self.replays

    @property
    def order(self) -> tuple:
        """Most probable first; what was never met in the estimation comes last; ties by the shorter word."""
        met = self.passes.total_hits > 0
        return (not met, -self.probability.value, len(self.finding.actions), self.finding.actions)


@dataclass
class Progress:
    """The state of a falsification; filled in place, so that Ctrl-C keeps what is there."""

    search: Search = field(default_factory=Search)
    ranked: list[Ranked] = field(default_factory=list)

    def ranking(self, requirement: int) -> list[Ranked]:
        return sorted((r for r in self.ranked if r.finding.requirement == requirement), key=lambda r: r.order)

    def found_probability(self, requirement: int, confidence: float) -> Estimate:
        items = [r.passes for r in self.ranking(requirement)]
        return total_estimate(items, method="sum over disjoint counterexamples", confidence=confidence)


class FalsificationListener(Listener):
    def estimated(self, ranked: Ranked) -> None: ...


def run(
    ask: Ask,
    usage: Usage,
    progress: Progress,
    options: Options,
    *,
    requirements: int,
    seeds: SeedTree,
    listener: FalsificationListener,
    out_of_time: Callable[[], bool] = lambda: False,
) -> None:
    """Falsify; the answers decide everything but the wall-clock limit, which ends the search only."""
    if options.estimator == "conditional" and (reason := supports_conditional(usage.model)) is not None:
        raise UserError(
            Problem(
                f"the conditional estimator does not support this profile: {reason}. Use estimator: splitting.",
                file=usage.profile.file,
            )
        )
    accelerate(
        ask,
        usage,
        progress.search,
        requirements=requirements,
        wanted=options.counterexamples,
        simulations=options.simulations,
        seeds=seeds.child("search"),
        batch=options.batch,
        delays=options.delays,
        listener=listener,
        out_of_time=out_of_time,
        failure_violates=options.failure_violates,
    )
    for finding in progress.search.findings:
        name = f"{finding.requirement}/{finding.iteration}"
        reproduced, trace = confirm(ask, finding, name, failure_violates=options.failure_violates)
        passes, method = estimate(ask, usage, finding, name, options, seeds.child("estimate", name))
        value, low, high = passes.cylinder(options.confidence)
        ranked = Ranked(
            finding,
            reproduced,
            REPLAYS,
            trace,
            passes,
            splitting_estimate(passes, method=method, confidence=options.confidence),
            Estimate(value, low, high, options.confidence, method, passes.total_traces),
        )
        progress.ranked.append(ranked)
        listener.estimated(ranked)


def confirm(ask: Ask, finding: Finding, name: str, *, failure_violates: bool) -> tuple[int, Trace | None]:
    """Execute the finding's input again: how often the same requirement was violated in the same step."""
    queries = [Query(f"confirm/{name}/{i}", finding.stimulus, keep_trace=i == 0) for i in range(REPLAYS)]
    answers = ask(queries)
    times = finding.walk.times
    reproduced = 0
    for answer in answers:
        judgements = judgements_of(answer, finding.stimulus, finding.requirement + 1, failure_violates)
        reproduced += bool(judgements) and _first_violated_in(judgements[finding.requirement], times, len(times))
    return reproduced, next((a.trace for a in answers if a.trace is not None), None)


def estimate(
    ask: Ask, usage: Usage, finding: Finding, name: str, options: Options, seeds: SeedTree
) -> tuple[Passes, str]:
    """R passes of splitting along the finding's word, each trace executed up to the word's end and judged."""
    conditional = options.estimator == "conditional" or (
        options.estimator == "auto" and supports_conditional(usage.model) is None
    )
    split, method = (conditional_split, CONDITIONAL) if conditional else (importance_split, SPLITTING)
    cylinders, hits, traces = [], [], []
    for number in range(options.passes):
        cylinder, walks = split(usage.model, finding.actions, effort=options.traces, seeds=seeds.child("pass", number))
        stimuli = [usage.stimulus(walk, stop=float(walk.times[-1])) for walk in walks]
        answers = ask([Query(f"estimate/{name}/{number}/{j}", s) for j, s in enumerate(stimuli)])
        violated = 0
        for walk, stimulus, answer in zip(walks, stimuli, answers, strict=True):
            judgements = judgements_of(answer, stimulus, finding.requirement + 1, options.failure_violates)
            violated += bool(judgements) and _first_violated_in(
                judgements[finding.requirement], walk.times, len(finding.actions)
            )
        cylinders.append(cylinder)
        hits.append(int(violated))
        traces.append(len(walks))
    return Passes(tuple(cylinders), tuple(hits), tuple(traces)), method


def _first_violated_in(judgement: Judgement, times: np.ndarray, step: int) -> bool:
    return judgement.verdict is Verdict.VIOLATED and violating_step(times, judgement.first_violation_time) == step
