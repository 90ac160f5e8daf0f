"""The conditional estimator: splitting in which every particle follows the word.

Algorithm 5 keeps only particles that take the next action by chance; here every particle takes it and gets a weight: at
each level it is multiplied by the exact probability q_i(s) that its next transition carries action a_i, particles are
resampled in proportion to q_i, and the delay is drawn from the conditional law given that action (inverse CDF).  It is
the fully adapted particle filter of the timed cylinder: the product of the levels' mean q_i is unbiased, no particle is
ever lost, and if the law of every step depends on the word alone (all guard clocks reset) it is exact.

Systematic resampling takes each particle ⌊n q/Σq⌋ or ⌈n q/Σq⌉ times: equal weights change nothing, so the traces of a
profile with reset clocks stay independent.

Quasi-random passes (`quasi_random.py`) sort the particles before they are resampled and spread the delays evenly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy, Split
from bbfalsify.engines.falsification.estimates.quasi_random import even_points, sorted_rows
from bbfalsify.kernel import CompiledModel, Particles, conditional_step, step_probability

METHOD = "conditional splitting"


def conditional_split(
    model: CompiledModel, word: Sequence[str], *, effort: int, seeds: SeedTree, quasi_random: bool = False
) -> Split:
    """Make one pass with `effort` particles; it is complete unless no user can follow the word."""
    rng = seeds.child("resampling").rng()
    family = Genealogy(Particles.initial(model, seeds.child("start").words(effort)))
    cylinders: list[float] = []
    for level, action in enumerate(word, start=1):
        label = model.actions.index(action)
        q = step_probability(model, family.particles, label)
        mean = float(q.mean())
        if mean == 0.0:
            cylinders += [0.0] * (len(word) - len(cylinders))
            break
        cylinders.append((cylinders[-1] if cylinders else 1.0) * mean)
        order = sorted_rows(family.particles, q) if quasi_random else np.arange(effort)
        parents = order[systematic_resampling(q[order], float(rng.random()))]
        step = conditional_step(
            model,
            family.particles.take(parents, seeds.child("level", level).words(effort)),
            label,
            even_points(effort, rng) if quasi_random else None,
        )
        family.append(parents, step, np.arange(effort))
    return Split(tuple(cylinders), family)


def systematic_resampling(weights: np.ndarray, offset: float) -> np.ndarray:
    """Draw len(weights) indices in proportion to the weights, with one uniform `offset` in [0, 1)."""
    n = len(weights)
    cumulative = np.cumsum(weights)
    points = (np.arange(n) + offset) * (cumulative[-1] / n)
    # Rounding may leave the last point just above all cumulative weights: it means the last that has weight.
    return np.minimum(np.searchsorted(cumulative, points, side="right"), np.flatnonzero(weights)[-1])
