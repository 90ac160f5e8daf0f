"""Analyse a list of counterexamples at the end of a falsification.

sensitivity          which assumption of the profile decides the order?
uncertainty          how much wider are the intervals, given how well the profile's parameters are known?
time to violation    when do users meet it?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.engines.falsification.estimating import Ranked
from bbfalsify.engines.falsification.sensitivity import (
    Elasticity,
    Influence,
    Swap,
    influence_of,
    logarithmic_variance,
    of_total,
    swaps,
    widened,
)
from bbfalsify.engines.falsification.smc import Baseline
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.modelling import profile_parameters
from bbfalsify.stats.estimates import TimeDistribution, common_bins, distribution


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Dependence of the probabilities of one requirement's counterexamples on the profile's parameters."""

    influences: dict[int, Influence]
    """Rank → influence; those that no trace could follow are missing."""
    elasticities: dict[int, tuple[Elasticity, ...]]
    swaps: tuple[Swap, ...]
    """Of neighbours in the ranking; for each pair the smallest change first."""

    @classmethod
    def of(cls, usage: Usage, ranking: Sequence[Ranked], confidence: float) -> Sensitivity:
        parameters = profile_parameters(usage.profile.network)
        found = {rank: influence_of(usage.model, item, parameters) for rank, item in enumerate(ranking, start=1)}
        influences = {rank: influence for rank, influence in found.items() if influence is not None}
        pairs = [
            (rank, rank + 1)
            for rank in influences
            if rank + 1 in influences and influences[rank].violating and influences[rank + 1].violating
        ]
        return cls(
            influences,
            {rank: influence.elasticities(confidence) for rank, influence in influences.items()},
            tuple(s for a, b in pairs for s in swaps(influences[a], influences[b], (a, b), confidence)),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "counterexamples": [
                {
                    "rank": rank,
                    "traces": influence.traces,
                    "violating": influence.violating,
                    "elasticities": [e.as_json() for e in self.elasticities[rank]],
                }
                for rank, influence in self.influences.items()
            ],
            "swaps": [s.as_json() for s in self.swaps],
        }


@dataclass(frozen=True, eq=False)
class TimeToViolation:
    """Distribution of the time of the first violation; all histograms have the same bins."""

    bins: np.ndarray
    """Ends of the bins."""
    listed: TimeDistribution | None
    """Time-to-violation distribution over all listed counterexamples."""
    each: dict[int, TimeDistribution]
    """Rank → distribution of this counterexample alone."""
    plain: TimeDistribution | None
    """Distribution of any violation, by plain simulation."""

    @classmethod
    def of(cls, ranking: Sequence[Ranked], baseline: Baseline | None, period: float) -> TimeToViolation | None:
        samples = {rank: _weighted_times(item) for rank, item in enumerate(ranking, start=1)}
        plain = np.array([] if baseline is None else baseline.violation_times)
        bins = common_bins([*(times for times, _ in samples.values()), plain], period)
        if bins is None:
            return None
        each = {rank: distribution(*sample, bins) for rank, sample in samples.items()}
        together = [np.concatenate([np.zeros(0), *parts]) for parts in zip(*samples.values(), strict=True)]
        share = 0.0 if baseline is None else baseline.probability.value / max(len(plain), 1)
        return cls(
            bins,
            distribution(together[0], together[1], bins) if together else None,
            {rank: found for rank, found in each.items() if found is not None},
            distribution(plain, np.full(len(plain), share), bins),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "bins": self.bins.tolist(),
            "counterexamples": None if self.listed is None else self.listed.as_json(),
            "smc": None if self.plain is None else self.plain.as_json(),
        }


def _weighted_times(item: Ranked) -> tuple[np.ndarray, np.ndarray]:
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


def insights_of(
    usage: Usage,
    ranking: Sequence[Ranked],
    total: Estimate | None,
    baseline: Baseline | None,
    *,
    sensitivity: bool,
    confidence: float,
) -> Insights:
    uncertainty = usage.profile.uncertainty
    found = Sensitivity.of(usage, ranking, confidence) if sensitivity or uncertainty else None
    times = TimeToViolation.of(ranking, baseline, usage.period)
    if found is None or not uncertainty:
        return Insights(found, times=times)
    probabilities = {
        rank: widened(ranking[rank - 1].probability, logarithmic_variance(elasticities, uncertainty))
        for rank, elasticities in found.elasticities.items()
    }
    sums = of_total([(float(ranking[rank - 1].passes.values.mean()), e) for rank, e in found.elasticities.items()])
    wide = None if total is None else widened(total, logarithmic_variance(sums, uncertainty))
    return Insights(found if sensitivity else None, probabilities, wide, times)
