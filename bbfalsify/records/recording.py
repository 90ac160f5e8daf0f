"""The place where a run is recorded (`Recording`), and its record while it runs (`RunRecord`).

    with recording.begin("heater", seed=1, decided_by=…) as record:      # new, or continued where it was interrupted
        record.recorder.record(event)
        record.answers.answer(query)                                     # answered before the interruption, or None
    record.write_results(results)

A run is resumed from its record alone: recorded answers (`recorded_answers.py`, `observations.py`) are fed to the
engine again, and a search that asks no system continues from its last checkpoint (`checkpoint.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.events import Listener, RecordDamaged, RunResumed, RunStarted
from bbfalsify.core.seeds import draw_seed
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.manifest import versions
from bbfalsify.records.recorded_answers import RecordedAnswers
from bbfalsify.records.run_directory import RunDirectory, recorded_seed
from bbfalsify.records.run_files import MANIFEST, RESULTS

Results = dict[str, Any]


class RunRecord:
    """The record of one run; without a directory, only the listeners learn what happens."""

    def __init__(
        self,
        recorder: Recorder | None = None,
        answers: RecordedAnswers | None = None,
        directory: RunDirectory | None = None,
        annotate: Callable[[Results], Results] | None = None,
        decided_by: str = "",
    ) -> None:
        self.recorder = Recorder() if recorder is None else recorder
        self.answers = RecordedAnswers() if answers is None else answers
        self.directory = directory
        self.path: Path | None = None if directory is None else directory.path
        self.log: Path | None = None if directory is None else directory.log
        self.known_lines = 0
        """Lines of observations that a check begins with."""
        self._annotate = annotate
        self._decided_by = decided_by

    def record_start(
        self,
        name: str,
        system: str,
        requirements: Sequence[str],
        seed: int,
        limits: tuple[int | None, float | None],
        jobs: int,
    ) -> None:
        """Record that the run begins, or goes on; `limits` are its simulations and seconds."""
        facts = self._decided_by, self.known_lines
        self.recorder.record(
            RunResumed(self.answers.answers, jobs)
            if self.answers.started
            else RunStarted(name, system, tuple(requirements), seed, *limits, jobs, *facts)
        )

    def write_results(self, results: Results) -> None:
        """Store the results of the run, annotated as its recording says."""
        if self.directory is not None:
            self.directory.write_results(results if self._annotate is None else self._annotate(results))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.recorder.close()


@dataclass(frozen=True)
class Recording:
    out: str | Path | None = "runs"
    """Folder of run directories; None writes nothing."""
    directory: str | Path | None = None
    """Exactly the run directory to use; a run that was begun there is continued."""
    name: str | None = None
    listeners: Sequence[Listener] = ()
    """Functions that are told every event."""
    configuration: Mapping[str, Any] | None = None
    """The run as a campaign of its own, for its manifest."""
    system: SystemRecord | None = None
    """The place where the system was found, for counterexample files."""
    annotate: Callable[[Results], Results] | None = None
    """Adds to the results before they are stored."""

    @property
    def writes(self) -> bool:
        return self.out is not None or self.directory is not None

    def seed(self, given: int | None) -> int:
        """Choose the seed: the given one, that of the run begun in the directory, or a new one."""
        given = recorded_seed(self.directory) if given is None else given
        return draw_seed() if given is None else given

    def begin(
        self,
        name: str,
        seed: int,
        decided_by: Mapping[str, Any],
        *,
        adapter_sha256: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> RunRecord:
        """Open the record of a run, new or begun before.

        A run is continued only where all that decides its result (`decided_by`) is the same.  Where there are
        `settings`, too, they may change: the run then begins anew in its directory, without its recorded answers.
        """
        if self.directory is not None:
            place = RunDirectory.at(self.directory)
        elif self.out is not None:
            place = RunDirectory.create(self.out, name)
        else:
            return RunRecord(Recorder(None, self.listeners), annotate=self.annotate)
        found, digest = place.begun, _digest(seed, decided_by, settings)
        if found and settings is not None:
            place.check_same_system(decided_by)
        elif found:
            place.check_same(seed, json.loads(json.dumps(decided_by)))  # as it was read
        recorder = place.recorder(*self.listeners)  # first, because it waits for another process that is ending
        record = RunRecord(recorder, None, place, self.annotate, digest)
        try:
            record.answers = self._recorded(place, digest, settings is not None)
            recorder.repeat(record.answers.events)
            self._name_damage(record, found)
        except BaseException:
            recorder.close()
            raise
        if not found:
            configuration = self.configuration or {}
            place.write_manifest(seed, configuration, adapter_sha256=adapter_sha256, decided_by=decided_by)
        return record

    @staticmethod
    def _recorded(place: RunDirectory, digest: str, may_change: bool) -> RecordedAnswers:
        """Return the answers to go on from; none where the settings have changed and may change."""
        answers = RecordedAnswers(place.events)
        if answers.decided_by != digest and may_change:
            return RecordedAnswers()
        if answers.decided_by not in ("", digest):
            text = "this run cannot be continued: it was begun with other settings, and its manifest is lost."
            raise UserError(Problem(text, file=str(place.events)))
        return answers

    @staticmethod
    def _name_damage(record: RunRecord, manifest_found: bool) -> None:
        """Say which files of a run are damaged and made anew."""
        place, answers = cast(RunDirectory, record.directory), record.answers
        if not manifest_found and answers.started:
            text = f"it was lost, and is made anew; the {answers.answers} recorded answers are used"
            record.recorder.record(RecordDamaged(str(place.path / MANIFEST), None, text))
        if manifest_found and record.recorder.is_empty and place.has_more_than_a_manifest:
            text = "the events are lost: the run begins anew, a check with the words that it knows"
            record.recorder.record(RecordDamaged(str(place.events), None, text))
        if (place.path / RESULTS).is_file():
            try:
                place.read_results()
            except UserError as error:
                text = f"{error.problems[0].message} The results are made anew from the events"
                record.recorder.record(RecordDamaged(str(place.path / RESULTS), error.problems[0].line, text))


def _digest(seed: int, decided_by: Mapping[str, Any], settings: Mapping[str, Any] | None) -> str:
    """Return the hash of all that decides the result of a run."""
    facts = {"seed": seed, "versions": versions(), "decided_by": decided_by, "settings": settings}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
