"""What the estimation saw of a violation: the traces that were first violated in their last step, pass by pass.

They follow the word under the profile's law given the violation, so averages over them are averages over the users who
meet this counterexample: how their use depends on the profile's parameters, and when they meet it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Answer
from bbfalsify.kernel import Walk

MOST_WALKS = 1000
"""Violating traces kept per counterexample; of more, an even selection."""


@dataclass
class Evidence:
    walks: list[list[Walk]] = field(default_factory=list)
    """Per pass: violating traces."""
    times: list[np.ndarray] = field(default_factory=list)
    """Per pass: when each of them was first violated."""
    followers: list[Walk] = field(default_factory=list)
    """Traces of the first pass that had any, violating or not: all there is where no trace violates."""

    @property
    def example(self) -> Walk | None:
        """One trace that violates; where none does, one that follows the word."""
        return next((walk for group in (*self.walks, self.followers) for walk in group), None)

    def add(
        self, walks: Sequence[Walk], answers: Sequence[Answer], violated: Sequence[bool], requirement: int, passes: int
    ) -> None:
        """Keep what one of `passes` passes saw."""
        hits = np.flatnonzero(violated)
        most = max(1, MOST_WALKS // passes)
        # Neighbours may be alike (sorted particles, common ancestors), so the first ones would not do.
        kept = hits if len(hits) <= most else hits[np.linspace(0, len(hits) - 1, most).astype(int)]
        self.walks.append([walks[j] for j in kept])
        self.times.append(np.array([answers[j].judgements[requirement].first_violation_time for j in hits]))
        if not self.followers:
            self.followers = list(walks[: MOST_WALKS // 10])
