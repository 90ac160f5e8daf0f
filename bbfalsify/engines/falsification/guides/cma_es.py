"""CMA-ES over quantiles (Hansen: The CMA Evolution Strategy, a tutorial, 2016; figure 6 without active update).

Runs start at the best simulation known, with step size 0.25, and end after `MOST` simulations or when the step size has
collapsed; the next one starts elsewhere.
"""

from __future__ import annotations

import numpy as np

from bbfalsify.core.choices import ChoiceSequence, Space
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.guides.choice_rows import clipped, fixed_layout
from bbfalsify.engines.falsification.guides.memory import Memory

STEP_SIZE = 0.25
SMALLEST_STEP = 0.01
MOST_CHOICES = 300
"""The covariance of more takes longer than most simulations."""
RESOLUTION = 2.0**-32
"""Proposals are multiples of it: the last bits of linear algebra depend on the processor and the number of threads."""
MOST = 100
"""Simulations of one run of the strategy."""


class Strategy:
    """One run of CMA-ES: mean, step size, covariance and their paths."""

    def __init__(self, mean: np.ndarray, step_size: float = STEP_SIZE) -> None:
        n = len(mean)
        self.mean, self.sigma, self.evaluations, self.generation = mean, step_size, 0, 0
        self.population = 4 + int(3 * np.log(n))
        parents = self.population // 2
        weights = np.log((self.population + 1) / 2) - np.log(np.arange(1, parents + 1))
        self.weights = weights / weights.sum()
        self.effective = 1 / (self.weights**2).sum()
        mu = self.effective
        self.path_rate = (4 + mu / n) / (n + 4 + 2 * mu / n)
        self.sigma_rate = (mu + 2) / (n + mu + 5)
        self.rank_one = 2 / ((n + 1.3) ** 2 + mu)
        self.rank_mu = min(1 - self.rank_one, 2 * (mu - 2 + 1 / mu) / ((n + 2) ** 2 + mu))
        self.damping = 1 + 2 * max(0.0, np.sqrt((mu - 1) / (n + 1)) - 1) + self.sigma_rate
        self.expected_length = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        self.covariance, self.path, self.sigma_path = np.eye(n), np.zeros(n), np.zeros(n)
        self.longest, self.root, self.inverse_root = 1.0, np.eye(n), np.eye(n)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        drawn = self.mean + self.sigma * self.root @ rng.normal(size=len(self.mean))
        return clipped(np.round(drawn / RESOLUTION) * RESOLUTION)

    def learn(self, points: np.ndarray, values: np.ndarray) -> None:
        """Update by one generation."""
        n = len(self.mean)
        self.evaluations += len(points)
        self.generation += 1
        best = points[np.argsort(values, kind="stable")[: len(self.weights)]]
        weights = self.weights[: len(best)] / self.weights[: len(best)].sum()
        steps = (best - self.mean) / self.sigma
        mean_step = weights @ steps
        self.mean = self.mean + self.sigma * mean_step
        rate, whitened = self.sigma_rate, self.inverse_root @ mean_step
        self.sigma_path = (1 - rate) * self.sigma_path + np.sqrt(rate * (2 - rate) * self.effective) * whitened
        length = float(np.linalg.norm(self.sigma_path))
        stalled = (
            length / np.sqrt(1 - (1 - rate) ** (2 * self.generation)) >= (1.4 + 2 / (n + 1)) * self.expected_length
        )
        rate = self.path_rate
        self.path = (1 - rate) * self.path
        if not stalled:
            self.path = self.path + np.sqrt(rate * (2 - rate) * self.effective) * mean_step
        lost = self.rank_one * rate * (2 - rate) if stalled else 0.0
        self.covariance = (
            (1 - self.rank_one - self.rank_mu + lost) * self.covariance
            + self.rank_one * np.outer(self.path, self.path)
            + self.rank_mu * (steps.T * weights) @ steps
        )
        self.sigma *= float(np.exp((self.sigma_rate / self.damping) * (length / self.expected_length - 1)))
        self._take_roots()

    def _take_roots(self) -> None:
        """The covariance's symmetric roots: unlike its eigenvectors, they do not depend on the processor's signs."""
        squares, axes = np.linalg.eigh((self.covariance + self.covariance.T) / 2)
        lengths = np.sqrt(np.maximum(squares, 1e-12))
        self.longest = float(lengths.max())
        self.root, self.inverse_root = (axes * lengths) @ axes.T, (axes / lengths) @ axes.T

    @property
    def over(self) -> bool:
        return self.evaluations >= MOST or self.sigma * self.longest < SMALLEST_STEP


class CmaEs:
    def __init__(self, space: Space, requirements: int, seed: SeedTree) -> None:
        self.layout = fixed_layout(space, "cma_es", MOST_CHOICES)
        self.rng = seed.rng()
        self.memory = Memory(requirements)
        self.strategy: Strategy | None = None
        self.generation: list[int] = []
        self.started: set[int] = set()
        self.aim = self.memory.focus
        self.asked = False

    def ask(self, count: int) -> list[np.ndarray]:
        self.asked = True
        if self.strategy is None or self.strategy.over or self.aim != self.memory.focus:
            self.strategy, self.generation = Strategy(self._start()), []
            self.aim = self.memory.focus
        missing = self.strategy.population - len(self.generation)
        return [self.strategy.sample(self.rng) for _ in range(min(count, missing))]

    def _start(self) -> np.ndarray:
        """The middle of the space first, then the best simulation from which no run has started yet."""
        if self.strategy is None:
            return np.full(self.layout.size, 0.5)
        if self.aim == self.memory.focus:
            self.memory.move_on()
        best = self.memory.best(without=self.started)
        if best is None:
            return self.rng.random(self.layout.size)
        self.started.add(best)
        return self.memory.sequences[best].quantiles

    def tell(self, sequences: list[ChoiceSequence], scores: np.ndarray) -> None:
        own, self.asked = self.asked, False
        first = len(self.memory)
        self.memory.add(sequences, scores)
        if not own or self.strategy is None:
            return
        self.generation += range(first, len(self.memory))
        if len(self.generation) >= self.strategy.population:
            points = np.array([self.memory.sequences[i].quantiles for i in self.generation])
            self.strategy.learn(points, self.memory.values[self.generation])
            self.generation = []
