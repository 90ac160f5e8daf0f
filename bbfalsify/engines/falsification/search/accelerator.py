"""Find counterexamples by the randomized accelerator (Kiviriga, Paper D, Algorithm 4).

Random walks over the user profile *ignore* its probabilities: each step picks one of the eventually enabled transitions
uniformly (RET), then a delay at or between the bounds of its window, by the cycle of eleven distributions of table B.3,
one per walk (default), or the two points of equation D.3.  Rare usage occurs about as often as common usage; its
probability is estimated afterwards (`conditional.py`, `splitting.py`).

The guide `outlier` is the accelerator, too: every second walk prefers the promising actions of the walk before
(`guides/outlier.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.query import Ask, Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.baseline.failing_runs import shortest_failing
from bbfalsify.engines.falsification.finding import Finding, query_name
from bbfalsify.engines.falsification.guides.outlier import OutlierGuiding, Preferred
from bbfalsify.engines.falsification.search.adaptive_duration import AdaptiveDuration
from bbfalsify.engines.falsification.search.exact_moments import only_at_exact_moments
from bbfalsify.engines.falsification.search.search import Run, Search, WalkPlan, findings_of
from bbfalsify.engines.falsification.search.whole_uses import whole_run
from bbfalsify.engines.falsification.usage import Usage, walks_to_the_end
from bbfalsify.kernel import Walk, Walks, WalkStatus, accelerated_walks

CYCLE = 11
"""Table B.3 has eleven delay distributions, used one after the other."""
TWO_POINTS = -1
"""The kernel's code for equation D.3: lower or upper bound, each with probability one half."""


@dataclass
class Accelerator:
    """Execution of accelerated walks, one after the other (a `Source`)."""

    ask: Ask
    usage: Usage
    search: Search
    plan: WalkPlan
    seeds: SeedTree
    shortfalls: bool = False
    """Answers are to say what a run lacks for a violation, because a guide learns from it."""
    made: int = 0
    """Walks so far."""
    _words: np.ndarray = field(init=False)
    """One word per walk."""
    _duration: AdaptiveDuration = field(init=False)

    def __post_init__(self) -> None:
        self._words = self.seeds.words(self.plan.simulations)
        self._duration = AdaptiveDuration(self.usage.duration)

    def found(self, finding: Finding) -> bool:
        self.learn(finding)
        if len(self.search.apart[finding.requirement]) >= self.plan.wanted:
            return False
        ask, left = self.search.counting(self.ask), self.plan.left(self.search)
        return only_at_exact_moments(ask, self.usage, finding, self.seeds, most=left)

    def whole(self, run: Run) -> Run:
        if any(self.search.is_new(finding) for finding in findings_of(self.usage, run)):
            return whole_run(self.search.counting(self.ask), self.usage, run, self.seeds)
        return run

    def learn(self, finding: Finding) -> None:
        """Adapt the duration of the next walks to a new finding."""
        self._duration.found(finding.requirement, finding.judgement.first_violation_time, finding.iteration or 0)

    def runs(self, count: int, missing: Sequence[int]) -> Iterator[Run]:
        """Make and execute the next walks; walks that stood still are left out."""
        until = self.usage.duration
        if self.plan.adaptive_duration:
            self._duration.waited(self.search.iterations)
            until = self._duration.limit(list(missing))
        iterations = self.plan.next(self.search, count)
        numbers = np.arange(self.made, self.made + len(iterations))
        self.made += len(iterations)
        rows = numbers % CYCLE if self.plan.delays == "cycle" else np.full(len(numbers), TWO_POINTS)
        guiding = OutlierGuiding(self.usage.model, len(numbers), guided=self.plan.guiding)
        counted = self.search.counting(self.ask)
        for turn in guiding.turns:
            walks = self._walk(numbers, rows, guiding.alike(turn))
            walks = self.usage.values.accelerated(walks, self._words[numbers], rows)
            stimuli = {i: self.usage.stimulus(walk, stop=until) for i, walk in walks.items()}
            outliers = guiding.learns_from(turn)
            names = {i: query_name(iterations[i]) for i in walks}
            answers = self.ask(
                [Query(names[i], stimuli[i], outliers=outliers, shortfalls=self.shortfalls) for i in walks]
            )
            for i, answer in zip(walks, answers, strict=True):
                run = Run(iterations[i], walks[i], stimuli[i], answer)
                guiding.learn(i, run.walk, run.answer)
                cut = shortest_failing(counted, self.usage, run, most=self.plan.spare(self.search))
                if cut is not None:
                    yield cut

    def _walk(
        self, numbers: np.ndarray, rows: np.ndarray, groups: Sequence[tuple[list[int], Preferred]]
    ) -> dict[int, Walk]:
        """Make walks, by their positions; those that prefer the same actions are made together."""
        made: dict[int, Walk] = {}
        for members, preferred in groups:
            walks = self._accelerated(numbers[members], rows[members], preferred)
            made |= {members[i]: walk for i, walk in moving(self.usage, self.search, walks)}
        return dict(sorted(made.items()))

    def _accelerated(self, numbers: np.ndarray, rows: np.ndarray, preferred: Preferred) -> Walks:
        model, shares, until = self.usage.model, rows.astype(np.int32), self.usage.duration

        def walk(max_steps: int) -> Walks:
            seeds = self._words[numbers]
            return accelerated_walks(model, seeds, shares, until=until, max_steps=max_steps, preferred=preferred)

        return walks_to_the_end(model, walk, len(numbers), until)


def moving(usage: Usage, search: Search, walks: Walks) -> Iterator[tuple[int, Walk]]:
    """Yield the walks that reached the end; one that always takes lower bounds may be zeno and is only counted."""
    usage.check(walks)
    reached = np.flatnonzero(walks.status == WalkStatus.REACHED_END)
    search.zeno_walks += len(walks) - len(reached)
    search.visits.add(usage.model, walks)
    for i in reached.tolist():
        yield i, walks.walk(i)
