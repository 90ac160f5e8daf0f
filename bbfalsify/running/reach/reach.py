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
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.engines.reachability.search import PORTFOLIO, Finding, Found, Options, Standing, Wanted, search
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.queries import Query, parse_query
from bbfalsify.modelling import Network, load_network
from bbfalsify.results.notebook import steps_frame, trace_html
from bbfalsify.running.execution import Execution
from bbfalsify.running.reach.team import Team
from bbfalsify.running.reach.trace_files import trace_json

if TYPE_CHECKING:
    import pandas

DEFAULT_TIMEOUT_S = 300.0


class ReachOutcome(StrEnum):
    REACHED = "reached"
    NOT_REACHED = "not_reached"
    MODEL_ERROR = "model_error"


@dataclass(frozen=True, eq=False)
class ReachResult:
    network: Network
    query: Query
    heuristic: str
    """The name asked for; the finding names the winner of a portfolio."""
    wanted: Wanted
    seed: int
    found: Found

    @property
    def outcome(self) -> ReachOutcome:
        if self.found.best is not None:
            return ReachOutcome.REACHED
        return ReachOutcome.NOT_REACHED if self.found.failure is None else ReachOutcome.MODEL_ERROR

    @property
    def finding(self) -> Finding | None:
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
        query, reached, failed = self.query, self.found.best, self.found.failure
        if reached is not None:
            trace = reached.trace
            return (
                f"{query.text}: {query.holds_word.upper()}{' (deadlock)' if trace.deadlocked else ''} after "
                f"{len(trace.steps)} steps and {float(trace.time):g} time units, by {reached.heuristic.value} in its "
                f"walk {reached.walk}; every step re-checked by the exact interpreter"
            )
        if failed is not None:
            return f"{query.text}: THE MODEL FAILS after {len(failed.trace.steps)} steps: {failed.trace.error}"
        why = "the time is up" if self.found.stopped == "timeout" else "all walks are made"
        word = "not falsified" if query.universal else "not reached"
        return f"{query.text}: {word.upper()} ({why}; random walks prove nothing)"


@dataclass(frozen=True)
class Settings:
    heuristic: str = "portfolio"
    trace: str = "some"
    """some, or shortest or fastest: the search then goes on after the first trace."""
    depth: int | None = None
    timeout: float | None = DEFAULT_TIMEOUT_S
    """Seconds of a query; None is no limit."""
    walks: int | None = None
    """Walks of each heuristic; None is no limit."""

    @property
    def options(self) -> Options:
        heuristics = PORTFOLIO if self.heuristic == "portfolio" else (Heuristic(self.heuristic),)
        return Options(heuristics, Wanted(self.trace), self.depth, self.walks)

    def as_json(self) -> dict[str, Any]:
        return dict(self.__dict__)


def reach(
    model: str | Path | Network,
    query: str,
    settings: Settings = Settings(),
    *,
    seed: int | None = None,
    execution: Execution = Execution(),
    watch: Callable[[Found], None] = lambda found: None,
    report: Callable[[Standing], None] = lambda standing: None,
    standing: Standing | None = None,
) -> ReachResult:
    """Look for a state that satisfies the query (`E<>`) or violates it (`A[]`).

    The settings are explained by `bbfalsify.reach`.  `watch` is told what was found so far, now and then; `report` how
    the search stands between two turns: a search that was interrupted goes on from such a `standing` and ends as it
    would have ended.
    """
    options = settings.options
    if settings.timeout is None and settings.walks is None:
        raise UserError("a search for a state that may not exist needs a timeout or a number of walks.")
    network = model if isinstance(model, Network) else load_network(model)
    asked = parse_query(query, network)
    target = Target(compile_network(network), asked.alive, asked.dead)
    TargetSearch.warm_up()  # compiling does not count
    seed = draw_seed() if seed is None else seed
    used = 0.0 if standing is None else standing.found.seconds
    ends = None if settings.timeout is None else time.monotonic() + settings.timeout - used
    with Team(target, ends, execution) as team:
        seeds = SeedTree(seed).child("reach")
        found = search(
            target, asked, team.execute, options, seeds=seeds, go_on=team.go_on, watch=watch, report=report,
            standing=standing,
        )  # fmt: skip
    return ReachResult(network, asked, settings.heuristic, options.wanted, seed, found)
