"""The exact law of a component's next step under the additional-delay rule.

A component draws a delay: uniform up to the bound D of its own invariant, exponential if it is unbounded.  If none of
its output edges is enabled at that moment it draws an additional delay from the state reached.  So the rule is a
**hazard**: 1/(D − t), or the exponential rate, applied only at the delays t at which an output is enabled.  Crossing an
enabled interval [u, v] multiplies the probability of still waiting by (D − v)/(D − u), or by exp(−rate·(v − u));
crossing a gap does not change it.

Examples.  Enabled from 3 to D = 5: uniform on [3, 5].  Enabled on [0, 1) and [4, 5) with D = 5: 1/5 and 4/5.

A component that still waits at D acts there if an output is enabled exactly at D (an atom); else it is stuck.  An
urgent or committed location anywhere means D = 0, and an output on an urgent channel is taken at the first moment it is
enabled.  If another component's invariant lets no time pass, a component that draws a longer delay is stuck.  Among the
edges enabled at the moment one is chosen by weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from bbfalsify.modelling.reference.delay_sets import contains, endpoints, up_to
from bbfalsify.modelling.reference.evaluation import Evaluator
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError, NotAffine
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from bbfalsify.modelling.reference.state import State, Transition


@dataclass(frozen=True)
class Piece:
    """Between `low` and `high` the same edges are enabled; the component acts there with probability `mass`."""

    low: Fraction
    high: Fraction | None
    density: str
    """uniform, exponential (both given that the component acts in this piece) or atom"""
    mass: Fraction | float
    actions: dict[str, Fraction]
    """Share of each action, given that the component acts here."""


@dataclass(frozen=True)
class StepLaw:
    pieces: tuple[Piece, ...]
    stuck: Fraction | float
    """Probability that the component never acts from here."""

    @property
    def probabilities(self) -> dict[str, Fraction | float]:
        """Probability of each action to be the next one: exact fractions unless the law is exponential."""
        total: dict[str, Fraction | float] = {}
        for piece in self.pieces:
            for action, share in piece.actions.items():
                total[action] = total.get(action, Fraction(0)) + piece.mass * share
        return total


def law_of_component(interpreter: ReferenceInterpreter, state: State, process: int) -> StepLaw:
    outputs = [t for t in interpreter.transitions(state) if t.sender[0] == process]
    if any(t.receivers and not t.broadcast for t in outputs):
        raise ValueError(f"{interpreter.edge_text(outputs[0].sender)}: handshakes have no stochastic semantics")
    bound = _bound(interpreter, state, process)
    rate = _rate(interpreter, state, process) if bound is None else None
    last = min([*_urgent_moments(interpreter, outputs), *([] if bound is None else [bound])], default=None)
    waiting: Fraction | float = Fraction(1)
    pieces = []
    for low, high in _gaps(outputs, last):
        middle = low + 1 if high is None else (low + high) / 2
        enabled = [t for t in outputs if contains(t.windows, middle)]
        shares = _shares(interpreter, state, enabled, low, middle)
        if not shares:
            continue
        if bound is not None:
            crossed: Fraction | float = (bound - high) / (bound - low)
        else:
            crossed = math.exp(-float(rate * (high - low))) if high is not None else float(rate == 0)
            if rate == 0:
                continue
        pieces.append(Piece(low, high, "uniform" if rate is None else "exponential", waiting * (1 - crossed), shares))
        waiting = waiting * crossed
    if last is not None and waiting:
        shares = _shares(interpreter, state, [t for t in outputs if contains(t.windows, last)], last, last)
        if shares:
            pieces.append(Piece(last, last, "atom", waiting, shares))
            waiting = Fraction(0)
    return StepLaw(tuple(pieces), waiting)


def _bound(interpreter: ReferenceInterpreter, state: State, process: int) -> Fraction | None:
    """D: the bound of the component's own location; 0 if an urgent or committed location lets no time pass."""
    processes = zip(interpreter.network.processes, state.locations, strict=True)
    locations = [process.locations[here] for process, here in processes]
    own = interpreter.invariant_delays(state, process)
    if not own or any(location.urgent or location.committed for location in locations):
        return Fraction(0)
    return own[0].high


def _urgent_moments(interpreter: ReferenceInterpreter, outputs: list[Transition]) -> list[Fraction]:
    """The first moments at which the component's outputs on urgent channels are enabled."""
    network = interpreter.network
    channels = [(t, network.processes[t.sender[0]].edges[t.sender[1]].channel) for t in outputs]
    return [t.windows[0].low for t, c in channels if c is not None and network.channels[c].urgent]


def _rate(interpreter: ReferenceInterpreter, state: State, process: int) -> Fraction:
    location = interpreter.network.processes[process].locations[state.locations[process]]
    if location.exponential_rate is None:
        return Fraction(1)
    rate = interpreter.evaluator_at(state, Fraction(0)).value(location.exponential_rate)
    if rate < 0:
        raise ModelRuntimeError("weight", f"the exponential rate of {location.name} is {rate}")
    return Fraction(rate)


def _gaps(outputs: list[Transition], bound: Fraction | None) -> list[tuple[Fraction, Fraction | None]]:
    """Pairs of neighbouring delays between which the same outputs are enabled."""
    points = {Fraction(0)}
    for t in outputs:
        points |= endpoints(t.windows if bound is None else up_to(t.windows, bound))
    ordered: list[Fraction | None] = sorted(points)
    ordered.append(bound)
    return [(a, b) for a, b in zip(ordered, ordered[1:], strict=False) if a != b]


def _shares(
    interpreter: ReferenceInterpreter, state: State, enabled: list[Transition], low: Fraction, middle: Fraction
) -> dict[str, Fraction]:
    """Each action's share of the weights, which must not change inside the piece."""
    here, there = interpreter.evaluator_at(state, low), interpreter.evaluator_at(state, middle)
    weights: dict[str, Fraction] = {}
    for t in enabled:
        edge = interpreter.network.processes[t.sender[0]].edges[t.sender[1]]
        weight = _weight(there, edge.weight)
        if weight < 0:
            raise ModelRuntimeError("weight", f"weight {weight}", edge=interpreter.edge_text(t.sender))
        if weight != _weight(here, edge.weight):
            raise NotAffine(f"{interpreter.edge_text(t.sender)}: the weight depends on the delay")
        weights[edge.action] = weights.get(edge.action, Fraction(0)) + weight
    total = sum(weights.values())
    return {action: w / total for action, w in weights.items() if w > 0}


def _weight(evaluator: Evaluator, expression: object) -> Fraction:
    return Fraction(1) if expression is None else Fraction(evaluator.value(expression))
