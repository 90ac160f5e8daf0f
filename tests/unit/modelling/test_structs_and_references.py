"""Structs, whole arrays, arrays that do not begin at 0, functions with array and reference parameters, instances."""

from fractions import Fraction

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import NetworkBuilder, parse_expression, parse_network
from tests.unit.modelling.evaluator import Evaluator
from tests.unit.modelling.helpers import after, value_of

POINTS = "typedef struct { int x, y; double w[2]; } point; point p = {1, 2, {3, 4}}; point q[2]; int i = 1;"


@pytest.mark.parametrize(
    ("declarations", "expression", "value"),
    [
        (POINTS, "p.x + 10 * p.y", 21),
        (POINTS, "p.w[1]", 4),
        (POINTS, "q[i].y", 0),
        ("const struct { int a, b; } data[2] = { {1, 2}, {3, 4} };", "10 * data[1].a + data[0].b", 32),
        ("struct { int a; bool b; } s = { b: true, a: 5 };", "s.b ? s.a : 0", 5),
        ("struct { struct { int a[2]; } inner[2]; } s = {{ {{1, 2}}, {{3, 4}} }}; int i = 1;", "s.inner[i].a[0]", 3),
        ("typedef int[1,3] id_t; int a[id_t] = {7, 8, 9}; id_t i = 3;", "10 * a[1] + a[i]", 79),
        ("typedef int[1,2] r_t; typedef int[5,6] c_t; int m[r_t][c_t] = {{1, 2}, {3, 4}}; r_t r = 2;", "m[r][5]", 3),
        ("const int a[2] = {5, 6}; int b[2] = a;", "b[1]", 6),
        ("int a[2] = {1, 2}; int b[2] = {1, 2};", "a == b ? 1 : 0", 1),
        (POINTS + "point r = {1, 2, {3, 5}};", "p != r ? 1 : 0", 1),
        ("int f(int a[3]) { a[0] += 10; return a[0] + a[2]; } int b[3] = {1, 2, 3};", "f(b)", 14),
        (POINTS + "int f(point s) { return s.x * s.y + fint(s.w[0]); }", "f(p)", 5),
        ("int a[2] = {4, 5}; int f(const int &k) { return k + 1; }", "f(a[1] + 2)", 8),
    ],
)
def test_values(declarations, expression, value):
    assert value_of(expression, declarations) == value


@pytest.mark.parametrize(
    ("declarations", "update", "variable", "value"),
    [
        (POINTS, "q[i] = p", "q.y", [0, 2]),
        (POINTS, "q[i] = p", "q.w", [0, 0, 3, 4]),
        (POINTS, "q[0].w[i] = 1.5, q[1] = q[0]", "q.w", [0, Fraction(3, 2), 0, Fraction(3, 2)]),
        ("const struct { int a, b; } data[2] = { {1, 2}, {3, 4} }; int n = 1;", "n = data[n].b", "n", 4),
        ("int a[3] = {1, 2, 3}; int b[3];", "b = a", "b", [1, 2, 3]),
        ("int m[2][2] = {{1, 2}, {3, 4}}; int i = 1;", "m[0] = m[i]", "m", [3, 4, 3, 4]),
        ("int a[2][2] = {{1, 0}, {5, 7}};", "a[0] = a[a[0][0]]", "a", [5, 7, 5, 7]),  # the index is read once, before
        ("typedef int[1,3] id_t; int a[id_t];", "a[3] = 9", "a", [0, 0, 9]),
        ("void set(int &v) { v = 5; } int n;", "set(n)", "n", 5),
        ("void set(int &v) { v = 5; } int a[3]; int i = 2;", "set(a[i])", "a", [0, 0, 5]),
        ("void set(int &v, int k) { v = k; } int a[3]; int i = 2;", "set(a[i], 7), set(a[0], 8)", "a", [8, 0, 7]),
        ("void move(int &i, int &v) { i = 0; v = 4; } int a[3]; int n = 2;", "move(n, a[n])", "a", [0, 0, 4]),
        ("void fill(int &a[3], int k) { for (i : int[0,2]) a[i] = k; } int m[2][3]; int r = 1;",
         "fill(m[r], 6)", "m", [0, 0, 0, 6, 6, 6]),
        ("void inner(int &v) { v += 2; } void outer(int &a[2]) { inner(a[1]); } int a[2];", "outer(a)", "a", [0, 2]),
        ("void inner(int &v) { v += 2; } void outer(int &a[2], int k) { inner(a[k]); } int m[2][2]; int r = 1;",
         "outer(m[r], 0)", "m", [0, 0, 2, 0]),
        (POINTS + "void up(point &s) { s.y++; s.w[1] = 7; }", "up(q[i])", "q.w", [0, 0, 0, 7]),
        ("void reset(clock &c) { c = 3; } clock x, y;", "reset(y)", "y", 3),
        ("int a[3]; int n;", "a[n++] = 5, a[n++] = 6", "a", [5, 6, 0]),
        ("int a[3]; int n; int f() { return a[n++]; } int k;", "k = f() + f()", "n", 2),
        ("int n; void f() { point p = {1, 2}; point q = p; n = q.y; } typedef int t;".replace("int n;",
         "typedef struct { int x, y; } point; int n;"), "f()", "n", 2),
    ],
)  # fmt: skip
def test_updates(declarations, update, variable, value):
    assert after(update, declarations, variable) == value


