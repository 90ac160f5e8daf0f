"""Self-check: do walks that nobody steered meet the listed counterexamples as often as the estimates say?

Two kinds of walks follow the profile's own law from start to end: the plain walks of the search, and those of plain
simulation.  (Accelerated walks prefer the bounds of delays, runs along words follow their word: how often they violate
says nothing.)  A key is listed because some walk has met it, so only the plain walks after its discovery count for it:
given that it was found, they are a fair sample.

The share of the walks that meet a key has a confidence sequence, which holds whenever a run stops.  An estimate is
contradicted where that sequence and the estimate's own interval do not overlap, both at the confidence that leaves
all rows of a run together a false-alarm rate of `FALSE_ALARMS`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.results.self_check import ContradictedEstimate, Meetings, SelfCheck
from bbfalsify.stats.intervals import Passes, splitting_estimate
from bbfalsify.stats.sequential import ConfidenceSequence

FALSE_ALARMS = 1e-3
"""Share of the runs with right numbers that raise an alarm, at most (as far as the intervals keep their confidence)."""
BETS = (1.0, 10.0, 100.0, 1e3)
"""Concentrations of the confidence sequence, for some ten to some thousand walks."""

Key = tuple[str, ...]


def share_of(meetings: Meetings, confidence: float) -> tuple[float, float]:
    """Confidence sequence of the share of the walks that meet the key."""
    sequence, most = ConfidenceSequence(confidence, BETS), min(meetings.met + meetings.unknown, meetings.walks)
    return sequence.interval(meetings.met, meetings.walks)[0], sequence.interval(most, meetings.walks)[1]


@dataclass
class PlainWalks:
    """The walks of a search that follow the profile's law, and the keys that they met again."""

    walks: int = 0
    unknown: int = 0
    _since: dict[tuple[int, Key], tuple[int, int]] = field(default_factory=dict)
    """Walks, and those without a verdict, when a key of a requirement became known."""
    _met: dict[tuple[int, Key], int] = field(default_factory=dict)

    def know(self, requirement: int, key: Key) -> None:
        """From now on its meetings count."""
        self._since.setdefault((requirement, key), (self.walks, self.unknown))

    def count(self, keys: Collection[tuple[int, Key]], *, judged: bool) -> None:
        """One more walk, which met these keys."""
        self.walks += 1
        self.unknown += not judged
        for known in self._since.keys() & set(keys):
            self._met[known] = self._met.get(known, 0) + 1

    def meetings(self, requirement: int, key: Key) -> Meetings:
        known = requirement, key
        walks, unknown = self._since.get(known, (self.walks, self.unknown))
        return Meetings(self._met.get(known, 0), self.walks - walks, self.unknown - unknown)


@dataclass(frozen=True)
class Contradiction:
    """A row whose estimate and meetings exclude each other."""

    row: int
    share: tuple[float, float]
    """What the walks allow."""
    estimate: Estimate
    """What the passes allow."""


def contradictions(rows: Sequence[tuple[Passes, Meetings]]) -> list[Contradiction]:
    """Compare each row's passes with its meetings; rows that no walk could have met are left out."""
    checked = [number for number, (passes, met) in enumerate(rows) if met.walks and passes.total_traces]
    confidence = 1 - FALSE_ALARMS / (2 * max(1, len(checked)))
    found = []
    for number in checked:
        passes, met = rows[number]
        own, share = splitting_estimate(passes, method="self-check", confidence=confidence), share_of(met, confidence)
        if share[0] > own.high or share[1] < own.low:
            found.append(Contradiction(number, share, own))
    return found


def check_lists(lists: Mapping[str, Sequence[Finding]], met: Mapping[Finding, Meetings]) -> SelfCheck:
    """Compare every row of every requirement's list with the walks that met it."""
    places = [(name, rank, finding) for name, rows in lists.items() for rank, finding in enumerate(rows, start=1)]
    wrong = []
    for found in contradictions([(finding.estimated.passes, met[finding]) for _, _, finding in places]):
        name, rank, finding = places[found.row]
        wrong.append(
            ContradictedEstimate(
                requirement=name,
                rank=rank,
                actions=finding.actions,
                met=met[finding].met,
                walks=met[finding].walks,
                unknown=met[finding].unknown,
                share=found.share,
                estimate=found.estimate,
            )
        )
    checked = sum(met[finding].walks > 0 for _, _, finding in places)
    return SelfCheck(checked, FALSE_ALARMS, tuple(wrong))
