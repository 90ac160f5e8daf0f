"""Declarations, updates and functions: what they mean, checked by running them in the tests' own evaluator."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import NetworkBuilder, parse_expression
from bbfalsify.modelling.network.expressions import Assign, Binary, Bound, Constant, Kind, Quantifier, Read
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from tests.unit.modelling.evaluator import Evaluator
from tests.unit.modelling.helpers import after, declared, value_of


def test_variables_get_slots_in_their_store():
    network = declared("int a = 2; clock x; bool b = true; double d = 0.1; clock y[2]; int[1,5] c;")
    found = [(v.name, v.kind, v.slot, v.size, v.low, v.high, v.initial) for v in network.variables]
    assert found == [
        ("a", Kind.INT, 0, 1, -(2**31) + 1, 2**31 - 1, (2,)),
        ("x", Kind.CLOCK, 0, 1, -(2**31) + 1, 2**31 - 1, (0,)),
        ("b", Kind.BOOL, 1, 1, 0, 1, (1,)),
        ("d", Kind.DOUBLE, 1, 1, -(2**31) + 1, 2**31 - 1, (Fraction(1, 10),)),
        ("y", Kind.CLOCK, 2, 2, -(2**31) + 1, 2**31 - 1, (0, 0)),
        ("c", Kind.INT, 2, 1, 1, 5, (1,)),
    ]
    assert (network.integer_count, network.real_count) == (3, 4)
    assert network.initial_integers() == [2, 1, 1]


def test_constants_types_and_sizes_are_folded():
    text = "const int N = 2 + 1; typedef int[0,N-1] id_t; int a[N][2] = {{1,2},{3,4},{5,6}};"
    text += "id_t who = N - 1; bool f[id_t];"
    network = declared(text)
    array = network.variable("a")
    assert (array.dimensions, array.size, array.initial) == ((3, 2), 6, (1, 2, 3, 4, 5, 6))
    assert (network.variable("who").low, network.variable("who").high) == (0, 2)
    assert network.variable("f").dimensions == (3,)
    assert [v.name for v in network.variables] == ["a", "who", "f"]  # constants take no slots


def test_decimals_stay_exact_and_functions_of_constants_are_rounded_once():
    network = declared("const double w = 2 * 0.1; const double r = sqrt(2); double d = w;")
    assert network.variable("d").initial == (Fraction(1, 5),)
    assert parse_expression("r", network)[0] == Constant(Fraction(2**0.5), Kind.DOUBLE)
    assert value_of("M_PI") == Fraction(3.141592653589793)


def test_reading_arrays():
    declarations = "int a[2][3] = {{1,2,3},{4,5,6}}; int[0,1] i = 1; int[0,2] j = 2; int k = 1;"
    assert value_of("a[1][0]", declarations) == 4
    assert value_of("a[i][j]", declarations) == 6
    assert value_of("a[i][k]", declarations) == 5
    network = declared(declarations)
    assert parse_expression("a[1][2]", network)[0] == Read(5, Kind.INT)
    # the declared range of j shows that it stays in its row; an unbounded index is checked
    index = parse_expression("a[i][j]", network)[0].index
    assert index == Binary(
        "+",
        Binary("*", Read(6, Kind.INT), Constant(3, Kind.INT), Kind.INT),
        Read(7, Kind.INT),
        Kind.INT,
    )


@pytest.mark.parametrize("k", [-1, 3, 5])
def test_an_inner_index_cannot_slide_into_the_next_row(k):
    with pytest.raises(IndexError):
        value_of("a[0][k]", f"int a[2][3]; int k = {k};")


def test_constant_arrays_live_in_the_state_only_when_needed():
    b = NetworkBuilder("t").declare("const int cost[3] = {4, 5, 6}; const int unused[2] = {1, 2}; int[0,2] i; int n;")
    p = b.automaton("P")
    p.location("L")
    p.edge("L", "L", update="n = cost[1]")
    assert [v.name for v in b.build().variables] == ["i", "n"]
    p.edge("L", "L", update="n = cost[i]")
    network = b.build()
    assert [(v.name, v.initial) for v in network.variables] == [("i", (0,)), ("n", (0,)), ("cost", (4, 5, 6))]
    assert network.processes[0].edges[0].branches[0].updates[0].value == Constant(5, Kind.INT)
    assert parse_expression("cost[i]", network)[0] == Read(2, Kind.INT, Read(0, Kind.INT), 3)
    with pytest.raises(UserError, match="'unused' must be constant"):
        parse_expression("unused[i]", network)


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("n = 3", 3),
        ("n := 3", 3),
        ("n++", 6),
        ("++n", 6),
        ("n--", 4),
        ("n += 2, n *= 3", 21),
        ("n -= 1, n /= 2", 2),
        ("n %= 3", 2),
        ("n <<= 2", 20),
        ("n >>= 1", 2),
        ("n |= 2, n &= 6, n ^= 1", 7),
        ("", 5),
        ("n = b ? 1 : 2", 1),
        ("n = sum (i : int[0,2]) (i + n)", 18),
    ],
)
def test_updates(update, expected):
    assert after(update, "int n = 5; bool b = true;", "n") == expected


def test_assignments_carry_range_and_line():
    b = NetworkBuilder("t").declare("int[0,3] n; bool b; clock x; double d;")
    b.automaton("P").location("L").edge("L", "L", update="n = 1, b = true, x = 2, d = x")
    n, flag, x, d = b.build().processes[0].edges[0].branches[0].updates
    assert n == Assign(Read(0, Kind.INT), Constant(1, Kind.INT), 0, 3)
    assert flag == Assign(Read(1, Kind.BOOL), Constant(1, Kind.BOOL))
    assert x == Assign(Read(0, Kind.CLOCK), Constant(Fraction(2), Kind.DOUBLE))
    assert d == Assign(Read(1, Kind.DOUBLE), Read(0, Kind.CLOCK))


FUNCTIONS = """
const int N = 4;
typedef int[0,N-1] id_t;
int total;
int a[N] = {3, 1, 4, 1};
int add(int x, int y) { return x + y; }
int largest() {
    int best = a[0];
    for (i : id_t) if (a[i] > best) best = a[i];
    return best;
}
int gcd(int x, int y) { while (y != 0) { int r = x % y; x = y; y = r; } return x; }
int count_down(int n) { int steps; do { n--; steps++; } while (n > 0); return steps; }
int squares(int n) { int s = 0; int i; for (i = 0; i < n; i++) { int q; q += i; s += q * q; } return s; }
int reversed(int k) { int b[N]; for (i : id_t) b[i] = a[N - 1 - i]; return b[k]; }
int matrix() { int m[2][2] = {{1, 2}, {3, 4}}; const int ONE = 1; return m[ONE][0]; }
bool even(int n) { return n % 2 == 0; }
int pick(id_t i) { if (i == 0) return 10; else if (i == 1) { return 11; } return 12; }
void note(int v) { total += v; }
void twice(int v) { note(v); note(v); }
double half(int n) { return n / 2.0; }
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add(2, 3)", 5),
        ("largest()", 4),
        ("gcd(48, 36)", 12),
        ("count_down(3)", 3),
        ("count_down(-1)", 1),
        ("squares(4)", 14),
        ("reversed(0)", 1),
        ("reversed(1)", 4),
        ("matrix()", 3),
        ("even(4) && !even(3)", 1),
        ("pick(0) + pick(1) + pick(2)", 33),
        ("half(5)", Fraction(5, 2)),
        ("forall (i : id_t) a[i] <= largest()", 1),
    ],
)
def test_functions(text, expected):
    assert value_of(text, FUNCTIONS) == expected


