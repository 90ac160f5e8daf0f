"""The stages of a falsification in their order: recall, search, shrink, simulate plainly, draw.

Each fills in what it found, so that whatever ends the run (its budget, Ctrl-C, the system) leaves all that was known
by then.  A stage begins only where those before it came to their end.
"""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.events import StageStarted
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.accelerator import Finding
from bbfalsify.engines.falsification.coverage import Coverage, Visits, coverage_of
from bbfalsify.engines.falsification.engine import run
from bbfalsify.engines.falsification.insights import Insights, insights_of
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.results.falsify_insights import Baseline, SamplingCheck, SamplingResult
from bbfalsify.results.self_check import Meetings, SelfCheck
from bbfalsify.running.driver import Driver, Ended, drive
from bbfalsify.running.falsify.conclusions import (
    duration_notes,
    grid_notes,
    notes_on,
    outcome_of,
    sampling_notes,
    worker_notes,
)
from bbfalsify.running.falsify.fans import draw_fans
from bbfalsify.running.falsify.finding_listener import Scribe
from bbfalsify.running.falsify.replay_store import Memory, replay_known, set_aside_impossible
from bbfalsify.running.falsify.self_check import check_list
from bbfalsify.running.falsify.shrink import Shrinking, shrink_list
from bbfalsify.running.falsify.task import Task


class Stages:
    def __init__(self, task: Task, driver: Driver, memory: Memory | None) -> None:
        self.task, self.driver, self.memory = task, driver, memory
        self.recorder = driver.recorder
        self.scribe = Scribe(driver, driver.recorder, task.requirements, task.options)
        self.shrinking = Shrinking()
        self.plain = smc.Progress()
        self._seeds = SeedTree(task.seed)
        self._recalled: Ended | None = None
        self._ended: Ended | None = None
        """How the last stage that asked anything did."""

    # ------------------------------------------------------------------ one after the other

    def recall(self) -> None:
        """Execute again what the store knows; what still violates is among the findings from the start."""
        if self.memory is not None:
            task, limits = self.task, self.task.limits
            self._recalled = replay_known(
                self.memory,
                self.scribe,
                task.record,
                task.usage.model.actions,
                task.jobs,
                limits.time_limit_s,
                memory_limit_mb=limits.memory_limit_mb,
                failing_violates=limits.on_failure == "violation",
            )

    def search(self) -> None:
        """Find counterexamples, confirm each at once, estimate how probable they are."""
        task = self.task
        self.recorder.record(StageStarted("searching", task.options.simulations))
        self._ended = drive(
            run,
            self.driver,
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
            set_aside_impossible(self.memory, self.scribe)

    def shrink(self) -> None:
        """Which actions of each counterexample matter?"""
        if self._completed:
            found, seeds = (self.usage, self.scribe, self.shrinking), self._seeds.child("shrink")
            self._ended = drive(shrink_list, self.driver, *found, seeds=seeds, out_of_time=self._out_of_time)

    def simulate_plainly(self) -> None:
        """How probable is any violation, and how much of that does the list explain?"""
        baseline, requirements = self.task.baseline, range(len(self.task.requirements))
        if baseline is None or not self._completed:
            return
        self.recorder.record(StageStarted("simulating", baseline.simulations or 0))
        self._ended = drive(
            smc.run,
            self.driver,
            self.usage,
            self.plain,
            baseline,
            requirements=len(requirements),
            seeds=self._seeds.child("smc"),
            listener=self.scribe,
            watched=[[f.actions for f in self.scribe.findings(i)] for i in requirements],
        )

    def draw(self, folder: Path) -> None:
        """Keep the traces of the estimates, for pictures."""
        if self._completed:
            ranked = [(r.id, self.scribe.progress.ranking(i)) for i, r in enumerate(self.task.requirements)]
            draw_fans(folder, ranked, self.usage, self.driver)

    @property
    def _completed(self) -> bool:
        return self._ended.reason is StopReason.COMPLETED

    def _out_of_time(self) -> bool:
        return self.driver.out_of_time(self.task.limits.max_time)

    # ------------------------------------------------------------------ what came of them

    @property
    def usage(self) -> Usage:
        """At the sampling period that the search came to."""
        return self.scribe.progress.usage or self.task.usage

    def sampling(self) -> SamplingResult:
        ids = [requirement.id for requirement in self.task.requirements]
        checks = [check.as_json() for check in self.scribe.progress.checks]
        for check in checks:
            check["artefacts"] = [{**a, "requirement": ids[a["requirement"]]} for a in check["artefacts"]]
        first, given = self.task.usage.period, self.task.sampling.given
        return SamplingResult(self.usage.period, given, first, tuple(map(SamplingCheck.from_json, checks)))

    @property
    def reason(self) -> StopReason:
        """Why the run ended; where all stages came to their end, why the search did."""
        stopped = self.scribe.progress.search.stopped if self._completed else self._ended.reason
        return stopped or StopReason.COMPLETED

    def outcome(self, requirement: int) -> Outcome:
        return outcome_of(self.scribe.progress, requirement, self.reason)

    def baseline(self, requirement: int, total: Estimate | None) -> Baseline | None:
        if self.task.baseline is None or not self.plain.iterations:
            return None
        found = [f.actions for f in self.scribe.findings(requirement)]
        return self.plain.baseline(requirement, self.task.baseline, found=found, found_probability=total)

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

    def coverage(self) -> Coverage:
        """What of the profile was used, by the search, by plain simulation, and by the counterexamples alone."""
        model, progress = self.task.usage.model, self.scribe.progress
        listed = Visits()
        for ranked in progress.ranked:
            if (example := ranked.evidence.example) is not None:
                listed.add_walk(model, example)
        visits = {"search": progress.search.visits, "simulation": self.plain.visits, "counterexamples": listed}
        return coverage_of(model, visits)

    def self_check(self) -> tuple[SelfCheck, dict[Finding, Meetings]]:
        """Compare the estimates with how often walks under the profile's law met each listed finding."""
        return check_list(self.scribe.progress, self.plain, [r.id for r in self.task.requirements])

    def notes(self) -> list[str]:
        """What a reader must know, in words."""
        task, on_failure = self.task, self.task.limits.on_failure
        return [
            *grid_notes(task.system),
            *task.sampling_notes,
            *sampling_notes(self.scribe.progress, task.sampling),
            *duration_notes(task.requirements, task.horizon),
            *worker_notes(task.system, task.jobs),
            *self.driver.poll.notes(),
            *notes_on(self.scribe.progress, self.driver.failures, task.requirements, on_failure, task.options),
            *self.shrinking.notes,
            *dict.fromkeys(e.message for e in (self._recalled, self._ended) if e is not None and e.message),
        ]
