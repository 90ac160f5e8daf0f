"""Read models from YAML.

    format_version: 1
    name: heater_user
    dialect: uppaal            # optional: ints and bools mix, and `int` alone is int[-32768,32767]
    declarations: |            # constants, variables, clocks, channels, functions; as in UPPAAL
      clock t;
    automata:
      User:
        declarations: clock x;
        initial: S
        locations:
          S: {invariant: "x <= 5"}
        edges:
          - {from: S, to: S, action: on, guard: "x >= 4", update: "x = 0"}
    instances: ["Fast(int[0,3] i) = Train(i, 10)"]      # optional: automata with some parameters fixed
    system: [User]             # optional
    priorities: {channels: "a < default < b", processes: "Slow < Fast"}     # optional, lowest first
    alphabets: {A: "a, b"}     # optional: channels that A uses without ! and ?, as in CSP
    queries: ["E<> User.S"]    # optional

A profile adds `inputs`, `outputs` and `uncertainty` (profile.py), `signals` and `parameters` (signal_spaces.py); a
black box adds `ports` (black_box.py).
"""

from __future__ import annotations

from pathlib import Path

from bbfalsify.core.choices import IDLE_ACTION
from bbfalsify.core.errors import Place, Problem, UserError
from bbfalsify.core.foreign_files import closest_file, is_file, not_a_file
from bbfalsify.modelling.language.model_text import (
    BranchText,
    EdgeText,
    InstanceText,
    LocationText,
    ModelText,
    StoredQuery,
    TemplateText,
)
from bbfalsify.records.documents import Document, Text, read_yaml
from bbfalsify.records.yaml_node import Node

FORMAT_VERSION = 1

VALUE_KEYS = ("signals", "parameters")
"""Keys of profiles whose values are drawn by a law; such a profile needs no automata."""
PORT_KEYS = ("inputs", "outputs", "uncertainty", *VALUE_KEYS, "ports")
"""Keys of profiles, and of models that are simulated as black boxes."""
_NEVER = 1_000_000_000
MODEL_KEYS = ("dialect", "declarations", "automata", "instances", "system", "priorities", "alphabets", "queries")
"""Keys that stand in the other file if `model` names one."""
TOP_KEYS = ("format_version", "name", "model", "ode_step", *MODEL_KEYS, *PORT_KEYS)
AUTOMATON_KEYS = ("parameters", "declarations", "initial", "locations", "edges")
LOCATION_KEYS = ("invariant", "rates", "exponential_rate", "urgent", "committed", "cost_rate")
EDGE_KEYS = ("from", "to", "action", "select", "guard", "sync", "update", "weight", "cost", "branches")
BRANCH_KEYS = ("to", "weight", "update")


def root_node(document: Document, problems: list[Problem]) -> Node:
    return Node(document, (), document.data, problems)


