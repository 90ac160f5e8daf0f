"""Usage-aware falsification, whole (Paper D, Figure D.3): search, estimate, rank.

    1. search      walks find words that violate a requirement (each is executed again at once by the driver's side: a
                   finding that does not repeat is flaky); the search goes on for the probable ones
                   (`search/probable.py`), or stops with the first ones, as the paper does (`search/accelerator.py`);
                   what was found, and some of what passed, is judged again at a tenth of the sampling period; where
                   that changes verdicts, the search is repeated at the finer period (`search/judging_again.py`);
    2. estimate    R passes of splitting per finding: traces that follow its word under the true stochastic semantics,
                   executed and judged, say how probable it is that a user meets exactly this failure;
    3. rank        most probable first; those that are not told apart by further passes (`estimates/ranking.py`).

A counterexample's event is "the run follows a1…ak and is first violated in step k".  These events are disjoint, so
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.conditional import conditional_split
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, check_estimator, estimate
from bbfalsify.engines.falsification.estimates.ranking import close_rows, further_passes, order_row, ranking
from bbfalsify.engines.falsification.estimates.splitting import importance_split
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.guides.guide_table import ACCELERATOR, AUTO, FOR_VALUES, OUTLIER, OVER_WALKS
from bbfalsify.engines.falsification.search.accelerator import Accelerator
from bbfalsify.engines.falsification.search.distinct_modes import DistinctModes
from bbfalsify.engines.falsification.search.exact_moments import only_at_exact_moments
from bbfalsify.engines.falsification.search.few_words import count_words
from bbfalsify.engines.falsification.search.guided import GuidedRuns, open_guide
from bbfalsify.engines.falsification.search.judging_again import Again, Sampling, Subject, judge_again, subjects_of
from bbfalsify.engines.falsification.search.passing import CLOSEST, MOST, Passing
from bbfalsify.engines.falsification.search.probable import ProbableSearch
from bbfalsify.engines.falsification.search.search import Listener, Search, Source, WalkPlan, search_first
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.kernel import supports_conditional
from bbfalsify.stats.intervals import total_estimate

FEW_PARTICLES = 16
"""Enough for the search to know a word's probability, where the estimator uses exact step probabilities."""
JUDGING_SHARE = 6
"""A search leaves at most a sixth of the budget for judging again what it has seen."""
EARLY_SHARE = 20
"""After a sixth of the budget, at most a twentieth judges again what was seen by then: a period that is too long is
noticed while there is a budget left for the finer one."""


@dataclass
class Progress:
    """State of a falsification, updated in place, so that Ctrl-C keeps it."""

    search: Search = field(default_factory=Search)
    usage: Usage | None = None
    """At the sampling period that the run has come to."""
    judged_again: list[Again] = field(default_factory=list)
    """Second judgements at a tenth of the period, one per search."""

    @property
    def estimated(self) -> list[Finding]:
        """The findings that have an estimate, in the order in which they were found."""
        return [finding for finding in self.search.findings if finding.estimate is not None]

    def of(self, requirement: int) -> list[Finding]:
        return [finding for finding in self.estimated if finding.requirement == requirement]

    def ranking(self, requirement: int) -> list[Finding]:
        return ranking(self.of(requirement))

    def found_probability(self, requirement: int, confidence: float) -> Estimate:
        ranked = self.ranking(requirement)
        # Rows of probability zero would only raise the upper limit, by what their few traces cannot exclude.
        counted = [finding for finding in ranked if not finding.exact_moments] or ranked
        items = [finding.estimated.passes for finding in counted]
        return total_estimate(items, method="sum over disjoint counterexamples", confidence=confidence)


class FalsificationListener(Listener, Protocol):
    def judging_again(self, simulations: int) -> None:
        """This number of findings and passing runs is about to be judged at a finer period."""

    def judged_again(self, again: Again, *, refined: bool, over: bool = True) -> None:
        """They were; where the period is refined, another search follows; where it is not over, it goes on."""

    def searched(self, search: Search) -> None:
        """The search is over; what follows are estimates of its findings."""

    def estimated(self, finding: Finding) -> None: ...

    def ordering(self, traces: int) -> None:
        """All are estimated; what follows are further passes, so many traces, that order similar ones."""


def run(
    ask: Ask,
    usage: Usage,
    progress: Progress,
    options: Options,
    *,
    requirements: int,
    seeds: SeedTree,
    listener: FalsificationListener,
    out_of_time: Callable[[], bool] = lambda: False,
    sampling: Sampling | None = None,
) -> None:
    """Falsify; the answers decide everything but the wall-clock limit, which ends the search only."""
    check_estimator(usage, options.estimator, quasi_random=options.quasi_random)
    searching = _Searching(ask, progress, options, requirements, seeds, listener, out_of_time, sampling or Sampling())
    for search in searching.one_by_one(usage):
        search()
    usage = progress.usage or usage
    if not options.passes:
        return
    listener.searched(progress.search)
    for finding in progress.search.findings:
        estimate_finding(ask, usage, finding, options, seeds.child("estimate"))
        if finding.met:
            finding.exact_moments = False
        elif not finding.exact_moments:
            finding.exact_moments = only_at_exact_moments(ask, usage, finding, seeds)
        listener.estimated(finding)
    order_similar(ask, usage, progress, options, seeds.child("order"), listener)


@dataclass(frozen=True, eq=False)
class _Searching:
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

    searching: _Searching
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


def order_similar(
    ask: Ask, usage: Usage, progress: Progress, options: Options, seeds: SeedTree, listener: FalsificationListener
) -> None:
    """Make the further passes of rows that their intervals do not tell apart."""
    requirements = sorted({finding.requirement for finding in progress.estimated})
    groups = [group for r in requirements for group in close_rows(progress.of(r)) if len(group) > 1]
    rows = [row for group in groups for row in group]
    if rows:
        listener.ordering(len(rows) * further_passes(options.passes) * options.traces)
    for row in rows:
        order_row(ask, usage, row, pass_plan(options), seeds)


def estimate_finding(ask: Ask, usage: Usage, finding: Finding, options: Options, seeds: SeedTree) -> None:
    finding.estimate = estimate(ask, usage, finding, pass_plan(options), seeds)


def pass_plan(options: Options) -> PassPlan:
    return PassPlan(
        options.passes,
        options.traces,
        options.estimator,
        options.confidence,
        options.columns,
        options.quasi_random,
        options.fan,
    )
