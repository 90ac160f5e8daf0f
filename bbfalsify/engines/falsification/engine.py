"""Usage-aware falsification, whole (Paper D, Figure D.3): search, estimate, rank.

    1. search      the accelerator's walks find words that violate a requirement (each is executed again at once by the
                   driver's side: a finding that does not repeat is flaky);
    2. estimate    R passes of splitting per finding: traces that follow its word under the true stochastic semantics,
                   executed and judged, say how probable it is that a user meets exactly this failure;
    3. rank        most probable first.

A counterexample's event is "the run follows a1…ak and is first violated in step k".  These events are disjoint, so
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.accelerator import Finding, Listener, Search, accelerate
from bbfalsify.engines.falsification.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.conditional import conditional_split
from bbfalsify.engines.falsification.splitting import METHOD as SPLITTING
from bbfalsify.engines.falsification.splitting import importance_split
from bbfalsify.engines.falsification.usage import Usage, violating_step
from bbfalsify.kernel import supports_conditional
from bbfalsify.stats.intervals import Passes, splitting_estimate, total_estimate


@dataclass(frozen=True)
class Options:
    counterexamples: int = 10
    simulations: int = 2000
    passes: int = 10
    traces: int = 100
    estimator: str = "auto"
    """conditional, splitting, or auto: conditional where the profile allows it."""
    delays: str = "cycle"
    guiding: bool = False
    """Prefer, in every second walk, the actions after which the one before came close (section 5.1)."""
    adaptive_duration: bool = False
    """Shorten the search's simulations to the last violation found (section 5.2)."""
    batch: int = 44
    """Queries per batch of the search, whatever the number of workers: four rounds of the delay cycle."""
    confidence: float = 0.95


@dataclass(frozen=True, eq=False)
class Ranked:
    """A finding with its probability."""

    finding: Finding
    passes: Passes
    probability: Estimate
    cylinder: Estimate
    """Of following the word at all, violated or not."""

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


class FalsificationListener(Listener, Protocol):
    def searched(self, search: Search) -> None:
        """The search is over; what follows are estimates of its findings."""

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
        guiding=options.guiding,
        adaptive_duration=options.adaptive_duration,
        listener=listener,
        out_of_time=out_of_time,
    )
    listener.searched(progress.search)
    for finding in progress.search.findings:
        name = f"{finding.requirement}/{finding.iteration}"
        passes, method = estimate(ask, usage, finding, name, options, seeds.child("estimate", name))
        value, low, high = passes.cylinder(options.confidence)
        ranked = Ranked(
            finding,
            passes,
            splitting_estimate(passes, method=method, confidence=options.confidence),
            Estimate(value, low, high, options.confidence, method, passes.total_traces),
        )
        progress.ranked.append(ranked)
        listener.estimated(ranked)


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
        names = [f"estimate/{name}/{number}/{j}" for j in range(len(walks))]
        answers = ask([Query(n, s) for n, s in zip(names, stimuli, strict=True)])
        violated = [
            any(
                judgement.verdict is Verdict.VIOLATED
                and violating_step(walk.times, judgement.first_violation_time) == len(finding.actions)
                for judgement in answer.judgements[finding.requirement : finding.requirement + 1]
            )
            for walk, answer in zip(walks, answers, strict=True)
        ]
        # Where failing counts as violating, nobody saw when: it was in the last step unless it fails without that, too.
        failed = [j for j, answer in enumerate(answers) if violated[j] and not answer.ok and len(finding.actions) > 1]
        shorter = [
            Query(f"{names[j]}/cut", usage.stimulus(walks[j], stop=float(walks[j].times[-2])), seed_name=names[j])
            for j in failed
        ]
        for j, answer in zip(failed, ask(shorter), strict=True):
            violated[j] = answer.ok
        cylinders.append(cylinder)
        hits.append(sum(violated))
        traces.append(len(walks))
    return Passes(tuple(cylinders), tuple(hits), tuple(traces)), method
