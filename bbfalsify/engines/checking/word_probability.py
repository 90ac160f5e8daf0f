"""Compute the probability that a use of the box begins with a given word.

If a profile of use has actions of the same names as the symbols, a counterexample of black box checking is ranked like
those of falsification: by the probability that a use begins with it.  An endless loop has probability zero in most
profiles, so only the prefix and one round of the loop count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bbfalsify.core.estimate import NONE_SEEN, Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import METHOD as CONDITIONAL
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.exact import METHOD as EXACT
from bbfalsify.engines.falsification.estimates.exact import NotExact, exact_cylinder
from bbfalsify.engines.falsification.estimates.splitting import METHOD as SPLITTING
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.kernel import CompiledModel, supports_conditional
from bbfalsify.stats.intervals import t_interval

PASSES, PARTICLES = 10, 1000
CONFIDENCE = 0.95


def why_not_rankable(alphabet: Sequence[str], actions: Sequence[str]) -> str | None:
    """Return None if words over the alphabet are uses of the profile, else the reason why not."""
    foreign = sorted(set(actions) - set(alphabet))
    if foreign:
        return (
            f"the profile has actions that the system does not take ({', '.join(foreign)}), so a use of it is no word "
            "of the system's symbols"
        )
    return None


def word_probability(model: CompiledModel, word: Sequence[str], seeds: SeedTree) -> Estimate:
    """Estimate the probability that the first actions of a use are those of the word."""
    if any(symbol not in model.actions for symbol in word):
        return Estimate(0.0, 0.0, 0.0, CONFIDENCE, "no user does this", 0)
    try:
        value = exact_cylinder(model, word)
        return Estimate(value, value, value, CONFIDENCE, EXACT, 0)
    except NotExact:
        pass
    conditional = supports_conditional(model) is None
    split, method = (conditional_split, CONDITIONAL) if conditional else (importance_split, SPLITTING)
    passes = [split(model, word, effort=PARTICLES, seeds=seeds.child("pass", i)).cylinders[-1] for i in range(PASSES)]
    low, high = t_interval(passes, CONFIDENCE)
    mean = float(np.mean(passes))
    if mean == 0.0:  # the rule of three, for as many particles as there were
        high = 3 / (PASSES * PARTICLES)
        said = f"{method}, {NONE_SEEN}: upper bound"
        return Estimate(0.0, 0.0, high, CONFIDENCE, said, PASSES * PARTICLES, none_seen=True)
    return Estimate(
        mean, max(0.0, low), min(1.0, high), CONFIDENCE, f"{method}, t over {PASSES} passes", PASSES * PARTICLES
    )