def test_functions_with_effects():
    assert after("twice(3), note(add(1, 1))", FUNCTIONS, "total") == 8


def test_ranges_of_arguments_are_checked_on_entry():
    with pytest.raises(OverflowError):
        value_of("pick(n)", FUNCTIONS + "int n = 7;")


def test_local_functions_belong_to_their_process():
    b = NetworkBuilder("t")
    p = b.automaton(
        "P", parameters="const int[1,2] id", declarations="int mine = 10 * id; int f() { return mine + id; }"
    )
    p.location("L")
    network = b.build()
    assert [f.name for f in network.functions] == ["P(1).f", "P(2).f"]
    assert [v.name for v in network.variables] == ["P(1).mine", "P(2).mine"]
    evaluator = Evaluator(network)
    assert [evaluator.value(_call(i)) for i in (0, 1)] == [11, 22]


def _call(function: int):
    from bbfalsify.modelling.network.expressions import Call

    return Call(function, (), Kind.INT)


def test_quantifiers_keep_their_loop_in_guards_without_clocks():
    b = NetworkBuilder("t").declare("int a[3]; clock x[3];")
    p = b.automaton("P")
    p.location("L", invariant="forall (i : int[0,2]) x[i] <= i + 1")
    p.edge("L", "L", guard="forall (i : int[0,2]) a[i] == 0")
    p.edge("L", "L", guard="exists (i : int[0,1]) x[i] > 5")
    network = b.build()
    loop, unrolled = network.processes[0].edges
    assert isinstance(loop.guard, Quantifier) and loop.guard_frame_size == 1
    assert loop.guard.body.left == Read(0, Kind.INT, Bound(0, Kind.INT), 3)
    five = Constant(5, Kind.INT)
    assert unrolled.guard == Binary(
        "||",
        Binary(">", Read(0, Kind.CLOCK), five, Kind.BOOL),
        Binary(">", Read(1, Kind.CLOCK), five, Kind.BOOL),
        Kind.BOOL,
    )
    invariant = network.processes[0].locations[0].invariant
    assert invariant.operator == "&&" and invariant.right == Binary(
        "<=", Read(2, Kind.CLOCK), Constant(3, Kind.INT), Kind.BOOL
    )