@pytest.mark.parametrize(
    ("declarations", "update", "message"),
    [
        (POINTS, "p = 3", "update: 'p' is a struct; choose a field: '.x', '.y', '.w'."),
        (POINTS, "p = q", "what is assigned is of type struct, found struct[2]."),
        (POINTS, "p.z = 3", "unknown field of 'p' 'z'."),
        (POINTS, "p[0].x = 3", "'p' is not an array."),
        (POINTS, "i.x = 3", "update: '.x' is only allowed in queries and inputs."),
        ("const struct { int a; } s = {1};", "s.a = 2", "'s' is constant and cannot be assigned."),
        ("void f(int &v) { v = 1; } const int K = 3;", "f(K)", "'v' is constant and cannot be assigned."),
        ("void f(int &v) { v = 1; }", "f(3)",
         "an argument of 'f' must be a variable of type int, passed by reference."),
        ("void f(int &v) { v = 1; } bool b;", "f(b)",
         "an argument of 'f' must be a variable of type int, passed by reference."),
        ("void f(int &v) { f(v); } int n;", "f(n)", "function 'f' calls itself; recursion is not allowed."),
        ("int f(int a[3]) { return a[0]; } int b[2]; int n;", "n = f(b)",
         "an argument of 'f' is of type int[3], found something else."),
        ("int n;", "n = sum (i : int[0,2]) n++",
         "update: an assignment inside an expression is only supported in updates and statements, outside quantifiers; "
         "write it as a step of its own."),
    ],
)  # fmt: skip
def test_mistakes(declarations, update, message):
    with pytest.raises(UserError) as caught:
        after(update, declarations, "n")
    assert message in [problem.message for problem in caught.value.problems]


def test_struct_fields_and_odd_arrays_are_seen_by_queries():
    b = NetworkBuilder("test").declare("typedef int[1,2] id_t; struct { int a; } s[id_t] = {{4}, {5}};")
    own = "struct { int k; clock c[2]; } t = {6}; int[3,4] z[int[7,8]];".replace("{6}", "{6, {1, 2}}")
    b.automaton("P", declarations=own).location("L")
    b.automaton("Q").location("L")
    network = b.build()
    for text, value in (("s[2].a", 5), ("P.t.k", 6), ("P.t.c[1]", 2), ("P.z[8]", 3)):
        expression, size = parse_expression(text, network)
        assert Evaluator(network, size).value(expression) == value
    assert network.variable("P.z").element_names() == ["P.z[7]", "P.z[8]"]


