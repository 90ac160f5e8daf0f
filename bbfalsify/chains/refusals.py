"""Reasons why a network is no Markov chain, by name, with what to write instead.

Time must pass by exponential delays only.  Then a state is locations, integers and doubles, and clocks that nothing
reads do not belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.language.receiver_choices import has_open_choices
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Constant, Expression
from bbfalsify.modelling.network.network import Edge, Network, Process
from bbfalsify.modelling.network.visit import expressions_of, reads_clock

_INSTEAD = "write 'exponential_rate' (erlang(k, r) for a delay that is nearly fixed), or estimate it by simulation"


def not_markov(network: Network) -> list[Problem]:
    """Return a problem for everything that is no exponential delay."""
    return [*_timed(network), *_random(network), *_handshakes(network), *_open_choices(network)]


def _reads(network: Network, expression: Expression | None) -> bool:
    return reads_clock(expression, network.functions)


def _timed(network: Network) -> Iterator[Problem]:
    for process in network.processes:
        for location in process.locations:
            where = f"location '{process.name}.{location.name}'"
            if _reads(network, location.invariant):
                says = "has an invariant over clocks, so its delay is not exponential"
                yield Problem(f"{where} {says}; {_INSTEAD}.", network.file, location.line)
            if _reads(network, location.exponential_rate):
                yield Problem(f"the rate of {where} reads a clock; it must not change with time.", network.file)
            rate = location.exponential_rate
            if isinstance(rate, Constant) and rate.value < 0:
                says = f"the rate of {where} is {float(rate.value):g}; a rate cannot be negative."
                yield Problem(says, network.file, location.line)
        for edge in process.edges:
            for what, expression in _edge_expressions(edge):
                if _reads(network, expression):
                    where = _edge_text(process, edge)
                    yield Problem(f"the {what} of {where} reads a clock; {_INSTEAD}.", network.file, edge.line)


def _edge_expressions(edge: Edge) -> Iterator[tuple[str, Expression | None]]:
    yield "guard", edge.guard
    yield "weight", edge.weight
    yield "cost", edge.cost
    for branch in edge.branches:
        yield "branch weight", branch.weight
        yield from (("update", e) for e in expressions_of(branch.updates))


def _random(network: Network) -> Iterator[Problem]:
    analysis = EffectAnalysis(network.functions)
    for process in network.processes:
        for edge in process.edges:
            if any(analysis.statements(branch.updates).random for branch in edge.branches):
                says = f"an update of {_edge_text(process, edge)} draws a random number of uncountably many"
                yield Problem(f"{says}; write branches with weights instead.", network.file, edge.line)


def _handshakes(network: Network) -> Iterator[Problem]:
    used = dict.fromkeys(e.channel for p in network.processes for e in p.edges if e.channel is not None)
    for number in used:
        channel = network.channels[number]
        if not channel.broadcast:
            says = "is a handshake, which has no stochastic semantics; declare it 'broadcast chan'"
            yield Problem(f"channel '{channel.name}' {says}.", network.file)


def _open_choices(network: Network) -> Iterator[Problem]:
    if has_open_choices(network):
        says = "some receiving edges or branches are drawn again where their target's invariant does not hold"
        yield Problem(f"{says}; write that as guards and weights instead.", network.file)


def _edge_text(process: Process, edge: Edge) -> str:
    targets = " | ".join(dict.fromkeys(process.locations[b.target].name for b in edge.branches))
    return f"edge '{process.name}.{process.locations[edge.source].name} -> {targets} ({edge.action})'"
