"""When something happens: quantiles and a histogram of weighted times.

A sample's weight is its share of the probability, so the histogram's bars add up to the probability that it happens at
all, and their running sum is the probability that it has happened by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
MOST_BINS = 40


@dataclass(frozen=True)
class TimeDistribution:
    samples: int
    probability: float
    """Of happening at all."""
    quantiles: tuple[float, ...]
    """Given that it happens: for each of LEVELS, the time by which that part of it has; the first and the last too."""
    histogram: tuple[float, ...]
    """Probability per bin."""

    def as_json(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "probability": self.probability,
            "quantiles": {f"{level:g}": time for level, time in zip(LEVELS, self.quantiles, strict=True)},
            "histogram": list(self.histogram),
        }


def common_bins(times: list[np.ndarray], period: float) -> np.ndarray | None:
    """The ends of at most MOST_BINS bins over all of the times; None where there is none.

    Most times are multiples of the sampling period.  Bins as wide as a whole number of periods, with ends between two
    samples, hold equally many samples each: others would show a comb that is not there.
    """
    together = np.concatenate([np.zeros(0), *times])
    if not len(together):
        return None
    first, last = (round(float(t) / period) for t in (together.min(), together.max()))
    periods = -(-(last - first + 1) // MOST_BINS)
    return (first - 0.5 + periods * np.arange(-(-(last - first + 1) // periods) + 1)) * period


def distribution(times: np.ndarray, weights: np.ndarray, bins: np.ndarray) -> TimeDistribution | None:
    """The distribution over bins with these ends; None without samples or probability."""
    total = float(weights.sum())
    if not len(times) or not total > 0:
        return None
    order = np.argsort(times, kind="stable")
    running = np.cumsum(weights[order]) / total
    places = np.minimum(np.searchsorted(running, np.array(LEVELS) - 1e-12), len(times) - 1)
    # A time that rounds to the last period may lie just behind its end.
    bars, _ = np.histogram(np.clip(times, bins[0], bins[-1]), bins=bins, weights=weights)
    return TimeDistribution(
        len(times), total, tuple(float(t) for t in times[order][places]), tuple(float(b) for b in bars)
    )
