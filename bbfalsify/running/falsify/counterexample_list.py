"""The list of a falsification: a file and a row per counterexample, and what the store and the team know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.insights import Insights
from bbfalsify.logic import Requirement
from bbfalsify.records.accepted import Acceptances, Judged
from bbfalsify.records.counterexample import Counterexample, SeedRecord
from bbfalsify.records.run_files import COUNTEREXAMPLES, SHRUNK, TYPICAL
from bbfalsify.results.falsify_acceptance import failures_of
from bbfalsify.results.falsify_modes import FailureMode, RequirementModes
from bbfalsify.results.falsify_result import RankedCounterexample
from bbfalsify.results.self_check import Meetings
from bbfalsify.running.falsify.finding_listener import content_of, drawn_values, row_of
from bbfalsify.running.falsify.shrink import shrunk_rows
from bbfalsify.running.falsify.stages import Stages


class Listing:
    """Written as it is made: with a directory, every row names its file."""

    def __init__(self, stages: Stages, met: Mapping[Finding, Meetings]) -> None:
        self.rows: list[RankedCounterexample] = []
        self._stages, self._directory, self._met = stages, stages.driver.record.directory, met
        self._several = len(stages.task.requirements) > 1
        self._found: list[tuple[Finding, Counterexample]] = []
        if self._directory is not None and stages.driver.recorded.started:
            self._directory.forget_counterexamples()

    def add(self, number: int, insights: Insights) -> None:
        """List the counterexamples of this requirement, best first, each with its core."""
        stages, requirement = self._stages, self._stages.task.requirements[number]
        listed = stages.scribe.listed(number)
        rows = [self._row(finding, requirement, rank, insights) for rank, finding in enumerate(listed, start=1)]

        def write_core(core: Finding, rank: int) -> str | None:
            seed = SeedRecord(stages.task.terms.seed, core.query)
            return self._write(content_of(core, requirement, stages.task, seed), rank, SHRUNK)

        self.rows += shrunk_rows(
            rows, listed, stages.shrinking, stages.task.options.confidence, stages.usage, write_core
        )

    def modes(self, number: int) -> RequirementModes | None:
        """The failure modes of this requirement, which name its rows and their files."""
        stages, requirement = self._stages, self._stages.task.requirements[number]
        ranks = {finding: rank for rank, finding in enumerate(stages.scribe.listed(number), start=1)}
        files = {row.rank: row.file for row in self.rows if row.requirement == requirement.id and row.file is not None}

        def listed(finding: Finding, rank: int) -> RankedCounterexample:
            seed = SeedRecord(stages.task.terms.seed, finding.query)
            file = self._write(content_of(finding, requirement, stages.task, seed), rank, TYPICAL)
            return row_of(finding, requirement, 0, file, Insights(), confidence=stages.task.options.confidence)

        return stages.naming.result(number, requirement.id, ranks, files, stages.task, listed)

    def _row(self, finding: Finding, requirement: Requirement, rank: int, insights: Insights) -> RankedCounterexample:
        task, memory = self._stages.task, self._stages.memory
        known = None if memory is None else memory.of(finding)
        seed = SeedRecord(task.terms.seed, finding.query) if known is None else known.stored.counterexample.seed
        content = content_of(finding, requirement, task, seed)
        self._found.append((finding, content))
        file = self._write(content, rank, COUNTEREXAMPLES)
        met = self._met.get(finding)
        is_known, confidence = known is not None, task.options.confidence
        return row_of(
            finding,
            requirement,
            rank,
            file,
            insights,
            confidence=confidence,
            known=is_known,
            met=met,
            values=drawn_values(finding, task, finding.judgement.first_violation_time),
        )

    def _write(self, content: Counterexample, rank: int, folder: str) -> str | None:
        if self._directory is None:
            return None
        return str(self._directory.write_counterexample(content, rank, folder, of_several=self._several))

    def teach_the_store(self) -> Sequence[str]:
        """Add what is new, and what became of what it knew; return the notes about that."""
        memory = self._stages.memory
        if memory is None:
            return ()
        memory.learn(self._found, run="" if self._directory is None else self._directory.path.name)
        return memory.notes

    def judge(self, acceptances: Acceptances | None, modes: Sequence[FailureMode]) -> Judged | None:
        """Mark those that the team accepts, one by one or by their failure mode."""
        if acceptances is None:
            return None
        judged = acceptances.judge(failures_of(self.rows, modes))
        self.rows = [replace(row, accepted=v) for row, v in zip(self.rows, judged.verdicts, strict=True)]
        return judged
