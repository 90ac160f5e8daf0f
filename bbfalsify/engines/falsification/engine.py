"""Usage-aware falsification, whole (Paper D, Figure D.3): search, estimate, rank.

    1. search      walks find words that violate a requirement (each is executed again at once by the driver's side: a
                   finding that does not repeat is flaky); the search goes on for the probable ones
                   (`search/probable.py`), or stops with the first ones, as the paper does (`search/accelerator.py`);
                   what was found, and some of what passed, is judged again at a tenth of the sampling period; where
                   that changes verdicts, the search is repeated at the finer period (`search/searches.py`);
    2. estimate    R passes of splitting per finding: traces that follow its word under the true stochastic semantics,
                   executed and judged, say how probable it is that a user meets exactly this failure;
    3. rank        most probable first; those that are not told apart by further passes (`estimates/ranking.py`).

A counterexample's event is "the run follows a1…ak and is first violated in step k".  These events are disjoint, so
their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from bbfalsify.core.estimate import Estimate
from bbfalsify.core.query import Ask
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.falsification.estimates.estimating import PassPlan, check_estimator, estimate
from bbfalsify.engines.falsification.estimates.ranking import close_rows, further_passes, order_row, ranking
from bbfalsify.engines.falsification.finding import Finding
from bbfalsify.engines.falsification.search.exact_moments import only_at_exact_moments
from bbfalsify.engines.falsification.search.judging_again import Again, Sampling
from bbfalsify.engines.falsification.search.search import Listener, Search
from bbfalsify.engines.falsification.search.searches import Searching
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.stats.intervals import total_estimate


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
    Searching(ask, progress, options, requirements, seeds, listener, out_of_time, sampling or Sampling()).run(usage)
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
