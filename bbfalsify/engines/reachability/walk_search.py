"""Algorithm 2 of paper B: random walks, deeper from turn to turn, until one of them meets the target.

    while within the budget:
        for each heuristic, cycles of eleven walks, deep and shallow (`schedule`)
        a walk that meets the target is replayed by the exact interpreter (`concrete_trace`): then it is a finding

For the shortest or the fastest trace the search goes on after the first: later walks may only take fewer steps, or
less time (RET-S, RET-F).

`execute` makes the walks: it takes the units of a turn and yields their answers in the order of the units.  The first
finding in that order counts, never the first in time, so that any number of workers finds the same.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, TimeIsUp, checked_trace
from bbfalsify.engines.reachability.schedule import Unit, turns
from bbfalsify.engines.reachability.settings import Wanted
from bbfalsify.kernel.native_background import NativeInBackground
from bbfalsify.kernel.target_search import Batch, Heuristic, Recording, Target, TargetSearch
from bbfalsify.kernel.walker import Walker
from bbfalsify.logic.reach_query import ReachQuery
from bbfalsify.modelling.reference.state import Move
from bbfalsify.modelling.reference.step_replay import NotAllowed

PORTFOLIO = (Heuristic.RET, Heuristic.SEM, Heuristic.RLC, Heuristic.RLC_A, Heuristic.RCF)
MOST_REPEATED = 200
"""Traces in a row that are known already: the search for different ones ends."""
PROCESSES_PER_STEP = 4
"""Starting a walk costs about as much as a step for each so many processes."""

Coverage = dict[Heuristic, np.ndarray]
"""Counters of heuristics that keep them from turn to turn."""


@dataclass(frozen=True)
class Bounds:
    """Limits of walks, from the best trace so far."""

    steps: int | None = None
    time: float = math.inf


@dataclass(frozen=True, eq=False)
class UnitAnswer:
    """The end of a unit's walks, and the record of the walk that met the target or failed."""

    unit: Unit
    batch: Batch
    recording: Recording | None
    coverage: np.ndarray | None
    """Counters of RLC-A after the unit."""


@dataclass(frozen=True, eq=False)
class ReachFinding:
    trace: ConcreteTrace
    heuristic: Heuristic
    walk: int
    """Number of the walk among those of its heuristic, from 1."""
    distribution: int
    depth: int
    steps: int
    """Steps of all walks made before, and of this one."""
    seconds: float


@dataclass(eq=False)
class Found:
    """The result of a search so far."""

    findings: list[ReachFinding] = field(default_factory=list)
    """Each better than those before; the last one counts."""
    others: list[ReachFinding] = field(default_factory=list)
    """Further traces with other transitions, where several were asked for."""
    repeated: int = 0
    """Traces met since the last one that was new."""
    failure: ReachFinding | None = None
    """A walk in which the model failed."""
    walks: int = 0
    steps: int = 0
    seconds: float = 0.0
    deadlocks: int = 0
    timelocks: int = 0
    zeno: int = 0
    unconfirmed: list[str] = field(default_factory=list)
    """Reasons why the exact interpreter rejected walks."""
    stopped: str = "walks"
    """Reason of the end: met, failed, walks (all were made), timeout."""

    @property
    def best(self) -> ReachFinding | None:
        return self.findings[-1] if self.findings else None


@dataclass(eq=False)
class Standing:
    """State of a search between two turns: all that the next turn depends on."""

    found: Found = field(default_factory=Found)
    turn: int = 0
    """Number of completed turns."""
    depth: int = 0
    """Depth of the deepest walks of the last turn."""
    coverage: Coverage = field(default_factory=dict)
    """Counters of RLC-A."""


@dataclass(frozen=True)
class SearchPlan:
    """The walks of a search, and when to end it."""

    heuristics: tuple[Heuristic, ...]
    seeds: SeedTree
    wanted: Wanted = Wanted.SOME
    depth: int | None = None
    """Depth of all walks; None: growing."""
    walks: int | None = None
    """Walks of each heuristic; None: no limit."""
    traces: int = 1
    """Traces with different transitions to look for, where any trace will do."""


Execute = Callable[[Sequence[Unit], Bounds, Coverage], Iterable[UnitAnswer]]