def test_folding_leaves_run_time_errors_to_the_run():
    network = declared("const int ZERO = 0; int n;")
    expression, _ = parse_expression("5 / ZERO", network)
    assert expression == Binary("/", Constant(5, Kind.INT), Constant(0, Kind.INT), Kind.INT)


def test_implicit_booleans_as_in_uppaal():
    from bbfalsify.core.errors import Place
    from bbfalsify.modelling.language.model_text import BranchText, EdgeText, LocationText, ModelText, TemplateText
    from bbfalsify.modelling.language.resolve import assemble
    from bbfalsify.records.documents import Text

    place = Place("m.xml", 1)
    edge = EdgeText("L", place, (BranchText("L", place, None, Text("n = b + 1, b = n", place)),), Text("n", place))
    template = TemplateText("P", place, None, locations=[LocationText("L", place)], edges=[edge])
    text = ModelText("m", place, [Text("int n; bool b;", place)], [template], as_uppaal=True)
    network, assembly = assemble(text)
    assert not assembly.problems
    assert network.processes[0].edges[0].guard == Binary("!=", Read(0, Kind.INT), Constant(0, Kind.INT), Kind.BOOL)
    text.as_uppaal = False
    assert "a condition (bool) is needed, found an int" in assemble(text)[1].problems[0].message


def test_quantified_names_of_processes_in_expressions():
    """A sum over processes, whose range need not begin with 0."""
    builder = NetworkBuilder("many").declare("const int N = 3;")
    automaton = builder.automaton("S", parameters="const int[1,N] id", declarations="int n = id;")
    automaton.location("A")
    expression, frame = parse_expression("(sum (i : int[1,N]) S(i).A) + (sum (i : int[2,3]) S(i).n)", builder.build())
    assert frame == 0
    network = builder.build()
    interpreter = ReferenceInterpreter(network)
    assert interpreter.evaluator_at(interpreter.initial_state(), 0).value(expression) == 3 + 2 + 3
