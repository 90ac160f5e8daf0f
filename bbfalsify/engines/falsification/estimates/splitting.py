"""Importance splitting as in the paper (Paper D, Algorithm 5, equation D.5).

Each action of the word is a level.  At level i, m times: pick a survivor of level i-1 uniformly, let it take one step
of the stochastic semantics, keep it if that step carries action a_i.  The product of the kept fractions estimates the
probability of the timed cylinder; the survivors of the last level are its traces.

The estimate is unbiased but heavy-tailed: an unlucky level kills all particles and the pass returns 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy, Split
from bbfalsify.kernel import CompiledModel, Particles, stochastic_step

METHOD = "importance splitting (Algorithm 5)"


def importance_split(model: CompiledModel, word: Sequence[str], *, effort: int, seeds: SeedTree) -> Split:
    """Make one pass of Algorithm 5 with `effort` steps per level."""
    labels = [model.actions.index(a) for a in word]
    rng = seeds.child("choice").rng()
    family = Genealogy(Particles.initial(model, seeds.child("start").words(1)))
    cylinders: list[float] = []
    for level, label in enumerate(labels, start=1):
        chosen = rng.integers(0, family.size, size=effort)
        attempt = family.particles.take(chosen, seeds.child("level", level).words(effort))
        step = stochastic_step(model, attempt)
        kept = np.flatnonzero(step.action == label)
        if not len(kept):
            cylinders += [0.0] * (len(labels) - len(cylinders))
            break
        cylinders.append((cylinders[-1] if cylinders else 1.0) * len(kept) / effort)
        family.append(chosen, step, kept)
    return Split(tuple(cylinders), family)
