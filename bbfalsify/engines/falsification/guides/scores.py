"""Scores of simulations for guides: what is lacking for a violation, in units of the range seen so far.

The judge says per comparison what is lacking at the closest moment (`logic/stl/shortfall.py`).  Each amount is divided
by the range that the compared quantity has had in all simulations, and the amounts are added.  So a score has no unit,
several requirements can be compared, and every part of an implication or conjunction counts.  A violation has a score
below 0, the deeper by robustness the lower; a simulation that failed, and a number that is none, is +inf.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.query import Answer
from bbfalsify.core.verdict import Judgement, Verdict

NEAREST = 1e-12
"""Score of a run that lacks nothing and is no violation: strictness, or a window that is still open."""


class Scores:
    """Turns answers into scores (answers × requirements); remembers the ranges."""

    def __init__(self) -> None:
        self.ends: dict[int, np.ndarray] = {}
        """Per requirement the lowest and highest margin of each comparison."""

    def __call__(self, answers: Sequence[Answer], requirements: int) -> np.ndarray:
        scores = np.full((len(answers), requirements), np.inf)
        for row, answer in enumerate(answers):
            for column, judgement in enumerate(answer.judgements):
                scores[row, column] = self.score(column, judgement)
        return scores

    def score(self, requirement: int, judgement: Judgement) -> float:
        if judgement.verdict is Verdict.VIOLATED:
            depth = judgement.robustness if np.isfinite(judgement.robustness) else 0.0
            return min(-abs(depth), -NEAREST)
        if not judgement.shortfalls:
            return np.inf if np.isnan(judgement.robustness) else max(judgement.robustness, NEAREST)
        table = np.array(judgement.shortfalls)
        ends, known = table[:, 1:], self.ends.get(requirement, table[:, 1:])
        ends = np.stack([np.minimum(ends[:, 0], known[:, 0]), np.maximum(ends[:, 1], known[:, 1])], axis=1)
        self.ends[requirement] = ends
        width = ends[:, 1] - ends[:, 0]
        total = float((table[:, 0] / np.where(width > 0.0, width, 1.0)).sum())
        return np.inf if np.isnan(total) else max(total, NEAREST)
