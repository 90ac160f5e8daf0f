"""Read profiles: networks that model users (or the weather), with a mapping to the inputs of the system.

    inputs:
      heat:  {actions: {on: 1, off: 0}, initial: 0, unit: "1"}    held from one action to the next
      T_out: {value: "yearly() + A", unit: degC}                  computed from the profile's variables, over time
    outputs:
      T: {unit: degC}                                             signals that requirements may use
    uncertainty:
      weight of User.S -> S (on): 0.04                            variance of a parameter, see `Profile`
    signals: {throttle: {range: [0, 100], every: 5}}              inputs drawn by a law (`signal_spaces.py`)
    parameters: {mass: {uniform: [900, 1500]}}                    parameters of the system, drawn by a law

The automata are in the same file, as in any model, or in another one: `model: gate.xml`.  A profile is open loop: it
never reads an output of the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.modelling.formats.model_files import raise_sorted
from bbfalsify.modelling.formats.uppaal import is_uppaal
from bbfalsify.modelling.formats.yaml_reader import VALUE_KEYS, idle_model, read_model, root_node, unit_of
from bbfalsify.modelling.language.model_text import ModelText
from bbfalsify.modelling.language.resolve import assemble, resolve_against
from bbfalsify.modelling.language.scopes import Assembly
from bbfalsify.modelling.network.expressions import Expression, Kind
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.profiles.profile_parameters import profile_parameters
from bbfalsify.modelling.profiles.signal_spaces import SignalInput, SystemParameter, read_parameters, read_signals
from bbfalsify.records.documents import Document, parse_yaml, read_yaml
from bbfalsify.records.yaml_node import Node


@dataclass(frozen=True)
class HeldInput:
    """An input that holds the value of the last action that sets it."""

    name: str
    unit: str | None
    values: tuple[tuple[str, float], ...]
    """(action, value)"""
    initial: float


@dataclass(frozen=True)
class ComputedInput:
    """An input computed from the profile's variables over time."""

    name: str
    unit: str | None
    expression: Expression
    frame_size: int


Driven = HeldInput | ComputedInput | SignalInput


@dataclass(frozen=True)
class Profile:
    name: str
    network: Network
    inputs: tuple[Driven, ...]
    outputs: tuple[tuple[str, str | None], ...] = ()
    """(name, unit)"""
    file: str | None = None
    uncertainty: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Name of a parameter (`profile_parameters.py`) → variance of its natural logarithm: a fit to n
    observations of an edge or stay gives about 1/n.  Parameters not named are taken as known."""
    parameters: tuple[SystemParameter, ...] = ()
    has_actions: bool = True
    """False for a profile of signals and parameters alone."""
    places: Mapping[str, Place] = field(default_factory=dict, hash=False, compare=False, repr=False)
    """Where each input and output stands, in the profile's file or in a campaign, and the section `inputs`."""

    @property
    def signals(self) -> tuple[SignalInput, ...]:
        """The inputs whose values are drawn by a law."""
        return tuple(i for i in self.inputs if isinstance(i, SignalInput))


def parse_network(text: str, file: str = "<text>") -> Network:
    problems: list[Problem] = []
    network, _ = _read(parse_yaml(text, file=file), problems)
    raise_sorted(problems)
    return network


def load_profile(path: str | Path) -> Profile:
    """Load a profile from YAML; its automata may be in another file (`model: gate.xml`)."""
    if is_uppaal(path):
        raise UserError(
            Problem(
                "a profile also says which inputs of the system its actions drive: write a YAML file with "
                f"'model: {Path(path).name}' and 'inputs'.",
                file=str(path),
                line=1,
            )
        )
    return _profile(read_yaml(path))


def with_values(profile: Profile | None, document: Document, name: str, problems: list[Problem]) -> Profile:
    """Add the signals and parameters at the top of a document to a profile; None: one that has nothing else.

    What is wrong is noted; the profile has the other entries nevertheless, so that these can be checked.
    """
    root = root_node(document, problems)
    signals, parameters = read_signals(root), read_parameters(root)
    if profile is None:
        network, _ = assemble(idle_model(name, root.place))
        profile = Profile(name, network, (), has_actions=False)
    for signal in signals:
        if signal.name in {i.name for i in profile.inputs}:
            root.child("signals").child(signal.name).problem(f"the profile already drives '{signal.name}'.")
    for parameter in parameters:
        if parameter.name in {p.name for p in profile.parameters}:
            place = root.child("parameters").child(parameter.name)
            place.problem(f"the profile already has the parameter '{parameter.name}'.")
    return replace(
        profile,
        inputs=(*profile.inputs, *signals),
        parameters=(*profile.parameters, *parameters),
        places={**profile.places, **{signal.name: signal.place for signal in signals}},
    )


def value_profile(
    signals: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None, *, name: str = "values"
) -> Profile:
    """Make a profile of signals and parameters in Python; the keys are those of a file.

    value_profile({"throttle": {"range": [0, 100], "every": 5}}, {"mass": {"uniform": [1, 2]}})
    """
    given = {"signals": signals, "parameters": parameters}
    plain = {key: dict(section) for key, section in given.items() if section}
    if not plain:
        raise UserError("value_profile needs signals or parameters.")
    problems: list[Problem] = []
    profile = with_values(None, Document("", plain, {}), name, problems)
    raise_sorted(replace(problem, file=None) for problem in problems)
    return profile


