"""A network packed for the kernel, with what tells its edges and places apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from bbfalsify.kernel import layout as at
from bbfalsify.kernel.analysis import Analysis
from bbfalsify.kernel.code_builder import Code
from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.modelling.network.network import Edge, Network


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A network packed for the kernel."""

    network: Network
    actions: tuple[str, ...]
    edge_action: np.ndarray
    """Global edge number → index in `actions`, −1 for receiving edges."""
    ode_step: float
    T: np.ndarray
    F: np.ndarray
    sites: tuple[str, ...]
    first_edge: tuple[int, ...]
    compiler: Compiler
    analysis: Analysis
    codes: tuple[Code, ...]
    """All code in T that can become machine code."""

    def edge(self, number: int) -> tuple[int, Edge]:
        """Process index and edge of a global edge number."""
        process = int(self.T[self.T[at.H_EDGE_TABLE] + at.EDGE_WIDTH * number + at.E_PROCESS])
        return process, self.network.processes[process].edges[number - self.first_edge[process]]

    def digest(self) -> str:
        """SHA-256 of the packed tables, equal for models with the same walks for the same seed."""
        return hashlib.sha256(self.T.tobytes() + self.F.tobytes() + repr(self.actions).encode()).hexdigest()

    def edge_number(self, process: int, edge: int) -> int:
        return self.first_edge[process] + edge

    def edge_text(self, number: int) -> str:
        process, edge = self.edge(number)
        return text_of_edge(self.network, process, edge)


def text_of_edge(network: Network, process: int, edge: Edge) -> str:
    p = network.processes[process]
    target = " | ".join(p.locations[b.target].name for b in edge.branches)
    line = f" (line {edge.line})" if edge.line else ""
    return f"edge {p.name}: {p.locations[edge.source].name} -> {target} '{edge.action}'{line}"
