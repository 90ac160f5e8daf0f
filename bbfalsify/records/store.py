"""A store of counterexamples that outlives runs: one folder, one file per failure, and what became of each.

    store/
        R1-on-on-on-off-5f0c2a9be41d7c03.json     a counterexample file as runs write them; `bbfalsify replay` reads it
        history.jsonl                             open, fixed, changed: one line each time a failure's state changes
        modes.jsonl                               failure modes, run by run (`mode_history.py`)

A failure is a system, a requirement and a key (the actions); the end of a file's name is the hash of these, so that
two runs that find the same failure at the same time write the same file.  Files are written whole or not at all, the
history only grows, and nothing is ever deleted: what is fixed stays as a regression test.  A file that this version
cannot read is named and left alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.json_files import file_text, write_atomically, written_beside
from bbfalsify.records.line_file import append_lines, read_line
from bbfalsify.records.run_directory import file_name

HISTORY = "history.jsonl"


class State(StrEnum):
    OPEN = "open"
    FIXED = "fixed"
    CHANGED = "changed"
    """Executed again it does something else: it fails at another moment, in another step, or the simulation fails."""


@dataclass(frozen=True, eq=False)
class StoredCounterexample:
    file: Path
    counterexample: Counterexample
    state: State


class Store:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @staticmethod
    def open(path: str | Path) -> Store:
        """The store in this folder, which is made if it is not there."""
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(Problem(f"cannot be a store: {error.strerror}.", file=str(path))) from None
        return Store(path)

    def read(self) -> tuple[list[StoredCounterexample], list[Problem]]:
        """Everything that can be read, by name, and what is wrong with the rest."""
        states, problems = self._states()
        entries = []
        for file in sorted(self.path.glob("*.json")):
            try:
                counterexample = Counterexample.read(file)
            except UserError as error:
                problems += error.problems[:1]  # the first says enough about a file that is left alone
                continue
            entries.append(StoredCounterexample(file, counterexample, states.get(file.name, State.OPEN)))
        return entries, problems

    def keep(self, counterexample: Counterexample, *, replace: bool = False) -> Path:
        """Store it under its name; what is already there stays, unless it is to be replaced."""
        path = self.path / f"{name_of(counterexample)}.json"
        text = file_text(counterexample.as_json())
        if replace:
            write_atomically(path, text)
        else:
            with written_beside(path, text) as temporary:
                try:
                    os.link(temporary, path)  # fails where the name is taken, by whomever
                except FileExistsError:
                    pass
        return path

    def mark(self, file: Path, state: State, *, run: str) -> None:
        """Note a change of state; one short line, appended in one go, so that runs at the same time do no harm."""
        line = {"file": file.name, "state": state.value, "time": now_text(), "run": run}
        append_lines(self.path / HISTORY, [line])

    def _states(self) -> tuple[dict[str, State], list[Problem]]:
        """The last state of each file; a line that cannot be read is named and passed over."""
        states, problems = {}, []
        for number, line in self._lines():
            try:
                entry = read_line(line) or {}
                states[entry["file"]] = State(entry["state"])
            except (ValueError, KeyError, TypeError):
                problems.append(
                    Problem("not a line of a store's history; left out.", file=str(self.path / HISTORY), line=number)
                )
        return states, problems

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        try:
            text = (self.path / HISTORY).read_bytes()
        except FileNotFoundError:
            return
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield number, line


def name_of(counterexample: Counterexample) -> str:
    """R1-on-on-off-5f0c…: readable, and the same for the same system, requirement and key."""
    record = counterexample.requirement
    identity = [
        counterexample.system.name or counterexample.system.reference,
        [record.id, record.stl, record.time, record.period],
        list(counterexample.actions),
    ]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    return f"{file_name('-'.join([record.id, *counterexample.actions]))}-{digest}".lstrip("-")


def same_system(counterexample: Counterexample, name: str, reference: str) -> bool:
    """Files of older versions do not say the system's name; then the reference decides."""
    record = counterexample.system
    return record.name == name if record.name else record.reference in (name, reference)


def now_text() -> str:
    """The time as histories have it."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
