"""The YAML form: keys, types, versions, and twelve mistakes that give twelve messages."""

from __future__ import annotations

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_network, load_profile, parse_network, parse_profile
from bbfalsify.modelling.network.expressions import Constant, Kind
from tests.unit.modelling.helpers import model, problems_of

TWELVE_MISTAKES = """\
format_version: 2
nmae: ten
declarations: |
  int n = true;
  clock x, x;
automata:
  A:
    initial: Start
    locations:
      L: {invarant: x <= 5}
    edges:
      - {from: L, to: M, guard: x => 3}
      - {from: L, to: L, action: go, update: "k = 1"}
      - {to: L}
      - {from: L, to: L, weight: [1]}
"""


def test_twelve_mistakes_twelve_messages():
    assert problems_of(TWELVE_MISTAKES) == [
        (1, "the key 'name' is missing."),
        (1, "this file has format version 2; this program reads versions up to 1. A newer bbfalsify is needed."),
        (2, "unknown key 'nmae'."),
        (4, "the value of 'n' is of type int, found a bool. Write (… ? 1 : 0)."),
        (5, "'x' is declared twice (first on line 5)."),
        (8, "unknown initial location 'Start' of automaton 'A'."),
        (10, "unknown key 'invarant' in 'automata.A.locations.L'."),
        (12, "guard: unexpected '=' at column 3 of 'x => 3'. Write '>='."),
        (12, "unknown location 'M' of automaton 'A'."),
        (13, "unknown name 'k' in the update."),
        (14, "the key 'from' is missing in 'automata.A.edges.2'."),
        (15, "'automata.A.edges.3.weight' must be a text, found a list."),
    ]


def test_closest_key():
    with pytest.raises(UserError) as caught:
        parse_network(TWELVE_MISTAKES)
    closest = {p.message: p.closest for p in caught.value.problems}
    assert closest["unknown key 'nmae'."] == "name"
    assert closest["unknown key 'invarant' in 'automata.A.locations.L'."] == "invariant"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file is empty."),
        ("# only a comment\n", 1, "the file is empty."),
        ("- 1\n", 1, "'the file' must be a mapping, found a list."),
        ("name: [", 2, "not valid YAML: did not find expected node content."),
    ],
)
def test_files_that_are_no_model(text, line, message):
    assert problems_of(text) == [(line, message)]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("format_version: 1\n", "", 1, "the key 'format_version' is missing."),
        ("format_version: 1", "format_version: one", 1, "'format_version' must be 1, found 'one'."),
        ("format_version: 1", "format_version: 0", 1, "'format_version' must be 1, found '0'."),
        ("    initial: L\n", "", 6, "the key 'initial' is missing in 'automata.A'."),
        ("initial: L", "initial: [L]", 7, "'automata.A.initial' must be a name, found a list."),
        ("L: {}", "L: 5", 9, "'automata.A.locations.L' must be a mapping, found a number."),
        ("L: {}", "L: {urgent: 1}", 9, "'automata.A.locations.L.urgent' must be true or false, found a number."),
        ("L: {}", "L: {invariant: {x: 1}}", 9, "'automata.A.locations.L.invariant' must be a text, found a mapping."),
        ("L: {}", "L: {rates: 5}", 9, "'automata.A.locations.L.rates' must be a mapping, found a number."),
        ("to: M, ", "", 12, "an edge needs 'to' or 'branches'."),
        ("to: M, ", "branches: [], ", 12, "'branches' is empty."),
        (
            "to: M, ",
            "branches: [{to: M}], to: L, ",
            12,
            "an edge with branches has no 'to' of its own; each branch has one.",
        ),
        ("to: M, ", "branches: [{to: M, waight: 1}], ", 12, "unknown key 'waight' in 'automata.A.edges.0.branches.0'."),
        ("to: M, ", "branches: [{to: M, weight: 0}], ", 12, "the weights of all branches are zero."),
        ("from: L", "frm: L, from: L", 12, "unknown key 'frm' in 'automata.A.edges.0'."),
        ("action: go", "action: {a: 1}", 12, "'automata.A.edges.0.action' must be a name, found a mapping."),
        ("name: model", "name: model\nname: again", 3, "key 'name' is given twice (first on line 2)."),
    ],
)
def test_one_mistake(old, new, line, message):
    text = model()
    assert old in text
    assert problems_of(text.replace(old, new, 1)) == [(line, message)]


def test_edges_may_be_missing_and_automata_not():
    assert problems_of("format_version: 1\nname: m\nautomata: {}\n") == [
        (3, "'automata' is empty; a model has at least one automaton.")
    ]
    assert problems_of("format_version: 1\nname: m\nautomata: {A: {initial: L, locations: {}}}\n") == [
        (3, "automaton 'A' has no location.")
    ]
    network = parse_network("format_version: 1\nname: m\nautomata: {A: {initial: L, locations: {L: }}}\n")
    assert network.processes[0].edges == ()


def test_numbers_and_booleans_may_stand_for_texts():
    text = model("clock x;", location="invariant: true, exponential_rate: 0.1", edge="guard: false, weight: 3")
    network = parse_network(text)
    (edge,) = network.processes[0].edges
    assert edge.weight == Constant(3, Kind.INT)
    assert edge.guard == Constant(0, Kind.BOOL)
    assert str(network.processes[0].locations[0].exponential_rate.value) == "1/10"


def test_on_and_off_are_names():
    text = model(edge="action: off")
    assert parse_network(text).actions == ("off",)


def test_the_weight_beside_to_is_the_weight_of_the_edge():
    (edge,) = parse_network(model(edge="weight: 3")).processes[0].edges
    assert edge.weight is not None and edge.branches[0].weight is None


def test_unsafe_tags_are_refused():
    text = model().replace("name: model", "name: !!python/object/apply:os.system ['true']")
    assert problems_of(text) == [(2, "not allowed: the tag tag:yaml.org,2002:python/object/apply:os.system.")]


def test_missing_file(tmp_path):
    for load in (load_network, load_profile):
        with pytest.raises(UserError, match="there is no such file"):
            load(tmp_path / "nothing.yaml")


def test_a_model_without_inputs_is_no_profile():
    found = problems_of(model(), parse_profile)
    assert found == [(1, "the key 'inputs' is missing: a profile says which inputs of the system it drives.")]


def test_the_integration_step_is_part_of_the_model():
    automaton = "automata:\n  A:\n    initial: S\n    locations: {{S: {{}}}}\n    edges: []\n"
    text = "format_version: 1\nname: m\node_step: {}\n" + automaton
    assert parse_network(text.format("0.5")).ode_step == 0.5
    with pytest.raises(UserError, match="m.yaml:3: 'ode_step' must be positive, found 0"):
        parse_network(text.format("0"), file="m.yaml")
