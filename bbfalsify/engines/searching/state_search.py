"""Search a transition system for a target, by any of the methods, and say what is known at the end.

    found = search(system, lambda state: state == (3, 4), method="highway", width=8, seed=1)
    found.verdict        "reached", "unreachable" or "undecided"
    found.labels         the trace

"Unreachable" is said only after every reachable state was visited: by bfs, dfs, rdfs or drs, with all states kept and
none cut off.  A limit, a highway, bits and random walks leave it "undecided", with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.engines.searching.bookkeeping import LimitHit, Progress, Reached, Rounds, Search
from bbfalsify.engines.searching.breadth_first import breadth_first
from bbfalsify.engines.searching.deep_random_search import deep_random_search
from bbfalsify.engines.searching.depth_first import depth_first
from bbfalsify.engines.searching.highway import highway_search
from bbfalsify.engines.searching.random_search import random_search
from bbfalsify.engines.searching.settings import Method, SearchSettings
from bbfalsify.engines.searching.transition_system import Predicate, State, TransitionSystem
from bbfalsify.results.state_search_result import StateSearchResult, TraceStep

METHODS: dict[str, Callable[[Search], str | None]] = {
    Method.BFS: breadth_first,
    Method.DFS: lambda search: depth_first(search, randomised=False),
    Method.RDFS: lambda search: depth_first(search, randomised=True),
    Method.RANDOM: random_search,
    Method.DRS: deep_random_search,
    Method.HIGHWAY: highway_search,
}


def search(
    system: TransitionSystem,
    target: Predicate | None = None,
    *,
    deadlock: bool = False,
    seed: int | None = None,
    listener: Callable[[Progress], None] | None = None,
    rounds: Rounds | None = None,
    **settings: Any,
) -> StateSearchResult:
    """Search for a state that satisfies `target`, or with `deadlock` for one without successors.

    Without a target, a system that has its own (a model with a query, a machine with a requirement) is searched for
    that.  `settings` are those of `SearchSettings`.  The same seed gives the same result, unless time ends it.
    """
    if not isinstance(system, TransitionSystem):
        missing = [name for name in ("initial", "successors") if not hasattr(system, name)]
        raise UserError(f"a transition system has 'initial' and 'successors'; found {type(system).__name__} without "
                        f"{' and '.join(missing)}.")  # fmt: skip
    chosen = SearchSettings(**settings)
    seed = draw_seed() if seed is None else seed
    return _Run(system, target, deadlock, seed, listener, rounds or Rounds()).result(chosen)


class _Run:
    """A search, and the one that follows it when the memory is full."""

    def __init__(
        self,
        system: TransitionSystem,
        target: Predicate | None,
        deadlock: bool,
        seed: int,
        listener: Callable[[Progress], None] | None,
        rounds: Rounds,
    ) -> None:
        self.rounds = rounds
        self.system, self.target, self.deadlock, self.seed, self.listener = system, target, deadlock, seed, listener

    def result(self, settings: SearchSettings, before: str = "") -> StateSearchResult:
        seeds = SeedTree(self.seed).child("search", settings.method)
        rng = Random(seeds.word())  # noqa: S311 - not for secrets
        one = Search(self.system, self.target, settings, rng, deadlock=self.deadlock, listener=self.listener)
        one.rounds, one.rng_of = self.rounds, lambda depth: Random(seeds.child("round", depth).word())  # noqa: S311
        begun = time.process_time()
        path: Sequence[State] = ()
        verdict, why, interrupted = "undecided", None, False
        try:
            why = METHODS[settings.method](one)
            verdict = "undecided" if why or before else "unreachable"
        except Reached as reached:
            verdict, path = "reached", reached.path
        except LimitHit as limit:
            if limit.memory and settings.fallback != "none":
                return self.result(_fallback(settings), f"{limit.why}; then ")
            why = f"{limit.why} ({limit.advice})" if limit.advice else limit.why
        except KeyboardInterrupt:
            why, interrupted = "interrupted", True
        return StateSearchResult(
            method=settings.method, verdict=verdict, why=None if why is None else before + why,
            states=one.states, transitions=one.transitions, depth=one.deepest,
            cpu_seconds=time.process_time() - begun, memory_mb=one.memory_mb, seed=self.seed,
            trace=tuple(self._steps(path)), path=tuple(path), interrupted=interrupted,
        )  # fmt: skip

    def _steps(self, path: Sequence[State]) -> Sequence[TraceStep]:
        describe = getattr(self.system, "describe", str)
        steps = [TraceStep("", describe(path[0]))] if path else []
        for state, after in zip(path, path[1:], strict=False):
            label = next(label for label, end in self.system.successors(state) if end == after)
            steps.append(TraceStep(str(label), describe(after)))
        return steps


def _fallback(settings: SearchSettings) -> SearchSettings:
    """Return the settings of the search that follows when the memory is full."""
    if settings.fallback == "highway":
        return replace(settings, method=Method.HIGHWAY, fallback="none")
    return replace(settings, method=Method.RDFS, store="bits", states=None, fallback="none")
