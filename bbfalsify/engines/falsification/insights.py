"""Analyse a list of counterexamples at the end of a falsification.

sensitivity          which assumption of the profile decides the order?
uncertainty          how much wider are the intervals, given how well the profile's parameters are known?
time to violation    when do users meet it?
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.estimates.sensitivity import (
    influence_of,
    logarithmic_variance,
    of_total,
    swaps,
    widened,
)
from bbfalsify.engines.falsification.finding import Finding, WordEstimate
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.modelling import profile_parameters
from bbfalsify.results.falsify_insights import Baseline, Elasticities, Sensitivity, TimeToViolation
from bbfalsify.stats.estimates import common_bins, distribution


def sensitivity_of(usage: Usage, ranking: Sequence[Finding], confidence: float) -> Sensitivity:
    parameters = profile_parameters(usage.profile.network)
    found = {rank: influence_of(usage.model, item.estimated, parameters) for rank, item in enumerate(ranking, start=1)}
    influences = {rank: influence for rank, influence in found.items() if influence is not None}
    pairs = [
        (rank, rank + 1)
        for rank in influences
        if rank + 1 in influences and influences[rank].violating and influences[rank + 1].violating
    ]
    return Sensitivity(
        tuple(Elasticities(rank, i.traces, i.violating, i.elasticities(confidence)) for rank, i in influences.items()),
        tuple(s for a, b in pairs for s in swaps(influences[a], influences[b], (a, b), confidence)),
    )


def time_to_violation(ranking: Sequence[Finding], baseline: Baseline | None, period: float) -> TimeToViolation | None:
    """Distribution of the times of first violations; None if there are none."""
    samples = {rank: _weighted_times(item.estimated) for rank, item in enumerate(ranking, start=1)}
    plain = np.array([] if baseline is None else baseline.violation_times)
    bins = common_bins([*(times for times, _ in samples.values()), plain], period)
    if bins is None:
        return None
    each = {rank: distribution(*sample, bins) for rank, sample in samples.items()}
    together = [np.concatenate([np.zeros(0), *parts]) for parts in zip(*samples.values(), strict=True)]
    share = 0.0 if baseline is None else baseline.probability.value / max(len(plain), 1)
    return TimeToViolation(
        tuple(bins.tolist()),
        distribution(together[0], together[1], bins) if together else None,
        distribution(plain, np.full(len(plain), share), bins),
        {rank: found for rank, found in each.items() if found is not None},
    )


def _weighted_times(item: WordEstimate) -> tuple[np.ndarray, np.ndarray]:
    """Collect times of first violation in all passes; the weights sum to the counterexample's probability."""
    values = item.passes.values / len(item.passes.values)
    shares = [np.full(len(t), v / max(len(t), 1)) for v, t in zip(values, item.evidence.times, strict=True)]
    times = np.concatenate([np.zeros(0), *item.evidence.times])
    weights = np.concatenate([np.zeros(0), *shares])
    seen = np.isfinite(times)  # the time of a failing simulation's failure is unknown
    return times[seen], weights[seen]


@dataclass(frozen=True, eq=False)
class Insights:
    """The analyses of one requirement."""

    sensitivity: Sensitivity | None = None
    """None if not wanted."""
    probabilities: dict[int, Estimate] = field(default_factory=dict)
    """Rank → probability with the profile's uncertainty; empty if the profile declares none."""
    total: Estimate | None = None
    times: TimeToViolation | None = None


def _no_less_than(total: Estimate, rows: Collection[Estimate]) -> Estimate:
    """A sum is at least each of its rows, also where errors of the profile cancel out in the sum."""
    value, high = (max([getattr(total, part), *(getattr(row, part) for row in rows)]) for part in ("value", "high"))
    return replace(total, value=value, high=high)


def insights_of(
    usage: Usage,
    ranking: Sequence[Finding],
    total: Estimate | None,
    baseline: Baseline | None,
    *,
    sensitivity: bool,
    confidence: float,
) -> Insights:
    uncertainty = usage.profile.uncertainty
    found = sensitivity_of(usage, ranking, confidence) if sensitivity or uncertainty else None
    times = time_to_violation(ranking, baseline, usage.period)
    if found is None or not uncertainty:
        return Insights(found, times=times)
    probabilities = {
        rank: widened(ranking[rank - 1].estimated.probability, logarithmic_variance(elasticities, uncertainty))
        for rank, elasticities in found.elasticities.items()
    }
    counted = {rank for rank in found.elasticities if not ranking[rank - 1].exact_moments}
    weighted = [(ranking[rank - 1].estimated.probability.value, found.elasticities[rank]) for rank in sorted(counted)]
    sums = of_total(weighted)
    wide = None if total is None else widened(total, logarithmic_variance(sums, uncertainty))
    if wide is not None:
        wide = _no_less_than(wide, [probabilities[rank] for rank in counted])
    return Insights(found if sensitivity else None, probabilities, wide, times)
