"""Estimate the probabilities of thousands of words roughly and cheaply, for a search to choose from.

A few particles follow a word under the profile's law, as in the estimators (`conditional.py`, `splitting.py`), without
traces; the particles of every prefix are kept, because the words of a search share most of theirs.  The random numbers
of a prefix depend on its name alone, so the order of requests does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import systematic_resampling
from bbfalsify.engines.falsification.search.neighbours import Key
from bbfalsify.kernel import (
    CompiledModel,
    Particles,
    conditional_step,
    step_probability,
    stochastic_step,
    supports_conditional,
)

FEW = 4
"""Particles if step probabilities are exact: a few distinguish probable words from improbable ones."""
MANY = 100
"""Particles if steps are counted."""
MOST_PREFIXES = 5000


@dataclass
class Cylinders:
    model: CompiledModel
    seeds: SeedTree
    _probability: dict[Key, float] = field(default_factory=lambda: {(): 1.0})
    _particles: dict[Key, Particles | None] = field(default_factory=dict)

    def probability(self, word: Key, floor: float = 0.0) -> float:
        """Estimate the probability of the word; that of a prefix if it is below `floor`."""
        for length in range(1, len(word) + 1):
            prefix = word[:length]
            if prefix not in self._probability:
                self._follow(prefix)
            if self._probability[prefix] <= floor:
                return self._probability[prefix]
        return self._probability[word]

    def _follow(self, word: Key) -> None:
        """Add a level; the particles of the prefixes before it are made again if they were dropped."""
        known = len(word) - 1
        while known and word[:known] not in self._particles:
            known -= 1
        particles = self._particles[word[:known]] if word[:known] in self._particles else self._initial()
        for length in range(known + 1, len(word) + 1):
            particles = self._advance(word[:length], particles)

    def _initial(self) -> Particles:
        count = FEW if supports_conditional(self.model) is None else MANY
        initial = self._particles[()] = Particles.initial(self.model, self.seeds.words(count))
        return initial

    def _advance(self, prefix: Key, particles: Particles | None) -> Particles | None:
        """Take the last action of the prefix from the particles of the prefix before it."""
        label = self.model.actions.index(prefix[-1])
        share, after = (0.0, None) if particles is None else self._step(particles, label, self.seeds.child(*prefix))
        if len(self._particles) > MOST_PREFIXES:
            self._particles.clear()
        self._probability[prefix] = self._probability[prefix[:-1]] * share
        self._particles[prefix] = after
        return after

    def _step(self, particles: Particles, label: int, seeds: SeedTree) -> tuple[float, Particles | None]:
        """Return the share of the particles whose next action is this one, and as many that have taken it."""
        count, rng = len(particles), seeds.rng()
        words = rng.integers(0, 2**64, size=count, dtype=np.uint64)
        if supports_conditional(self.model) is None:
            q = step_probability(self.model, particles, label)
            share = float(q.mean())
            if share == 0.0:
                return 0.0, None
            parents = systematic_resampling(q, float(rng.random()))
            return share, conditional_step(self.model, particles.take(parents, words), label).particles
        step = stochastic_step(self.model, particles.take(np.arange(count), words))
        kept = np.flatnonzero(step.action == label)
        if not len(kept):
            return 0.0, None
        return len(kept) / count, step.particles.take(kept[rng.integers(0, len(kept), size=count)])
