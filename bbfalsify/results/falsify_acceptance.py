"""Accepted failures: what is compared with them, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.records.accepted import ACCEPTED, Failure, Judged
from bbfalsify.records.stored import Stored
from bbfalsify.results.falsify_modes import FailureMode

if TYPE_CHECKING:
    from bbfalsify.results.falsify_result import RankedCounterexample


def failures_of(rows: Sequence[RankedCounterexample], modes: Sequence[FailureMode]) -> list[Failure]:
    """Counterexamples with their modes, to be compared with what is accepted."""
    named = {(mode.requirement, rank): mode for mode in modes for rank in mode.counterexamples}
    found = []
    for row in rows:
        mode = named.get((row.requirement, row.rank))
        failure = Failure(row.requirement, row.actions, row.probability)
        found.append(failure if mode is None else mode_failure(mode, rows, modes)._replace(
            actions=row.actions, probability=row.probability
        ))  # fmt: skip
    return found


def mode_failure(mode: FailureMode, rows: Sequence[RankedCounterexample], modes: Sequence[FailureMode]) -> Failure:
    """A failure mode, to be compared with what is accepted."""
    words = tuple(r.actions for r in rows if r.requirement == mode.requirement and r.rank in mode.counterexamples)
    names = tuple(m.name for m in modes if m.requirement == mode.requirement)
    return Failure(mode.requirement, mode.actions, mode.probability, mode.name, mode.probability, words, names)


def named_modes(modes: Sequence[FailureMode], wanted: Sequence[str]) -> list[FailureMode]:
    """The failure modes with these names or ranks; * is all of them."""
    known = [name for mode in modes for name in (mode.name, str(mode.rank))]
    problems = [unknown_name("failure mode", name, known) for name in wanted if name not in (*known, "*")]
    if problems:
        raise UserError(problems)
    return [mode for mode in modes if {"*", mode.name, str(mode.rank)} & set(wanted)]


@dataclass(frozen=True)
class UnmetAcceptance(Stored):
    """An accepted failure that was not found: fixed perhaps."""

    requirement: str
    actions: tuple[str, ...]
    line: int | None = None
    mode: str | None = None


@dataclass(frozen=True)
class AcceptanceResult(Stored):
    """Counterexamples that are accepted, where failures may be accepted."""

    file: str = ""
    accepted: int = 0
    not_accepted: int = 0
    unmet: tuple[UnmetAcceptance, ...] = ()

    @classmethod
    def of(cls, judged: Judged) -> AcceptanceResult:
        accepted = judged.verdicts.count(ACCEPTED)
        unmet = tuple(UnmetAcceptance(e.requirement, e.actions, e.line, e.mode) for e in judged.unmet)
        return cls(judged.file, accepted, len(judged.verdicts) - accepted, unmet)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "all_accepted": not self.not_accepted}
