"""Judge recorded walks by the reference interpreter: the semantics must allow every step.

Walks are computed in float64.  The reference replays them in exact fractions from its own states: a recorded delay
within the tolerance of a bound of the window is taken to be that bound, and one of the states that the transition may
enter must be the recorded one (locations and integers exactly, reals within the tolerance).  So rounding errors do not
add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State
from bbfalsify.modelling.reference.step_replay import TOLERANCE, delays_meant


class RecordedWalk(Protocol):
    """The interface of the kernel's walks; entry 0 of the states is the initial one."""

    times: Sequence[float]
    edges: Sequence[int]
    locations: Sequence[Sequence[int]]
    integers: Sequence[Sequence[int]]
    reals: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Judgement:
    """The first problem of a walk, or None, and the reference's state at its end."""

    problem: str | None
    state: State


def exact_state(locations: Sequence[int], integers: Sequence[int], reals: Sequence[float], time: float) -> State:
    """Make an exact state from recorded floats."""
    return State(
        tuple(int(v) for v in locations),
        tuple(int(v) for v in integers),
        tuple(Fraction(float(v)) for v in reals),
        Fraction(float(time)),
    )


def edge_numbers(network: Network) -> dict[tuple[int, int], int]:
    """(process, edge) → global number of the edge; they are counted process by process."""
    names = [(p, e) for p, process in enumerate(network.processes) for e in range(len(process.edges))]
    return {name: number for number, name in enumerate(names)}


def judge_walk(
    interpreter: ReferenceInterpreter, walk: RecordedWalk, start: State | None = None, tolerance: Fraction = TOLERANCE
) -> Judgement:
    names = {number: name for name, number in edge_numbers(interpreter.network).items()}
    times = [start.time if start else 0.0, *(float(t) for t in walk.times)]
    rows = zip(walk.locations, walk.integers, walk.reals, times, strict=True)
    recorded = [exact_state(*row) for row in rows]
    state = start or interpreter.initial_state()
    if not close(recorded[0], state, Fraction(0)):
        return Judgement(f"starts in {shown(recorded[0])}, not in {shown(state)}", state)
    for number, target in enumerate(recorded[1:]):
        after = _follow(interpreter, state, names[int(walk.edges[number])], target, tolerance)
        if isinstance(after, str):
            return Judgement(f"step {number}: {after}", state)
        state = after
    return Judgement(None, state)


def _follow(
    interpreter: ReferenceInterpreter, state: State, sender: tuple[int, int], target: State, tolerance: Fraction
) -> State | str:
    """The reference's state after a recorded step, or a problem."""
    name, delay = interpreter.edge_text(sender), target.time - state.time
    possible = [t for t in interpreter.transitions(state) if t.sender == sender]
    if not possible:
        return f"{name} can never fire from {shown(state)}"
    near = [(t, d) for t in possible for d in delays_meant(t.windows, delay, tolerance)]
    if not near:
        windows = "; ".join(str(w) for t in possible for w in t.windows)
        return f"{name} fired after {float(delay)}, outside {windows}, from {shown(state)}"
    for transition, moment in near:
        for outcome in interpreter.outcomes(state, transition, moment):
            if outcome.state is not None and close(outcome.state, target, 10 * tolerance):
                return outcome.state
    return f"{name} after {float(delay)} from {shown(state)} cannot enter {shown(target)}"


def close(left: State, right: State, tolerance: Fraction) -> bool:
    """The same locations and integers, and reals within the tolerance."""
    return (
        left.locations == right.locations
        and left.integers == right.integers
        and all(abs(a - b) <= tolerance for a, b in zip(left.reals, right.reals, strict=True))
    )


def shown(state: State) -> str:
    reals = ", ".join(f"{float(r):.17g}" for r in state.reals)
    return f"{state.locations} {state.integers} ({reals}) at {float(state.time):.17g}"
