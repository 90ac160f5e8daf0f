"""Short ways to small models and to the problems of wrong ones."""

from __future__ import annotations

import dataclasses

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import Network, NetworkBuilder, parse_expression, parse_network
from tests.unit.modelling.evaluator import Evaluator


def declared(text: str):
    """A network with these global declarations and one idle automaton."""
    b = NetworkBuilder("test").declare(text)
    b.automaton("P").location("L")
    return b.build()


def value_of(text: str, declarations: str = ""):
    """The value of an expression in the initial state."""
    network = declared(declarations)
    expression, frame_size = parse_expression(text, network)
    return Evaluator(network, frame_size).value(expression)


def after(update: str, declarations: str, variable: str):
    """The value of a variable after an update in the initial state."""
    b = NetworkBuilder("test").declare(declarations)
    b.automaton("P").location("L").edge("L", "L", update=update)
    return after_first_edge(b.build(), variable)


def after_first_edge(network: Network, variable: str):
    """The value of a variable after the updates of the first edge in the initial state."""
    branch = network.processes[0].edges[0].branches[0]
    evaluator = Evaluator(network, branch.frame_size)
    evaluator.run(branch.updates)
    found = network.variable(variable)
    store = evaluator.reals if found.kind.is_real else evaluator.integers
    values = store[found.slot : found.slot + found.size]
    return values if found.dimensions else values[0]


def problems_of(text: str, parse=parse_network) -> list[tuple[int | None, str]]:
    """(line, message) of every problem of a YAML text."""
    with pytest.raises(UserError) as caught:
        parse(text, file="model.yaml")
    assert all(p.file == "model.yaml" for p in caught.value.problems)
    return [(p.line, p.message) for p in caught.value.problems]


def without_lines(value):
    """The same data with all line numbers removed, to compare models that were written in different ways."""
    if dataclasses.is_dataclass(value):
        changes = {
            f.name: None if f.name in ("line", "file") else without_lines(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.name != "scope"
        }
        return dataclasses.replace(value, **changes)
    return tuple(without_lines(v) for v in value) if isinstance(value, tuple) else value


MODEL = """\
format_version: 1
name: model
declarations: |
{declarations}
automata:
  A:
    initial: L
    locations:
      L: {{{location}}}
      M:
    edges:
      - {{from: L, to: M, {edge}}}
"""


def model(declarations: str = "", *, location: str = "", edge: str = "") -> str:
    """A YAML model; its declarations start on line 4."""
    indented = "\n".join("  " + line for line in (declarations or "int unused;").splitlines())
    return MODEL.format(declarations=indented, location=location, edge=edge or "action: go")
