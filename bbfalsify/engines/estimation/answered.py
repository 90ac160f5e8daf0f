"""The answer to one question about a probability, whatever method gave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bbfalsify.core.estimate import Estimate


@dataclass(frozen=True)
class Answered:
    estimate: Estimate | None
    verdict: bool | None = None
    asks_verdict: bool = False
    runs: int = 0
    method: str = ""
    warnings: list[str] = field(default_factory=list)
    trajectories: dict[str, Any] | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    """Effective sample size, or distinct roots, by the names of their members."""
