"""The numbers a profile assumes: edge weights, branch weights and exponential rates, each with a name.

    weight of User.S -> S (on)                  an edge's weight in the choice among the enabled output edges
    branch weight of User.S -> Busy (call)      a branch's weight in the choice among the branches of its edge
    rate of User.Idle                           of the exponential stay in a location that nothing bounds

Names are built from what the model says, never from positions, so they survive edits elsewhere in the file.  Edges
that would share a name (they differ in guard or update only) are numbered in the order written: `… (on) no. 2`.

Only constants are parameters: a weight that is computed from the model's variables has no single value to change.
Receivers of a broadcast react, they decide nothing; their weights are not parameters either.
Knowing a parameter by its name, a profile can also say how well it is known; see `uncertainty` in `profile`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bbfalsify.modelling.expressions import Constant, Expression
from bbfalsify.modelling.network import Edge, Location, Network, Process
from bbfalsify.modelling.visit import reads_clock

WEIGHT, BRANCH_WEIGHT, RATE = "weight", "branch weight", "rate"


@dataclass(frozen=True)
class Parameter:
    """One number of the profile that its author (or a fit) has chosen."""

    name: str
    kind: str
    """weight, branch weight or rate"""
    process: int
    """Index in the network's processes."""
    location: int
    """Where the choice is made or the time is spent: index in the process's locations."""
    edge: int | None
    """Index in the process's edges; None for a rate."""
    branch: int | None
    """Index in the edge's branches; None unless it is a branch weight."""
    value: float
    line: int | None = None


def profile_parameters(network: Network) -> tuple[Parameter, ...]:
    """Every constant weight and branch weight of output edges and every exponential rate, with a unique name.

    A choice with one option has a parameter as well, though changing it changes nothing.
    """
    found = [p for number, process in enumerate(network.processes) for p in _of_process(network, number, process)]
    times = Counter(p.name for p in found)
    seen: Counter[str] = Counter()
    named = []
    for parameter in found:
        seen[parameter.name] += 1
        number = f" no. {seen[parameter.name]}" if times[parameter.name] > 1 else ""
        named.append(replace(parameter, name=parameter.name + number))
    return tuple(named)


def edge_name(process: Process, edge: Edge) -> str:
    """User.S -> S (on)"""
    targets = " | ".join(dict.fromkeys(process.locations[b.target].name for b in edge.branches))
    return f"{process.name}.{process.locations[edge.source].name} -> {targets} ({edge.action})"


def _of_process(network: Network, number: int, process: Process) -> Iterator[Parameter]:
    for index, edge in enumerate(process.edges):
        if not edge.is_output:
            continue
        weight = _constant(edge.weight, 1)
        if weight is not None:
            name = f"{WEIGHT} of {edge_name(process, edge)}"
            yield Parameter(name, WEIGHT, number, edge.source, index, None, weight, edge.line)
        for k, branch in enumerate(edge.branches if len(edge.branches) > 1 else ()):
            odds = _constant(branch.weight, 1)
            if odds is not None:
                name = f"{BRANCH_WEIGHT} of {edge_name(process, replace(edge, branches=(branch,)))}"
                yield Parameter(name, BRANCH_WEIGHT, number, edge.source, index, k, odds, edge.line)
    for index, location in enumerate(process.locations):
        rate = _constant(location.exponential_rate, 1)
        leaves = any(e.source == index and e.is_output for e in process.edges)
        if leaves and rate is not None and _may_be_unbounded(location, network):
            name = f"{RATE} of {process.name}.{location.name}"
            yield Parameter(name, RATE, number, index, None, None, rate, location.line)


def _may_be_unbounded(location: Location, network: Network) -> bool:
    """Whether the stay is exponential: no invariant on a clock, or a rate that says so."""
    if location.urgent or location.committed:
        return False
    return location.exponential_rate is not None or not reads_clock(location.invariant, network.functions)


def _constant(expression: Expression | None, default: float) -> float | None:
    """The value where it is the same in every state."""
    if expression is None:
        return float(default)
    return float(expression.value) if isinstance(expression, Constant) else None
