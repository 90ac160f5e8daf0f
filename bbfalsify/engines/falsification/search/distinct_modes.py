"""Count the failure modes that the violations of a search show, so that it can stop with the K-th.

The patterns are those that modes are named by (`modes/learning.py`), learned from violating and passing runs of the
search.  A pattern counts once two violating runs belong to it: one alone has as many patterns as one likes.  The modes
of the report are learned again after the search, from more simulations and with their probabilities; they may be fewer
or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import Verdict
from bbfalsify.engines.falsification.modes.learning import learn
from bbfalsify.engines.falsification.modes.pattern import Pattern
from bbfalsify.engines.falsification.modes.use import Use, use_of
from bbfalsify.engines.falsification.usage import Usage

if TYPE_CHECKING:
    from bbfalsify.engines.falsification.search.search import Run

MOST_USES = 200
"""Uses of each kind to learn from; of more passing ones a uniform sample, of more violating ones the first."""
SHOWN = 2
"""Violating runs that show a mode."""
GROWTH = 1.5
"""Patterns are learned again when a violation fits none of them, or when there are this many times as many."""


class DistinctModes:
    """Failure modes shown so far, per requirement."""

    def __init__(self, usage: Usage, wanted: int, requirements: int, seeds: SeedTree) -> None:
        self.usage, self.wanted = usage, wanted
        self._rng = seeds.rng()
        self._bad: list[list[Use]] = [[] for _ in range(requirements)]
        self._good: list[list[Use]] = [[] for _ in range(requirements)]
        self._passed = [0] * requirements
        self._patterns: list[list[Pattern]] = [[] for _ in range(requirements)]
        self._learn_at = [1] * requirements
        """Number of violating uses at which the patterns are learned again."""

    def add(self, run: Run) -> None:
        """Learn from a run; one that violates and fits no pattern has the patterns learned again."""
        for requirement, judgement in enumerate(run.answer.judgements):
            if judgement.verdict is Verdict.VIOLATED:
                bad = self._bad[requirement]
                if len(bad) < MOST_USES:
                    bad.append(use_of(self.usage, run.walk, judgement.first_violation_time))
                    if not any(pattern.matches(bad[-1]) for pattern in self._patterns[requirement]):
                        self._learn_at[requirement] = len(bad)
            else:
                self._keep_passing(requirement, run)

    def _keep_passing(self, requirement: int, run: Run) -> None:
        good, self._passed[requirement] = self._good[requirement], self._passed[requirement] + 1
        place = len(good) if len(good) < MOST_USES else int(self._rng.integers(self._passed[requirement]))
        if place < MOST_USES:
            good[place : place + 1] = [use_of(self.usage, run.walk)]

    def is_other(self, requirement: int, run: Run) -> bool:
        """Tell whether a violating run fits none of the patterns."""
        use = use_of(self.usage, run.walk, run.answer.judgements[requirement].first_violation_time)
        return not any(pattern.matches(use) for pattern in self._patterns[requirement])

    def count(self, requirement: int) -> int:
        """Number of modes that the violations show; a single violation shows one."""
        bad = self._bad[requirement]
        if bad and len(bad) >= self._learn_at[requirement]:
            self._patterns[requirement] = learn(bad, self._good[requirement])
            self._learn_at[requirement] = max(len(bad) + 1, int(GROWTH * len(bad)))
        shown = [0] * len(self._patterns[requirement])
        for use in bad:
            first = next((i for i, p in enumerate(self._patterns[requirement]) if p.matches(use)), None)
            if first is not None:
                shown[first] += 1
        return max(sum(times >= SHOWN for times in shown), bool(bad))

    def shown(self, requirement: int) -> bool:
        """Tell whether as many modes are shown as are wanted."""
        return self.count(requirement) >= self.wanted
