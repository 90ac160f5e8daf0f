"""Compare every row of every list with the walks that met it."""

from __future__ import annotations

from collections.abc import Sequence

from bbfalsify.engines.falsification import smc
from bbfalsify.engines.falsification.engine import Progress
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.self_check import FALSE_ALARMS, contradictions
from bbfalsify.results.self_check import ContradictedEstimate, Meetings, SelfCheck


def check_list(
    progress: Progress, plain: smc.Progress, requirements: Sequence[str]
) -> tuple[SelfCheck, dict[Finding, Meetings]]:
    """The outcome, and how often each listed finding was met by the search's plain walks and by plain simulation."""
    places, rows = [], []
    for number, name in enumerate(requirements):
        for rank, finding in enumerate(progress.ranking(number), start=1):
            key = finding.actions
            met = progress.search.plain.meetings(number, key) + plain.meetings(number, key)
            places.append((name, rank, finding))
            rows.append((finding.estimated.passes, met))
    wrong = []
    for found in contradictions(rows):
        name, rank, finding = places[found.row]
        met = rows[found.row][1]
        wrong.append(
            ContradictedEstimate(
                requirement=name,
                rank=rank,
                actions=finding.actions,
                met=met.met,
                walks=met.walks,
                unknown=met.unknown,
                share=found.share,
                estimate=found.estimate,
            )
        )
    meetings = {finding: met for (_, _, finding), (_, met) in zip(places, rows, strict=True)}
    checked = sum(met.walks > 0 for met in meetings.values())
    return SelfCheck(checked, FALSE_ALARMS, tuple(wrong)), meetings
