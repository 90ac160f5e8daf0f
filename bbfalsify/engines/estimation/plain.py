"""Estimate a probability by plain simulation, until an interval is narrow enough or a test has decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.plain_rule import PlainRule
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.logic.csl import Bound
from bbfalsify.stats.sequential import Counts

_FIRST_BATCH, _LARGEST_BATCH = 1000, 100_000


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

    def warnings(self, *, hint: bool = True) -> list[str]:
        """`hint`: also name methods for rare events."""
        said = [] if self.stopped is None else [self.stopped]
        if self.endless:
            said.append(f"{self.endless} runs made too many steps to be judged; they count as either")
        if self.hits == 0 and self.trials:
            finds = (
                "; --method importance finds rare events, or --method splitting with a --score that rises on the way"
            )
            said.append(f"no run of {self.trials} met it: only the upper limit is known{finds if hint else ''}")
        return said


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
        """The probability of the goal, and whether it keeps the bound (None: there is none, or undecided)."""
        rule = PlainRule(self.settings, bound, runs)
        batch = 100 if rule.method == "sprt" else None
        while not rule.reached(self.counting.counts()) and self._more(rule.most, batch):
            pass
        if not rule.reached(self.counting.counts()):
            self._give_up(rule.most)
        counts = self.counting.counts()
        return rule.estimate(counts), rule.verdict(counts)

    def _give_up(self, most: int) -> None:
        if self.counting.trials >= most:
            self.counting.stopped = f"stopped after {most} runs, before the precision was reached"
        else:
            self.counting.stopped = f"the time was up after {self.counting.trials} runs"

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
