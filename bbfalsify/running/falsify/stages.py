"""The stages of a falsification in their order: recall, search, shrink, simulate plainly, name modes, draw.

Each fills in what it found, so that whatever ends the run (its budget, Ctrl-C, the system) leaves all that was known
by then.  A stage begins only where those before it came to their end.
"""

from __future__ import annotations

from dataclasses import replace

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.coverage import Coverage, Visits, coverage_of
from bbfalsify.engines.falsification.engine import run
from bbfalsify.engines.falsification.estimates.self_check import check_lists
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.insights import Insights, insights_of
from bbfalsify.engines.falsification.modes.estimating import Beside
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.logic.stl.requirement import duration_notes
from bbfalsify.results.falsify_insights import Baseline, SamplingResult
from bbfalsify.results.self_check import Meetings, SelfCheck
from bbfalsify.running.driver import Driver, Ended
from bbfalsify.running.falsify import conclusions
from bbfalsify.running.falsify.fans import draw_fans
from bbfalsify.running.falsify.finding_listener import Scribe
from bbfalsify.running.falsify.modes import Naming, name_modes
from bbfalsify.running.falsify.rare_total import FEW_HITS, rare_total
from bbfalsify.running.falsify.replay_store import Memory
from bbfalsify.running.falsify.shrink import Shrinking, shrink_list
from bbfalsify.running.falsify.task import Task


