"""Trust-region Bayesian optimisation (Eriksson et al.: Scalable Global Optimization via Local Bayesian Optimization,
NeurIPS 2019, "TuRBO").

A Gaussian process with a Matérn 5/2 kernel predicts the score of candidates near the best runs, and the candidates with
the largest expected improvement are simulated.  The region in which candidates lie grows after successes, shrinks after
failures, and starts anew when it has become too small: from what is simulated then, and the time after that again from
all that is known.

Our own: half of the candidates are stretch mutations (`stretch_mutation.py`), which keep signals piecewise constant;
scores are learned half as logarithms, because it counts how close to 0 they are, and half as ranks, because plateaus
and outliers must not dominate; and at most `MOST_POINTS` simulations are learned from, the best and the latest, so that
a proposal costs 1 to 3 ms.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import clipped, fixed_layout
from bbfalsify.engines.falsification.guides.coarse_to_fine import few_stretches
from bbfalsify.engines.falsification.guides.memory import Memory
from bbfalsify.engines.falsification.guides.one_thread import one_thread
from bbfalsify.engines.falsification.guides.stretch_mutation import mutants

FIRST = 6
"""Simulations before the first prediction."""
MOST_CHOICES, MOST_POINTS = 2000, 160
CANDIDATES = 200
CENTRES = 6
"""Candidates lie near this many of the best runs, mostly near the very best."""
CHANGED = 4
"""Choices that a candidate changes by a step of this width, on average; others change all, by steps of half of it or
less."""
HALVINGS = 3.0
"""Steps of candidates that change all choices are halved up to this many times."""
WIDTH, WIDEST, NARROWEST = 0.2, 0.4, 0.02
SUCCESSES, FAILURES, FACTOR = 2, 4, 2.0
LENGTH_SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)
REFIT = 10
"""Proposals after which the length scale is chosen again, by likelihood."""
NOISE = 1e-3
SMALLEST_SCORE = 1e-3


def matern(distances: np.ndarray, length_scale: float) -> np.ndarray:
    scaled = np.sqrt(5.0) / length_scale * distances
    return (1.0 + scaled + scaled**2 / 3.0) * np.exp(-scaled)


def distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * first @ second.T
    return np.sqrt(np.maximum(squares, 0.0))


class GaussianProcess:
    """Posterior of a function, given points and standardised values.

    The inverse of the triangular factor is computed once: solving with it instead takes OpenBLAS a hundred times as
    long on several threads.
    """

    def __init__(self, points: np.ndarray, values: np.ndarray, length_scales: tuple[float, ...]) -> None:
        from scipy.linalg.lapack import dtrtri

        self.points = points
        self.mean, self.deviation = float(values.mean()), float(values.std()) or 1.0
        targets, apart = (values - self.mean) / self.deviation, distances(points, points)
        best = -np.inf
        for length_scale in length_scales:
            factor = np.linalg.cholesky(matern(apart, length_scale) + NOISE * np.eye(len(points)))
            inverse = dtrtri(factor, lower=1)[0]
            whitened = inverse @ targets
            likelihood = -0.5 * whitened @ whitened - np.log(np.diag(factor)).sum()
            if likelihood > best:
                best, self.length_scale, self.inverse, self.weights = likelihood, length_scale, inverse, whitened

    def posterior(self, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the standardised value of each candidate."""
        explained = self.inverse @ matern(distances(self.points, candidates), self.length_scale)
        return self.weights @ explained, np.sqrt(np.maximum(1.0 - (explained**2).sum(axis=0), 1e-9))

    def expected_improvement(self, candidates: np.ndarray, best: float) -> np.ndarray:
        """Expected amount by which each candidate is below the best value."""
        from scipy.special import ndtr

        mean, deviation = self.posterior(candidates)
        below = (best - self.mean) / self.deviation - mean
        ratio = below / deviation
        return below * ndtr(ratio) + deviation * np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)


