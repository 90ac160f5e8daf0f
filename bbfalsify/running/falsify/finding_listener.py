"""The listener of a falsification: confirms each finding at once, records events, writes findings down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from bbfalsify.core import events
from bbfalsify.core.choices import ChoiceSequence, DrawnValue
from bbfalsify.core.confirmation import Confirmation, ConfirmedTrace
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Query
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.engine import Progress
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.insights import Insights
from bbfalsify.engines.falsification.search.judging_again import Again
from bbfalsify.engines.falsification.search.search import Search
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import ChoiceRecord, Counterexample, SeedRecord
from bbfalsify.results.falsify_insights import Convergence, SamplingArtefact, SamplingCheck
from bbfalsify.results.falsify_result import Ordering, RankedCounterexample
from bbfalsify.results.self_check import Meetings
from bbfalsify.running.confirm import confirm, counterexample_file
from bbfalsify.running.driver import Driver
from bbfalsify.running.falsify.task import Task


@dataclass
class Scribe:
    """Listens to the engine: confirms each finding at once, and records what happens."""

    driver: Driver
    requirements: Sequence[Requirement]
    options: Options
    progress: Progress = field(default_factory=Progress)

    def found(self, finding: Finding) -> None:
        requirement, seen = self.requirements[finding.requirement].id, finding.judgement
        self.driver.recorder.record(
            events.FindingReported(
                requirement, finding.actions, finding.query, seen.robustness, seen.first_violation_time
            )
        )
        confirmation = self.confirm(finding)
        self.driver.recorder.record(
            events.CounterexampleConfirmed(
                requirement,
                finding.actions,
                finding.query,
                confirmation.status,
                confirmation.reproduced,
                confirmation.tries,
            )
        )

    def confirm(self, finding: Finding) -> Confirmation:
        query = Query(f"confirm/{finding.requirement}/{finding.name}", finding.stimulus, seed_name=finding.query)
        rerun = partial(self.driver.rerun, counted=True)
        tries = self.progress.search.tries or self.options.confirmations
        finding.confirmation = confirm(rerun, query, finding.requirement, finding.judgement, tries=tries)
        return finding.confirmation

    def advanced(self, search: Search, masses: Sequence[float]) -> None:
        words = tuple(len(known) for known in search.known)
        self.driver.recorder.record(events.SearchAdvanced(search.iterations, words, tuple(masses)))

    def judging_again(self, simulations: int) -> None:
        self.driver.recorder.record(events.StageStarted("judging again", simulations))

    def judged_again(self, again: Again, *, refined: bool, over: bool = True) -> None:
        self.driver.recorder.record(events.JudgedAgain(self.sampling_check(again).as_json(), refined))
        if refined or not over:
            left = self.options.simulations - self.progress.search.spent
            self.driver.recorder.record(events.StageStarted("searching", left))

    def sampling_check(self, again: Again) -> SamplingCheck:
        """A second judgement as the results hold it: artefacts with the names of their requirements."""
        artefacts = [SamplingArtefact(self.requirements[f.requirement].id, f.actions) for f in again.vanished]
        return replace(again.check, artefacts=tuple(artefacts))

    def searched(self, search: Search) -> None:
        # D.9 may need as many traces again; the few short uses that D.8 needs are not foreseen.
        rounds = 2 if "d9" in self.options.columns and self.options.estimator != "splitting" else 1
        traces = len(search.findings) * self.options.passes * self.options.traces * rounds
        self.driver.recorder.record(events.StageStarted("estimating", traces))

    def estimated(self, finding: Finding) -> None:
        requirement, probability = self.requirements[finding.requirement].id, finding.estimated.probability
        self.driver.recorder.record(events.EstimateMade(requirement, probability.as_json(), finding.actions))

    def ordering(self, traces: int) -> None:
        self.driver.recorder.record(events.StageStarted("ordering similar ones", traces))

    def counted(self, progress: smc.Progress) -> None:
        """The batches of plain simulation are recorded like all others; nothing more is to be said."""

    def convergence(self, requirement: int) -> tuple[int, tuple[Convergence, ...]]:
        """Count the counterexamples that the search saw, and tell how its list grew (empty for `first`)."""
        search = self.progress.search
        return (
            len(search.known[requirement]) if search.known else 0,
            search.convergence[requirement] if search.convergence else (),
        )

    def findings(self, requirement: int) -> list[Finding]:
        return [f for f in self.progress.search.findings if f.requirement == requirement]

    def total(self, requirement: int) -> Estimate | None:
        """None where nothing was found, or where the run was stopped before all of it was estimated."""
        found, ranked = self.findings(requirement), self.progress.ranking(requirement)
        if not found or len(ranked) < len(found):
            return None
        return self.progress.found_probability(requirement, self.options.confidence)

    def listed(self, requirement: int) -> list[Finding]:
        """Ranked ones first, then what was found but not estimated because the run was stopped."""
        rest = [finding for finding in self.findings(requirement) if finding.estimate is None]
        return self.progress.ranking(requirement) + rest


def row_of(
    finding: Finding,
    requirement: Requirement,
    rank: int,
    file: str | None,
    insights: Insights,
    *,
    confidence: float,
    known: bool = False,
    met: Meetings | None = None,
    values: tuple[DrawnValue, ...] = (),
) -> RankedCounterexample:
    estimate, order, seen = finding.estimate, finding.ordering, finding.whole_judgement
    return RankedCounterexample(
        rank=rank,
        requirement=requirement.id,
        status=finding.status,
        actions=finding.actions,
        probability=finding.probability(confidence),
        cylinder=None if estimate is None else estimate.cylinder,
        columns={} if estimate is None else estimate.columns,
        violating=0 if estimate is None else estimate.passes.total_hits,
        traces=0 if estimate is None else estimate.passes.total_traces,
        first_violation_time=seen.first_violation_time,
        robustness=seen.robustness,
        iteration=finding.iteration,
        file=file,
        values=values,
        known=known,
        sampling_artefact=finding.artefact,
        exact_moments=finding.exact_moments,
        trace=ConfirmedTrace.of(finding.stimulus, finding.confirmation),
        probability_with_uncertainty=insights.probabilities.get(rank),
        time_to_violation=None if insights.times is None else insights.times.each.get(rank),
        met_by_plain_walks=met,
        ordered_by=None if order is None else Ordering(float(order.values.mean()), order.total_traces),
    )


def content_of(finding: Finding, requirement: Requirement, task: Task, seed: SeedRecord) -> Counterexample:
    """The file of a listed counterexample."""
    estimate = finding.estimate
    return counterexample_file(
        requirement,
        finding.stimulus,
        finding.confirmation,
        horizon=task.settings.horizon,
        actions=finding.actions,
        word=finding.word,
        judgement=finding.whole_judgement,
        status=finding.status,
        seed=seed,
        system=task.record,
        simulation=finding.simulation,
        probability=finding.probability(task.options.confidence),
        estimates={} if estimate is None else {"cylinder": estimate.cylinder, **estimate.columns},
        profile=task.profile.file,
        time_limit_s=task.terms.execution.time_limit,
        memory_limit_mb=task.terms.execution.memory_limit,
        values=drawn_values(finding, task, finding.stimulus.duration),
        choices=ChoiceRecord.of(choices_of(finding, task.space)),
    )


def choices_of(finding: Finding, space: ProfileSpace) -> ChoiceSequence | None:
    """The choices of a finding's run; None where its walk is not known, or possible only with probability zero."""
    if finding.choices is None and finding.walk is not None:
        played = space.played(finding.walk)
        finding.choices = None if played is None else played.choices
    return finding.choices


def drawn_values(finding: Finding, task: Task, until: float) -> tuple[DrawnValue, ...]:
    """The values that the profile drew for a finding; none where its walk is not known."""
    return () if finding.walk is None else tuple(task.space.drawn_values(finding.walk, until))
