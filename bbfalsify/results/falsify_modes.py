"""Failure modes of a falsification: what is wrong, how often it hits, which rows show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bbfalsify.core.confirmation import ConfirmedTrace
from bbfalsify.core.estimate import Estimate
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.falsify_insights import Swap
from bbfalsify.results.pictures import Picture


class TypicalUse(Protocol):
    """The counterexample that shows a mode (a `RankedCounterexample`)."""

    @property
    def actions(self) -> tuple[str, ...]: ...

    @property
    def trace(self) -> ConfirmedTrace | None: ...

    def plot(self) -> Picture: ...


@dataclass(frozen=True, kw_only=True)
class ViolationTimes(Stored):
    """Times of the first violations of a mode, weighed by probability."""

    samples: int
    first: float
    median: float
    last: float


@dataclass(frozen=True, kw_only=True)
class FailureMode(Stored):
    """A pattern that violating uses share."""

    rank: int
    requirement: str
    name: str
    """Made of its actions alone, so that it survives other seeds."""
    sentence: str
    actions: tuple[str, ...]
    """Its core: the actions that matter, in order, up to the violation."""
    probability: Estimate
    """Probability that a use meets it."""
    precision: Estimate
    """How often a use with this pattern violates."""
    share: Estimate
    """Part of all known violations of the requirement."""
    time_to_violation: ViolationTimes | None = None
    """When a use that meets it is violated; None where no simulation tells."""
    counterexamples: tuple[int, ...] = ()
    """Ranks of the rows that show it."""
    typical_file: str | None = member("typical", default=None)
    """File of the most probable of them; of a mode without rows, of another use that shows it."""
    typical: TypicalUse | None = member(None, default=None, repr=False, compare=False)
    """The same; None where nothing that was met violates again, or no row shows it and the result is from a file."""
    avoided_by: str | None = None
    """The nearest use that passes, which differs in one delay, value or action; None where none was found."""
    path: tuple[int, ...] = ()
    """Numbers of the branches of the profile's automata that a typical use takes, up to the violation."""
    rank_changes: Swap | None = None
    """The smallest change of one parameter of the profile that makes it as probable as a neighbour in the ranking."""


@dataclass(frozen=True, kw_only=True)
class PastMode(Stored):
    """A failure mode of an earlier run."""

    name: str
    sentence: str
    probability: Estimate
    typical: tuple[str, ...] = ()
    """The most probable counterexample that showed it: its name may have changed with the version."""


@dataclass(frozen=True, kw_only=True)
class PastRun(Stored):
    """The modes of one requirement in an earlier run of a store."""

    run: str
    time: str
    requirement: str
    violation: Estimate
    modes: tuple[PastMode, ...]


@dataclass(frozen=True)
class Unseen(Stored):
    """Violations that are not on the list, match no mode, and were never met."""

    high: float
    """Upper bound of their probability."""
    confidence: float = 0.95


@dataclass(frozen=True)
class RequirementModes:
    """The modes of one requirement and what they leave open."""

    modes: tuple[FailureMode, ...]
    other: Estimate
    """Known violations that belong to no mode."""
    violation: Estimate
    """All known violations: those on the list, and those that plain simulations met."""
    unseen: Unseen | None
    """None where the list holds all violations there are: a profile without actions."""
