"""Count the words that a profile can do up to the horizon, where they are few.

A search for ten counterexamples of a profile that has seven words cannot fill its list; it has to know that to stop.
"""

from __future__ import annotations

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import Particles, step_probability, supports_conditional

PARTICLES = 64
"""Uses that follow a word; one that none of them can continue has no longer words."""


def count_words(usage: Usage, most: int, seeds: SeedTree) -> int | None:
    """Count the keys that a use can have; None if there are more than `most`, or nobody can tell."""
    model = usage.model
    if supports_conditional(model) is not None:
        return None
    found = 0
    pending: list[tuple[str, ...]] = [()]
    while pending:
        word = pending.pop()
        particles = Particles.initial(model, seeds.words(PARTICLES))
        if word:
            split = conditional_split(model, word, effort=PARTICLES, seeds=seeds.child(*word))
            particles = split.family.particles
        if float(particles.time.min()) > usage.duration:
            continue  # its last action ends the use
        for label, action in enumerate(model.actions):
            if step_probability(model, particles, label).max() > 0.0:
                found += 1
                pending.append((*word, action))
        if found > most:
            return None
    return found
