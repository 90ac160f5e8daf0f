"""A run directory holds everything about one run, and nothing outside it is needed to read it.

    runs/heater-2026-11-16-1/
        manifest.json           versions, platform, seed, the whole configuration, hashes of the inputs
        events.jsonl            what happened, in order (core/events.py)
        counterexamples/        001-on-on-off.json, …, best first
        shrunk/                 what matters of them, where that was asked; absent if nothing
        results.json            what the run concluded
        workers.log             what the system printed, up to a limit; absent if nothing

Names are never reused: the number at the end is the first that is free.  Files are written whole or not at all.

The events survive a power failure, after a second at the latest, and so does the manifest of a run whose directory was
named here; of such a run everything is on disk when it ends.  Where the caller chose the directory (a campaign knows
what is run there), only the events are synced: all else can be made again by running once more in the same directory.

A run that was interrupted is continued in its directory, by the same version and with the same inputs: what decides its
result is in the manifest under `decided_by`, and every difference is named.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.events import Listener
from bbfalsify.core.verdict import StopReason
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.disk import wait_for
from bbfalsify.records.event_log import RecordedEvent, Recorder, ends_with_its_end, read_events
from bbfalsify.records.json_files import read_json, write_json
from bbfalsify.records.manifest import FORMAT_VERSION, differences, question_of, versions
from bbfalsify.records.run_files import (
    COUNTEREXAMPLES,
    EVENTS,
    FANS,
    MANIFEST,
    OBSERVATIONS,
    RESULTS,
    SHRUNK,
    TYPICAL,
    WORKERS_LOG,
)

_LONGEST_NAME = 60


class RunDirectory:
    def __init__(self, path: str | Path, *, durable: bool = True) -> None:
        self.path = Path(path)
        self._durable = durable

    @staticmethod
    def create(base: str | Path, name: str) -> RunDirectory:
        """A new, empty directory under `base`, named after the run and the day."""
        return RunDirectory(RunDirectory.new_folder(base, name))._furnished()

    @staticmethod
    def new_folder(base: str | Path, name: str) -> Path:
        base = Path(base)
        stem = f"{file_name(name) or 'run'}-{date.today().isoformat()}"
        number = 1 + max((_number(p.name, stem) for p in base.glob(f"{stem}-*")), default=0)
        while True:
            path = base / f"{stem}-{number}"
            try:
                path.mkdir(parents=True)
                return path
            except FileExistsError:  # another run took the number in between
                number += 1
            except OSError as error:
                raise UserError(Problem(f"cannot make the run directory: {error.strerror}.", file=str(path))) from None

    @staticmethod
    def at(path: str | Path) -> RunDirectory:
        """Exactly there: a new directory, or one in which a run was begun."""
        path = Path(path)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if not _can_be_run_in(path):
                raise UserError(Problem("not a run directory (it has no manifest.json).", file=str(path))) from None
        except OSError as error:
            raise UserError(Problem(f"cannot make the run directory: {error.strerror}.", file=str(path))) from None
        return RunDirectory(path, durable=False)._furnished()

    def _furnished(self) -> RunDirectory:
        (self.path / COUNTEREXAMPLES).mkdir(exist_ok=True)
        if self._durable:
            wait_for(self.path.parent)
        return self

    @staticmethod
    def open(path: str | Path) -> RunDirectory:
        if not (Path(path) / MANIFEST).is_file():
            raise UserError(Problem("not a run directory (it has no manifest.json).", file=str(path)))
        return RunDirectory(path)

    @property
    def events(self) -> Path:
        return self.path / EVENTS

    @property
    def log(self) -> Path:
        return self.path / WORKERS_LOG

    @property
    def begun(self) -> bool:
        """There is a manifest, and it came to the disk: else it is empty, or breaks off."""
        file = self.path / MANIFEST
        return file.is_file() and file.read_bytes().rstrip(b"\0\n").endswith(b"}")

    @property
    def has_more_than_a_manifest(self) -> bool:
        """There is something that only a run with events can have left."""
        seen = self.path / OBSERVATIONS
        return (
            (self.path / RESULTS).is_file()
            or (seen.is_file() and seen.stat().st_size > 0)
            or any((self.path / COUNTEREXAMPLES).glob("*.json"))
        )

    @property
    def finished(self) -> bool:
        """Its record came to its end; its results are there with all their files, and it was not interrupted."""
        if not (self.path / RESULTS).is_file() or not ends_with_its_end(self.events):
            return False
        try:
            results = self.read_results()
            return results.get("stop_reason") != StopReason.INTERRUPTED and all(map(self._whole, _files_of(results)))
        except (UserError, AttributeError):  # the machine stopped while they were written
            return False

    def _whole(self, name: str) -> bool:
        """True where this counterexample is on disk whole: its last line is the one brace that is not indented."""
        try:
            with open(self.path / name, "rb") as file:
                file.seek(-3, os.SEEK_END)
                return file.read() == b"\n}\n"
        except OSError:  # there is none, or it is too short
            return False

    def recorder(self, *listeners: Listener, again: Iterable[RecordedEvent] = ()) -> Recorder:
        folders = () if self._durable else (self.path, self.path.parent)
        return Recorder(self.events, listeners, again=again, folders=folders)

    def write_manifest(
        self,
        seed: int,
        configuration: Mapping[str, Any],
        *,
        adapter_sha256: str | None = None,
        decided_by: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        if self._durable:
            self.events.touch()  # so that both names reach the disk at once
        write_json(
            self.path / MANIFEST,
            {
                "format_version": FORMAT_VERSION,
                "seed": seed,
                "versions": versions(),
                "platform": platform.platform(),
                "adapter_sha256": adapter_sha256,
                "configuration": dict(configuration),
                "decided_by": dict(decided_by or {}),
                **more,
            },
            durable=self._durable,
        )

    def check_same(self, seed: int, decided_by: Mapping[str, Any]) -> None:
        """Refuse to continue a run of another version, or with inputs that have changed; all reasons at once."""
        manifest, file = self.read_manifest(), str(self.path / MANIFEST)
        if not isinstance(manifest, dict) or manifest.get("format_version") != FORMAT_VERSION:
            found = manifest.get("format_version") if isinstance(manifest, dict) else None
            what = f"a run directory of format {found}; this version continues format {FORMAT_VERSION}."
            raise UserError(Problem(what, file=file))
        before = {**manifest.get("versions", {}), "seed": manifest.get("seed"), **manifest.get("decided_by", {})}
        self._refuse(before, {**versions(), "seed": seed, **decided_by})

    def check_same_system(self, decided_by: Mapping[str, Any]) -> None:
        """Refuse to continue with another system; settings may have changed."""
        self._refuse(self.read_manifest().get("decided_by", {}), json.loads(json.dumps(decided_by)))

    def check_same_question(self, configuration: Mapping[str, Any]) -> None:
        """Refuse to take the results of a finished run for the answer to something else."""
        before, now = question_of(self.read_manifest().get("configuration")), question_of(configuration)
        if before:  # runs of the Python API have none
            self._refuse(before, now)

    def _refuse(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        problems = [
            Problem(
                f"this run cannot be continued: {name} was {old}, and is {new} now.", file=str(self.path / MANIFEST)
            )
            for name, old, new in differences(before, now)
        ]
        if problems:
            advice = "Nothing was changed. Undo that to continue this run, or start a new one."
            raise UserError([*problems, Problem(advice)])

    def read_manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = read_json(self.path / MANIFEST)
        return manifest

    def write_results(self, results: Mapping[str, Any], *, durable: bool = True) -> None:
        write_json(self.path / RESULTS, dict(results), durable=durable and self._durable)

    def read_results(self) -> dict[str, Any]:
        results: dict[str, Any] = read_json(self.path / RESULTS)
        return results

    def forget_counterexamples(self) -> None:
        """Those that an interrupted run had listed: it goes on, and lists them anew."""
        for folder in (COUNTEREXAMPLES, SHRUNK, TYPICAL):
            for file in (self.path / folder).glob("*.json"):
                file.unlink()

    def write_counterexample(
        self, counterexample: Counterexample, rank: int, folder: str = COUNTEREXAMPLES, *, of_several: bool = False
    ) -> Path:
        """Store it under its rank; a file that already has that rank and key is replaced.

        Several requirements may be violated by the same actions: then each has its own files.
        """
        parts = [counterexample.requirement.id if of_several else "", f"{rank:03d}", "-".join(counterexample.actions)]
        path = self.path / folder / f"{'-'.join(filter(None, map(file_name, parts)))}.json"
        path.parent.mkdir(exist_ok=True)
        counterexample.write(path, durable=self._durable)
        return path

    def counterexamples(self) -> list[Path]:
        return sorted((self.path / COUNTEREXAMPLES).glob("*.json"))


def recorded_seed(directory: str | Path | None) -> int | None:
    """Return the seed of the run that was begun there, if one was; the record knows it where the manifest is lost."""
    if directory is None:
        return None
    place = RunDirectory(directory)
    if place.begun:
        seed: int | None = place.read_manifest().get("seed")
        return seed
    if place.events.is_file():
        return next((e.data.get("seed") for e in read_events(place.events) if e.kind == "RunStarted"), None)
    return None


def _can_be_run_in(path: Path) -> bool:
    """A run was begun there, or there is only what one may have left whose manifest never came to the disk."""
    left = {COUNTEREXAMPLES, EVENTS, OBSERVATIONS, WORKERS_LOG, FANS}
    return (path / MANIFEST).is_file() or (
        path.is_dir() and all(part.name in left or part.name.startswith(".") for part in path.iterdir())
    )


def _files_of(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counterexample files that results name, relative to the run directory."""
    for row in (*results.get("counterexamples", ()), *results.get("requirements", ())):
        for named in (row, row.get("shrunk") or {}):
            if named.get("file"):
                yield "/".join(Path(named["file"]).parts[-2:])


def file_name(text: str) -> str:
    """Letters, digits, dots, dashes and underscores, and not too many of them."""
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._-")[:_LONGEST_NAME]


def _number(name: str, stem: str) -> int:
    rest = name[len(stem) + 1 :]
    return int(rest) if rest.isdecimal() else 0