class TrustRegion:
    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.layout = fixed_layout(space, "trust_region", MOST_CHOICES)
        self.rng = seed.rng()
        self.memory = Memory(requirements)
        self.length_scales: tuple[float, ...] = LENGTH_SCALES
        self.proposals = 0
        self.asked = False
        self.since = 0
        """The first simulation that counts."""
        self._start()

    def _start(self) -> None:
        self.width, self.successes, self.failures = WIDTH, 0, 0

    def ask(self, count: int) -> list[np.ndarray]:
        self.asked = True
        values = self.memory.values
        finite = np.flatnonzero(np.isfinite(values))
        finite = finite[finite >= self.since]
        if len(finite) < FIRST:
            return [few_stretches(self.layout, self.rng) for _ in range(count)]
        kept = finite[kept_points(values[finite])]
        points = np.array([self.memory.sequences[i].quantiles for i in kept])
        targets = warped(values[kept])
        if self.proposals % REFIT == 0:
            self.length_scales = LENGTH_SCALES
        self.proposals += 1
        candidates = self._candidates(points[np.argsort(targets, kind="stable")[:CENTRES]])
        with one_thread():
            process = GaussianProcess(points, targets, self.length_scales)
            gains = process.expected_improvement(candidates, float(targets.min()))
        self.length_scales = (process.length_scale,)
        return [candidates[i] for i in np.argsort(-gains, kind="stable")[:count]]

    def _candidates(self, centres: np.ndarray) -> np.ndarray:
        """Runs near the best ones: half of them mutated once or twice, the others moved in a few choices or in all."""
        near = centres[np.minimum(self.rng.geometric(0.5, CANDIDATES) - 1, len(centres) - 1)]
        half = CANDIDATES // 2
        once = mutants(near[:half], self.layout, self.rng)
        twice = mutants(once, self.layout, self.rng)
        steps = self.width * self.rng.normal(size=near[half:].shape)
        everywhere = self.rng.random((len(steps), 1)) < 0.5
        changed = self.rng.random(steps.shape) < CHANGED / self.layout.size
        smaller = 2.0 ** -(1.0 + self.rng.uniform(0.0, HALVINGS, (len(steps), 1)))
        moved = clipped(near[half:] + np.where(everywhere, steps * smaller, steps))
        return np.concatenate(
            [
                np.where(self.rng.random((half, 1)) < 0.5, once, twice),
                np.where(everywhere | changed, moved, near[half:]),
            ]
        )

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        own, self.asked = self.asked, False
        best = float(self.memory.values[self.since :].min(initial=np.inf))
        for value in scores[:, self.memory.focus] if own else ():
            better = value < best
            self.successes, self.failures = (self.successes + 1, 0) if better else (0, self.failures + 1)
            best = min(best, float(value))
            self._resize()
        focus = self.memory.focus
        self.memory.add(sequences, scores)
        if self.memory.focus != focus:
            self._start()
            self.since = 0

    def _resize(self) -> None:
        if self.successes >= SUCCESSES:
            self.width, self.successes = min(self.width * FACTOR, WIDEST), 0
        if self.failures >= FAILURES:
            self.width, self.failures = self.width / FACTOR, 0
        if self.width < NARROWEST:
            self._start()
            self.since = 0 if self.since else len(self.memory)
            self.memory.move_on()


def warped(values: np.ndarray) -> np.ndarray:
    """Targets of the process: the mean of standardised logarithms and of normal scores of the ranks."""
    from scipy.special import ndtri

    logarithms = np.log(np.maximum(values, 0.0) + SMALLEST_SCORE)
    standard = (logarithms - logarithms.mean()) / (logarithms.std() or 1.0)
    _, kinds, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[kinds]  # equal values share their mean rank
    return 0.5 * (standard + ndtri((ranks - 0.5) / len(values)))


def kept_points(values: np.ndarray) -> np.ndarray:
    """Places of the simulations that are learned from: the best and the latest."""
    if len(values) <= MOST_POINTS:
        return np.arange(len(values))
    half = MOST_POINTS // 2
    best = np.argsort(values, kind="stable")[:half]
    return np.union1d(best, np.arange(len(values) - half, len(values)))
