"""The listener of a falsification: confirms each finding at once, records events, writes findings down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.events import (
    CounterexampleConfirmed,
    EstimateMade,
    FindingReported,
    JudgedAgain,
    SearchAdvanced,
    StageStarted,
)
from bbfalsify.core.query import Query
from bbfalsify.core.verdict import Judgement
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.accelerator import Finding, Search
from bbfalsify.engines.falsification.engine import Progress, Ranked
from bbfalsify.engines.falsification.insights import Insights
from bbfalsify.engines.falsification.judging_again import Check
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement
from bbfalsify.records.counterexample import (
    Counterexample,
    SeedRecord,
)
from bbfalsify.results.falsify_insights import Convergence
from bbfalsify.results.falsify_result import Ordering, RankedCounterexample
from bbfalsify.results.self_check import Meetings
from bbfalsify.running.confirm import Confirmation, Status, confirm, counterexample_file
from bbfalsify.running.driver import Driver
from bbfalsify.running.falsify.task import Task


@dataclass
class Scribe:
    """Listens to the engine: confirms each finding at once, and records what happens."""

    driver: Driver
    requirements: Sequence[Requirement]
    options: Options
    progress: Progress = field(default_factory=Progress)
    confirmations: dict[Finding, Confirmation] = field(default_factory=dict)

    def found(self, finding: Finding) -> None:
        requirement, seen = self.requirements[finding.requirement].id, finding.judgement
        self.driver.recorder.record(
            FindingReported(requirement, finding.actions, finding.query, seen.robustness, seen.first_violation_time)
        )
        confirmation = self.confirm(finding)
        self.driver.recorder.record(
            CounterexampleConfirmed(
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
        self.confirmations[finding] = confirm(self.driver.rerun, query, finding.requirement, finding.judgement)
        return self.confirmations[finding]

    def remember(self, finding: Finding, confirmation: Confirmation) -> None:
        """Known before the search, and executed again already."""
        self.progress.search.findings.append(finding)
        self.confirmations[finding] = confirmation

    def forget(self, finding: Finding) -> None:
        self.progress.search.findings = [f for f in self.progress.search.findings if f is not finding]
        self.progress.ranked = [r for r in self.progress.ranked if r.finding is not finding]

    def advanced(self, search: Search, masses: Sequence[float]) -> None:
        words = tuple(len(known) for known in search.known)
        self.driver.recorder.record(SearchAdvanced(search.iterations, words, tuple(masses)))

    def judging_again(self, simulations: int) -> None:
        self.driver.recorder.record(StageStarted("judging again", simulations))

    def judged_again(self, check: Check, *, refined: bool) -> None:
        self.driver.recorder.record(JudgedAgain(check.as_json(), refined))
        if refined:
            self.driver.recorder.record(StageStarted("searching", self.options.simulations))

    def searched(self, search: Search) -> None:
        # D.9 may need as many traces again; the few short uses that D.8 needs are not foreseen.
        rounds = 2 if "d9" in self.options.columns and self.options.estimator != "splitting" else 1
        traces = len(search.findings) * self.options.passes * self.options.traces * rounds
        self.driver.recorder.record(StageStarted("estimating", traces))

    def estimated(self, ranked: Ranked) -> None:
        requirement = self.requirements[ranked.finding.requirement].id
        self.driver.recorder.record(EstimateMade(requirement, ranked.probability.as_json(), ranked.finding.actions))

    def ordering(self, traces: int) -> None:
        self.driver.recorder.record(StageStarted("ordering similar ones", traces))

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

    def items(self, requirement: int) -> list[Item]:
        """Ranked first, then what was found but not estimated because the run was stopped."""
        ranked = self.progress.ranking(requirement)
        done = {id(r.finding) for r in ranked}
        rest = [f for f in self.findings(requirement) if id(f) not in done]
        nothing = Estimate(1.0, 0.0, 1.0, self.options.confidence, "not estimated", 0)
        items = [Item(r.finding, r.probability, r) for r in ranked] + [Item(f, nothing, None) for f in rest]
        artefacts = self.progress.artefacts
        return [
            replace(i, confirmation=self.confirmations.get(i.finding), artefact=i.finding in artefacts) for i in items
        ]


@dataclass(frozen=True, eq=False)
class Item:
    finding: Finding
    probability: Estimate
    ranked: Ranked | None
    confirmation: Confirmation | None = None
    artefact: bool = False
    """It holds at a tenth of the sampling period."""

    @property
    def status(self) -> Status:
        return "flaky" if self.confirmation is None else self.confirmation.status

    @property
    def judgement(self) -> Judgement:
        """The judgement found, with the robustness of the whole trace: the search may have stopped at the violation."""
        whole = None if self.confirmation is None or self.status != "confirmed" else self.confirmation.judgement
        return self.finding.judgement if whole is None else replace(self.finding.judgement, robustness=whole.robustness)


def row_of(
    item: Item,
    requirement: Requirement,
    rank: int,
    file: str | None,
    insights: Insights,
    *,
    known: bool = False,
    met: Meetings | None = None,
) -> RankedCounterexample:
    ranked, seen = item.ranked, item.judgement
    order = None if ranked is None else ranked.ordering
    return RankedCounterexample(
        rank=rank,
        requirement=requirement.id,
        status=item.status,
        actions=item.finding.actions,
        probability=item.probability,
        cylinder=None if ranked is None else ranked.cylinder,
        columns={} if ranked is None else ranked.columns,
        violating=0 if ranked is None else ranked.passes.total_hits,
        traces=0 if ranked is None else ranked.passes.total_traces,
        first_violation_time=seen.first_violation_time,
        robustness=seen.robustness,
        iteration=item.finding.iteration,
        file=file,
        known=known,
        sampling_artefact=item.artefact,
        probability_with_uncertainty=insights.probabilities.get(rank),
        time_to_violation=None if insights.times is None else insights.times.each.get(rank),
        met_by_plain_walks=met,
        ordered_by=None if order is None else Ordering(float(order.values.mean()), order.total_traces),
    )


def content_of(item: Item, requirement: Requirement, task: Task, seed: SeedRecord) -> Counterexample:
    """The file of a listed counterexample."""
    finding = item.finding
    return counterexample_file(
        requirement,
        finding.stimulus,
        item.confirmation,
        horizon=task.settings.horizon,
        actions=finding.actions,
        word=finding.word,
        judgement=item.judgement,
        status=item.status,
        seed=seed,
        system=task.record,
        simulation=finding.status,
        probability=item.probability,
        estimates={} if item.ranked is None else {"cylinder": item.ranked.cylinder, **item.ranked.columns},
        profile=task.profile.file,
        time_limit_s=task.execution.time_limit,
        memory_limit_mb=task.execution.memory_limit,
    )
