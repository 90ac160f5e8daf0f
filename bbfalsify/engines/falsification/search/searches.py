"""The searches of a falsification: one, and others at finer sampling periods where those change verdicts.

    search              as the options ask: the first counterexamples or the probable ones, along actions or over values
    judge again early   after a sixth of the budget, some of what was seen: where the period is too long, the search
                        is left, and most of the budget remains for the finer period
    judge again         in the end, findings and some passing runs (`judging_again.py`)

All of it is within one budget of simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.engines.falsification.guides.guide_table import ACCELERATOR, AUTO, FOR_VALUES, OUTLIER, OVER_WALKS
from bbfalsify.engines.falsification.search.accelerator import Accelerator
from bbfalsify.engines.falsification.search.distinct_modes import DistinctModes
from bbfalsify.engines.falsification.search.few_words import count_words
from bbfalsify.engines.falsification.search.guided import GuidedRuns, open_guide
from bbfalsify.engines.falsification.search.judging_again import Again, Sampling, Subject, judge_again, subjects_of
from bbfalsify.engines.falsification.search.passing import CLOSEST, MOST, Passing
from bbfalsify.engines.falsification.search.probable import ProbableSearch
from bbfalsify.engines.falsification.search.search import Source, WalkPlan, search_first
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import supports_conditional

if TYPE_CHECKING:
    from bbfalsify.engines.falsification.engine import FalsificationListener, Progress

FEW_PARTICLES = 16
"""Enough for the search to know a word's probability, where the estimator uses exact step probabilities."""
JUDGING_SHARE = 6
"""A search leaves at most a sixth of the budget for judging again what it has seen."""
EARLY_SHARE = 20
"""After a sixth of the budget, at most a twentieth judges again what was seen by then: a period that is too long is
noticed while there is a budget left for the finer one."""


