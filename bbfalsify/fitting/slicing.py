"""Slice a profile: keep only the variables that decide which action happens when.

A weather profile has a temperature anomaly that no guard, invariant, weight or rate reads.  Without such variables the
state after an action is often always the same, and random draws and differential equations that only affect the inputs
vanish.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bbfalsify.modelling.network.effects import EffectAnalysis, Place
from bbfalsify.modelling.network.expressions import Expression, Return, Statement
from bbfalsify.modelling.network.network import Branch, Edge, Location, Network


@dataclass(frozen=True)
class Slice:
    network: Network
    """The same processes, locations and edges, without assignments to variables that do not decide."""
    deciding: frozenset[Place]

    @property
    def draws(self) -> bool:
        """Tell whether a deciding variable is drawn at random; logs do not show draws."""
        return EffectAnalysis(self.network.functions).statements(_updates(self.network)).random


def slice_network(network: Network) -> Slice:
    analysis = EffectAnalysis(network.functions)
    deciding = _closure(network, analysis)
    processes = tuple(
        replace(
            process,
            locations=tuple(_location(location, deciding) for location in process.locations),
            edges=tuple(_edge(analysis, edge, deciding) for edge in process.edges),
        )
        for process in network.processes
    )
    return Slice(replace(network, processes=processes), deciding)


def _updates(network: Network) -> Iterator[Statement]:
    for process in network.processes:
        for edge in process.edges:
            for branch in edge.branches:
                yield from branch.updates


def _closure(network: Network, analysis: EffectAnalysis) -> frozenset[Place]:
    """The places that guards, invariants, weights and rates depend on, also through assignments."""
    deciders: list[Expression | None] = []
    for process in network.processes:
        for location in process.locations:
            deciders += [location.invariant, location.exponential_rate]
        for edge in process.edges:
            deciders += [edge.guard, edge.weight]
            deciders += [b.weight for b in edge.branches if len(edge.branches) > 1]
    rates = [rate for p in network.processes for location in p.locations for rate in location.rates]
    changes = [(frozenset({("r", rate.slot)}), analysis.expression(rate.expression).reads) for rate in rates]
    effects = [analysis.statements((update,)) for update in _updates(network)]
    changes += [(effect.writes, effect.reads) for effect in effects]
    deciding = frozenset[Place]().union(*(analysis.expression(decider).reads for decider in deciders))
    while True:
        found = deciding.union(*(reads for writes, reads in changes if writes & deciding))
        if found == deciding:
            return deciding
        deciding = found


def _location(location: Location, deciding: frozenset[Place]) -> Location:
    return replace(location, rates=tuple(r for r in location.rates if ("r", r.slot) in deciding), cost_rate=None)


def _edge(analysis: EffectAnalysis, edge: Edge, deciding: frozenset[Place]) -> Edge:
    def kept(updates: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(s for s in updates if isinstance(s, Return) or analysis.statements((s,)).writes & deciding)

    branches = tuple(Branch(b.target, kept(b.updates), b.frame_size, b.weight) for b in edge.branches)
    if len({(b.target, b.updates) for b in branches}) == 1:  # they differ in nothing that decides
        branches = (replace(branches[0], weight=None),)
    return replace(edge, branches=branches, cost=None)
