"""When plain simulation stops, and what it says then: one rule for runs of a model and for uses of a system.

sequence                                    a confidence sequence is narrow enough, or has decided a bound
okamoto, clopper_pearson, wilson, bayes     a number of runs that is fixed in advance
sprt                                        Wald's test has decided a bound
"""

from __future__ import annotations

import math
from dataclasses import replace

from bbfalsify.core.estimate import NONE_SEEN, Estimate
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.logic.csl import Bound
from bbfalsify.stats.binomial import FEW, PRIORS, SequentialTest, bayesian, normal_samples, wilson
from bbfalsify.stats.intervals import clopper_pearson
from bbfalsify.stats.sequential import Counts, StoppingRule, chernoff_hoeffding_samples, hoeffding

MOST_RUNS = 10_000_000
NEARLY = 0.05
"""Half width, as a share of its bound, of an interval that leaves the bound undecided."""
PATIENCE, TOO_FEW = 10_000, 20
"""Runs after which fewer hits than this make a relative precision hopeless: it needs hundreds of them."""
FIXED = {
    "okamoto": (hoeffding, "Okamoto (Chernoff–Hoeffding)"),
    "clopper_pearson": (clopper_pearson, "Clopper–Pearson"),
    "wilson": (wilson, f"Wilson (corrected for continuity below {FEW} hits or misses)"),
    "bayes": (bayesian, f"Bayes, priors beta(a, 1 - a), a from {PRIORS[0]:g} to {PRIORS[1]:g}"),
}


class PlainRule:
    """The rule for one probability, which a bound may ask about."""

    def __init__(self, settings: EstimateSettings, bound: Bound | None = None, runs: int | None = None) -> None:
        """`runs`: a number of runs that the query itself fixes."""
        self.settings, self.bound, self._given = settings, bound, runs
        method = "sequence" if settings.method in ("auto", "chain") else settings.method
        if runs is not None and method not in FIXED:
            method = "clopper_pearson"
        self.method = "sequence" if method == "sprt" and bound is None else method
        self._sequence = StoppingRule("sequence", settings.epsilon, settings.relative, settings.confidence)

    @property
    def samples(self) -> int | None:
        """The number of runs, where it is fixed in advance."""
        if self.method not in FIXED:
            return None
        if self._given is not None or self.settings.runs is not None:
            return self._given or self.settings.runs
        epsilon = self.settings.epsilon or 0.005
        if self.method == "okamoto":
            return chernoff_hoeffding_samples(epsilon, 1 - self.settings.confidence)
        return normal_samples(epsilon, self.settings.confidence)

    @property
    def most(self) -> int:
        return self.samples or self.settings.runs or MOST_RUNS

    def hopeless(self, counts: Counts) -> bool:
        """Tell whether so few runs met it that `auto` looks for a better method than this one (`going_on.py`)."""
        asked = self.settings.method == "auto" and self.settings.relative is not None and self.bound is None
        return asked and counts.trials >= min(PATIENCE, self.most // 5) and counts.hits < TOO_FEW

    def reached(self, counts: Counts) -> bool:
        """Tell whether the rule allows to stop."""
        if self.samples is not None:
            return counts.trials >= self.samples
        if self.hopeless(counts):
            return True
        if self.bound is None:
            return self._sequence.reached(counts)
        return self.verdict(counts) is not None or self._narrow(self.bound, counts)

    def _narrow(self, bound: Bound, counts: Counts) -> bool:
        """A system, whose uses cost more than runs of a model, is not asked on where the truth is nearly the bound."""
        if self.settings.horizon is None or self.method == "sprt":
            return False
        low, high = self._sequence.interval(counts)
        return high - low <= 2 * NEARLY * bound.high

    def verdict(self, counts: Counts) -> bool | None:
        """Decide the bound; None: not yet decided, or there is none."""
        if self.bound is None or not counts.trials:
            return None
        if self.method == "sprt":
            return self._tested(self.bound, counts)
        found = self.estimate(counts)
        return self.bound.verdict(found.low, found.high)

    def estimate(self, counts: Counts) -> Estimate:
        found = self._sequence.estimate(counts)
        if self.method == "sprt":
            width = 0.0 if self.bound is None else self._test(self.bound)[0].indifference
            return replace(found, method=f"sequential test ± {width:g}, {found.method}")
        if self.method not in FIXED or not counts.trials:
            return found
        (limits, name), confidence = FIXED[self.method], self.settings.confidence
        low = limits(counts.hits, counts.trials, confidence)[0]
        high = limits(counts.hits + counts.failed, counts.trials, confidence)[1]
        name += f", {NONE_SEEN}: upper bound" if counts.none_seen else ""
        return Estimate(counts.share, low, high, confidence, name, counts.trials, counts.none_seen)

    def _tested(self, bound: Bound, counts: Counts) -> bool | None:
        """The decision of Wald's test, if runs without a verdict change nothing about it."""
        test, below = self._test(bound)
        decisions = {test.decision(hits, counts.trials) for hits in (counts.hits, counts.hits + counts.failed)}
        [decision, *others] = decisions
        return None if others or decision is None else decision == below

    def _test(self, bound: Bound) -> tuple[SequentialTest, bool]:
        """Wald's test of a bound, and whether that is a lower one.

        The region of indifference ends half way to 0 and 1: of a bound of 0.001, ± 0.01 would decide nothing.
        """
        below = bound.low > 0 and bound.low != -math.inf
        threshold = bound.low if below else bound.high
        near = min(threshold, 1 - threshold) / 2
        indifference = min(self.settings.indifference, near) if near > 0 else self.settings.indifference
        return SequentialTest(threshold, indifference, 1 - self.settings.confidence), below
