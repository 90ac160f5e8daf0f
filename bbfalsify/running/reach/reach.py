"""`reach`: look for a state of a model, with walks on all cores, and give back an exact trace that leads there.

    result = reach("fischer.yaml", "A[] not (P(1).cs && P(2).cs)", seed=1)
    if result.found.best is not None:
        print(len(result.found.best.trace.steps), "steps")

No driver answers here: the walks are the engine itself, and no black box is asked.

The same seed gives the same finding on any number of workers: units of walks are answered in their order (`search`),
and of several that meet the target the first in that order counts.  Only the timeout goes by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.reachability.endless_runs import Ending, search_endless
from bbfalsify.engines.reachability.extremes import Extreme, search_extremes
from bbfalsify.engines.reachability.settings import ReachSettings, Wanted
from bbfalsify.engines.reachability.trace_groups import Alike, grouped
from bbfalsify.engines.reachability.walk_search import PORTFOLIO, Found, ReachFinding, SearchPlan, Standing, search
from bbfalsify.engines.verification.settings import EXHAUSTIVE
from bbfalsify.kernel import CompiledModel, compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import Asked, ExtremesQuery, LivenessQuery, ReachQuery, parse_asked
from bbfalsify.modelling import Network, load_network
from bbfalsify.results.notebook import steps_frame, trace_html
from bbfalsify.results.reach_result import ExtremeValue, Improvement, QueryResult, TraceGroup
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.team import Team
from bbfalsify.running.reach.trace_files import trace_json

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The search for one query, with the exact trace; `row` is what is stored of it."""

    network: Network
    query: Asked
    heuristic: str
    """The name asked for; the finding names the winner of a portfolio."""
    wanted: Wanted
    seed: int
    found: Found
    ending: Ending | None = None
    """How the run of a query about whole runs goes on for ever."""
    extremes: tuple[Extreme, ...] = ()
    """The values of sup, inf and bounds."""

    @property
    def outcome(self) -> Outcome:
        """The outcome in the words of campaigns: an `A[]` is falsified, an `E<>` reached."""
        if self.found.best is not None:
            return Outcome.FALSIFIED if self.query.universal else Outcome.REACHED
        if self.found.failure is not None:
            return Outcome.MODEL_ERROR
        if self.found.stopped == "timeout":
            return Outcome.INCONCLUSIVE
        return Outcome.NOT_FALSIFIED if self.query.universal else Outcome.NOT_REACHED

    @property
    def finding(self) -> ReachFinding | None:
        return self.found.best or self.found.failure

    @property
    def groups(self) -> list[Alike]:
        """Several traces by what differs; none where one was asked for."""
        return grouped(self.network, [*self.found.findings, *self.found.others]) if self.found.others else []

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Steps of the trace found, in words and numbers; none where nothing was found."""
        return [] if self.finding is None else trace_json(self.network, self.finding.trace)["steps"]

    def to_dataframe(self) -> pandas.DataFrame:
        """One row per step of the trace (needs pandas)."""
        return steps_frame(self.steps)

    def _repr_html_(self) -> str:
        return trace_html(self.in_words(), self.steps)

    def in_words(self) -> str:
        """The outcome as a sentence."""
        query, best, failure = self.query, self.found.best, self.found.failure
        if best is not None and self.extremes:
            values = "; ".join(extreme.in_words() for extreme in self.extremes)
            beyond = "walks cannot say that none is beyond: 'bbfalsify verify' is exact"
            return f"{query.text}: {values} (values that were reached; {beyond})"
        if best is not None:
            after = "" if self.ending is None else f", {self.ending.in_words()}"
            trace, heuristic = best.trace, best.heuristic.value
            return (
                f"{query.text}: {query.holds_word.upper()}{' (deadlock)' if trace.deadlocked else ''} after "
                f"{trace.extent}{after}, by {heuristic} in its walk {best.walk}; every step re-checked by the exact "
                "interpreter"
            )
        if failure is not None:
            return f"{query.text}: THE MODEL FAILS after {len(failure.trace.steps)} steps: {failure.trace.error}"
        why = "the time is up" if self.found.stopped == "timeout" else "all walks are made"
        word = "not falsified" if query.universal else "not reached"
        return f"{query.text}: {word.upper()} ({why}; random walks prove nothing)"

    def row(self, id: str, text: str, file: str | None, groups: tuple[TraceGroup, ...] = ()) -> QueryResult:
        """The result to store; `file` holds the trace."""
        found, finding = self.found, self.finding
        trace = None if finding is None else finding.trace
        return QueryResult(
            id=id,
            text=text,
            query=self.query.text,
            outcome=self.outcome,
            in_words=self.in_words(),
            heuristic=self.heuristic if finding is None else finding.heuristic.value,
            walk=None if finding is None else finding.walk,
            walks=found.walks,
            steps=found.steps,
            seconds=round(found.seconds, 3),
            stopped=found.stopped,
            length=None if trace is None else len(trace.steps),
            time=None if trace is None else float(trace.time),
            error=None if trace is None else trace.error,
            timelocks=found.timelocks,
            zeno=found.zeno,
            unconfirmed=tuple(found.unconfirmed),
            improvements=tuple(
                Improvement(f.seconds, len(f.trace.steps), float(f.trace.time), f.heuristic.value)
                for f in found.findings
            ),
            actions=() if trace is None else tuple(step.action for step in trace.steps),
            extremes=tuple(
                ExtremeValue(e.word, e.expression, None if e.value is None else float(e.value), e.unbounded)
                for e in self.extremes
            ),
            groups=groups,
            ends=None if self.ending is None else self.ending.in_words(),
            file=file,
        )


def reach(
    model: str | Path | Network,
    query: str,
    settings: ReachSettings = ReachSettings(),
    *,
    seed: int | None = None,
    execution: Execution = Execution(),
    watch: Callable[[Found], None] = lambda found: None,
    report: Callable[[Standing], None] = lambda standing: None,
    standing: Standing | None = None,
) -> SearchResult:
    """Look for a state that satisfies the query (`E<>`) or violates it (`A[]`); for a run without end that does
    (`E[]`, `A<>`, `-->`); for large and small values (`sup`, `inf`, `bounds`).

    The settings are explained by `bbfalsify.reach`.  `watch` is told what was found so far, now and then; `report` how
    the search stands between two turns: a search that was interrupted goes on from such a `standing` and ends as it
    would have ended.
    """
    if settings.heuristic in EXHAUSTIVE:
        call = f'bbfalsify.verify(model, query, heuristic="{settings.heuristic}")'
        raise UserError(f"{settings.heuristic} searches the states instead of walking: {call}.")
    heuristics = PORTFOLIO if settings.heuristic == "portfolio" else (Heuristic(settings.heuristic),)
    if settings.timeout is None and settings.walks is None:
        raise UserError("a search for a state that may not exist needs a timeout or a number of walks.")
    network = model if isinstance(model, Network) else load_network(model)
    asked = parse_asked(query, network)
    tables = compile_network(network)
    TargetSearch.warm_up()  # compiling does not count
    seed = draw_seed() if seed is None else seed
    used = 0.0 if standing is None else standing.found.seconds
    ends = None if settings.timeout is None else time.monotonic() + settings.timeout - used
    wanted = Wanted(settings.trace)
    plan = SearchPlan(
        heuristics, SeedTree(seed).child("reach"), wanted, settings.depth, settings.walks, settings.traces
    )

    def search_state(state: ReachQuery, plan: SearchPlan, standing: Standing | None) -> Found:
        target = Target(tables, state.alive, state.dead)
        with Team(target, ends, execution) as team:
            return search(
                target, state, team.execute, plan, go_on=team.go_on, watch=watch, report=report, standing=standing
            )

    result = partial(SearchResult, network, asked, settings.heuristic, wanted, seed)
    if isinstance(asked, ReachQuery):
        return result(search_state(asked, plan, standing))
    if isinstance(asked, ExtremesQuery):
        first = replace(plan, wanted=Wanted.SOME, traces=1)
        found, extremes = search_extremes(network, asked, lambda state: search_state(state, first, None))
        return result(found, extremes=extremes)
    return result(*_search_endless(asked, tables, plan, ends, watch))


def _search_endless(
    asked: LivenessQuery, model: CompiledModel, plan: SearchPlan, ends: float | None, watch: Callable[[Found], None]
) -> tuple[Found, Ending | None]:
    """Look for an endless run; walks that meet what a run from the beginning must avoid end there."""
    target = Target(model, asked.avoided if asked.trigger is None else None)
    return search_endless(
        target, asked, plan, go_on=lambda: ends is None or time.monotonic() < ends, watch=watch
    )  # fmt: skip
