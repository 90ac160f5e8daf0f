"""Slice a profile: keep only the variables that decide which action happens when.

A weather profile has a temperature anomaly that no guard, invariant, weight or rate reads.  Without such variables the
state after an action is often always the same, and random draws and differential equations that only affect the inputs
vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bbfalsify.modelling.network.expressions import (
    Assign,
    Call,
    Evaluate,
    Expression,
    If,
    Random,
    Read,
    Statement,
    While,
)
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network
from bbfalsify.modelling.network.visit import expressions_of, subexpressions, substatements

Slot = tuple[bool, int]
"""True for a real; number of the slot in that store."""


@dataclass(frozen=True)
class Slice:
    network: Network
    """The same processes, locations and edges, without assignments to variables that do not decide."""
    deciding: frozenset[Slot]

    @property
    def draws(self) -> bool:
        """Tell whether a deciding variable is drawn at random; logs do not show draws."""
        network = self.network
        updates = [b.updates for p in network.processes for e in p.edges for b in e.branches]
        return any(
            isinstance(part, Random)
            for expression in _all_expressions(network, [s for u in updates for s in u])
            for part in subexpressions(expression)
        )


def slice_network(network: Network) -> Slice:
    deciding = _closure(network)
    processes = tuple(
        replace(
            process,
            locations=tuple(_location(location, deciding) for location in process.locations),
            edges=tuple(_edge(network, edge, deciding) for edge in process.edges),
        )
        for process in network.processes
    )
    return Slice(replace(network, processes=processes), deciding)


def _closure(network: Network) -> frozenset[Slot]:
    """The slots that guards, invariants, weights and rates depend on, also through assignments."""
    deciding: set[Slot] = set()
    expressions: list[Expression | None] = []
    for process in network.processes:
        for location in process.locations:
            expressions += [location.invariant, location.exponential_rate]
        for edge in process.edges:
            expressions += [edge.guard, edge.weight]
            expressions += [b.weight for b in edge.branches if len(edge.branches) > 1]
    for expression in expressions:
        deciding |= _reads(network, expression)
    while True:
        found = set(deciding)
        for process in network.processes:
            for location in process.locations:
                for rate in location.rates:
                    if (True, rate.slot) in deciding:
                        found |= _reads(network, rate.expression)
            for edge in process.edges:
                for branch in edge.branches:
                    for statement in branch.updates:
                        if _writes(network, (statement,)) & deciding:
                            for expression in _all_expressions(network, (statement,)):
                                found |= _reads(network, expression)
        if found == deciding:
            return frozenset(deciding)
        deciding = found


def _reads(network: Network, expression: Expression | None) -> set[Slot]:
    found: set[Slot] = set()
    for part in subexpressions(expression):
        if isinstance(part, Read):
            found |= _slots(part)
        elif isinstance(part, Call):
            for inner in _all_expressions(network, network.functions[part.function].body):
                found |= _reads(network, inner)
    return found


def _writes(network: Network, statements: Iterable[Statement]) -> set[Slot]:
    found: set[Slot] = set()
    statements = tuple(statements)
    for statement in substatements(statements):
        if isinstance(statement, Assign) and isinstance(statement.target, Read):
            found |= _slots(statement.target)
    for expression in expressions_of(statements):
        for part in subexpressions(expression):
            if isinstance(part, Call):
                found |= _writes(network, network.functions[part.function].body)
    return found


def _slots(read: Read) -> set[Slot]:
    return {(read.kind.is_real, read.slot + i) for i in range(read.size if read.index is not None else 1)}


def _all_expressions(network: Network, statements: Iterable[Statement]) -> Iterator[Expression]:
    """The expressions of the statements and of the functions that they call."""
    for expression in expressions_of(statements):
        yield expression
        for part in subexpressions(expression):
            if isinstance(part, Call):
                yield from _all_expressions(network, network.functions[part.function].body)


def _location(location: Location, deciding: frozenset[Slot]) -> Location:
    return replace(location, rates=tuple(r for r in location.rates if (True, r.slot) in deciding), cost_rate=None)


def _edge(network: Network, edge: Edge, deciding: frozenset[Slot]) -> Edge:
    branches = tuple(
        Branch(b.target, _kept(network, b.updates, deciding), b.frame_size, b.weight) for b in edge.branches
    )
    if len({(b.target, b.updates) for b in branches}) == 1:  # they differ in nothing that decides
        branches = (replace(branches[0], weight=None),)
    return replace(edge, branches=branches, cost=None)


def _kept(network: Network, statements: tuple[Statement, ...], deciding: frozenset[Slot]) -> tuple[Statement, ...]:
    return tuple(
        s for s in statements if not isinstance(s, Assign | If | While | Evaluate) or _writes(network, (s,)) & deciding
    )
