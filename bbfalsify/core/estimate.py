"""An estimated number with its interval, confidence, method and number of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NOT_ESTIMATED = "not estimated"
"""Method of an estimate that nothing is known about."""
NONE_SEEN, AT_LEAST = "none seen", "at least"
"""Words of methods; files of older versions have no other sign of `none_seen` and `at_least`."""
BOTH = ", and plain simulation"
"""End of the method of a probability that plain simulation bounds, too: nothing unseen leads beyond its interval."""


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float
    confidence: float
    method: str
    samples: int
    none_seen: bool = False
    """True without a single hit: only the upper limit rests on evidence.

    The value is 0, or, of a counterexample that is known to exist, half a hit.
    """
    at_least: bool = False
    """True where it is the estimate of a part: the whole is at least as probable."""
    unseen: float = 0.0
    """Upper limit of what belongs to the whole, was never met and is not in the interval; 1 where nothing is known."""

    @property
    def at_most(self) -> float:
        """Upper limit of the whole."""
        return min(1.0, self.high + self.unseen) if self.unseen else self.high

    def as_json(self) -> dict[str, Any]:
        """An infinite number (the mean time until what may never happen) is null."""
        return {key: None if value == math.inf else value for key, value in self.__dict__.items()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Estimate:
        names = ("value", "low", "high", "confidence")
        numbers = {key: math.inf if data[key] is None else float(data[key]) for key in names}
        method = str(data["method"])
        none_seen = bool(data.get("none_seen", NONE_SEEN in method))
        if numbers["low"] == 0 and numbers["value"] == numbers["high"] and "upper bound" in method:
            # Older versions told the upper limit as the value of what was never met.
            none_seen, numbers["value"] = True, 0.0
        at_least = bool(data.get("at_least", f", {AT_LEAST}" in method))
        unseen = float(data.get("unseen", at_least))
        return Estimate(**numbers, method=method, samples=int(data["samples"]), none_seen=none_seen, at_least=at_least,
                        unseen=unseen)  # fmt: skip

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class TimeDistribution:
    """Distribution of the time of an event."""

    samples: int
    probability: float
    """Probability that the event happens at all."""
    quantiles: tuple[float, ...]
    """Quantiles of the time at LEVELS, given that the event happens; 0 and 1 give the first and the last time."""
    histogram: tuple[float, ...]
    """Probability per bin."""

    def as_json(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "probability": self.probability,
            "quantiles": {f"{level:g}": time for level, time in zip(LEVELS, self.quantiles, strict=True)},
            "histogram": list(self.histogram),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> TimeDistribution:
        quantiles = tuple(data["quantiles"][f"{level:g}"] for level in LEVELS)
        return TimeDistribution(data["samples"], data["probability"], quantiles, tuple(data["histogram"]))
