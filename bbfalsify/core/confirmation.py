"""Outcome of executing a finding again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bbfalsify.core.trace import Trace
from bbfalsify.core.verdict import Judgement

Reproduced = Literal["confirmed", "flaky"]


@dataclass(frozen=True, eq=False)
class Confirmation:
    reproduced: int
    """Repetitions that violated the requirement again."""
    tries: int
    same_moment: bool
    """All of them became violated at the time first seen."""
    trace: Trace | None
    """Trace of the first repetition that reproduced it (or of the first that ended well)."""
    judgement: Judgement | None = None
    """Judgement of the whole trace of the first repetition that reproduced it."""

    @property
    def status(self) -> Reproduced:
        return "confirmed" if self.reproduced == self.tries and self.same_moment else "flaky"
