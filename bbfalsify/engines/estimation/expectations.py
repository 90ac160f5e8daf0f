"""Means of the largest or smallest value of an expression in a run, and runs as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.questions import Question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.kernel import Sampler, Walk, WalkStatus, compile_network, stochastic_walks
from bbfalsify.modelling import Network

_BATCH = 500
_STATES = 2_000_000
"""States that are recorded at once; a first run alone tells how many there are in one."""
_BENT, _INSIDE = 1e-9, 31
"""An expression that is no straight line within a state is looked at in that many moments of it."""
MOST_SHOWN = 20
"""Runs of a simulation whose values are kept."""


class RecordedRuns:
    """Recorded runs of a model up to a time, and values of expressions along them."""

    def __init__(self, network: Network, question: Question, settings: EstimateSettings, seeds: SeedTree) -> None:
        self.network, self.limit, self.steps = network, question.limit, settings.steps
        self.model = compile_network(network)
        expressions = [question.expression] if question.expression is not None else [e for _, e in question.expressions]
        self.sampler = Sampler(self.model, [(e, 0) for e in expressions])
        self._words = seeds.child("runs").rng()
        self._longest = 0

    def batch(self, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """(times, values: a row per expression) of at most so many runs; at jumps the values before and after."""
        # Words come one by one from the stream: run i is the same for every size of batch.
        size = min(count, max(1, _STATES // self._longest)) if self._longest else 1
        seeds = self._words.integers(0, 2**64, size=size, dtype=np.uint64)
        walks = stochastic_walks(self.model, seeds, until=self.limit, max_steps=self.steps)
        if walks.errors:
            raise UserError(
                Problem(f"the model fails in a run: {next(iter(walks.errors.values()))}.", self.network.file)
            )
        self._longest = max(self._longest, int(walks.steps.max()), 1)
        return [self._sampled(walks.walk(i)) for i in range(size)]

    def _sampled(self, walk: Walk) -> tuple[np.ndarray, np.ndarray]:
        if walk.status is WalkStatus.STEP_LIMIT and walk.times[-1] < self.limit:
            says = f"a run made {walk.steps} steps up to time {walk.times[-1]:g}, and was to last until {self.limit:g}"
            what = "allow more with --steps, or give a location of an endless loop a delay"
            raise UserError(Problem(f"{says}; {what}.", self.network.file))
        times, values = self.sampler.sample_states(walk, self.limit, inside=1)
        straight = np.abs(values[:, 0::3] + values[:, 2::3] - 2 * values[:, 1::3])
        if (straight > _BENT * (np.abs(values[:, 0::3]) + np.abs(values[:, 2::3]))).any():
            return self.sampler.sample_states(walk, self.limit, inside=_INSIDE)
        return np.delete(times, np.s_[1::3]), np.delete(values, np.s_[1::3], axis=1)


def expectation(
    network: Network, question: Question, settings: EstimateSettings, seeds: SeedTree, go_on: Callable[[], bool]
) -> tuple[Estimate, list[str]]:
    """The mean over runs of the largest or smallest value of the expression."""
    runs, values = RecordedRuns(network, question, settings, seeds), np.zeros(0)
    most = question.runs or settings.runs or 100_000
    reduce = np.max if question.extreme == "max" else np.min
    warnings = []
    while len(values) < most:
        if len(values) >= 2 and not go_on():
            warnings.append(f"the time was up after {len(values)} runs")
            break
        made = [float(reduce(v[0])) for _, v in runs.batch(min(_BATCH, most - len(values)))]
        values = np.concatenate([values, made])
        if question.runs is None and settings.runs is None and _narrow(values, settings):
            break
    half = _half_width(values, settings.confidence)
    mean = float(values.mean())
    if np.ptp(values) == 0:
        warnings.append(f"all {len(values)} runs have the same value: the interval says nothing of rarer ones")
    if len(values) and float(values.std()) > 10 * abs(mean) > 0:
        warnings.append("heavy tails: values scatter more than ten times their mean; the interval may be too narrow")
    return Estimate(mean, mean - half, mean + half, settings.confidence, "mean of runs, Student", len(values)), warnings


def _half_width(values: np.ndarray, confidence: float) -> float:
    if len(values) < 2:
        return math.inf
    quantile = float(special.stdtrit(len(values) - 1, (1 + confidence) / 2))
    return quantile * float(values.std(ddof=1)) / math.sqrt(len(values))


def _narrow(values: np.ndarray, settings: EstimateSettings) -> bool:
    wanted = (settings.relative or settings.epsilon or 0.005) * abs(float(values.mean()))
    return len(values) >= 2000 and _half_width(values, settings.confidence) <= wanted


def simulation(network: Network, question: Question, settings: EstimateSettings, seeds: SeedTree) -> dict[str, Any]:
    """Values of expressions along random runs: for each run its times, and a list of values per expression."""
    count = min(question.runs or 1, MOST_SHOWN)
    names = [name for name, _ in question.expressions]
    recorded, made = RecordedRuns(network, question, settings, seeds), list[tuple[np.ndarray, np.ndarray]]()
    while len(made) < count:
        made += recorded.batch(count - len(made))
    return {
        "expressions": names,
        "runs": [
            {"times": times.tolist(), "values": dict(zip(names, (row.tolist() for row in values), strict=True))}
            for times, values in made
        ],
    }