def read_model(document: Document, problems: list[Problem], *, named: bool = False) -> ModelText:
    """Read the model, and add what is wrong to `problems`; a `named` one (by another file) must be complete."""
    root = root_node(document, problems)
    model = ModelText("", Place(document.file, 1))
    elsewhere = "model" in root
    idle = "automata" not in root and not elsewhere and any(key in root for key in VALUE_KEYS)
    if not root.mapping(TOP_KEYS, required=("name",) if elsewhere or idle else ("name", "automata")):
        return model
    check_format_version(root)
    if elsewhere and named:
        root.child("model").problem("a file that is named as 'model' must itself contain the automata.")
    elif elsewhere:
        model = _other_file(root, model)
    name = root.get("name")
    model.name = (name.string() if name is not None else None) or ""
    declarations = _text(root, "declarations")
    if declarations is not None:
        model.declarations.append(declarations)
    dialect = root.get("dialect")
    if dialect is not None:
        model.as_uppaal = dialect.value == "uppaal"
        if not model.as_uppaal:
            dialect.problem(f"unknown dialect '{dialect.value}'.", allowed=("dialect: uppaal",))
    step = root.get("ode_step")
    model.ode_step = model.ode_step if step is None else step.number()
    if step is not None and model.ode_step is not None and not model.ode_step > 0:
        step.problem(f"'ode_step' must be positive, found {step.value}.")
    automata = root.get("automata")
    if automata is not None and automata.mapping():
        if not automata.value:
            automata.problem("'automata' is empty; a model has at least one automaton.")
        model.templates = [_automaton(name, node) for name, node in automata.items()]
    elif idle:
        model.templates = idle_model("", root.place).templates
    instances = root.get("instances")
    if instances is not None:
        definitions = [entry.text() for entry in instances.elements()]
        model.definitions = [definition for definition in definitions if definition is not None]
    system = root.get("system")
    if system is not None:
        entries = [entry.text() for entry in system.elements()]
        model.system = [InstanceText(entry) for entry in entries if entry is not None]
        if system.value == []:
            system.problem("'system' is empty; name at least one automaton, or leave the key out.")
    priorities = root.get("priorities")
    if priorities is not None and priorities.mapping(("channels", "processes")):
        model.channel_priorities = _text(priorities, "channels")
        model.process_priorities = _text(priorities, "processes")
    alphabets = root.get("alphabets")
    if alphabets is not None and alphabets.mapping():
        texts = [(name, node.text()) for name, node in alphabets.items()]
        model.alphabets = [(name, text) for name, text in texts if text is not None]
    queries = root.get("queries")
    if queries is not None:
        model.queries = [query for entry in queries.elements() for query in _query(entry)]
    outputs = root.get("outputs")
    if outputs is not None:
        model.system_outputs = frozenset(name for name, _ in outputs.items())
    return model


def _other_file(root: Node, model: ModelText) -> ModelText:
    """Read the model in the file that `model` names, relative to this file's folder."""
    from bbfalsify.modelling.formats.uppaal import is_uppaal, uppaal_text

    for key in MODEL_KEYS:
        if key in root:
            root.child(key).problem(f"'{key}' stands in the file that 'model' names; it cannot be given here as well.")
    name = root.child("model").string()
    file = None if name is None else Path(root.document.file).parent / name
    if file is None or not is_file(file):
        if file is not None:
            root.child("model").problem(not_a_file(file), closest=closest_file(file))
        return model
    try:
        if is_uppaal(file):
            return uppaal_text(file, root.problems)
        return read_model(read_yaml(file), root.problems, named=True)
    except UserError as error:
        root.problems += error.problems
        return model


def idle_model(name: str, place: Place) -> ModelText:
    """A user without actions: the automaton of a profile that has signals and parameters only."""

    def text(content: str) -> Text:
        return Text(content, place)

    again = EdgeText(
        "Use",
        place,
        (BranchText("Use", place, update=text("x = 0")),),
        guard=text(f"x >= {_NEVER}"),
        action=IDLE_ACTION,
    )
    stay = LocationText("Use", place, invariant=text(f"x <= {_NEVER}"))
    user = TemplateText("User", place, None, declarations=[text("clock x;")], locations=[stay], edges=[again])
    return ModelText(name, place, templates=[user])


def _query(node: Node) -> list[StoredQuery]:
    """Read a query: a text, or {query: …, comment: …}."""
    comment = None
    if isinstance(node.value, dict):
        if not node.mapping(("query", "comment"), required=("query",)) or node.get("query") is None:
            return []
        comment = node.get("comment")
        node = node.child("query")
    text = node.text()
    if text is None:
        return []
    return [StoredQuery(text.text, (comment.string() if comment else None) or "", text.place.file, text.place.line)]


