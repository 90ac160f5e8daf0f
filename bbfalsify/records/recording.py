"""The place where a run is recorded (`Recording`), and its record while it runs (`RunRecord`).

    with recording.begin("heater", seed=1, decided_by=…) as record:      # new, or continued where it was interrupted
        record.recorder.record(event)
        record.answers.answer(query)                                     # answered before the interruption, or None
    record.write_results(results)

A run is resumed from its record alone: recorded answers (`recorded_answers.py`, `observations.py`) are fed to the
engine again, and a search that asks no system continues from its last checkpoint (`checkpoint.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bbfalsify.core.events import Listener
from bbfalsify.core.seeds import draw_seed
from bbfalsify.records.counterexample import SystemRecord
from bbfalsify.records.event_log import Recorder
from bbfalsify.records.recorded_answers import RecordedAnswers
from bbfalsify.records.run_directory import RunDirectory, recorded_seed

Results = dict[str, Any]


class RunRecord:
    """The record of one run; without a directory, only the listeners learn what happens."""

    def __init__(
        self,
        recorder: Recorder | None = None,
        answers: RecordedAnswers | None = None,
        directory: RunDirectory | None = None,
        annotate: Callable[[Results], Results] | None = None,
    ) -> None:
        self.recorder = Recorder() if recorder is None else recorder
        self.answers = RecordedAnswers() if answers is None else answers
        self.directory = directory
        self.path: Path | None = None if directory is None else directory.path
        self.log: Path | None = None if directory is None else directory.log
        self._annotate = annotate

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
        settings_may_change: bool = False,
    ) -> RunRecord:
        """Open the record of a run, new or begun before.

        A run is continued only where all that decides its result (`decided_by`) is the same.  With
        `settings_may_change` only the system has to be: answers are then taken from elsewhere than the event log.
        """
        if self.directory is not None:
            place = RunDirectory.at(self.directory)
        elif self.out is not None:
            place = RunDirectory.create(self.out, name)
        else:
            return RunRecord(Recorder(None, self.listeners), annotate=self.annotate)
        if not place.begun:
            configuration = self.configuration or {}
            place.write_manifest(seed, configuration, adapter_sha256=adapter_sha256, decided_by=decided_by)
        elif settings_may_change:
            place.check_same_system(decided_by)
        else:
            place.check_same(seed, json.loads(json.dumps(decided_by)))  # as it was read
        # Where only the manifest was lost, events are there already.
        answers = RecordedAnswers(None if settings_may_change else place.events)
        recorder = place.recorder(*self.listeners, again=answers.events)
        return RunRecord(recorder, answers, place, self.annotate)
