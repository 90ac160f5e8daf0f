"""Derivatives of an answer by every rate and weight of the network.

Each parameter is changed by ± 0.1 % and ± 0.05 %, the chain is solved again, and the two central differences are
extrapolated (Richardson).  Their distance bounds the error in practice; it stands beside the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from bbfalsify.chains.answers import answer_csl
from bbfalsify.chains.chain import explore_chain
from bbfalsify.core.errors import UserError
from bbfalsify.logic.csl import Formula
from bbfalsify.modelling import Network, Parameter, profile_parameters
from bbfalsify.modelling.network.expressions import Constant, Kind

_STEP = Fraction(1, 1000)
_UNIT = 1e-13
"""Relative accuracy of an answer; what a parameter changes less is taken as no change."""


@dataclass(frozen=True)
class Derivative:
    parameter: str
    """Name as in `profile_parameters`: rate of P.L, weight of P.A -> B (action)."""
    at: float
    value: float
    error: float
    elasticity: float
    """Relative change of the answer per relative change of the parameter."""


def derivatives(network: Network, query: str | Formula) -> list[Derivative]:
    """Return the derivatives that are not zero, the most influential parameter first."""

    def answer(changed: Network) -> float:
        value = answer_csl(explore_chain(changed), query).value
        if value is None:
            raise UserError("only a number (=?) has derivatives, a bound has none.")
        return value

    middle = answer(network)
    found = [_derivative(network, parameter, answer, middle) for parameter in profile_parameters(network)]
    return sorted((d for d in found if d is not None), key=lambda d: -abs(d.elasticity))


def _derivative(
    network: Network, parameter: Parameter, answer: Callable[[Network], float], middle: float
) -> Derivative | None:
    slopes, changes = [], []
    for step in (_STEP, _STEP / 2):
        above, below = (answer(_changed(network, parameter, factor)) for factor in (1 + step, 1 - step))
        changes.append(above - below)
        slopes.append((above - below) / (2 * float(step) * parameter.value))
    if max(abs(change) for change in changes) <= _UNIT * abs(middle):
        return None
    value = (4 * slopes[1] - slopes[0]) / 3
    error = abs(slopes[1] - slopes[0]) / 3
    elasticity = value * parameter.value / middle if middle else float("inf")
    return Derivative(parameter.name, parameter.value, value, error, elasticity)


def _changed(network: Network, parameter: Parameter, factor: Fraction) -> Network:
    """The network with one parameter multiplied."""
    value = Constant(Fraction(parameter.value) * factor, Kind.DOUBLE)
    process = network.processes[parameter.process]
    if parameter.edge is None:
        locations = list(process.locations)
        locations[parameter.location] = replace(locations[parameter.location], exponential_rate=value)
        process = replace(process, locations=tuple(locations))
    else:
        edges = list(process.edges)
        edge = edges[parameter.edge]
        if parameter.branch is None:
            edge = replace(edge, weight=value)
        else:
            branches = list(edge.branches)
            branches[parameter.branch] = replace(branches[parameter.branch], weight=value)
            edge = replace(edge, branches=tuple(branches))
        edges[parameter.edge] = edge
        process = replace(process, edges=tuple(edges))
    processes = list(network.processes)
    processes[parameter.process] = process
    return replace(network, processes=tuple(processes))
