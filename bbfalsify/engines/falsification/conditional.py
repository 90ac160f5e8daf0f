"""The conditional estimator: splitting without luck.

Where Algorithm 5 waits for the next action to happen, this one makes it happen and pays with a weight: at each level
every particle is multiplied by the exact probability q_i(s) that its next transition carries action a_i, particles are
resampled in proportion to q_i, and the delay is drawn from the conditional law given that action (inverse CDF).  It is
the fully adapted particle filter of the timed cylinder: the product of the levels' mean q_i is unbiased, no particle is
ever lost, and where the law of every step depends on the word alone (all guard clocks reset) it is exact.

Systematic resampling takes each particle ⌊n q/Σq⌋ or ⌈n q/Σq⌉ times: equal weights change nothing, so the traces of a
profile with reset clocks stay independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.genealogy import Genealogy
from bbfalsify.kernel import CompiledModel, Particles, Walk, conditional_step, step_probability

METHOD = "conditional splitting"


def conditional_split(
    model: CompiledModel, word: Sequence[str], *, effort: int, seeds: SeedTree
) -> tuple[float, list[Walk]]:
    """One pass with `effort` particles: the estimate of the cylinder's probability, and traces that follow the word."""
    rng = seeds.child("resampling").rng()
    family = Genealogy(Particles.initial(model, seeds.child("start").words(effort)))
    probability = 1.0
    for level, action in enumerate(word, start=1):
        label = model.actions.index(action)
        q = step_probability(model, family.particles, label)
        mean = float(q.mean())
        probability *= mean
        if mean == 0.0:
            return 0.0, []
        parents = systematic_resampling(q, float(rng.random()))
        step = conditional_step(model, family.particles.take(parents, seeds.child("level", level).words(effort)), label)
        family.append(parents, step, np.arange(effort))
    return probability, family.walks()


def systematic_resampling(weights: np.ndarray, offset: float) -> np.ndarray:
    """len(weights) indices drawn in proportion to the weights, with one uniform `offset` in [0, 1)."""
    n = len(weights)
    cumulative = np.cumsum(weights)
    # Rounding may leave the last point just above the last cumulative weight, hence the clip.
    points = (np.arange(n) + offset) * (cumulative[-1] / n)
    return np.minimum(np.searchsorted(cumulative, points, side="right"), n - 1)