class Stages:
    def __init__(self, task: Task, driver: Driver, memory: Memory | None) -> None:
        self.task, self.driver, self.memory = task, driver, memory
        self.scribe = Scribe(driver, task.requirements, task.options)
        self.shrinking = Shrinking()
        self.plain = smc.Progress()
        self.naming = Naming()
        self._seeds = SeedTree(task.terms.seed)
        self._recalled = self._ended = Ended()
        """The ends of the recall, and of the last stage that asked anything."""

    # ------------------------------------------------------------------ one after the other

    def recall(self) -> None:
        """Execute again what the store knows; what still violates is among the findings from the start."""
        if self.memory is not None:
            with self.driver.until_stopped() as self._recalled:
                self.memory.recall(self.task, self.driver)
            self.memory.put_among_the_findings(self.scribe)

    def search(self) -> None:
        """Find counterexamples, confirm each at once, estimate how probable they are."""
        task = self.task
        self.driver.recorder.record(StageStarted("searching", task.options.simulations))
        with self.driver.until_stopped() as self._ended:
            run(
                self.driver.ask,
                task.usage,
                self.scribe.progress,
                task.options,
                requirements=len(task.requirements),
                seeds=self._seeds,
                listener=self.scribe,
                out_of_time=self._out_of_time,
                sampling=task.sampling,
            )
        if self.memory is not None:
            self.memory.set_aside_impossible(self.scribe)

    def shrink(self) -> None:
        """Find out which actions of each counterexample matter."""
        if self._completed and self.task.options.passes:
            found, seeds = (self.usage, self.scribe, self.shrinking), self._seeds.child("shrink")
            with self.driver.until_stopped() as self._ended:
                shrink_list(self.driver.ask, *found, seeds=seeds, out_of_time=self._out_of_time)

    def simulate_plainly(self) -> None:
        """Estimate how probable any violation is, and how much of that the list explains."""
        baseline, requirements = self.task.settings.baseline, range(len(self.task.requirements))
        if baseline is None or not self._completed:
            return
        self.driver.recorder.record(StageStarted("simulating", baseline.simulations or 0))
        with self.driver.until_stopped() as self._ended:
            smc.run(
                self.driver.ask,
                self.usage,
                self.plain,
                baseline,
                requirements=len(requirements),
                seeds=self._seeds.child("smc"),
                listener=self.scribe,
                watched=[[f.actions for f in self.scribe.findings(i)] for i in requirements],
            )

    def weigh_rare_violations(self) -> None:
        """Estimate how probable any violation is by importance sampling, where plain simulation met too few."""
        baseline = self.task.settings.baseline
        if baseline is None or not self._completed:
            return
        with self.driver.until_stopped() as self._ended:
            for i, requirement in enumerate(self.task.requirements):
                listed = [f.actions for f in self.scribe.findings(i) if f.estimate is not None]
                if listed and self.plain.counts(i).hits < FEW_HITS:
                    self.driver.recorder.record(StageStarted("weighing rare violations", 0))
                    seeds = self._seeds.child("rare", requirement.id)
                    found = rare_total(self.driver.ask, self.usage, i, baseline, seeds, listed)
                    if found is not None:
                        self.plain.tilted[i] = found

    def name_modes(self) -> None:
        """Name what the counterexamples have in common, and estimate that on fresh simulations."""
        if self._completed and self.task.options.modes:
            with self.driver.until_stopped() as self._ended:
                seeds = self._seeds.child("modes")
                known = (self.usage, self.scribe, self.naming, self.task.units)
                name_modes(self.driver.ask, *known, seeds, self._known_beside)

    def _known_beside(self, requirement: int, confidence: float) -> Beside | None:
        """The probability of any violation by plain simulation, and by weights, where the run was asked for it."""
        baseline = self.task.settings.baseline
        if baseline is None or not self.plain.iterations:
            return None
        plain = replace(baseline, confidence=confidence).stopping.estimate(self.plain.counts(requirement))
        weighed = self.plain.tilted.get(requirement)
        return Beside(plain, None if weighed is None or weighed.at_least else weighed)

    def draw(self) -> None:
        """Keep the traces of the estimates, for pictures."""
        if self._completed and (folder := self.driver.record.path) is not None:
            ranked = [(r.id, self.scribe.progress.ranking(i)) for i, r in enumerate(self.task.requirements)]
            draw_fans(folder, ranked, self.usage, self.driver)

    @property
    def _completed(self) -> bool:
        return self._ended.reason is StopReason.COMPLETED

    def _out_of_time(self) -> bool:
        return self.driver.out_of_time(self.task.settings.max_time)

    # ------------------------------------------------------------------ what came of them

    @property
    def usage(self) -> Usage:
        """Usage at the sampling period that the search came to."""
        return self.scribe.progress.usage or self.task.usage

    def sampling(self) -> SamplingResult:
        checks = tuple(map(self.scribe.sampling_check, self.scribe.progress.judged_again))
        return SamplingResult(self.usage.period, self.task.sampling.given, self.task.usage.period, checks)

    @property
    def reason(self) -> StopReason:
        """Reason why the run ended; where all stages were completed, why the search did."""
        stopped = self.scribe.progress.search.stopped if self._completed else self._ended.reason
        return stopped or StopReason.COMPLETED

    def outcome(self, requirement: int) -> Outcome:
        return conclusions.outcome_of(self.scribe.progress, requirement, self.reason)

    def baseline(self, requirement: int, total: Estimate | None) -> Baseline | None:
        baseline = self.task.settings.baseline
        if baseline is None or not self.plain.iterations:
            return None
        found = [f.actions for f in self.scribe.findings(requirement)]
        return self.plain.baseline(requirement, baseline, found=found, found_probability=total)

    def insights(self, requirement: int, total: Estimate | None, baseline: Baseline | None) -> Insights:
        options = self.task.options
        return insights_of(
            self.usage,
            self.scribe.progress.ranking(requirement),
            total,
            baseline,
            sensitivity=options.sensitivity,
            confidence=options.confidence,
        )

    def coverage(self) -> Coverage | None:
        """Parts of the profile used by the search, by plain simulation, and by the counterexamples alone.

        None for a profile without actions, which has no parts.
        """
        if not self.task.usage.profile.has_actions:
            return None
        model, progress = self.task.usage.model, self.scribe.progress
        listed = Visits()
        for finding in progress.estimated:
            if (example := finding.estimated.evidence.example) is not None:
                listed.add_walk(model, example)
        plain = self.plain.visits if self.plain.visits.walks else self.naming.visits
        visits = {"search": progress.search.visits, "simulation": plain, "counterexamples": listed}
        return coverage_of(model, visits)

    def self_check(self) -> tuple[SelfCheck, dict[Finding, Meetings]]:
        """Compare the estimates with how often walks under the profile's law met each listed finding."""
        lists = {r.id: self.scribe.progress.ranking(number) for number, r in enumerate(self.task.requirements)}
        plain = self.scribe.progress.search.plain, self.plain
        met = {
            f: plain[0].meetings(f.requirement, f.actions) + plain[1].meetings(f.requirement, f.actions)
            for rows in lists.values()
            for f in rows
        }
        return check_lists(lists, met), met

    def notes(self) -> list[str]:
        """Notes that a reader needs."""
        task, execution = self.task, self.task.terms.execution
        return [
            *conclusions.grid_notes(task.system),
            *task.sampling_notes,
            *conclusions.sampling_notes(self.scribe.progress, task.sampling),
            *duration_notes(task.requirements, task.settings.horizon),
            *conclusions.worker_notes(task.system, execution.jobs),
            *self.driver.poll.notes(),
            *conclusions.notes_on(task, self.scribe.progress, self.driver.failures),
            *self.shrinking.notes,
            *self.naming.notes(task.requirements),
            *dict.fromkeys(ended.message for ended in (self._recalled, self._ended) if ended.message),
        ]
