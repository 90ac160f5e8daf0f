"""Everything in a network that has no zones, found before anything is explored."""

from __future__ import annotations

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.network import Network


def without_zones(network: Network) -> list[Problem]:
    """Name random draws, with what to do."""
    analysis = EffectAnalysis(network.functions)
    problems = []
    for process in network.processes:
        for edge in process.edges:
            if any(analysis.statements(branch.updates).random for branch in edge.branches):
                problems.append(Problem(
                    f"an update of '{process.name}' draws a random number: a proof would need every value. Use a "
                    "'select' over integers instead, or 'bbfalsify estimate'.", network.file, edge.line,
                ))  # fmt: skip
    return problems
