"""Estimate the probabilities of thousands of words roughly and cheaply, for a search to choose from.

A few particles follow a word under the profile's law, as in the estimators (`conditional.py`, `splitting.py`), without
traces; the particles of every prefix are kept, because the words of a search share most of theirs.  The random numbers
of a prefix depend on its name alone, so the order of requests does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.conditional import systematic_resampling
from bbfalsify.engines.falsification.neighbours import Key
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

    def _follow(self, prefix: Key) -> None:
        """Add a level; the particles of the prefix before it are made again if they were dropped."""
        if len(self._particles) > MOST_PREFIXES:
            self._particles.clear()
        seeds = self.seeds.child(*prefix)
        before, particles = prefix[:-1], self._population(prefix[:-1])
        label = self.model.actions.index(prefix[-1])
        share, after = (0.0, None) if particles is None else self._step(particles, label, seeds)
        self._probability[prefix] = self._probability[before] * share
        self._particles[prefix] = after

    def _population(self, prefix: Key) -> Particles | None:
        if prefix not in self._particles:
            if prefix:
                self._follow(prefix)
            else:
                count = FEW if supports_conditional(self.model) is None else MANY
                self._particles[()] = Particles.initial(self.model, self.seeds.words(count))
        return self._particles[prefix]

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
