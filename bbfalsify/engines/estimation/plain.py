"""Estimate a probability by plain simulation, until an interval is narrow enough or a test has decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.logic.csl import Bound
from bbfalsify.stats.binomial import SequentialTest, jeffreys, normal_samples, wilson
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.sequential import Counts, StoppingRule, chernoff_hoeffding_samples, hoeffding

MOST_RUNS = 10_000_000
_FIRST_BATCH, _LARGEST_BATCH = 1000, 100_000

FIXED = {
    "okamoto": (hoeffding, "Okamoto (Chernoff–Hoeffding)"),
    "clopper_pearson": (clopper_pearson, "Clopper–Pearson"),
    "wilson": (wilson, "Wilson"),
    "bayes": (jeffreys, "Bayes, prior beta(1/2, 1/2)"),
}


@dataclass
class Counting:
    """Runs so far."""

    hits: int = 0
    trials: int = 0
    endless: int = 0
    stopped: str | None = None
    """Why it ended before its rule allowed it."""

    def counts(self) -> Counts:
        return Counts(self.hits, self.trials, self.endless)

    def warnings(self) -> list[str]:
        said = [] if self.stopped is None else [self.stopped]
        if self.endless:
            said.append(f"{self.endless} runs made too many steps to be judged; they count as either")
        if self.hits == 0 and self.trials:
            said.append(f"no run of {self.trials} met it: the value is an upper bound; splitting finds rare events")
        return said


def fixed_runs(settings: EstimateSettings, given: int | None) -> int:
    """The number of runs of a method that fixes it."""
    if given is not None or settings.runs is not None:
        return given or settings.runs or 0
    epsilon = settings.epsilon or 0.005
    if settings.method == "okamoto":
        return chernoff_hoeffding_samples(epsilon, 1 - settings.confidence)
    return normal_samples(epsilon, settings.confidence)


class Plain:
    """Plain simulation of one path."""

    def __init__(
        self, sampler: PathSampler, settings: EstimateSettings, seeds: SeedTree, go_on: Callable[[], bool]
    ) -> None:
        self.sampler, self.settings, self.go_on = sampler, settings, go_on
        self.counting = Counting()
        self._start = sampler.start()
        self._words = seeds.child("runs").rng()
        self._batch = _FIRST_BATCH

    def estimate(self, bound: Bound | None, runs: int | None) -> tuple[Estimate, bool | None]:
        """The probability of the goal, and the verdict of a test (None: there is none, or none yet)."""
        method = "sequence" if self.settings.method in ("auto", "chain") else self.settings.method
        if method in FIXED or runs is not None:
            return self._fixed(method if method in FIXED else "clopper_pearson", fixed_runs(self.settings, runs)), None
        if method == "sprt" and bound is not None:
            return self._sequential_test(bound)
        rule = StoppingRule("sequence", self.settings.epsilon, self.settings.relative, self.settings.confidence)
        most = self.settings.runs or MOST_RUNS

        def enough() -> bool:
            low, high = rule.interval(self.counting.counts())
            decided = bound is not None and bound.verdict(low, high) is not None
            return decided or (bound is None and rule.reached(self.counting.counts()))

        while not enough() and self._more(most):
            pass
        if not enough():
            self._give_up(most)
        return rule.estimate(self.counting.counts()), None

    def _give_up(self, most: int) -> None:
        if self.counting.trials >= most:
            self.counting.stopped = f"stopped after {most} runs, before the precision was reached"
        else:
            self.counting.stopped = f"the time was up after {self.counting.trials} runs"

    def _fixed(self, method: str, runs: int) -> Estimate:
        while self.counting.trials < runs and self._more(runs):
            pass
        if self.counting.trials < runs:
            self._give_up(runs)
        limits, name = FIXED[method]
        hits, trials = self.counting.hits, self.counting.trials
        if trials == 0:
            return Estimate(1.0, 0.0, 1.0, self.settings.confidence, "not estimated", 0)
        low = limits(hits, trials, self.settings.confidence)[0]
        high = limits(hits + self.counting.endless, trials, self.settings.confidence)[1]
        value = hits / (trials - self.counting.endless) if hits else high
        return Estimate(value, low, high, self.settings.confidence, f"{name}, {trials} runs", trials)

    def _sequential_test(self, bound: Bound) -> tuple[Estimate, bool | None]:
        below = bound.low > 0 and bound.low != -np.inf
        threshold = bound.low if below else bound.high
        test = SequentialTest(threshold, self.settings.indifference, 1 - self.settings.confidence)
        decision, most, count = None, self.settings.runs or MOST_RUNS, self.counting
        while decision is None and self._more(most, batch=100):
            decision = test.decision(count.hits, count.trials)
        if decision is None:
            self._give_up(most)
        rule = StoppingRule("sequence", confidence=self.settings.confidence)
        found = rule.estimate(count.counts())
        found = replace(found, method=f"sequential test ± {self.settings.indifference:g}, {found.method}")
        return found, None if decision is None else decision == below

    def _more(self, most: int, batch: int | None = None) -> bool:
        """Make a batch of runs; False: there may be no more."""
        size = min(batch or self._batch, most - self.counting.trials)
        if size <= 0 or (self.counting.trials and not self.go_on()):
            return False
        self._batch = min(2 * self._batch, _LARGEST_BATCH)
        # Words come one by one from the stream: run i is the same for every size of batch.
        seeds = self._words.integers(0, 2**64, size=size, dtype=np.uint64)
        made = self.sampler.runs(seeds, self._start, np.zeros(size, np.int64))
        self.counting.hits += int(made.met.sum())
        self.counting.trials += size
        self.counting.endless += made.endless
        return True