@dataclass(frozen=True, eq=False)
class Searching:
    """The searches of a run, at one sampling period after the other, within one budget."""

    ask: Ask
    progress: Progress
    options: Options
    requirements: int
    seeds: SeedTree
    listener: FalsificationListener
    out_of_time: Callable[[], bool]
    sampling: Sampling

    def one_by_one(self, usage: Usage) -> Iterator[Callable[[], None]]:
        """Yield the search to make; judge again what it saw, and yield one at the finer period where that matters."""
        search, finer, seeds = self.progress.search, self.sampling.finer, self.seeds
        search.tries = affordable_tries(self.options, self.requirements)
        for level in range(len(finer) + 1):
            passing = Passing(self.requirements, seeds.child("passing", level)) if level < len(finer) else None
            self.progress.usage, search.passing = usage, passing
            kept = 0 if passing is None else min(self._left // JUDGING_SHARE, self._most_to_judge)
            before, names = search.iterations, seeds.child("search", level) if level else seeds.child("search")
            search.too_coarse = early = None if passing is None else self._early(usage, passing, level)
            yield self._search(usage, self.options.simulations - kept, names)
            if search.iterations == before and self.options.simulations:
                search.notes.append(self._no_room(level))
            if early is not None and early.again is not None:
                search.restart(early.again.violations)
            elif passing is None or not self._refine(usage, passing, level):
                break
            usage = finer[level]

    def _early(self, usage: Usage, passing: Passing, level: int) -> _EarlyJudgement | None:
        """Judge again once while the search goes on, if the run may change to the finer period."""
        most = self._left // EARLY_SHARE
        if level >= self.sampling.refinements or not most:
            return None
        due = self.progress.search.spent + self._left // JUDGING_SHARE
        return _EarlyJudgement(self, usage, passing, level, due, most)

    @property
    def _left(self) -> int:
        return self.options.simulations - self.progress.search.spent

    @property
    def _places(self) -> int:
        return self.options.counterexamples * self.requirements

    @property
    def _most_to_judge(self) -> int:
        """Simulations of a second judgement that changes verdicts, and of the confirmations that follow."""
        return 2 * (self._places + MOST + CLOSEST) + self.options.confirmations * self._places

    def _no_room(self, level: int) -> str:
        simulations = self.options.simulations
        if level:
            return (
                f"the budget of {simulations} simulations was spent before verdicts turned out to change at finer "
                "samples: what was found is judged there, but nothing else was searched for. Give more simulations."
            )
        return f"a budget of {simulations} simulations has no room for a run and its confirmations: nothing was tried"

    def _refine(self, usage: Usage, passing: Passing, level: int) -> bool:
        """Judge again at the next finer period; return whether the search has to be repeated there."""
        search, sampling = self.progress.search, self.sampling
        # Each may be executed again to know what chance does, and confirmed as a finding of the next search.
        tries, left = search.tries or 0, self._left
        subjects = subjects_of(search, passing, level, max((left - tries * self._places) // 2, left // (2 + tries)))
        if not subjects:
            if search.iterations:
                search.notes.append("the budget has no simulations left to judge findings again on finer samples")
            return False
        again = self.judge(usage, passing, level, subjects)
        search.passing = None
        self.progress.judged_again.append(again)
        refined = again.check.matters and level < sampling.refinements
        if refined:
            search.restart(again.violations)
        elif sampling.given or again.uncertain:
            for finding in again.vanished:
                finding.artefact = again.check.matters
        else:
            search.drop(again.vanished)
        self.listener.judged_again(again, refined=refined)
        return refined

    def judge(self, usage: Usage, passing: Passing, level: int, subjects: Sequence[Subject]) -> Again:
        """Judge these again at the next finer period."""
        self.listener.judging_again(len(subjects))
        return judge_again(
            self.progress.search.counting(self.ask), usage, self.sampling.finer[level], subjects, level=level,
            violating=passing.violating, random_system=self.sampling.random_system,
        )  # fmt: skip

    def _search(self, usage: Usage, limit: int, seeds: SeedTree) -> Callable[[], None]:
        """Choose the search that the options ask for; it may execute as much as leads to this limit."""
        ask, options, search, listener = self.ask, self.options, self.progress.search, self.listener
        plan = WalkPlan(
            options.counterexamples, limit, options.batch, options.delays, options.guide == OUTLIER,
            options.adaptive_duration, options.patience, search.tries or options.confirmations,
        )  # fmt: skip
        search.possible = count_words(usage, options.counterexamples - 1, seeds.child("words"))
        wanted, modes = options.distinct_modes, seeds.child("distinct modes")
        search.modes = None if wanted is None else DistinctModes(usage, wanted, self.requirements, modes)
        space, guided = ProfileSpace(usage), None
        if (guide := chosen_guide(usage, options)) is not None:
            opened = open_guide(guide, space, search, self.requirements, seeds)
            guided = GuidedRuns(ask, usage, search, replace(plan, batch=options.proposals), space, opened, seeds)
        if space.fixed or options.search == "first":
            plan = replace(plan, cut_short=options.adaptive_duration) if guided is None else guided.plan
            source: Source = guided or Accelerator(ask, usage, search, plan, seeds)
            heard = partial(search_first, usage, search, plan, source, listener=listener, out_of_time=self.out_of_time)
            return partial(heard, requirements=self.requirements)
        exact = supports_conditional(usage.model) is None  # whatever the estimator: it only steers the search
        probable = ProbableSearch(
            ask,
            usage,
            search,
            replace(plan, cut_short=True),
            conditional_split if exact else importance_split,
            effort=FEW_PARTICLES if exact else options.traces,
            patience=options.patience,
            plain_walks=options.plain_walks,
            seeds=seeds,
            listener=listener,
            guided=guided,
        )
        return partial(probable.run, self.requirements, self.out_of_time)


@dataclass(eq=False)
class _EarlyJudgement:
    """Tells a search, once, that verdicts change at the next finer period."""

    searching: Searching
    usage: Usage
    passing: Passing
    level: int
    due: int
    """Simulations after which it judges."""
    most: int
    again: Again | None = None
    """Its results, if they matter."""

    def __call__(self) -> bool:
        searching, search = self.searching, self.searching.progress.search
        if search.spent < self.due:
            return False
        search.too_coarse = None
        subjects = subjects_of(search, self.passing, self.level, self.most // 2, "/early")
        if not subjects:
            return False
        again = searching.judge(self.usage, self.passing, self.level, subjects)
        searching.listener.judged_again(again, refined=again.check.matters, over=False)
        if again.check.matters:
            self.again, search.passing = again, None
            searching.progress.judged_again.append(again)
        return again.check.matters


def affordable_tries(options: Options, requirements: int) -> int:
    """Confirmations of each finding: fewer than wanted where a quarter of the budget has no room for them."""
    return min(options.confirmations, max(1, options.simulations // (4 * requirements)))


def chosen_guide(usage: Usage, options: Options) -> str | None:
    """The guide that proposes quantiles; None for one that walks through automata itself."""
    guide = options.guide
    if guide == AUTO:
        guide = FOR_VALUES if usage.values.width else ACCELERATOR
    return None if guide in OVER_WALKS and usage.profile.has_actions else guide
