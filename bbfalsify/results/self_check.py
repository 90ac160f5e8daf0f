"""The self-check of a falsification as a result: meetings of the listed keys, and estimates that they contradict."""

from __future__ import annotations

from dataclasses import dataclass

from bbfalsify.core.estimate import Estimate
from bbfalsify.records.stored import Stored

WARNING = "WARNING: "
"""Notes that begin so say that a number is wrong."""


def note_line(note: str) -> str:
    """A note of a run as a line of text."""
    return note if note.startswith(WARNING) else f"note: {note}"


@dataclass(frozen=True)
class Meetings(Stored):
    """How often walks under the profile's law met a key."""

    met: int = 0
    walks: int = 0
    unknown: int = 0
    """Walks without a verdict (or, for one that failed, without a moment): they may have met it."""

    def __add__(self, other: Meetings) -> Meetings:
        return Meetings(self.met + other.met, self.walks + other.walks, self.unknown + other.unknown)


@dataclass(frozen=True, kw_only=True)
class ContradictedEstimate(Stored):
    """A row whose estimate and meetings exclude each other."""

    requirement: str
    rank: int
    actions: tuple[str, ...]
    met: int
    walks: int
    unknown: int
    share: tuple[float, ...]
    """Lowest and highest share that the walks allow."""
    estimate: Estimate
    """Its interval is what the passes allow."""


@dataclass(frozen=True)
class SelfCheck(Stored):
    """Comparison of the list with walks that follow the profile's own law."""

    rows: int
    """Rows that such walks could have met."""
    false_alarm_rate: float
    """Share of the runs with right numbers that have a contradiction, at most."""
    contradictions: tuple[ContradictedEstimate, ...] = ()

    @property
    def warnings(self) -> list[str]:
        return [
            f"{WARNING}the probability of {row.requirement} #{row.rank} ({'·'.join(row.actions)}) contradicts what was "
            f"simulated: {row.met} of {row.walks} walks under the profile's own law met it, so it is {_limit(row)}. "
            "Trust neither this number nor the total, and please report the case (self-check of the run; "
            f"{self.false_alarm_rate:.1%} of runs with right numbers say this)"
            for row in self.contradictions
        ]


def _limit(row: ContradictedEstimate) -> str:
    lowest, highest = row.share
    if lowest > row.estimate.high:
        return f"at least {lowest:.3g}, while the estimate allows at most {row.estimate.high:.3g}"
    return f"at most {highest:.3g}, while the estimate allows no less than {row.estimate.low:.3g}"