INSTANCES = """
format_version: 1
name: trains
declarations: |
  broadcast chan go[3];
  int n[3];
automata:
  Train:
    parameters: const int id, broadcast chan &c, int &count, const int speed
    initial: A
    locations: {A: {}}
    edges: [{from: A, to: A, sync: c!, update: count = speed * 10 + id}]
instances:
  - Fast(const int[0,2] i) = Train(i, go[i], n[i], 9)
  - Middle = Fast(1)
  - Slow(const int id) = Train(id, go[0], n[0], 1)
system: [Fast, Middle, Last = Slow(2)]
queries: ["E<> n[0] == 1", {query: "A[] n[1] < 3", comment: never}]
"""


def test_instances_fix_parameters_one_after_the_other():
    network = parse_network(INSTANCES)
    assert [p.name for p in network.processes] == ["Fast(0)", "Fast(1)", "Fast(2)", "Middle", "Last"]
    assert [network.channels[p.edges[0].channel].name for p in network.processes] == [
        "go[0]", "go[1]", "go[2]", "go[1]", "go[0]",
    ]  # fmt: skip
    updates = [p.edges[0].branches[0].updates[0] for p in network.processes]
    assert [(u.target.slot, u.value.value) for u in updates] == [(0, 90), (1, 91), (2, 92), (1, 91), (0, 12)]


@pytest.mark.parametrize(
    ("change", "to", "message"),
    [
        ("= Train(i, go[i]", "= Tram(i, go[i]", "unknown automaton 'Tram'."),
        ("n[i], 9)", "n[i])", "automaton 'Train' takes 4 arguments, found 3."),
        ("n[i], 9)", "9, 9)", "the argument 'count' must be a variable of type int."),
        ("- Middle = Fast(1)", "- Train = Fast(1)", "there is already an automaton 'Train'."),
        ("Last = Slow(2)", "Slow",
         "automaton 'Slow' needs a value for its parameter 'id': write 'Slow(…)' in the system, or give the parameter "
         "a range such as int[0,3]."),
        ("broadcast chan go[3]", "chan go[3]", "the argument 'c' must be a broadcast channel; 'go[0]' is not."),
    ],
)  # fmt: skip
def test_mistakes_in_instances(change, to, message):
    with pytest.raises(UserError) as caught:
        parse_network(INSTANCES.replace(change, to, 1))
    assert message in [problem.message for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("declarations", "name", "initial"),
    [
        ("int twice(int n) { return 2 * n; } const int A = twice(1); int b[A] = {5, 6};", "b", (5, 6)),
        ("const int T[3] = {4, 9, 2}; int top() { int m = 0; for (i : int[0,2]) if (T[i] > m) m = T[i]; return m; }"
         "int[0,top()] n = top() - 1;", "n", (8,)),
        ("double half(double x) { return x / 2; } double d = half(3);", "d", (Fraction(3, 2),)),
    ],
)  # fmt: skip
def test_functions_of_constants_are_constants(declarations, name, initial):
    b = NetworkBuilder("test").declare(declarations)
    b.automaton("P").location("L")
    assert b.build().variable(name).initial == initial


@pytest.mark.parametrize(
    ("declarations", "message"),
    [
        ("int n; int f() { return n; } const int A = f();",
         "the value of 'A' must be constant; values that are computed or drawn belong into the update of a first "
         "edge."),
        ("int f() { while (true) { } return 1; } const int A = f();",
         "the value of 'A' cannot be computed: a loop did not end within 50000 turns."),
        ("const int T[2] = {1, 2}; int f(int i) { return T[i]; } int n = f(5);",
         "the value of 'n' cannot be computed: T[5]: the array has 2 elements."),
    ],
)  # fmt: skip
def test_what_is_not_constant(declarations, message):
    b = NetworkBuilder("test").declare(declarations)
    b.automaton("P").location("L")
    with pytest.raises(UserError) as caught:
        b.build()
    assert [problem.message for problem in caught.value.problems] == [message]
