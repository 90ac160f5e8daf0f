"""Make exact traces of recorded walks, each step of which the reference interpreter allows.

The kernel's walks are not trusted: `checked_trace` replays one in exact fractions and evaluates the query at its end;
one that fails this is no finding (`NotAllowed`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.core.collector import collector_paused
from bbfalsify.core.errors import BBFalsifyError
from bbfalsify.kernel.target_search import Recording
from bbfalsify.logic.reach_query import ReachQuery
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from bbfalsify.modelling.reference.long_replay import LongReplay
from bbfalsify.modelling.reference.state import Move, State, Transition
from bbfalsify.modelling.reference.step_replay import TOLERANCE, NotAllowed, Replayer, delays_meant

ODE_TOLERANCE = Fraction(1, 10**5)
"""Tolerance of delays if both sides integrate ODEs on their own."""


MOST_PICTURED = 50_000
"""Values of reals that are kept of a trace, for pictures."""

Exact = Fraction | float
"""A time: a fraction, or a float once ODEs are integrated."""


@dataclass(frozen=True)
class TraceStep:
    delay: Exact
    time: Exact
    action: str
    moves: tuple[Move, ...]
    changes: tuple[tuple[str, int], ...]
    """Integers that have changed, with their new values."""
    values: tuple[float, ...] | None = None
    """All integers and reals after it, if an update draws at random."""
    before: tuple[float, ...] = ()
    """All reals just before it, for pictures; empty if there are too many."""
    after: tuple[float, ...] = ()


@dataclass(frozen=True)
class ConcreteTrace:
    steps: tuple[TraceStep, ...]
    waits: Exact
    """The delay after the last step, until the target is met (or the model fails)."""
    end: State
    deadlocked: bool = False
    error: str | None = None
    """A run-time error of the model that ends the trace: a finding of its own."""
    failing: tuple[Move, ...] = ()
    """The transition that fails, if it is one."""

    @property
    def time(self) -> Exact:
        return self.end.time

    @property
    def extent(self) -> str:
        """Its length in words: 1 step and 3 time units."""
        steps, time = len(self.steps), float(self.time)
        return f"{steps} step{'s' * (steps != 1)} and {time:g} time unit{'s' * (time != 1)}"


class TimeIsUp(BBFalsifyError):
    """The time of a search ended while a walk was being replayed."""


def checked_trace(
    network: Network, query: ReachQuery, recording: Recording, go_on: Callable[[], bool] = lambda: True
) -> ConcreteTrace:
    """Replay the recorded walk as an exact trace; raise NotAllowed if the reference interpreter disagrees."""
    times: Sequence[float] = [float(t) for t in recording.times]
    values = None if recording.values is None else [tuple(float(v) for v in row) for row in recording.values]
    with collector_paused():
        try:
            return _trace(network, query, recording, times, values, go_on, prefer_bounds=False)
        except NotAllowed:
            return _trace(network, query, recording, times, values, go_on, prefer_bounds=True)


def _trace(
    network: Network,
    query: ReachQuery,
    recording: Recording,
    times: Sequence[float],
    values: Sequence[tuple[float, ...]] | None,
    go_on: Callable[[], bool],
    *,
    prefer_bounds: bool,
) -> ConcreteTrace:
    replayer = Replayer(network)
    steps, state = follow(replayer, recording.moves, times, values, prefer_bounds=prefer_bounds, go_on=go_on)
    if recording.error is not None:
        return _failure(replayer, steps, state, recording)
    waits, deadlocked = met(
        replayer, query, state, Fraction(recording.moment) - state.time, prefer_bounds=prefer_bounds
    )
    return ConcreteTrace(tuple(steps), waits, replayer.wait(state, waits), deadlocked)


def follow(
    replayer: Replayer,
    moves: Sequence[tuple[Move, ...]],
    times: Sequence[float | Fraction],
    values: Sequence[tuple[float, ...] | None] | None,
    *,
    prefer_bounds: bool = False,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[list[TraceStep], State]:
    """Replay moves; return the steps with exact delays, and the state they lead to."""
    network, run = replayer.network, LongReplay(replayer)
    names = [f"{v.name}[{i}]" if v.size > 1 else v.name
             for v in sorted((v for v in network.variables if not v.kind.is_real), key=lambda v: v.slot)
             for i in range(v.size)]  # fmt: skip
    steps = []
    pictured = len(moves) * network.real_count <= MOST_PICTURED
    flowing = run.reals_later() if pictured else None
    for number, (taken, time) in enumerate(zip(moves, times, strict=True)):
        written = run.may_write(taken)
        before = run.integers_at(written)
        if not go_on():
            raise TimeIsUp(f"the time was up after {number} of {len(moves)} steps of the exact re-check")
        try:
            delay = run.take(taken, time, tolerance=_tolerance(run.exact), prefer_bounds=prefer_bounds)
        except NotAllowed as problem:
            raise NotAllowed(f"step {number + 1}: {problem}") from None
        except ModelRuntimeError as problem:
            raise NotAllowed(f"step {number + 1}: the model fails: {problem}") from None
        drawn = None if values is None else values[number]
        if drawn is not None:
            state, integers = run.state(), tuple(int(v) for v in drawn[: network.integer_count])
            run.load(State(state.locations, integers, tuple(Fraction(v) for v in drawn[len(integers) :]), state.time))
        changed = zip(written, before, run.integers_at(written), strict=True)
        changes = tuple((names[slot], new) for slot, old, new in changed if old != new)
        process, edge, _ = taken[0]
        action = network.processes[process].edges[edge].action
        following = run.reals_later() if pictured else None
        reals = (flowing(delay), following(Fraction(0))) if flowing and following else ((), ())
        flowing = following
        steps.append(TraceStep(delay, run.time, action, taken, changes, drawn, *reals))
    return steps, run.state()


def met(
    replayer: Replayer, query: ReachQuery, state: State, delay: Exact, *, prefer_bounds: bool = False
) -> tuple[Exact, bool]:
    """Find the delay near this one at which the state is a target, and whether it is deadlocked; else NotAllowed."""
    tolerance = _tolerance(state.exact)
    delay = max(delay, Fraction(0))
    candidates = [] if prefer_bounds else [delay]
    for deadlocked in (False, True):
        if deadlocked and query.dead is None:
            continue
        candidates += delays_meant(replayer.delays_of(state, query.target(deadlocked)), delay, tolerance)
    for moment in candidates:
        if not replayer.can_wait(state, moment):
            continue
        there = replayer.wait(state, moment)
        deadlocked = query.dead is not None and replayer.is_deadlocked(there)
        if replayer.evaluator_at(there, Fraction(0)).holds(query.target(deadlocked)):
            return moment, deadlocked
    raise NotAllowed(f"the target is not met {float(delay):.12g} after the last step")


def _tolerance(exact: bool) -> Fraction:
    return TOLERANCE if exact else ODE_TOLERANCE


def _failure(replayer: Replayer, steps: list[TraceStep], state: State, recording: Recording) -> ConcreteTrace:
    """Make the trace of a walk in which the model fails, after checking that with the reference interpreter."""
    network = replayer.network
    waits: Exact = Fraction(0)
    failing: tuple[Move, ...] = ()
    if recording.failing is not None:
        number, partner, time = recording.failing
        names = [(p, e) for p, process in enumerate(network.processes) for e in range(len(process.edges))]
        waits = max(Fraction(0), Fraction(time) - state.time)
        failing = tuple((*names[n], 0) for n in (number, partner) if n >= 0)
    if not fails(replayer, state, failing, waits):
        raise NotAllowed(f"the model does not fail here: {recording.error}")
    try:
        end = replayer.wait(state, waits)
    except ModelRuntimeError:
        end = state
    return ConcreteTrace(tuple(steps), waits, end, error=recording.error, failing=failing)


def fails(replayer: Replayer, state: State, moves: tuple[Move, ...], delay: Exact) -> bool:
    """Tell whether taking this transition at or near this delay is a run-time error (without moves: whether listing the
    transitions is one already)."""
    try:
        transitions = replayer.transitions(state)
    except ModelRuntimeError:
        return True
    names = [move[:2] for move in moves]
    return any(
        transition.sender == names[0]
        and (transition.broadcast or len(names) == 1 or names[1] in transition.receivers)
        and _some_outcome_fails(replayer, state, transition, delay)
        for transition in (transitions if moves else ())
    )


def _some_outcome_fails(replayer: Replayer, state: State, transition: Transition, delay: Exact) -> bool:
    for moment in delays_meant(transition.windows, delay):
        try:
            if any(outcome.error for outcome in replayer.outcomes(state, transition, moment)):
                return True
        except ModelRuntimeError:
            return True
    return False
