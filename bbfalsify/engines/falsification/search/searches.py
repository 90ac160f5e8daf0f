"""The searches of a falsification: one, and others at finer sampling periods where those change verdicts.

    while there is a budget:
        search          as the options ask: the first counterexamples or the probable ones, along actions or over values
        judge again     what was seen since, at a finer period (`judging_again.py`); if that changes verdicts, begin the
                        search again at the finer period, else go on with it

It pauses after a sixth of the budget for the first time, so that most of the budget remains for a finer period that is
needed; then where the simulations are left that judging again may take; then with what remains of those.  All of it is
within one budget of simulations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.verdict import StopReason
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.engines.falsification.guides.guide_table import ACCELERATOR, AUTO, FOR_VALUES, OUTLIER, OVER_WALKS
from bbfalsify.engines.falsification.search.accelerator import Accelerator
from bbfalsify.engines.falsification.search.distinct_modes import DistinctModes
from bbfalsify.engines.falsification.search.few_words import count_words
from bbfalsify.engines.falsification.search.guided import GuidedRuns, open_guide
from bbfalsify.engines.falsification.search.judging_again import Again, Sampling, SecondJudgements
from bbfalsify.engines.falsification.search.passing import CLOSEST, MOST, Passing
from bbfalsify.engines.falsification.search.probable import ProbableSearch
from bbfalsify.engines.falsification.search.search import FirstSearch, Source, WalkPlan
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
LEAST = 6
"""Simulations that are worth going on for."""


class Hunt(Protocol):
    """A search that can pause (`Search.pause`) and go on."""

    def begin(self, requirements: int) -> None: ...

    def go_on(self, out_of_time: Callable[[], bool]) -> None: ...


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

    def run(self, usage: Usage) -> None:
        """Search, judge again what is seen, and begin again at the finer period where that matters."""
        search, finer, seeds = self.progress.search, self.sampling.finer, self.seeds
        search.tries = affordable_tries(self.options, self.requirements)
        for level in range(len(finer) + 1):
            passing, judgements = None, None
            if level < len(finer):
                passing = Passing(self.requirements, seeds.child("passing", level))
                judgements = SecondJudgements(usage, finer[level], level, self.sampling.random_system)
            self.progress.usage, search.passing = usage, passing
            names, before = seeds.child("search", level) if level else seeds.child("search"), search.iterations
            refine = self._search_at(usage, judgements, names)
            search.passing = None
            if search.iterations == before and self.options.simulations:
                search.notes.append(self._no_room(level))
            if not refine:
                break
            usage = finer[level]

    def _search_at(self, usage: Usage, judgements: SecondJudgements | None, seeds: SeedTree) -> bool:
        """Search at one period; return whether it has to be repeated at the next."""
        search, simulations = self.progress.search, self.options.simulations
        search.limit = simulations - self._kept if judgements is not None else simulations
        early = judgements is not None and judgements.level < self.sampling.refinements and self._left >= EARLY_SHARE
        search.pause = search.spent + self._left // JUDGING_SHARE if early else math.inf
        hunt = self._hunt(usage, seeds)
        hunt.begin(self.requirements)
        while True:
            before = search.iterations
            hunt.go_on(self.out_of_time)
            paused, search.pause = search.stopped is None, math.inf
            if judgements is None:
                return False
            again = self._judge(judgements, self._left // EARLY_SHARE if paused else self._left, paused=paused)
            if again is not None and again.check.matters:
                if judgements.level < self.sampling.refinements:
                    search.restart(again.violations)
                    return True
                if not paused:
                    return False
            if not paused and (
                search.stopped is not StopReason.BUDGET_SIMULATIONS or search.iterations == before or self._left < LEAST
            ):
                return False
            if not paused:
                search.limit, search.stopped = simulations - self._kept, None

    @property
    def _left(self) -> int:
        return self.options.simulations - self.progress.search.spent

    @property
    def _kept(self) -> int:
        """Simulations that the search leaves for judging again."""
        return min(self._left // JUDGING_SHARE, self._most_to_judge)

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

    def _judge(self, judgements: SecondJudgements, most: int, *, paused: bool) -> Again | None:
        """Judge again what was seen since, with at most so many simulations; None where there is nothing or no room."""
        search, passing = self.progress.search, self.progress.search.passing
        assert passing is not None
        # Each may be executed again to know what chance does, and confirmed as a finding of the next search.
        most, tries = max(0, most - judgements.waiting), 0 if paused else search.tries or 0
        most = max((most - tries * self._places) // 2, most // (2 + tries))
        subjects = judgements.subjects(search, passing, most)
        if not subjects:
            if search.iterations and not judgements.found and not paused:
                search.notes.append("the budget has no simulations left to judge findings again on finer samples")
            return None
        self.listener.judging_again(len(subjects))
        known = len(judgements.found) > 0
        again = judgements.judge(search.counting(self.ask), subjects, passing.violating)
        if known:
            self.progress.judged_again.pop()
        self.progress.judged_again.append(again)
        refined = again.check.matters and judgements.level < self.sampling.refinements
        if not refined and (self.sampling.given or again.uncertain):
            for finding in again.vanished:
                finding.artefact = again.check.matters
        elif not refined:
            search.drop(again.vanished)
        self.listener.judged_again(again, refined=refined, over=not paused)
        return again

    def _hunt(self, usage: Usage, seeds: SeedTree) -> Hunt:
        """Make the search that the options ask for."""
        ask, options, search, listener = self.ask, self.options, self.progress.search, self.listener
        plan = WalkPlan(
            options.counterexamples, options.simulations, options.batch, options.delays, options.guide == OUTLIER,
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
            return FirstSearch(usage, search, plan, source, listener)
        exact = supports_conditional(usage.model) is None  # whatever the estimator: it only steers the search
        return ProbableSearch(
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


def affordable_tries(options: Options, requirements: int) -> int:
    """Confirmations of each finding: fewer than wanted where a quarter of the budget has no room for them."""
    return min(options.confirmations, max(1, options.simulations // (4 * requirements)))


def chosen_guide(usage: Usage, options: Options) -> str | None:
    """The guide that proposes quantiles; None for one that walks through automata itself."""
    guide = options.guide
    if guide == AUTO:
        guide = FOR_VALUES if usage.values.width else ACCELERATOR
    return None if guide in OVER_WALKS and usage.profile.has_actions else guide
