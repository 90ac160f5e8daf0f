"""The list of a falsification: of each counterexample a file and a row, and what the store and the team know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bbfalsify.engines.falsification.accelerator import Finding
from bbfalsify.engines.falsification.insights import Insights
from bbfalsify.logic import Requirement
from bbfalsify.records.accepted import Acceptances, Judged
from bbfalsify.records.counterexample import Counterexample, SeedRecord
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.results.falsify_result import RankedCounterexample
from bbfalsify.results.self_check import Meetings
from bbfalsify.running.falsify.finding_listener import Item, counterexample_file, row_of
from bbfalsify.running.falsify.shrink import shrunk_rows
from bbfalsify.running.falsify.stages import Stages


class Listing:
    """Written as it is made: with a directory, every row names its file."""

    def __init__(self, stages: Stages, directory: RunDirectory | None, met: Mapping[Finding, Meetings]) -> None:
        self.rows: list[RankedCounterexample] = []
        self._stages, self._directory, self._met = stages, directory, met
        self._several = len(stages.task.requirements) > 1
        self._found: list[tuple[Finding, Counterexample]] = []
        if directory is not None and stages.driver.tape.started:
            directory.forget_counterexamples()

    def add(self, number: int, insights: Insights) -> None:
        """The counterexamples of this requirement, best first, each with what of it matters."""
        stages, requirement = self._stages, self._stages.task.requirements[number]
        items = stages.scribe.items(number)
        rows = [self._row(item, requirement, rank, insights) for rank, item in enumerate(items, start=1)]

        def write_core(item: Item, rank: int) -> str | None:
            content = self._content(item, requirement, SeedRecord(stages.task.seed, item.finding.query))
            return self._write(content, rank, "shrunk")

        self.rows += shrunk_rows(rows, items, stages.shrinking, stages.scribe, stages.usage, write_core)

    def _row(self, item: Item, requirement: Requirement, rank: int, insights: Insights) -> RankedCounterexample:
        memory = self._stages.memory
        known = None if memory is None else memory.of(item.finding)
        own = SeedRecord(self._stages.task.seed, item.finding.query)
        content = self._content(item, requirement, own if known is None else known.stored.counterexample.seed)
        self._found.append((item.finding, content))
        file = self._write(content, rank, "counterexamples")
        met = self._met.get(item.finding)
        return row_of(item, requirement, rank, file, insights, known=known is not None, met=met)

    def _content(self, item: Item, requirement: Requirement, seed: SeedRecord) -> Counterexample:
        task = self._stages.task
        limits = task.limits.time_limit_s, task.limits.memory_limit_mb
        return counterexample_file(item, requirement, task.horizon, seed, task.record, task.profile, *limits)

    def _write(self, content: Counterexample, rank: int, folder: str) -> str | None:
        if self._directory is None:
            return None
        return str(self._directory.write_counterexample(content, rank, folder, of_several=self._several))

    def teach_the_store(self) -> Sequence[str]:
        """What is new, and what became of what it knew; the notes about that."""
        memory = self._stages.memory
        if memory is None:
            return ()
        memory.learn(self._found, run="" if self._directory is None else self._directory.path.name)
        return memory.notes

    def judge(self, acceptances: Acceptances | None) -> Judged | None:
        """Which of them the team lives with."""
        if acceptances is None:
            return None
        judged = acceptances.judge([(row.requirement, row.actions, row.probability) for row in self.rows])
        self.rows = [replace(row, accepted=v) for row, v in zip(self.rows, judged.verdicts, strict=True)]
        return judged
