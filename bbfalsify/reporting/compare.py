"""Two runs side by side: what is new, what is gone, and which probabilities moved further than their intervals explain.

    change = compare_runs("runs/heater-1", "runs/heater-2", ENGINES)
    change.new, change.gone, [shift for shift in change.shifts if not shift.explained]

A counterexample is the same in both if requirement and actions are; of a check, a requirement's violation is one.
Failure modes are compared by name (`compare_modes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bbfalsify.automata.mealy import read_dot
from bbfalsify.core.engine_kind import Engines
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import FOUND
from bbfalsify.records.manifest import differences, readable_manifest
from bbfalsify.records.stored import to_json
from bbfalsify.reporting.compare_machines import MachineChange, compare_machines
from bbfalsify.reporting.compare_modes import ModesChange, compare_modes
from bbfalsify.results.recorded import recorded_results, showing
from bbfalsify.results.run_result import CounterexampleRow, RunResult
from bbfalsify.stats.estimates import difference, explained

Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Found(CounterexampleRow):
    """A counterexample of one of the two runs."""

    remark: str = ""


@dataclass(frozen=True)
class Shift:
    """Something that both runs estimate: a counterexample, or (without actions) the total of a requirement."""

    requirement: str
    actions: tuple[str, ...] | None
    old: Estimate
    new: Estimate
    difference: Estimate | None
    ranks: tuple[int | None, int | None] = (None, None)
    statuses: tuple[str, str] = ("", "")

    @property
    def explained(self) -> bool:
        return self.difference is None or explained(self.difference)

    @property
    def changed(self) -> bool:
        return not self.explained or self.statuses[0] != self.statuses[1]

    def as_json(self) -> dict[str, Any]:
        return {
            "requirement": self.requirement, "actions": to_json(self.actions), "old": self.old.as_json(),
            "new": self.new.as_json(), "explained_by_intervals": self.explained,
            "difference": to_json(self.difference), "old_rank": self.ranks[0], "new_rank": self.ranks[1],
            "old_status": self.statuses[0], "new_status": self.statuses[1],
        }  # fmt: skip


@dataclass(frozen=True)
class RunChange:
    name: str
    new: tuple[Found, ...]
    gone: tuple[Found, ...]
    shifts: tuple[Shift, ...]
    """Counterexamples that both have."""
    totals: tuple[Shift, ...]
    outcomes: tuple[tuple[str, str | None, str | None], ...]
    """(requirement, outcome before, outcome now) where they differ; None where the run does not have it."""
    settings: tuple[tuple[str, str, str], ...]
    """Differing settings that decide a result: (name, before, now)."""
    machine: MachineChange | None = None
    modes: ModesChange | None = None
    """None where one of the runs has not named any."""

    @property
    def is_news(self) -> bool:
        worse = any(now in FOUND and before not in FOUND for _, before, now in self.outcomes)
        return bool(self.new) or worse or (self.machine is not None and self.machine.differ)

    def as_json(self) -> dict[str, Any]:
        parts = ("name", "modes", "new", "gone", "shifts", "totals", "machine")
        return {
            **{part: to_json(getattr(self, part)) for part in parts},
            "outcomes": [{"requirement": r, "old": old, "new": new} for r, old, new in self.outcomes],
            "settings": [{"name": name, "old": old, "new": new} for name, old, new in self.settings],
        }


def compare_runs(old: str | Path, new: str | Path, engines: Engines) -> RunChange:
    """Two run directories of the same engine."""
    (before, settings_before), (now, settings_now) = _read(Path(old), engines), _read(Path(new), engines)
    names = [results.get("engine", "falsify") for results in (before, now)]
    if names[0] != names[1]:
        raise UserError(f"runs of different engines cannot be compared ({names[0]} and {names[1]}).")
    found = engines.of(now).named("found") or listed
    with showing(Path(old) / "results.json", before):
        left = found(before)
    with showing(Path(new) / "results.json", now):
        right = found(now)
        results = RunResult.from_json(before), RunResult.from_json(now)
        both = [key for key in right if key in left]
        shifts = [_shift(left[key], right[key], len(both)) for key in both]
        least = _least(results[0], settings_before), _least(results[1], settings_now)
        return RunChange(
            name=results[1].name,
            new=tuple(_remarked(right[key], least[0], "old") for key in right if key not in left),
            gone=tuple(_remarked(left[key], least[1], "new") for key in left if key not in right),
            shifts=tuple(shift for shift in shifts if shift is not None),
            totals=tuple(_totals(*results)),
            outcomes=tuple(_outcomes(*results)),
            settings=tuple(differences(settings_before, settings_now)),
            machine=_machines(Path(old), Path(new)),
            modes=compare_modes(before, now),
        )


def _read(directory: Path, engines: Engines) -> tuple[dict[str, Any], dict[str, Any]]:
    if not (directory / "results.json").is_file():
        raise UserError(Problem("not a finished run directory (it has no results.json).", file=str(directory)))
    (file, results), manifest = recorded_results(directory), readable_manifest(directory)
    engines.of(results, file=str(file))
    decides = {"seed": manifest.get("seed"), **(manifest.get("decided_by") or {})}
    if not manifest.get("decided_by"):
        decides["engine"] = (manifest.get("configuration") or {}).get("engine")
        decides["adapter_sha256"] = manifest.get("adapter_sha256")
    return results, {"versions": manifest.get("versions") or {}, **decides}


def listed(results: Mapping[str, Any]) -> dict[Key, Found]:
    """The findings of a falsification: each row of the list is one of its own."""
    return {(row.requirement, row.actions): row for row in _found(results)}


def one_each(results: Mapping[str, Any]) -> dict[Key, Found]:
    """The findings of a check or a search for states: one per requirement; by which word first is chance."""
    return {(row.requirement, ()): row for row in _found(results)}


def _found(results: Mapping[str, Any]) -> list[Found]:
    return [Found.from_json(row) for row in results.get("counterexamples", ())]


def _shift(old: Found, new: Found, comparisons: int) -> Shift | None:
    if old.probability is None or new.probability is None:
        return None
    moved = difference(old.probability, new.probability, comparisons)
    ranks, statuses = (old.rank, new.rank), (old.status or "", new.status or "")
    return Shift(new.requirement, new.actions, old.probability, new.probability, moved, ranks, statuses)


def _least(result: RunResult, settings: Mapping[str, Any]) -> dict[str, float]:
    """Per requirement whose list is full: the lowest probability on it."""
    asked = (settings.get("engine") or {}).get("counterexamples")
    if asked is None:  # an engine without such a list
        return {}
    full = [rows for row in result.requirements if len(rows := result.of(row.id)) >= max(asked, 1)]
    return {rows[0].requirement: min(row.probability.value for row in rows if row.probability) for rows in full}


def _remarked(found: Found, least: Mapping[str, float], other: str) -> Found:
    """A full list hides what is less probable than its last: missing there says little."""
    bound = least.get(found.requirement)
    if bound is None or found.probability is None or found.probability.low > bound:
        return found
    return replace(found, remark=f"perhaps only below the {other} list, which was full")


def _totals(before: RunResult, now: RunResult) -> list[Shift]:
    """Total probability of the listed counterexamples of each requirement, in both runs."""
    old = {row.id: row.found_probability for row in before.requirements}
    pairs = [(row.id, old.get(row.id), row.found_probability) for row in now.requirements]
    return [Shift(name, None, was, is_now, difference(was, is_now)) for name, was, is_now in pairs if was and is_now]


def _outcomes(before: RunResult, now: RunResult) -> list[tuple[str, str | None, str | None]]:
    old, new = ({row.id: row.outcome for row in result.requirements} for result in (before, now))
    return [(name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)]


def _machines(old: Path, new: Path) -> MachineChange | None:
    """Difference of two learned machines, where both checks learned one."""
    pair = [path / "model.dot" for path in (old, new)]
    if not all(path.is_file() for path in pair):
        return None
    return compare_machines(*map(read_dot, pair))