def parse_profile(text: str, file: str = "<text>") -> Profile:
    return _profile(parse_yaml(text, file=file))


def _profile(document: Document) -> Profile:
    problems: list[Problem] = []
    root = root_node(document, problems)
    network, profile = _read(document, problems)
    if isinstance(document.data, dict) and not any(document.data.get(key) for key in ("inputs", *VALUE_KEYS)):
        root.problem("the key 'inputs' is missing: a profile says which inputs of the system it drives.")
    raise_sorted(problems)
    return profile


def _read(document: Document, problems: list[Problem]) -> tuple[Network, Profile]:
    model = read_model(document, problems)
    network, assembly = assemble(model)
    root = root_node(document, problems)
    inputs, outputs = _inputs(root, model, network, assembly), _outputs(root)
    signals = read_signals(root)
    for name in {i.name for i in inputs} & {signal.name for signal in signals}:
        root.child("signals").child(name).problem(f"'{name}' is driven by 'inputs' and by 'signals'; choose one.")
    inputs += signals
    for name in {i.name for i in inputs} & {name for name, _ in outputs}:
        root.child("outputs").child(name).problem(f"'{name}' is both an input and an output.")
    problems += assembly.problems
    uncertainty = _uncertainty(root, network)
    drawn = tuple(read_parameters(root))
    acts = any(key in root for key in ("automata", "model"))
    ports = [port for key in ("signals", "inputs", "outputs") for port in _ports(root, key)]
    places = {name: node.place for name, node in ports}
    driven = tuple(inputs)
    profile = Profile(model.name, network, driven, tuple(outputs), document.file, uncertainty, drawn, acts, places)
    return network, profile


def _ports(root: Node, key: str) -> Iterator[tuple[str, Node]]:
    """The entries of a section, and the section itself under its own name."""
    if (section := root.get(key)) is not None:
        yield key, section
        yield from section.items()


def _uncertainty(root: Node, network: Network) -> dict[str, float]:
    section = root.get("uncertainty")
    if section is None or not section.mapping():
        return {}
    # The parameters of a model with problems are not all known.
    names = None if root.problems else {p.name for p in profile_parameters(network)}
    variances = {}
    for name, node in section.items():
        variance = node.number()
        if names is not None and name not in names:
            root.problems.append(node.place.unknown("parameter", name, names, where="in 'uncertainty'"))
        elif variance is not None and variance < 0:
            node.problem(f"the uncertainty of '{name}' is a variance and must not be negative, found {variance:g}.")
        elif variance is not None:
            variances[name] = variance
    return variances


def _outputs(root: Node) -> list[tuple[str, str | None]]:
    section = root.get("outputs")
    if section is None or not section.mapping():
        return []
    outputs: list[tuple[str, str | None]] = []
    for name, node in section.items():
        if node.value is None:
            outputs.append((name, None))
        elif node.mapping(("unit",)):
            outputs.append((name, unit_of(node)))
    return outputs


def _inputs(root: Node, model: ModelText, network: Network, assembly: Assembly) -> list[Driven]:
    section = root.get("inputs")
    if section is None or not section.mapping():
        return []
    inputs: list[Driven] = []
    for name, node in section.items():
        if not node.mapping(("actions", "initial", "value", "unit")):
            continue
        if "actions" in node and "value" in node:
            node.problem(f"input '{name}' has both 'actions' and 'value'; choose one.")
        elif "actions" in node:
            held = _held(name, node, _labels(model, network))
            inputs += [] if held is None else [held]
        elif "value" in node:
            computed = _computed(name, node, network, assembly)
            inputs += [] if computed is None else [computed]
        else:
            node.problem(f"input '{name}' needs 'actions' (a value per action) or 'value' (an expression).")
    return inputs


def _labels(model: ModelText, network: Network) -> dict[str, None]:
    """All actions, including those of edges with problems, which are reported elsewhere."""
    labels = dict.fromkeys(network.actions)
    labels.update(dict.fromkeys(e.action for t in model.templates for e in t.edges if e.action is not None))
    return labels


def _held(name: str, node: Node, labels: dict[str, None]) -> HeldInput | None:
    actions = node.child("actions")
    initial_node, unit = node.get("initial"), unit_of(node)
    if initial_node is None:
        node.problem(f"the key 'initial' is missing in input '{name}': its value before the first action.")
    initial = None if initial_node is None else initial_node.number()
    if not actions.mapping():
        return None
    if not actions.value:
        actions.problem(f"input '{name}' names no action.")
    values: list[tuple[str, float]] = []
    for action, child in actions.items():
        value = child.number()
        if action not in labels:
            node.problems.append(child.place.unknown("action", action, labels, where=f"in input '{name}'"))
        if value is not None:
            values.append((action, value))
    return None if initial is None else HeldInput(name, unit, tuple(values), initial)


def _computed(name: str, node: Node, network: Network, assembly: Assembly) -> ComputedInput | None:
    unit, child = unit_of(node), node.child("value")
    if "initial" in node:
        node.child("initial").problem(f"input '{name}' is computed, so it has no initial value.")
    text = child.text()
    if text is None:
        return None
    expression, frame_size = resolve_against(text.text, network, assembly, text.place, f"value of input '{name}'")
    if expression is None:
        return None
    if expression.kind is Kind.BOOL:
        child.problem(f"input '{name}' must be a number, found a bool. Write (… ? 1 : 0).")
        return None
    return ComputedInput(name, unit, expression, frame_size)
