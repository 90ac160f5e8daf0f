"""Count and limit of the work of naming failure modes that is done without the system.

The unit is a moment that is looked at: an action of a use, or a sample of a computed input.  A walk that is made counts
as WALK moments more.  Learning is bounded by the actions that it learns from.  Counts decide where work is cut, never
the clock, so the same seed has the same result on any machine; what is cut is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bbfalsify.engines.falsification.modes.use import Use

MOST = 60_000_000
"""Moments of walks for the modes of one requirement: about half a minute of one processor."""
WALK = 200
"""Moments that making one walk is worth."""
MOST_LEARNED, MOST_DECIDING = 150_000, 20_000
"""Actions of all uses of a kind that are learned from, and of those that decide about cores: they bound the time that
learning takes, however many and long the uses are …"""
SHORT = 12
"""… and the second goes down with the length of a word that is longer than this, whose actions are tried one by one."""


@dataclass
class Work:
    most: int = MOST
    spent: int = 0
    cuts: list[str] = field(default_factory=list)
    """What was left out, in words."""

    def walks(self, count: int, moments: int) -> None:
        """Count walks that were made, and moments of theirs that were looked at."""
        self.spent += WALK * count + moments

    @property
    def over(self) -> bool:
        return self.spent >= self.most

    def learned(self, uses: Sequence[Use], kind: str) -> list[Use]:
        """The uses to learn from."""
        some = thinned(uses, MOST_LEARNED)
        if len(some) < len(uses):
            self.cuts.append(f"patterns were learned from {len(some):,} of {len(uses):,} {kind} uses")
        return some


def thinned(uses: Sequence[Use], most: int) -> list[Use]:
    """Every second, third, … use if all have more actions than `most`."""
    step = -(-sum(len(use.actions) + 1 for use in uses) // most) or 1
    return [replace(use, weight=use.weight * step) for use in uses[::step]] if step > 1 else list(uses)
