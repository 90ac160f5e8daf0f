"""Everything in a network that has no zones, found before anything is explored."""

from __future__ import annotations

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.network.effects import EffectAnalysis
from bbfalsify.modelling.network.expressions import Constant
from bbfalsify.modelling.network.network import Network


def without_zones(network: Network) -> list[Problem]:
    """Name rates other than 1 and random draws, with what to do."""
    analysis = EffectAnalysis(network.functions)
    problems = []
    names = {slot: v.name for v in network.variables if v.kind.is_real for slot in range(v.slot, v.slot + v.size)}
    for process in network.processes:
        for location in process.locations:
            for rate in location.rates:
                if not (isinstance(rate.expression, Constant) and rate.expression.value == 1):
                    problems.append(Problem(
                        f"the clock '{names[rate.slot]}' has a rate other than 1 in '{process.name}.{location.name}': "
                        "zones know clocks that all run alike. 'bbfalsify reach' searches such models by random walks.",
                        network.file, location.line,
                    ))  # fmt: skip
        for edge in process.edges:
            if any(analysis.statements(branch.updates).random for branch in edge.branches):
                problems.append(Problem(
                    f"an update of '{process.name}' draws a random number: a proof would need every value. Use a "
                    "'select' over integers instead, or 'bbfalsify estimate'.", network.file, edge.line,
                ))  # fmt: skip
    return problems
