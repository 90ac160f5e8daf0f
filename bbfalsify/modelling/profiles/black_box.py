"""Read models that are simulated as black boxes: networks with ports.

ports:                                  # signals
  inputs:
    heat: {unit: "1"}                   a variable of the model (int, bool or double), set from outside
    flow: {variable: Tank.inflow}       … with another name
  outputs:
    T: {unit: degC}                     an expression over the model; if `value` is absent, the port's own name
    hot: {value: "T > 75"}
  parameters:                           (of models with symbols, too)
    mass: {variable: m, unit: kg}       a variable whose initial value is set from outside, once per simulation

ports:                                  # symbols
  symbols: [coin, push]                 broadcast channels that are sent from outside
  step: 0.5                             simulated time after each symbol (0)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bbfalsify.core.errors import Problem
from bbfalsify.modelling.formats.model_files import raise_sorted
from bbfalsify.modelling.formats.yaml_reader import read_model, root_node, unit_of
from bbfalsify.modelling.language.resolve import assemble, resolve_against
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network, Variable
from bbfalsify.records.documents import Document, Text, read_yaml
from bbfalsify.records.yaml_node import Node


@dataclass(frozen=True)
class InputVariable:
    """A variable that is set from outside: an input at any time, a parameter before the first moment."""

    name: str
    unit: str | None
    variable: Variable


@dataclass(frozen=True)
class SeenValue:
    """An output: an expression over the model's variables."""

    name: str
    unit: str | None
    expression: Expression
    frame_size: int


@dataclass(frozen=True)
class BlackBox:
    """A network with ports: signals, or symbols if `symbols` is not empty."""

    network: Network
    inputs: tuple[InputVariable, ...] = ()
    outputs: tuple[SeenValue, ...] = ()
    symbols: tuple[str, ...] = ()
    """Broadcast channels."""
    step: float = 0.0
    """Simulated time after each symbol."""
    parameters: tuple[InputVariable, ...] = ()


def load_black_box(path: str | Path) -> BlackBox:
    return read_black_box(read_yaml(path))


def read_black_box(document: Document) -> BlackBox:
    problems: list[Problem] = []
    model = read_model(document, problems)
    network, assembly = assemble(model)
    root = root_node(document, problems)
    ports = root.get("ports")
    box = BlackBox(network)
    if ports is None:
        root.problem(
            "the key 'ports' is missing: a model that is played as a black box says what can be done with it from "
            "outside.",
            allowed=("inputs and outputs (signals)", "symbols (channels)"),
        )
    elif ports.mapping(("inputs", "outputs", "symbols", "step", "parameters")):
        if "symbols" in ports:
            box = _symbols(ports, network)
        else:
            box = BlackBox(network, _set_from_outside(ports, "inputs", network), _outputs(ports, network, assembly))
        box = replace(box, parameters=_parameters(ports, network, box))
    problems += assembly.problems
    raise_sorted(problems)
    return box


def _parameters(ports: Node, network: Network, box: BlackBox) -> tuple[InputVariable, ...]:
    found = _set_from_outside(ports, "parameters", network)
    driven = {i.variable for i in box.inputs}
    for parameter in found:
        if parameter.variable in driven:
            ports.child("parameters").child(parameter.name).problem(
                f"the variable '{parameter.variable.name}' is an input, which has a value at the first moment already."
            )
    return found


def _set_from_outside(ports: Node, side: str, network: Network) -> tuple[InputVariable, ...]:
    section = ports.get(side)
    if section is None or not section.mapping():
        return ()
    found: list[InputVariable] = []
    for name, node in section.items():
        if node.value is not None and not node.mapping(("variable", "unit")):
            continue
        given = node.get("variable")
        wanted = name if given is None else given.string()
        variable = None if wanted is None else _input_variable(node if given is None else given, network, wanted)
        if variable is not None:
            found.append(InputVariable(name, None if node.value is None else unit_of(node), variable))
    for double in sorted({i.variable.name for i in found if sum(o.variable == i.variable for o in found) > 1}):
        section.problem(f"the variable '{double}' is set by two {side}.")
    return tuple(found)


def _input_variable(node: Node, network: Network, name: str) -> Variable | None:
    usable = {v.name: v for v in network.variables if v.kind is not Kind.CLOCK and not v.dimensions}
    if len(network.processes) == 1:  # as in expressions
        prefix = network.processes[0].name + "."
        usable |= {n.removeprefix(prefix): v for n, v in usable.items() if n.startswith(prefix)}
    if name in usable:
        return usable[name]
    if any(v.name == name for v in network.variables):
        node.problem(f"'{name}' cannot be set from outside: only plain variables of type int, bool or double can.")
    else:
        node.problems.append(node.place.unknown("variable", name, usable, where="in ports"))
    return None


def _outputs(ports: Node, network: Network, assembly: Assembly) -> tuple[SeenValue, ...]:
    section = ports.get("outputs")
    if section is None:
        ports.problem("'ports' needs 'outputs', or 'symbols': nothing could be seen of this model.")
        return ()
    if not section.mapping():
        return ()
    driven = {name for name, _ in inputs.items()} if (inputs := ports.get("inputs")) is not None else set()
    found: list[SeenValue] = []
    for name, node in section.items():
        if node.value is not None and not node.mapping(("value", "unit")):
            continue
        if name in driven:
            node.problem(f"'{name}' is both an input and an output.")
        given = node.get("value")
        text = Text(name, node.place) if given is None else given.text()
        if text is None:
            continue
        expression, size = resolve_against(text.text, network, assembly, text.place, f"value of output '{name}'")
        if expression is not None:
            found.append(SeenValue(name, None if node.value is None else unit_of(node), expression, size))
    if section.value == {}:
        section.problem("'outputs' is empty: nothing could be seen of this model.")
    return tuple(found)


def _symbols(ports: Node, network: Network) -> BlackBox:
    for other in ("inputs", "outputs"):
        if other in ports:
            ports.child(other).problem(f"'ports' has both 'symbols' and '{other}'; choose one.")
    channels = {channel.name: channel for channel in network.channels}
    symbols: list[str] = []
    node = ports.child("symbols")
    for entry in node.elements():
        name = entry.string()
        if name is None:
            continue
        if name not in channels:
            ports.problems.append(entry.place.unknown("channel", name, channels, where="in ports"))
        elif not channels[name].broadcast:
            entry.problem(f"channel '{name}' is a handshake; a symbol needs a 'broadcast chan'.")
        elif name in symbols:
            entry.problem(f"the symbol '{name}' is there twice.")
        symbols.append(name)
    if node.value == []:
        node.problem("'symbols' is empty.")
    duration = ports.get("step")
    step = 0.0 if duration is None else duration.number()
    if duration is not None and step is not None and step < 0:
        duration.problem(f"'step' must not be negative, found {step:g}.")
    return BlackBox(network, symbols=tuple(symbols), step=step or 0.0)
