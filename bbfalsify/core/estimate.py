"""An estimated number with its interval, confidence, method and number of samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float
    confidence: float
    method: str
    samples: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Estimate:
        return Estimate(**{k: data[k] for k in ("value", "low", "high", "confidence", "method", "samples")})

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"
