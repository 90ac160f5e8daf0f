"""Uses of a system under tilted laws of its profile, for importance sampling of a closed loop."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.importance import ELITE, Drawn, NothingToTilt
from bbfalsify.engines.estimation.tilted_paths import labels_of
from bbfalsify.engines.estimation.uses import VIOLATED, JudgedUses
from bbfalsify.engines.falsification.usage import MAX_STEPS
from bbfalsify.kernel import Walk, tilted_walks
from bbfalsify.kernel.tilts import Tilts

BINS, MOST_ROWS = 16, 24


@dataclass(frozen=True)
class ProfileTilts:
    """Laws of the random numbers of a profile: of its automata, and of its parameters and signals."""

    walks: Tilts
    values: Tilts

    def log_ratios(self, counts: np.ndarray) -> np.ndarray:
        own = self.walks.size
        return self.walks.log_ratios(counts[:, :own]) + self.values.log_ratios(counts[:, own:])

    def as_own(self) -> ProfileTilts:
        return ProfileTilts(self.walks.as_own(), self.values.as_own())

    def fitted(self, counts: np.ndarray, weights: np.ndarray, *, least: float) -> ProfileTilts:
        own = self.walks.size
        return ProfileTilts(
            self.walks.fitted(counts[:, :own], weights, least=least),
            self.values.fitted(counts[:, own:], weights, least=least),
        )


def training(scores: np.ndarray, counts: np.ndarray) -> Drawn:
    """Runs of a round of training: close are the tenth with the lowest scores, but none whose score is unknown."""
    level = np.sort(scores)[max(0, int(ELITE * len(scores)) - 1)]
    return Drawn(scores == VIOLATED, (scores <= level) & np.isfinite(np.maximum(scores, 0.0)), counts)


class TiltedUses:
    """A `TiltedSource`: uses of a system that violate a requirement."""

    def __init__(self, uses: JudgedUses) -> None:
        self.uses, usage = uses, uses.usage
        self.closest: Counter[tuple[str, ...]] = Counter()
        """Whole words of the uses that came closest in the last round of training."""
        self._walks: list[Walk] = []
        labels = labels_of(usage.model, usage.duration) if usage.profile.has_actions else {}
        rows = min(MOST_ROWS, max(labels.values(), default=1))
        values = Tilts.uniform(tuple(range(usage.values.width)), 1, BINS)
        self._own = ProfileTilts(Tilts.uniform(tuple(labels), rows, BINS), values)
        if not self._own.walks.labels and not usage.values.width:
            raise NothingToTilt("profile")

    @property
    def runs(self) -> int:
        return self.uses.asked

    def own(self) -> ProfileTilts:
        return self._own

    def train(self, tilts: ProfileTilts, count: int, seeds: SeedTree) -> Drawn:
        found = training(*self._scores(tilts, count, seeds))
        self.closest = Counter(self._walks[i].actions(self.uses.usage.model) for i in np.flatnonzero(found.close))
        if tilts is self._own:
            self.uses.count_plain(found.met)
        return found

    def draw(self, tilts: ProfileTilts, count: int, seeds: SeedTree) -> Drawn:
        before = self.uses.unknown
        scores, counts = self._scores(tilts, count, seeds)
        met = scores == VIOLATED
        return Drawn(met, met, counts, self.uses.unknown - before)

    def _scores(self, tilts: ProfileTilts, count: int, seeds: SeedTree) -> tuple[np.ndarray, np.ndarray]:
        usage = self.uses.usage
        numbers, of_values = tilts.values.moved(seeds.child("values").rng().random((count, usage.values.width)))
        words = seeds.child("walks").words(count)
        made = tilted_walks(usage.model, words, tilts.walks, usage.duration, MAX_STEPS)
        walks = []
        for (walk, _), row in zip(made, numbers, strict=True):
            usage.check_walk(walk)
            walks.append(replace(walk, values=row) if usage.values.width else walk)
        counts = np.concatenate([np.array([bins for _, bins in made]).reshape(count, -1), of_values], axis=1)
        self._walks = walks
        return self.uses.scores(walks), counts
