"""Name the parameters of a profile: edge weights, branch weights and exponential rates.

    weight of User.S -> S (on)                  an edge's weight in the choice among the enabled output edges
    branch weight of User.S -> Busy (call)      a branch's weight in the choice among the branches of its edge
    rate of User.Idle                           the rate of an unbounded stay in a location

Names do not contain positions, so they survive edits elsewhere in the file.  Edges with the same name (they differ in
guard or update only) are numbered in their order: `… (on) no. 2`.

Only constants are parameters, not weights that are computed from variables, nor weights of receivers of a broadcast,
nor of branches that are drawn more often where others cannot be entered.
The names are also used in the section `uncertainty` of a profile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeVar

from bbfalsify.modelling.language.receiver_choices import open_branches
from bbfalsify.modelling.network.expressions import Constant, Expression
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network, Process
from bbfalsify.modelling.network.visit import reads_clock

Key = TypeVar("Key", bound=Hashable)

WEIGHT, BRANCH_WEIGHT, RATE = "weight", "branch weight", "rate"


@dataclass(frozen=True)
class Parameter:
    """A number of the profile that its author or a fit has chosen."""

    name: str
    kind: str
    """weight, branch weight or rate"""
    process: int
    """Index in the network's processes."""
    location: int
    """Index in the process's locations: the source of the choice, or the location of the stay."""
    edge: int | None
    """Index in the process's edges; None for a rate."""
    branch: int | None
    """Index in the edge's branches; None unless it is a branch weight."""
    value: float
    line: int | None = None


def profile_parameters(network: Network) -> tuple[Parameter, ...]:
    """All constant weights and branch weights of output edges and all exponential rates, with unique names.

    A choice with a single option has a parameter too, though it has no effect.
    """
    edges, branches = edge_names(network), branch_names(network)
    open_edges = open_branches(network)
    found = []
    for number, process in enumerate(network.processes):
        for index, edge in enumerate(process.edges):
            value = _constant(edge.weight)
            if edge.is_output and value is not None:
                name = f"{WEIGHT} of {edges[number, index]}"
                found.append(Parameter(name, WEIGHT, number, edge.source, index, None, value, edge.line))
            for k, branch in enumerate(edge.branches if (number, index) not in open_edges else ()):
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
    """(process, edge) → User.S -> S (on), for every output edge; names are unique."""
    return _numbered(
        {
            (number, index): _arrow(process, edge, edge.branches)
            for number, process in enumerate(network.processes)
            for index, edge in enumerate(process.edges)
            if edge.is_output
        }
    )


def branch_names(network: Network) -> dict[tuple[int, int, int], str]:
    """(process, edge, branch) → User.S -> Busy (call), for output edges with several branches."""
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
    """Number names that occur several times."""
    times, seen = Counter(names.values()), Counter[str]()
    result = {}
    for key, name in names.items():
        seen[name] += 1
        result[key] = f"{name} no. {seen[name]}" if times[name] > 1 else name
    return result


def _may_be_unbounded(location: Location, network: Network) -> bool:
    """Tell whether the stay may be exponential: it has a rate, or its invariant reads no clock."""
    if location.urgent or location.committed:
        return False
    return location.exponential_rate is not None or not reads_clock(location.invariant, network.functions)


def _constant(expression: Expression | None) -> float | None:
    """The value if it is the same in every state, else None; the default is 1."""
    if expression is None:
        return 1.0
    return float(expression.value) if isinstance(expression, Constant) else None