def check_format_version(root: Node) -> None:
    if "format_version" not in root:
        root.problem("the key 'format_version' is missing.", allowed=(f"format_version: {FORMAT_VERSION}",))
        return
    node = root.child("format_version")
    if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < 1:
        node.problem(f"'format_version' must be {FORMAT_VERSION}, found '{node.value}'.")
    elif node.value > FORMAT_VERSION:
        node.problem(
            f"this file has format version {node.value}; this program reads versions up to {FORMAT_VERSION}. "
            "A newer bbfalsify is needed."
        )


def unit_of(node: Node) -> str | None:
    """Read the unit of a port; any text will do that the other side has, too (`campaigns/compatibility.py`)."""
    child = node.get("unit")
    return None if child is None else child.string()


def _text(node: Node, key: str) -> Text | None:
    child = node.get(key)
    return None if child is None else child.text()


def _automaton(name: str, node: Node) -> TemplateText:
    template = TemplateText(name, node.place, None)
    if not node.mapping(AUTOMATON_KEYS, required=("initial", "locations")):
        return template
    template.parameters = _text(node, "parameters")
    declarations = _text(node, "declarations")
    if declarations is not None:
        template.declarations.append(declarations)
    locations = node.get("locations")
    if locations is not None and locations.mapping():
        if not locations.value:
            locations.problem(f"automaton '{name}' has no location.")
        template.locations = [_location(key, child) for key, child in locations.items()]
    initial = node.get("initial")
    if initial is not None and template.locations:
        template.initial = initial.string()
        template.initial_place = initial.place
    edges = node.get("edges")
    if edges is not None:
        read = [_edge(child) for child in edges.elements()]
        template.edges = [edge for edge in read if edge is not None]
    return template


def _location(name: str, node: Node) -> LocationText:
    if node.value is None:  # `S:` alone is a location without anything
        return LocationText(name, node.place)
    if not node.mapping(LOCATION_KEYS):
        return LocationText(name, node.place)
    rates: list[tuple[Text, Text]] = []
    rate_node = node.get("rates")
    if rate_node is not None and rate_node.mapping():
        for clock, child in rate_node.items():
            rate = child.text()
            if rate is not None:
                rates.append((Text(clock, child.place), rate))
    urgent, committed = node.get("urgent"), node.get("committed")
    return LocationText(
        name,
        node.place,
        _text(node, "invariant"),
        tuple(rates),
        _text(node, "exponential_rate"),
        urgent is not None and urgent.boolean(),
        committed is not None and committed.boolean(),
        _text(node, "cost_rate"),
    )


def _edge(node: Node) -> EdgeText | None:
    if not node.mapping(EDGE_KEYS, required=("from",)):
        return None
    branches: list[BranchText] = []
    if "branches" in node:
        for key in ("to", "update"):
            if key in node:
                node.child(key).problem(f"an edge with branches has no '{key}' of its own; each branch has one.")
        for child in node.child("branches").elements():
            if child.mapping(BRANCH_KEYS, required=("to",)):
                branches += _branch(child)
        if node.value["branches"] == []:
            node.child("branches").problem("'branches' is empty.")
    elif node.get("to") is None:
        node.problem("an edge needs 'to' or 'branches'.")
    else:
        # The weight beside `to` is the edge's own, not that of a branch.
        to = node.child("to").string()
        branches = [] if to is None else [BranchText(to, node.child("to").place, None, _text(node, "update"))]
    source, action = node.get("from"), node.get("action")
    source_name = None if source is None else source.string()
    if source_name is None or not branches:
        return None
    return EdgeText(
        source_name,
        node.place,
        tuple(branches),
        _text(node, "guard"),
        _text(node, "sync"),
        _text(node, "select"),
        None if action is None else action.string(),
        _text(node, "weight"),
        _text(node, "cost"),
    )


def _branch(node: Node) -> list[BranchText]:
    to = node.get("to")
    name = None if to is None else to.string()
    if to is None or name is None:
        return []
    return [BranchText(name, to.place, _text(node, "weight"), _text(node, "update"))]