class Walking:
    """Execution of units, one at a time, with memory that is kept from unit to unit."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._walker = Walker.of(target.model)
        self._searches: dict[Heuristic, TargetSearch] = {}
        self._native = NativeInBackground(self._walker)
        self._seconds = 0.0

    def walk(self, unit: Unit, bounds: Bounds, coverage: np.ndarray | None, go_on: Callable[[], bool]) -> UnitAnswer:
        """Make the walks of the unit one after the other, until one of them meets the target or fails."""
        if unit.heuristic not in self._searches:
            self._searches[unit.heuristic] = TargetSearch(self._target, unit.heuristic, self._walker)
        search = self._searches[unit.heuristic]
        accumulates = unit.heuristic is Heuristic.RLC_A
        search.coverage[:] = coverage if accumulates and coverage is not None else 0
        depth = unit.depth if bounds.steps is None else min(unit.depth, bounds.steps)
        self._native.look(self._seconds)
        start = time.monotonic()
        batch = search.walks(unit.seeds, unit.distributions, depth, until=bounds.time, go_on=go_on)
        self._seconds += time.monotonic() - start
        recording = None
        if batch.ended in ("met", "failed"):
            seed, distribution = int(unit.seeds[batch.walk]), int(unit.distributions[batch.walk])
            before = search.coverage_before if accumulates else None
            recording = search.record(seed, distribution, depth, until=bounds.time, coverage=before)
        return UnitAnswer(unit, batch, recording, search.coverage.copy() if accumulates else None)


def search(
    target: Target,
    query: ReachQuery,
    execute: Execute,
    plan: SearchPlan,
    *,
    go_on: Callable[[], bool] = lambda: True,
    watch: Callable[[Found], None] = lambda found: None,
    report: Callable[[Standing], None] = lambda standing: None,
    standing: Standing | None = None,
) -> Found:
    """Search; call `watch` after every unit and `report` between two turns; continue from `standing`."""
    now = standing or Standing()
    found, coverage, wanted = now.found, now.coverage, plan.wanted
    start = time.monotonic() - found.seconds
    start_cost = len(target.model.network.processes) // PROCESSES_PER_STEP
    planned = turns(plan.heuristics, plan.seeds, plan.depth, plan.walks, start_cost)
    for units in itertools.islice(planned, now.turn, None):
        bounds, covered = _bounds(found, wanted), {h: array.copy() for h, array in coverage.items()}
        if bounds.steps == -1:
            break  # a trace without any step cannot be shortened
        for answer in execute(units, bounds, coverage):
            _count(found, answer, coverage, covered)
            found.seconds = time.monotonic() - start
            finding = _finding(target, query, answer, found, go_on)
            if finding is not None and finding.trace.error is not None:
                found.failure, found.stopped = finding, "failed"
                return found
            if finding is not None and _keep(finding, found, plan):
                found.stopped = "met"
                return found
            watch(found)
        if not go_on():
            found.stopped = "timeout"
            break
        now.turn, now.depth = now.turn + 1, max(unit.depth for unit in units)
        coverage.update(covered)
        report(now)
    found.seconds = time.monotonic() - start
    return found


def _bounds(found: Found, wanted: Wanted) -> Bounds:
    if found.best is None or wanted is Wanted.SOME:
        return Bounds()
    trace = found.best.trace
    return Bounds(steps=len(trace.steps) - 1) if wanted is Wanted.SHORTEST else Bounds(time=float(trace.time))


def _keep(finding: ReachFinding, found: Found, plan: SearchPlan) -> bool:
    """Keep a trace that is better, or another one of several; tell whether it was the last to look for."""
    if plan.wanted is not Wanted.SOME:
        if _is_better(finding, found, plan.wanted):
            found.findings.append(finding)
        return False
    known = [*found.findings, *found.others]
    if any(_moves(finding) == _moves(other) for other in known):
        found.repeated += 1
        return found.repeated >= MOST_REPEATED
    (found.others if known else found.findings).append(finding)
    found.repeated = 0
    return len(known) + 1 >= plan.traces


def _moves(finding: ReachFinding) -> list[tuple[Move, ...]]:
    return [step.moves for step in finding.trace.steps]


def _is_better(finding: ReachFinding, found: Found, wanted: Wanted) -> bool:
    if found.best is None:
        return True
    new, old = finding.trace, found.best.trace
    return new.time < old.time if wanted is Wanted.FASTEST else len(new.steps) < len(old.steps)


def _count(found: Found, answer: UnitAnswer, before: Coverage, covered: Coverage) -> None:
    """Add up what the walks did; units of a turn all start with the counters `before` it, so their order is free."""
    batch = answer.batch
    found.walks += batch.walk + (batch.ended in ("met", "failed"))
    found.steps += batch.steps
    found.deadlocks += batch.deadlocks
    found.timelocks += batch.timelocks
    found.zeno += batch.zeno
    if answer.coverage is not None:
        heuristic, nothing = answer.unit.heuristic, np.zeros_like(answer.coverage)
        covered[heuristic] = covered.get(heuristic, nothing) + answer.coverage - before.get(heuristic, nothing)


def _finding(
    target: Target, query: ReachQuery, answer: UnitAnswer, found: Found, go_on: Callable[[], bool]
) -> ReachFinding | None:
    if answer.recording is None:
        return None
    unit, batch = answer.unit, answer.batch
    try:
        trace = checked_trace(target.model.network, query, answer.recording, go_on)
    except (NotAllowed, TimeIsUp) as problem:
        found.unconfirmed.append(str(problem))
        return None
    number, distribution = unit.first + batch.walk + 1, int(unit.distributions[batch.walk])
    return ReachFinding(trace, unit.heuristic, number, distribution, unit.depth, found.steps, found.seconds)


def in_this_process(target: Target, go_on: Callable[[], bool]) -> Execute:
    """Make a function that executes units one after the other."""
    walking = Walking(target)

    def execute(units: Sequence[Unit], bounds: Bounds, coverage: Coverage) -> Iterator[UnitAnswer]:
        for unit in units:
            if not go_on():
                return
            yield walking.walk(unit, bounds, coverage.get(unit.heuristic), go_on)

    return execute
