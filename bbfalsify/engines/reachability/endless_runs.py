"""Runs without end that avoid a condition: they refute `A<> φ` and `φ --> ψ`, and witness `E[] φ`.

    for walks of growing depth
        replay the walk in exact fractions
        look for an end that avoids the condition for ever: a state seen before (the steps between are repeated), a
        state in which time may pass for ever, or one in which neither time passes nor anything fires

Two states are the same if they agree in all locations, integers and reals; where clocks are only compared with bounds,
clocks beyond the largest bound count as equal.  Walks that always wait as long, or as short, as possible meet such
states soon.  Nothing found proves nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bbfalsify.engines.reachability.concrete_trace import ConcreteTrace, TimeIsUp, TraceStep, follow
from bbfalsify.engines.reachability.schedule import CYCLE, FIRST_DEPTH
from bbfalsify.engines.reachability.walk_search import Found, ReachFinding, SearchPlan
from bbfalsify.kernel.target_search import Heuristic, Target, TargetSearch
from bbfalsify.logic.reach_query import LivenessQuery
from bbfalsify.modelling.network.expressions import Binary, Constant, Expression, Kind, Read
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.network.visit import COMPARISONS, children, expressions_of, subexpressions
from bbfalsify.modelling.reference.delay_sets import Window, Windows, contains, endpoints
from bbfalsify.modelling.reference.exact_values import Real
from bbfalsify.modelling.reference.flow import clock_slots
from bbfalsify.modelling.reference.state import State
from bbfalsify.modelling.reference.step_replay import NotAllowed, Replayer

DEEPEST = 512
CYCLES = 8
"""Cycles of eleven walks at each depth."""
REPEATED, WAITING, STUCK = "repeats", "waits for ever", "stuck"


@dataclass(frozen=True)
class Ending:
    """The end of a run: after `steps` steps it repeats those from `loop` on, waits for ever, or is stuck."""

    kind: str
    steps: int
    loop: int | None = None

    def in_words(self) -> str:
        if self.kind == REPEATED and self.loop is not None:
            again = f"step {self.steps}" if self.steps - self.loop == 1 else f"steps {self.loop + 1} to {self.steps}"
            return f"then repeats {again} for ever"
        return "then waits for ever" if self.kind == WAITING else "then nothing can happen any more"


def search_endless(
    target: Target, query: LivenessQuery, plan: SearchPlan, *, go_on: Callable[[], bool], watch: Callable[[Found], None]
) -> tuple[Found, Ending | None]:
    """Look for an endless run, until the time is up or `plan.walks` walks of each heuristic are made."""
    found, start = Found(), time.monotonic()
    endings = Endings(target.model.network, query)
    searches = {heuristic: TargetSearch(target, heuristic) for heuristic in plan.heuristics}
    for number, depth, seeds in _walks(plan):
        for heuristic, search in searches.items():
            if not go_on():
                found.stopped = "timeout"
                return found, None
            seed, distribution = int(seeds[heuristic]), number % CYCLE
            batch = search.walks(np.array([seed], np.uint64), np.array([distribution]), depth)
            found.walks, found.steps = found.walks + 1, found.steps + batch.steps
            found.seconds = time.monotonic() - start
            watch(found)
            if batch.ended not in ("done", "met"):
                continue
            # a walk that met what a run must avoid may have been where it was before, until then
            recording = search.record(seed, distribution, depth)
            values = None if recording.values is None else [tuple(map(float, row)) for row in recording.values]
            replayer = Replayer(endings.network)
            try:
                steps, _ = follow(replayer, recording.moves, [float(t) for t in recording.times], values, go_on=go_on)
                ending = endings.first(replayer, steps)
            except (NotAllowed, TimeIsUp) as problem:
                found.unconfirmed.append(str(problem))
                continue
            if ending is not None:
                steps = steps[: ending.steps]
                end = endings.states(replayer, steps)[-1]
                trace = ConcreteTrace(tuple(steps), Fraction(0), end, ending.kind == STUCK)
                found.findings.append(
                    ReachFinding(trace, heuristic, number + 1, distribution, depth, found.steps, found.seconds)
                )
                found.stopped = "met"
                return found, ending
    return found, None


def _walks(plan: SearchPlan) -> Iterator[tuple[int, int, dict[Heuristic, np.uint64]]]:
    """Number, depth and seeds of walks: depths double up to the deepest, then begin again."""
    depths = itertools.cycle([FIRST_DEPTH << i for i in range((DEEPEST // FIRST_DEPTH).bit_length())])
    number = 0
    for turn, depth in enumerate(depths):
        words = {h: plan.seeds.child("endless", h.value, turn).words(CYCLE * CYCLES) for h in plan.heuristics}
        for place in range(CYCLE * CYCLES):
            if plan.walks is not None and number >= plan.walks:
                return
            yield number, plan.depth or depth, {heuristic: words[heuristic][place] for heuristic in plan.heuristics}
            number += 1


class Endings:
    """Finds out how the run of some steps can go on for ever without meeting what it must avoid."""

    def __init__(self, network: Network, query: LivenessQuery) -> None:
        self.network = network
        self._query = query
        self._clocks = set(clock_slots(network)) if _only_bounded(network, query) else set()
        constants = [
            Fraction(c.value) for e in _conditions(query) for c in subexpressions(e) if isinstance(c, Constant)
        ]
        self._largest = max([Fraction(network.largest_constant), *constants])

    def states(self, replayer: Replayer, steps: list[TraceStep]) -> list[State]:
        """The states before the first step and after each."""
        states = [replayer.initial_state()]
        for step in steps:
            state, _ = replayer.follow(states[-1], step.moves, step.time, prefer_bounds=False)
            if step.values is not None:
                count = self.network.integer_count
                integers = tuple(int(v) for v in step.values[:count])
                state = State(state.locations, integers, tuple(Fraction(v) for v in step.values[count:]), state.time)
            states.append(state)
        return states

    def first(self, replayer: Replayer, steps: list[TraceStep], waits: Fraction = Fraction(0)) -> Ending | None:
        """The earliest way to go on for ever along these steps, and a wait after the last one.

        The trigger may hold during a wait only: then the wait belongs to the run.
        """
        since = 0
        """The condition is avoided from this state on."""
        triggered = False
        seen: dict[object, int] = {}
        for place, state in enumerate(self.states(replayer, steps)):
            last = place == len(steps)
            if self._holds(replayer, state, self._query.avoided):
                since, triggered, seen = place + 1, False, {}
                if self._query.trigger is None:
                    return None
            elif self._query.trigger is None or self._holds(replayer, state, self._query.trigger):
                triggered = True
            key = self._key(state)
            if triggered and key in seen and seen[key] >= since:
                return Ending(REPEATED, place, seen[key])
            seen.setdefault(key, place)
            meets = replayer.delays_of(state, self._query.avoided)
            if triggered and not meets and _waits_for_ever(replayer, state):
                return Ending(WAITING, place)
            delay = waits if last else steps[place].delay
            if any(_begins_by(delay, window) for window in meets):
                since, triggered, seen = place + 1, False, {}
                if self._query.trigger is None:
                    return None
            if not triggered and self._query.trigger is not None:
                triggered = self._met_while_waiting(replayer, state, delay, meets)
                since, seen = (place + 1, {}) if triggered else (since, seen)
            if last and triggered and all(_begins_by(delay, window) for window in meets):  # none comes after the wait
                if _waits_for_ever(replayer, state):
                    return Ending(WAITING, place)
                if contains(replayer.delays(state), waits) and not replayer.transitions(replayer.wait(state, waits)):
                    return Ending(STUCK, place)
        return None

    def _met_while_waiting(self, replayer: Replayer, state: State, delay: Real, avoided: Windows) -> bool:
        """Tell whether the trigger holds during the delay, and the condition is avoided from then on until its end."""
        assert self._query.trigger is not None
        triggers = replayer.delays_of(state, self._query.trigger)
        marks = sorted({Fraction(0), delay, *(p for p in endpoints((*triggers, *avoided)) if p < delay)})
        between = [(a + b) / 2 for a, b in itertools.pairwise(marks)]
        for moment in sorted((*marks, *between), reverse=True):
            if contains(avoided, moment):
                return False
            if contains(triggers, moment):
                return True
        return False

    def _holds(self, replayer: Replayer, state: State, condition: Expression) -> bool:
        return replayer.evaluator_at(state, Fraction(0)).holds(condition)

    def _key(self, state: State) -> object:
        reals = tuple(
            self._largest + 1 if slot in self._clocks and value > self._largest else value
            for slot, value in enumerate(state.reals)
        )
        return state.locations, state.integers, reals


def _begins_by(delay: Real, window: Window) -> bool:
    return window.low < delay or delay in window


def _waits_for_ever(replayer: Replayer, state: State) -> bool:
    stay = replayer.delays(state)
    return bool(stay) and stay[-1].high is None


def _conditions(query: LivenessQuery) -> list[Expression]:
    return [query.avoided] if query.trigger is None else [query.avoided, query.trigger]


def _only_bounded(network: Network, query: LivenessQuery) -> bool:
    """Tell whether clocks only grow, and appear only in comparisons with constants: then large values are all alike."""
    texts: list[Expression] = list(_conditions(query))
    rates = [rate.expression for p in network.processes for location in p.locations for rate in location.rates]
    if not all(isinstance(rate, Constant) and rate.value >= 0 for rate in rates):
        return False
    for process in network.processes:
        for location in process.locations:
            texts += [] if location.invariant is None else [location.invariant]
        for edge in process.edges:
            texts += [] if edge.guard is None else [edge.guard]
            for branch in edge.branches:
                texts += list(expressions_of(branch.updates))
    for function in network.functions:
        if any(_reads_clock(e) for e in expressions_of(function.body)):
            return False
    return all(_bounded(e) for e in texts)


def _reads_clock(e: Expression) -> bool:
    return any(isinstance(part, Read) and part.kind is Kind.CLOCK for part in subexpressions(e))


def _bounded(e: Expression) -> bool:
    if isinstance(e, Read):
        return e.kind is not Kind.CLOCK
    if isinstance(e, Binary) and e.operator in COMPARISONS:
        for clock, bound in ((e.left, e.right), (e.right, e.left)):
            if isinstance(clock, Read) and clock.kind is Kind.CLOCK and clock.index is None:
                return isinstance(bound, Constant)
    return all(_bounded(child) for child in children(e))
