"""Templates, instances, select, channels, rates, branches: the structure of the resulting network."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import NetworkBuilder, parse_expression, parse_network
from bbfalsify.modelling.network.expressions import AtLocation, Binary, Call, Conditional, Constant, Kind, Read
from bbfalsify.modelling.network.network import Channel, Rate
from tests.unit.modelling.helpers import without_lines

FISCHER = """\
format_version: 1
name: fischer
declarations: |
  int id = 0;
  const int K = 2;
automata:
  P:
    parameters: const int pid
    declarations: clock x;
    initial: A
    locations:
      A:
      req: {invariant: x <= K}
      wait: {}
      cs: {}
    edges:
      - {from: A, to: req, guard: id == 0, update: x = 0}
      - {from: req, to: wait, guard: x <= K, update: "x = 0, id = pid", action: write}
      - {from: wait, to: cs, guard: "x > K && id == pid", weight: 2}
      - {from: cs, update: id = 0, to: A}
system: [P(1), "Q = P(2)"]
"""


def fischer_builder() -> NetworkBuilder:
    b = NetworkBuilder("fischer").declare("int id = 0; const int K = 2;")
    p = b.automaton("P", parameters="const int pid", declarations="clock x;")
    p.location("A").location("req", invariant="x <= K").location("wait").location("cs")
    p.edge("A", "req", guard="id == 0", update="x = 0")
    p.edge("req", "wait", guard="x <= K", update="x = 0, id = pid", action="write")
    p.edge("wait", "cs", guard="x > K && id == pid", weight=2)
    p.edge("cs", "A", update="id = 0")
    return b.instance("P", 1).instance("P", 2, name="Q")


def test_yaml_and_builder_give_the_same_network():
    from_yaml, built = parse_network(FISCHER), fischer_builder().build()
    assert without_lines(from_yaml) == without_lines(built)
    assert [e.line for e in from_yaml.processes[0].edges] == [17, 18, 19, 20]
    assert [location.line for location in from_yaml.processes[0].locations] == [12, 13, 14, 15]


def test_processes_names_actions():
    network = parse_network(FISCHER)
    assert [p.name for p in network.processes] == ["P(1)", "Q"]
    assert [v.name for v in network.variables] == ["id", "P(1).x", "Q.x"]
    assert network.actions == ("A->req", "write", "wait->cs", "cs->A")
    assert network.processes[1].edges[2].weight == Constant(2, Kind.INT)
    assert network.processes[1].edges[2].guard == Binary(
        "&&",
        Binary(">", Read(1, Kind.CLOCK), Constant(2, Kind.INT), Kind.BOOL),
        Binary("==", Read(0, Kind.INT), Constant(2, Kind.INT), Kind.BOOL),
        Kind.BOOL,
    )
    assert network.largest_constant == 2


def test_networks_can_be_pickled():
    network = parse_network(FISCHER)
    copy = pickle.loads(pickle.dumps(network))
    assert copy == network
    assert parse_expression("K + id", copy) == parse_expression("K + id", network)


def template(
    parameters: str | None, *, declarations: str = "", system: tuple = (), globals_: str = "", edge: dict | None = None
):
    b = NetworkBuilder("t").declare(globals_)
    p = b.automaton("P", parameters=parameters, declarations=declarations)
    p.location("L")
    if edge is not None:
        p.edge("L", "L", **edge)
    for arguments in system:
        b.instance("P", *arguments)
    return b.build()


def test_open_parameters_give_one_process_per_value():
    network = template("const int[1,2] i, bool b")
    assert [p.name for p in network.processes] == ["P(1,0)", "P(1,1)", "P(2,0)", "P(2,1)"]


def test_reference_parameters_are_aliases():
    network = template(
        "chan &c, int &n, clock &x, const double w",
        globals_="broadcast chan go[2]; int a[3]; clock y;",
        system=(("go[1]", "a[2]", "y", 0.5),),
        edge={"sync": "c!", "guard": "x >= w", "update": "n = 1"},
    )
    (edge,) = network.processes[0].edges
    assert (edge.channel, edge.action) == (1, "go[1]")
    assert edge.guard == Binary(">=", Read(0, Kind.CLOCK), Constant(Fraction(1, 2), Kind.DOUBLE), Kind.BOOL)
    assert edge.branches[0].updates[0].target == Read(2, Kind.INT)


def test_array_references():
    network = template(
        "chan &c[2], const int w[2]",
        globals_="chan go[2]; const int W[2] = {7, 8};",
        system=(("go", "W"),),
        edge={"sync": "c[1]!", "weight": "w[1]"},
    )
    assert network.processes[0].edges[0].action == "go[1]"
    assert network.processes[0].edges[0].weight == Constant(8, Kind.INT)


def test_select_is_one_edge_per_binding():
    network = template(
        None,
        globals_="int n; typedef int[0,2] T;",
        edge={"select": "i : T, b : int[5,6]", "guard": "n == i", "update": "n = b", "action": "pick"},
    )
    edges = network.processes[0].edges
    found = [(e.guard.right.value, e.branches[0].updates[0].value.value) for e in edges]
    assert found == [(i, b) for i in range(3) for b in (5, 6)]
    assert network.actions == ("pick",)


def test_channels():
    network = template(
        None,
        globals_="chan h; broadcast chan b[2]; urgent chan u; urgent broadcast chan v[2][2]; int[0,3] n;",
        edge={"sync": "v[1][0]!", "guard": "n > 0"},
    )
    assert network.channels == (
        Channel("h"),
        Channel("b[0]", broadcast=True),
        Channel("b[1]", broadcast=True),
        Channel("u", urgent=True),
        *(Channel(f"v[{i}][{j}]", broadcast=True, urgent=True) for i in (0, 1) for j in (0, 1)),
    )
    (edge,) = network.processes[0].edges
    assert (edge.channel, edge.sends, edge.action, edge.is_output) == (6, True, "v[1][0]", True)


def test_a_channel_index_that_is_not_constant_becomes_a_guard():
    network = template(
        None, globals_="broadcast chan c[2]; int[0,1] n; bool ok;", edge={"sync": "c[n]?", "guard": "ok"}
    )
    edges = network.processes[0].edges
    ok = Read(1, Kind.BOOL)
    for position, edge in enumerate(edges):
        here = Binary("==", Read(0, Kind.INT), Constant(position, Kind.INT), Kind.BOOL)
        assert edge.guard == Binary("&&", ok, here, Kind.BOOL)
        assert (edge.channel, edge.sends, edge.is_output) == (position, False, False)
    assert network.actions == ()


def location(declarations: str = "clock x, y[2]; bool b; int n;", **facts):
    b = NetworkBuilder("t").declare(declarations)
    b.automaton("P").location("L", **facts)
    return b.build().processes[0].locations[0]


def test_rates_are_split_from_the_invariant():
    found = location(invariant="x' == 0 && x <= 5 && forall (i : int[0,1]) y[i]' == (b ? i : 2)")
    assert found.invariant == Binary("<=", Read(0, Kind.CLOCK), Constant(5, Kind.INT), Kind.BOOL)
    flag, two = Read(0, Kind.BOOL), Constant(2, Kind.INT)
    assert found.rates == (
        Rate(0, Constant(0, Kind.INT)),
        Rate(1, Conditional(flag, Constant(0, Kind.INT), two, Kind.INT)),
        Rate(2, Conditional(flag, Constant(1, Kind.INT), two, Kind.INT)),
    )
    assert location(invariant="2 == x'").rates == (Rate(0, Constant(2, Kind.INT)),)
    assert location(rates={"y[1]": "x - 1"}).rates == (
        Rate(2, Binary("-", Read(0, Kind.CLOCK), Constant(1, Kind.INT), Kind.DOUBLE)),
    )


def test_location_attributes():
    found = location(exponential_rate="1.5", cost_rate="n + 1", urgent=True)
    assert found.exponential_rate == Constant(Fraction(3, 2), Kind.DOUBLE)
    assert found.cost_rate == Binary("+", Read(1, Kind.INT), Constant(1, Kind.INT), Kind.INT)
    assert found.urgent and not found.committed
    assert location(invariant="cost' == 3").cost_rate == Constant(3, Kind.INT)
    assert location(invariant="true").invariant is None


def test_branches():
    b = NetworkBuilder("t").declare("int n; clock x;")
    p = b.automaton("P")
    p.location("L")
    p.location("M")
    p.edge("L", branches=[("M", 1, "n = 1"), ("L", "n + 2", "")], guard="x >= 1", cost=5)
    (edge,) = b.build().processes[0].edges
    assert [branch.target for branch in edge.branches] == [1, 0]
    assert edge.branches[0].weight == Constant(1, Kind.INT)
    assert edge.branches[1].weight == Binary("+", Read(0, Kind.INT), Constant(2, Kind.INT), Kind.INT)
    assert edge.branches[1].updates == ()
    assert (edge.action, edge.cost) == ("L->M|L", Constant(5, Kind.INT))


def test_random_draws_in_updates():
    b = NetworkBuilder("t").declare("double w; double draw() { return random_normal(0, 1) + random(2); }")
    p = b.automaton("P")
    p.location("L", committed=True)
    p.edge("L", "L", update="w = random_uniform(50, 90)")
    p.edge("L", "L", update="w = draw()")
    first, second = (e.branches[0].updates[0].value for e in b.build().processes[0].edges)
    assert (first.name, len(first.arguments)) == ("random_uniform", 2)
    assert second == Call(0, (), Kind.DOUBLE)


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        ("x <= 5", 5),
        ("5.2 >= x", 6),
        ("x - y[0] < 7 || x > 3", 7),
        ("x >= n", 0),  # an int without a range says nothing
        ("x >= 2 * m", 18),
        ("x >= K[m]", 40),
        ("x + 3 <= 10", 10),
        ("!(x < 12)", 12),
        ("n < 100", 0),
        ("late()", 33),
        ("b", 0),
    ],
)
def test_largest_constant(guard, expected):
    b = NetworkBuilder("t").declare(
        "clock x, y[2]; int n; int[0,9] m; const int K[10] = {1,2,3,40,5,6,7,8,9,10}; bool b;"
    )
    if guard == "late()":
        b.declare("bool late() { return x >= 33; }")
    b.automaton("P").location("L").edge("L", "L", guard=guard)
    assert b.build().largest_constant == expected


def test_expressions_over_a_finished_network():
    network = fischer_builder().build()
    assert parse_expression("P(1).cs", network) == (AtLocation(0, 3), 0)
    assert parse_expression("Q.x >= K", network)[0] == Binary(
        ">=", Read(1, Kind.CLOCK), Constant(2, Kind.INT), Kind.BOOL
    )
    expression, frame = parse_expression("forall (i : int[0,3]) i + id < 9", network)
    assert frame == 1 and expression.high == 3
    with pytest.raises(UserError) as caught:
        parse_expression("P(1).css && R.cs && idd == 0", network, file="q.txt", line=3)
    assert [(p.file, p.line) for p in caught.value.problems] == [("q.txt", 3)] * 3
    assert [p.closest for p in caught.value.problems] == ["cs", None, "id"]


def test_one_process_needs_no_prefix_in_expressions():
    b = NetworkBuilder("t")
    b.automaton("P", declarations="clock x;").location("L")
    assert parse_expression("x", b.build())[0] == Read(0, Kind.CLOCK)
