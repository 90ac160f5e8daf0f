"""`reach`: look for a state of a model, with walks on all cores, and give back an exact trace that leads there.

    result = reach("fischer.yaml", "A[] not (P(1).cs && P(2).cs)", seed=1)
    if result.found.best is not None:
        print(len(result.found.best.trace.steps), "steps")

The same seed gives the same finding on any number of workers: units of walks are answered in their order (`search`),
and of several that meet the target the first in that order counts.  Only the timeout goes by the clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.reachability.search import PORTFOLIO, Found, ReachFinding, SearchPlan, Standing, search
from bbfalsify.engines.reachability.settings import ReachSettings, Wanted
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import ReachQuery, parse_query
from bbfalsify.modelling import Network, load_network
from bbfalsify.results.notebook import steps_frame, trace_html
from bbfalsify.results.reach_result import Improvement, QueryResult
from bbfalsify.running.reach.team import Team
from bbfalsify.running.reach.trace_files import trace_json

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The search for one query, with the exact trace; `row` is what is stored of it."""

    network: Network
    query: ReachQuery
    heuristic: str
    """As asked for; the finding says which of a portfolio won."""
    wanted: Wanted
    seed: int
    found: Found

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
        if best is not None:
            trace = best.trace
            return (
                f"{query.text}: {query.holds_word.upper()}{' (deadlock)' if trace.deadlocked else ''} after "
                f"{len(trace.steps)} steps and {float(trace.time):g} time units, by {best.heuristic.value} in its "
                f"walk {best.walk}; every step re-checked by the exact interpreter"
            )
        if failure is not None:
            return f"{query.text}: THE MODEL FAILS after {len(failure.trace.steps)} steps: {failure.trace.error}"
        why = "the time is up" if self.found.stopped == "timeout" else "all walks are made"
        word = "not falsified" if query.universal else "not reached"
        return f"{query.text}: {word.upper()} ({why}; random walks prove nothing)"

    def row(self, id: str, text: str, file: str | None) -> QueryResult:
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
            file=file,
        )


def reach(
    model: str | Path | Network,
    query: str,
    *,
    heuristic: str = ReachSettings.heuristic,
    trace: str = ReachSettings.trace,
    depth: int | None = None,
    timeout: float | None = ReachSettings.timeout,
    walks: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    watch: Callable[[Found], None] = lambda found: None,
    report: Callable[[Standing], None] = lambda standing: None,
    standing: Standing | None = None,
) -> SearchResult:
    """Look for a state that satisfies the query (`E<>`) or violates it (`A[]`).

    `walks` limits the walks of each heuristic, `timeout` the seconds; None is no limit.  With `trace` "shortest" or
    "fastest" the search goes on after the first trace, so it needs one of the two.

    Walks are made by `jobs` processes, or on an `executor` as for `falsify`.  `watch` is told what was found so far,
    now and then; `report` how the search stands between two turns: a search that was interrupted goes on from such a
    `standing` and ends as it would have ended.
    """
    ReachSettings(heuristic=heuristic, trace=trace, depth=depth, timeout=timeout, walks=walks)  # refuses what is wrong
    wanted, heuristics = Wanted(trace), heuristics_named(heuristic)
    if timeout is None and walks is None:
        raise UserError("a search for a state that may not exist needs a timeout or a number of walks.")
    network = model if isinstance(model, Network) else load_network(model)
    asked = parse_query(query, network)
    target = Target(compile_network(network), asked.alive, asked.dead)
    TargetSearch.warm_up()  # compiling does not count
    seed = draw_seed() if seed is None else seed
    used = 0.0 if standing is None else standing.found.seconds
    ends = None if timeout is None else time.monotonic() + timeout - used
    with Team(target, ends, os.cpu_count() or 1 if jobs is None else jobs, executor) as team:
        plan = SearchPlan(heuristics, SeedTree(seed).child("reach"), wanted, depth, walks)
        found = search(
            target, asked, team.execute, plan, go_on=team.go_on, watch=watch, report=report, standing=standing
        )
    return SearchResult(network, asked, heuristic, wanted, seed, found)


def heuristics_named(name: str) -> tuple[Heuristic, ...]:
    return PORTFOLIO if name == "portfolio" else (Heuristic(name),)
