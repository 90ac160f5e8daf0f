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
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeVar

from bbfalsify.modelling.network.expressions import Constant, Expression
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process
from bbfalsify.modelling.network.visit import reads_clock

Key = TypeVar("Key", bound=Hashable)

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
    edges, branches = edge_names(network), branch_names(network)
    found = []
    for number, process in enumerate(network.processes):
        for index, edge in enumerate(process.edges):
            value = _constant(edge.weight)
            if edge.is_output and value is not None:
                name = f"{WEIGHT} of {edges[number, index]}"
                found.append(Parameter(name, WEIGHT, number, edge.source, index, None, value, edge.line))
            for k, branch in enumerate(edge.branches):
                value = _constant(branch.weight)
                if (number, index, k) in branches and value is not None:
                    name = f"{BRANCH_WEIGHT} of {branches[number, index, k]}"
                    found.append(Parameter(name, BRANCH_WEIGHT, number, edge.source, index, k, value, edge.line))
        for index, location in enumerate(process.locations):
            value = _constant(location.exponential_rate)
            leaves = any(e.source == index and e.is_output for e in process.edges)
            if leaves and value is not None and _may_be_unbounded(location, network):
                name = f"{RATE} of {process.name}.{location.name}"
                found.append(Parameter(name, RATE, number, index, None, None, value, location.line))
    return tuple(found)


def edge_names(network: Network) -> dict[tuple[int, int], str]:
    """(process, edge) → User.S -> S (on), for every output edge; each name once."""
    return _numbered(
        {
            (number, index): _arrow(process, edge, edge.branches)
            for number, process in enumerate(network.processes)
            for index, edge in enumerate(process.edges)
            if edge.is_output
        }
    )


def branch_names(network: Network) -> dict[tuple[int, int, int], str]:
    """(process, edge, branch) → User.S -> Busy (call), for the branches of output edges that have several."""
    return _numbered(
        {
            (number, index, k): _arrow(process, edge, (branch,))
            for number, process in enumerate(network.processes)
            for index, edge in enumerate(process.edges)
            if edge.is_output and len(edge.branches) > 1
            for k, branch in enumerate(edge.branches)
        }
    )


def _arrow(process: Process, edge: Edge, branches: tuple[Branch, ...]) -> str:
    targets = " | ".join(dict.fromkeys(process.locations[b.target].name for b in branches))
    return f"{process.name}.{process.locations[edge.source].name} -> {targets} ({edge.action})"


def _numbered(names: dict[Key, str]) -> dict[Key, str]:
    """Names that occur several times get numbers, in order."""
    times, seen = Counter(names.values()), Counter[str]()
    result = {}
    for key, name in names.items():
        seen[name] += 1
        result[key] = f"{name} no. {seen[name]}" if times[name] > 1 else name
    return result


def _may_be_unbounded(location: Location, network: Network) -> bool:
    """Whether the stay is exponential: no invariant on a clock, or a rate that says so."""
    if location.urgent or location.committed:
        return False
    return location.exponential_rate is not None or not reads_clock(location.invariant, network.functions)


def _constant(expression: Expression | None) -> float | None:
    """The value where it is the same in every state; weights and rates that nobody wrote are 1."""
    if expression is None:
        return 1.0
    return float(expression.value) if isinstance(expression, Constant) else None
