"""Failure modes of two falsifications side by side; a mode is the same in both if requirement and name are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.stored import to_json
from bbfalsify.results.falsify_modes import FailureMode
from bbfalsify.results.falsify_result import FalsificationResult
from bbfalsify.results.recorded import result_from_json
from bbfalsify.stats.estimates import difference, explained


@dataclass(frozen=True)
class ModeFound:
    """A failure mode that only one of the two runs has."""

    mode: FailureMode
    elsewhere: tuple[str, ...] = ()
    """Names of the other run's modes that hold its counterexamples: the same failure may have got another name."""

    def as_json(self) -> dict[str, Any]:
        return {**self.mode.as_json(), "elsewhere": list(self.elsewhere)}


@dataclass(frozen=True)
class ModeShift:
    """A failure mode that both runs have."""

    old: FailureMode
    new: FailureMode
    difference: Estimate | None

    @property
    def explained(self) -> bool:
        return self.difference is None or explained(self.difference)

    def as_json(self) -> dict[str, Any]:
        return {
            "requirement": self.new.requirement, "name": self.new.name, "old_sentence": self.old.sentence,
            "new_sentence": self.new.sentence, "old": self.old.probability.as_json(),
            "new": self.new.probability.as_json(), "difference": to_json(self.difference),
            "explained_by_intervals": self.explained,
        }  # fmt: skip


@dataclass(frozen=True)
class ModesChange:
    new: tuple[ModeFound, ...]
    gone: tuple[ModeFound, ...]
    shifts: tuple[ModeShift, ...]
    """Modes that both have."""

    def as_json(self) -> dict[str, Any]:
        return {part: to_json(getattr(self, part)) for part in ("new", "gone", "shifts")}


def compare_modes(before: Mapping[str, Any], now: Mapping[str, Any]) -> ModesChange | None:
    """Compare the modes of all requirements of which both runs know them; None without any such requirement."""
    if "modes" not in before or "modes" not in now:
        return None  # another engine, or an older version
    old, new = (result_from_json(FalsificationResult, results) for results in (before, now))
    both = _known(old) & _known(new)
    left, right = ({(m.requirement, m.name): m for m in r.modes if m.requirement in both} for r in (old, new))
    if not left and not right:
        return None
    shared = [key for key in right if key in left]
    return ModesChange(
        new=tuple(ModeFound(m, _elsewhere(m, new, old)) for key, m in right.items() if key not in left),
        gone=tuple(ModeFound(m, _elsewhere(m, old, new)) for key, m in left.items() if key not in right),
        shifts=tuple(
            ModeShift(a, b, difference(a.probability, b.probability, len(shared)))
            for a, b in ((left[key], right[key]) for key in shared)
        ),
    )


def _known(result: FalsificationResult) -> set[str]:
    """Requirements whose modes are named, or that have nothing to name."""
    return {row.id for row in result.requirements if row.violation is not None or not result.listed(row.id)}


def _elsewhere(mode: FailureMode, own: FalsificationResult, other: FalsificationResult) -> tuple[str, ...]:
    """Find the modes of the other run that hold this mode's counterexamples."""
    words = {row.actions for row in own.listed(mode.requirement) if row.rank in mode.counterexamples}
    ranks = {row.rank for row in other.listed(mode.requirement) if row.actions in words}
    return tuple(m.name for m in other.modes_of(mode.requirement) if ranks.intersection(m.counterexamples))
