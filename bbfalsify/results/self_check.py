"""The self-check of a falsification: what was met on the way against what the list says, as data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.accelerator import Finding
from bbfalsify.engines.falsification.engine import Progress
from bbfalsify.engines.falsification.self_check import FALSE_ALARMS, Contradiction, Meetings, contradictions

WARNING = "WARNING: "
"""Notes that begin so say that a number is wrong."""


def note_line(note: str) -> str:
    """A note of a run as a line of text."""
    return note if note.startswith(WARNING) else f"note: {note}"


@dataclass(frozen=True)
class SelfCheck:
    meetings: dict[Finding, Meetings] = field(default_factory=dict)
    """How often walks under the profile's law met each listed key."""
    contradicted: tuple[tuple[str, int, Finding, Contradiction], ...] = ()
    """Requirement, rank, finding, and what does not fit."""

    @property
    def warnings(self) -> list[str]:
        return [
            f"{WARNING}the probability of {requirement} #{rank} ({'·'.join(finding.actions)}) contradicts what was "
            f"simulated: {found.meetings.met} of {found.meetings.walks} walks under the profile's own law met it, so "
            f"it is {_limit(found)}. Trust neither this number nor the total, and please report the "
            f"case (self-check of the run; {FALSE_ALARMS:.1%} of runs with right numbers say this)"
            for requirement, rank, finding, found in self.contradicted
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": sum(met.walks > 0 for met in self.meetings.values()),
            "false_alarm_rate": FALSE_ALARMS,
            "contradictions": [
                {
                    "requirement": requirement,
                    "rank": rank,
                    "actions": list(finding.actions),
                    **found.meetings.as_json(),
                    "share": list(found.share),
                    "estimate": found.estimate.as_json(),
                }
                for requirement, rank, finding, found in self.contradicted
            ],
        }


def _limit(found: Contradiction) -> str:
    if found.too_low:
        return f"at least {found.share[0]:.3g}, while the estimate allows at most {found.estimate.high:.3g}"
    return f"at most {found.share[1]:.3g}, while the estimate allows no less than {found.estimate.low:.3g}"


def check_list(progress: Progress, plain: smc.Progress, requirements: Sequence[str]) -> SelfCheck:
    """Compare every row of every list with the walks that met it."""
    places, rows = [], []
    for number, name in enumerate(requirements):
        for rank, ranked in enumerate(progress.ranking(number), start=1):
            key = ranked.finding.actions
            met = progress.search.plain.meetings(number, key) + plain.meetings(number, key)
            places.append((name, rank, ranked.finding))
            rows.append((ranked.passes, met))
    meetings = {finding: met for (_, _, finding), (_, met) in zip(places, rows, strict=True)}
    return SelfCheck(meetings, tuple((*places[found.row], found) for found in contradictions(rows)))
