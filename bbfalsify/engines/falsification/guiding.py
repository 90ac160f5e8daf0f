"""Two ways to find counterexamples sooner (Paper D, sections 5.1 and 5.2).

Guiding.  In a run that did not violate, the moments at which the robustness lies more than one standard deviation below
its mean point at something that helped.  The actions that led there are promising, and the next run prefers them; they
are used once, so that every second run is unguided and no local minimum traps the search.  The robustness meant here
is that of the formula *inside* a top-level `always` (that of the `always` itself is monotone and has no outliers); the
monitor delivers those moments with its judgement.

Adaptive duration.  Short counterexamples are more probable and easier to debug.  Once one is found, the next runs last
only until the moment at which its violation was certain; when that brings nothing for a while, they last 10 % longer.
The moment includes the look-ahead of the formula, so a run cut there can still be judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.verdict import Judgement
from bbfalsify.kernel import CompiledModel, Walk

GROWTH = 1.1
PATIENCE = 22
"""Iterations granted beyond the average number per counterexample before runs get longer: two rounds of delays."""


def promising_actions(model: CompiledModel, walk: Walk, judgements: tuple[Judgement, ...]) -> np.ndarray | None:
    """One bool per action: those after which some requirement came unusually close; None where nothing stands out."""
    moments = [t for judgement in judgements for t in judgement.outlier_times]
    # The action that led there is the last one before the moment; before the first action there is none to blame.
    before = np.searchsorted(walk.times, moments, side="right") - 1
    before = before[before >= 0]
    if not len(before):
        return None
    preferred = np.zeros(len(model.actions), dtype=np.bool_)
    preferred[model.edge_action[walk.edges[before]]] = True
    return preferred


@dataclass
class AdaptiveDuration:
    """How long the next runs last, per requirement that is still searched for."""

    longest: float
    _limits: dict[int, float] = field(default_factory=dict)
    _found: dict[int, int] = field(default_factory=dict)
    _last: dict[int, int] = field(default_factory=dict)

    def limit(self, open_requirements: list[int]) -> float:
        """Long enough for each of them."""
        return max((self._limits.get(r, self.longest) for r in open_requirements), default=self.longest)

    def found(self, requirement: int, first_violation_time: float, iteration: int) -> None:
        self._limits[requirement] = min(first_violation_time, self.longest)
        self._found[requirement] = self._found.get(requirement, 0) + 1
        self._last[requirement] = iteration

    def waited(self, iteration: int) -> None:
        """Called after each batch: grow where nothing was found for longer than usual."""
        for requirement, limit in self._limits.items():
            usual = iteration / self._found[requirement] + PATIENCE
            if iteration - self._last[requirement] >= usual:
                self._limits[requirement] = min(limit * GROWTH, self.longest)
                self._last[requirement] = iteration
