"""`reach`: look for a state of a model, with walks on all cores, and give back an exact trace that leads there.

    result = reach("fischer.yaml", "A[] not (P(1).cs && P(2).cs)", seed=1)
    if result.found.best is not None:
        print(len(result.found.best.trace.steps), "steps")

The same seed gives the same finding on any number of workers: units of walks are answered in their order (`search`),
and of several that meet the target the first in that order counts.  Only the timeout goes by the clock.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree, draw_seed
from bbfalsify.engines.reachability.schedule import Unit
from bbfalsify.engines.reachability.search import (
    PORTFOLIO,
    Answer,
    Bounds,
    Finding,
    Found,
    Walking,
    Wanted,
    in_this_process,
    search,
)
from bbfalsify.kernel import compile_network
from bbfalsify.kernel.targets import Heuristic, Target, TargetSearch
from bbfalsify.logic.queries import Query, parse_query
from bbfalsify.modelling import Network, load_network

DEFAULT_TIMEOUT_S = 300.0
ALONE_S = 0.5
"""A search that ends within this time is not worth starting workers for."""


class ReachOutcome(StrEnum):
    REACHED = "reached"
    NOT_REACHED = "not_reached"
    MODEL_ERROR = "model_error"


@dataclass(frozen=True, eq=False)
class ReachResult:
    network: Network
    query: Query
    heuristic: str
    """As asked for; the finding says which of a portfolio won."""
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


def reach(
    model: str | Path | Network,
    query: str,
    *,
    heuristic: str = "portfolio",
    trace: str = "some",
    depth: int | None = None,
    timeout: float | None = DEFAULT_TIMEOUT_S,
    walks: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    report: Callable[[Found], None] = lambda found: None,
) -> ReachResult:
    """Look for a state that satisfies the query (`E<>`) or violates it (`A[]`).

    `walks` limits the walks of each heuristic, `timeout` the seconds; None is no limit.  With `trace` "shortest" or
    "fastest" the search goes on after the first trace, so it needs one of the two.
    """
    wanted, heuristics = Wanted(trace), heuristics_named(heuristic)
    if timeout is None and walks is None:
        raise UserError("a search for a state that may not exist needs a timeout or a number of walks.")
    network = model if isinstance(model, Network) else load_network(model)
    asked = parse_query(query, network)
    target = Target(compile_network(network), asked.alive, asked.dead)
    TargetSearch.warm_up()  # compiling does not count
    seed = draw_seed() if seed is None else seed
    ends = None if timeout is None else time.monotonic() + timeout
    with Team(target, ends, os.cpu_count() or 1 if jobs is None else jobs) as team:
        found = search(
            target, asked, team.execute, heuristics=heuristics, seeds=SeedTree(seed).child("reach"), wanted=wanted,
            depth=depth, walks=walks, go_on=team.go_on, report=report,
        )  # fmt: skip
    return ReachResult(network, asked, heuristic, wanted, seed, found)


def heuristics_named(name: str) -> tuple[Heuristic, ...]:
    return PORTFOLIO if name == "portfolio" else (Heuristic(name),)


class Team:
    """Executes units, on several cores once it turns out to be worth it."""

    def __init__(self, target: Target, ends: float | None, workers: int) -> None:
        self._target = target
        self._ends = ends
        self._start = time.monotonic()
        can_fork = "fork" in multiprocessing.get_all_start_methods()
        self._workers = workers if can_fork else 1
        self._alone = in_this_process(target, self.go_on)
        self._pool: ProcessPoolExecutor | None = None
        self._stop: Any = None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._stop.set()
            self._pool.shutdown(wait=True, cancel_futures=True)

    def go_on(self) -> bool:
        return self._ends is None or time.monotonic() < self._ends

    def execute(self, units: Sequence[Unit], bounds: Bounds, coverage: dict[Heuristic, np.ndarray]) -> Iterator[Answer]:
        if self._workers == 1 or len(units) == 1 or time.monotonic() - self._start < ALONE_S:
            yield from self._alone(units, bounds, coverage)
            return
        if self._pool is None:
            self._open()
        waiting: list[Future[Answer]] = [
            self._pool.submit(_work, unit, bounds, coverage.get(unit.heuristic)) for unit in units
        ]
        for future in waiting:
            yield future.result()

    def _open(self) -> None:
        context = multiprocessing.get_context("fork")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(
            self._workers, mp_context=context, initializer=_prepare, initargs=(self._target, self._ends, self._stop)
        )


_walking: Walking | None = None
_go_on: Callable[[], bool] = lambda: True  # noqa: E731


def _prepare(target: Target, ends: float | None, stop: Any) -> None:
    global _walking, _go_on
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which tells us to stop
    _walking = Walking(target)
    _go_on = lambda: not stop.is_set() and (ends is None or time.monotonic() < ends)  # noqa: E731


def _work(unit: Unit, bounds: Bounds, coverage: np.ndarray | None) -> Answer:
    assert _walking is not None
    return _walking.walk(unit, bounds, coverage, _go_on)
