"""The exact law of a race between components, from the reference interpreter's windows: the judge of the kernel's.

Written from the rules alone (`reference_law`, and: the smallest delay wins, ties are broken uniformly, a component in
an urgent or committed location goes before those that wait, which go only where it cannot).  Densities are polynomials
in exact fractions; where an exponential takes part they are integrated by adaptive Gauss–Kronrod quadrature.
"""

from __future__ import annotations

import math
from fractions import Fraction

from scipy.integrate import quad

from bbfalsify.modelling.reference.delay_sets import contains, endpoints
from bbfalsify.modelling.reference.state import State, Transition
from tests.support.oracle import Oracle

Number = Fraction | float


class Racer:
    """One component: what it may do when, and how it waits."""

    def __init__(self, interpreter: Oracle, state: State, process: int, outputs: list[Transition]) -> None:
        self.interpreter, self.state, self.outputs = interpreter, state, outputs
        location = interpreter.network.processes[process].locations[state.locations[process]]
        self.bound = interpreter.invariant_delays(state, process)[0].high
        self.rate = Fraction(1)
        if location.exponential_rate is not None and self.bound is None:
            self.rate = Fraction(interpreter.evaluator_at(state, Fraction(0)).value(location.exponential_rate))

    def shares(self, delay: Fraction) -> dict[str, Fraction]:
        """Each action's share of the weights of what is enabled after this delay."""
        machine = self.interpreter.evaluator_at(self.state, delay)
        weights: dict[str, Fraction] = {}
        for t in self.outputs:
            if contains(t.windows, delay):
                edge = self._edge(t)
                weight = Fraction(1) if edge.weight is None else Fraction(machine.value(edge.weight))
                weights[edge.action] = weights.get(edge.action, Fraction(0)) + weight
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}

    def atom(self) -> Fraction | None:
        """When it acts at the latest, if it has not acted before."""
        moments = [self.bound] if self.bound is not None and self.shares(self.bound) else []
        channels = self.interpreter.network.channels
        for t in self.outputs:
            channel = self._edge(t).channel
            if channel is not None and channels[channel].urgent:
                moments.append(t.windows[0].low)
        return min(moments, default=None)

    def _edge(self, t: Transition):
        return self.interpreter.network.processes[t.sender[0]].edges[t.sender[1]]


def race_probabilities(interpreter: Oracle, state: State) -> dict[str, Number]:
    """Of each action to be the next one."""
    total: dict[str, Number] = {}
    if interpreter.delay_bound(state) is None:
        return total
    by_process: dict[int, list[Transition]] = {}
    for t in interpreter.transitions(state):
        by_process.setdefault(t.sender[0], []).append(t)
    racers = [Racer(interpreter, state, p, outputs) for p, outputs in by_process.items()]
    atoms = [r.atom() for r in racers]
    last = min((a for a in atoms if a is not None), default=None)
    group = [r for r, a in zip(racers, atoms, strict=True) if a is not None and a == last]
    if last is None and _time_stands_still(interpreter, state):
        last, group = Fraction(0), [r for r in racers if r.shares(Fraction(0))]
    alive: Number = Fraction(1)
    points = sorted({Fraction(0)}.union(*(endpoints(t.windows) for r in racers for t in r.outputs)))
    for low, high in zip(points, [*points[1:], None], strict=True):
        if last is not None and low >= last:
            break
        middle = low + 1 if high is None else (low + high) / 2
        enabled = [(r, shares) for r in racers if (shares := r.shares(middle))]
        for winner, shares in enabled:
            won = alive * _wins(winner, [r for r, _ in enabled], low, high)
            for action, share in shares.items():
                total[action] = total.get(action, 0) + won * share
        for r, _ in enabled:
            alive *= _survives(r, low, high)
    for r in group:
        for action, share in r.shares(last).items():
            total[action] = total.get(action, 0) + alive * share / len(group)
    return total


def _time_stands_still(interpreter: Oracle, state: State) -> bool:
    here = zip(interpreter.network.processes, state.locations, strict=True)
    return any(p.locations[at].urgent or p.locations[at].committed for p, at in here)


def _survives(r: Racer, low: Fraction, high: Fraction | None) -> Number:
    if r.bound is not None:
        return (r.bound - high) / (r.bound - low)
    if high is None:
        return float(r.rate == 0)
    return math.exp(-float(r.rate * (high - low)))


def _wins(winner: Racer, enabled: list[Racer], low: Fraction, high: Fraction | None) -> Number:
    """Probability that the winner is the first to act in a piece, given that all are waiting at its start."""
    rate = sum((r.rate for r in enabled if r.bound is None), Fraction(0))
    if high is None:  # then nobody has a bound
        return winner.rate / rate if rate else Fraction(0)
    factor = winner.rate if winner.bound is None else 1 / (winner.bound - low)
    polynomial = [Fraction(1)]  # in the time since the start of the piece
    for r in enabled:
        if r is not winner and r.bound is not None:
            gap = r.bound - low
            polynomial = [
                a - b / gap for a, b in zip([*polynomial, Fraction(0)], [Fraction(0), *polynomial], strict=True)
            ]
    length = high - low
    if rate == 0:
        return factor * sum(c * length ** (k + 1) / (k + 1) for k, c in enumerate(polynomial))
    coefficients = [float(c) for c in polynomial]

    def density(y: float) -> float:
        return math.exp(-float(rate) * y) * sum(c * y**k for k, c in enumerate(coefficients))

    return float(factor) * quad(density, 0.0, float(length), epsabs=1e-14, epsrel=1e-12)[0]
