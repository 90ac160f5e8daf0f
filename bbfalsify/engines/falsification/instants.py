"""The key of a violation, and the moments that several actions share.

Actions may follow each other without a delay: out of a committed or an urgent location, on an urgent channel, or where
two components act at the same time.  The inputs at such a moment are those after its last action; values in between
last for no time, and no system sees them.  Hence one rule for keys, which everybody takes from here:

    the requirement became violated at τ, before the next action    the key ends with the next action
    it became violated at the moment τ of one or more actions       the key ends with the last action of that moment

The delay that the last action of a key ends may thus have length 0.  Since all actions of a moment belong together, a
run is judged only with its last moment complete (`whole_moments`): a run along `a` that stands in a committed location
has another key than `a`, unless it was violated before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.genealogy import Genealogy
from bbfalsify.engines.falsification.search.walk_extension import joined, where_they_end
from bbfalsify.kernel import CompiledModel, Walk, stochastic_step

MOST_AT_ONCE = 20_000
"""Actions of one moment, after which a profile is taken for zeno."""


def violating_step(times: np.ndarray, first_violation_time: float) -> int:
    """The step k (1-based) in which the violation became certain: the key of the violation has k actions.

    t_{k-1} < τ ≤ t_k; of several actions at τ itself, k is the last.
    """
    before, until = (int(np.searchsorted(times, first_violation_time, side)) for side in ("left", "right"))
    return max(before + 1, until)


def moment_ends(times: np.ndarray) -> np.ndarray:
    """The numbers of actions after which a run may be cut: no moment is taken apart."""
    return np.append(np.flatnonzero(np.diff(times) > 0) + 1, len(times))


def whole_moments(model: CompiledModel, walks: Sequence[Walk], seeds: SeedTree) -> list[Walk]:
    """Each walk, continued with the actions that follow at the moment of its last one, as the profile draws them."""
    result = list(walks)
    moving = [j for j, walk in enumerate(walks) if walk.steps]
    if not moving:
        return result
    family = Genealogy(where_they_end(model, [walks[j] for j in moving], seeds.words(len(moving))))
    while family.levels < MOST_AT_ONCE:
        step = stochastic_step(model, family.particles)
        at_once = np.flatnonzero(step.made & (step.particles.time <= family.particles.time))
        if not len(at_once):
            break
        # A model that fails later than this moment is not our concern.
        family.append(np.arange(family.size), replace(step, errors={}), at_once)
    for level in range(1, family.levels + 1):
        rows = family.childless(level)
        origins = family.lineage(level, rows)[0]
        for origin, more in zip(origins.tolist(), family.walks(level, rows), strict=True):
            result[moving[origin]] = joined(walks[moving[origin]], more)
    return result
