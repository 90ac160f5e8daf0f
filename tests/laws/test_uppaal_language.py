"""The C-like language of UPPAAL: kernel, reference interpreter and a model converted to YAML agree on what C says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.kernel import WalkStatus, accelerated_walks, compile_network
from bbfalsify.modelling import load_model, parse_condition, parse_network
from bbfalsify.modelling.formats.yaml_writer import converted
from bbfalsify.modelling.network.network import Network
from bbfalsify.modelling.reference.evaluation import Evaluator, Memory
from bbfalsify.modelling.reference.exact_code import ExactCode
from bbfalsify.modelling.reference.exact_values import Sample
from tests.support.judging import judge_walk
from tests.support.oracle import Oracle
from tests.unit.modelling.helpers import without_lines

MODEL = """\
{declarations}
process P() {{
  {local}
  state A, B; commit A; init A;
  trans A -> B {{ assign {update}; }};
}}
{system}
"""


def read(folder: Path, text: str) -> Network:
    """The network of a text; converted to YAML and read back it is the same."""
    file = folder / "model.xta"
    file.write_text(text, encoding="utf-8")
    network = load_model(file)[0]
    assert without_lines(parse_network(converted(file)[0])) == without_lines(network)
    return network


def first_step(network: Network):
    walk = accelerated_walks(compile_network(network), np.zeros(1, np.uint64), 5, 1e9, 1).walk(0)
    return walk, judge_walk(Oracle(network), walk)


def values_after(folder: Path, declarations: str, update: str) -> dict[str, list]:
    """All variables after the update, by kernel and reference alike."""
    network = read(folder, MODEL.format(declarations=declarations, local="", update=update, system="system P;"))
    walk, judgement = first_step(network)
    assert walk.status == WalkStatus.STEP_LIMIT, walk.error
    assert judgement.problem is None
    state = judgement.state
    assert tuple(walk.integers[1]) == state.integers
    stores = {False: state.integers, True: state.reals}
    return {v.name: list(stores[v.kind.is_real][v.slot : v.slot + v.size]) for v in network.variables}


def error_of(folder: Path, declarations: str, update: str) -> str:
    network = read(folder, MODEL.format(declarations=declarations, local="", update=update, system="system P;"))
    walk, judgement = first_step(network)
    assert walk.status == WalkStatus.RUNTIME_ERROR
    interpreter = Oracle(network)
    (transition,) = interpreter.transitions(judgement.state)
    assert any(outcome.error for outcome in interpreter.outcomes(judgement.state, transition, 0))
    return str(walk.error)


QUEUE = "typedef struct { int[0,9] a[3]; int n; } queue; queue q; int x, y; bool b;"
PAIR = """typedef struct { int k; double w; bool b; } pair; pair p = {1, 0.5, true}, o; int x;
pair pair_of(int k, double w) { pair r = {k, w, k > 2}; return r; }
pair swapped(pair v) { pair r = v; r.k = fint(v.w); r.w = v.k; return r; }
pair either(bool first) { if (first) return p; return o; }
"""


@pytest.mark.parametrize(
    ("declarations", "update", "expected"),
    [
        # --- types and constants ---
        ("int8_t a; uint8_t b; int16_t c; uint16_t d; int32_t e;",
         "a = INT8_MIN, b = UINT8_MAX, c = INT16_MAX, d = UINT16_MAX, e = INT32_MIN",
         {"a": -128, "b": 255, "c": 32767, "d": 65535, "e": -(2**31)}),
        ("const int CYCLE = 250000; const int BIG = 2147483647; int x; int32_t y;", "x = CYCLE / 100, y = BIG",
         {"x": 2500, "y": 2**31 - 1}),
        ("const int T[3] = {70000, -70000, 3}; int i = 1; int32_t y;", "y = T[i]", {"y": -70000}),
        ("int x; bool b;", "x = 2 ** 3 ** 2 - 3 ** 2, b = FLT_MAX < DBL_MAX", {"x": 503, "b": 1}),
        ("double d;", "d = log10(100) + log(10)", {"d": 3}),
        ("int n = -2; double d;", "d = 2.0 ** n, n = 2 ** n", {"d": 0.25, "n": 0}),
        ("bool b; int n = 3;", "b = true xor n", {"b": 0}),
        # --- structs and arrays ---
        ("typedef struct { int a; int b[2]; } s; const s FIN = {7, {8, 9}}; s t[3] = {{1, {2, 3}}, FIN, FIN}; int x;",
         "x = t[2].b[1]", {"t.a": [1, 7, 7], "t.b": [2, 3, 8, 9, 8, 9], "x": 9}),
        ("const int R[2] = {4, 5}; int t[2][2] = {R, {6, 7}}; int x;", "x = t[0][1]", {"t": [4, 5, 6, 7], "x": 5}),
        ("struct { int a; int b; int c; } s = {1}, t = {b: 2, 3};", "s.b = 5",
         {"s.a": 1, "s.b": 5, "s.c": 0, "t.a": 0, "t.b": 2, "t.c": 3}),
        ("int a[2] = {1, 2}, b[2] = {3, 4}; int i;", "a = i > 0 ? a : b", {"a": [3, 4]}),
        ("int a[2] = {1, 2}, b[2] = {3, 4}; int s(int v[2]) { return v[0] * 10 + v[1]; } int x; bool c = true;",
         "x = s(c ? b : a)", {"x": 34}),
        ("int m[2][2] = {{1, 2}, {3, 4}}; int i = 1, x; int s(int v[2]) { return v[0] * 10 + v[1]; }", "x = s(m[i])",
         {"x": 34}),
        ("const int M[2][2] = {{1, 2}, {3, 4}}; int i = 1, x; int s(const int &v[2]) { return v[0] * 10 + v[1]; }",
         "x = s(M[i])", {"x": 34}),
        ("int x; int s(const int &v[2]) { return v[0] * 10 + v[1]; } void f() { int l[2] = {5, 6}; x = s(l); }", "f()",
         {"x": 56}),
        (PAIR, "o = pair_of(3, 1.5), x = pair_of(4, 0).k", {"o.k": 3, "o.w": 1.5, "o.b": 1, "x": 4}),
        (PAIR, "p = swapped(p)", {"p.k": 0, "p.w": 1, "p.b": 1}),
        (PAIR, "o = either(x == 0), x = (o == p) ? 8 : 9", {"o.k": 1, "o.w": 0.5, "x": 8}),
        (PAIR + "const pair C = pair_of(5, 2);", "x = C.k + (x > 0 ? o : p).k", {"x": 6}),
        # --- assignments as values ---
        (QUEUE, "q.a[q.n++] = 4, q.a[q.n++] = 5", {"q.a": [4, 5, 0], "q.n": 2}),
        (QUEUE, "x = q.n++ + q.n++ * 10, y = ++q.n", {"x": 10, "y": 3, "q.n": 3}),
        (QUEUE, "x = x++", {"x": 0}),
        (QUEUE, "x = 5, y = x + x++ + x", {"x": 6, "y": 16}),
        (QUEUE, "x = y = 3, x += y++", {"x": 6, "y": 4}),
        (QUEUE, "x = (y = 4) * 2", {"x": 8, "y": 4}),
        (QUEUE, "b = x > 0 && (y = 1) == 1", {"b": 0, "y": 0}),
        (QUEUE, "b = x == 0 || y++ > 0", {"b": 1, "y": 0}),
        (QUEUE, "b = x == 0 imply y++ == 0", {"b": 1, "y": 1}),
        (QUEUE, "y = x == 0 ? ++x : x--", {"x": 1, "y": 1}),
        (QUEUE, "x == 0 ? (y = 7) : (y = 8)", {"y": 7}),
        ("int a[2], x;", "x = ++a[a[0]]", {"a": [1, 0], "x": 1}),
        ("double d; int x = 3; double e;", "e = (d = x) / 2", {"d": 3, "e": 1.5}),
        ("int x, n = 3; void f() { while (n-- > 0) x++; }", "f()", {"x": 3, "n": -1}),
        ("int x, n = 3; void f() { do x++; while (--n > 0); }", "f()", {"x": 3, "n": 0}),
        ("int x, i; void f() { for (i = 0; i++ < 4;) x += i; }", "f()", {"x": 10, "i": 5}),
        ("int x, n = 3; int f(int a, int b) { return a * 10 + b; }", "x = f(n, n++)", {"x": 33, "n": 4}),
        ("int x, n = 3; int f() { int y = n++; if (n++ == 4) return n++ + y; return 0; }", "x = f()",
         {"x": 8, "n": 6}),
        ("int x, n; int next() { n++; return n; } int a[4];", "a[next()] = next(), x = n", {"a": [0, 2, 0, 0], "x": 2}),
        ("int x; int f(int n) { assert(n > 0); assert n < 5; return n; }", "x = f(4)", {"x": 4}),
        ("typedef struct { int a, b; } s; s t[3]; int i = 1; void g(s &v) { v.a = v.b = 3; } void h(s &v) { g(v); }",
         "h(t[i])", {"t.a": [0, 3, 0], "t.b": [0, 3, 0]}),
        ("int n; void f() { typedef int[0,3] small, row[2]; row r = {1, 2}; small x = r[1]; n = x; }", "f()", {"n": 2}),
        ("int some[1]; int n; void panic() { some[2] = 1; } int f(int i) { if (i > 3) panic(); return i + 1; }",
         "n = f(2)", {"n": 3}),  # a function that is never to be called
        ("const int t[2][3] = {{1, 2, 3}, {4, 5, 6}}; int f(const int r[3], int i) { return r[i]; } int n;",
         "n = f(t[1], 2)", {"n": 6}),
        ("uint8_t m[4]; typedef int[0,3] a_t; int n; uint16_t r(a_t a) { return (m[a + 1] << 0) | (m[a] << 8); } "
         "int16_t s(a_t a) { uint16_t v = r(a); return v > INT16_MAX ? v - UINT16_MAX - 1 : v; }",
         "m[1] = 255, m[2] = 254, n = s(1)", {"n": -2}),
        ("typedef struct { int32_t code; int32_t op; } i_t; const i_t p[2] = {{1, -2147483647}, {2, 3}}; i_t cur; "
         "int[0,2] pc; void fetch() { cur = p[pc]; pc += 1; }", "fetch(), fetch()", {"cur.code": 2, "cur.op": 3}),
        ("typedef int[0,3] small, row[2]; row r; small s; ;", "s = 2, r[1] \\\n = 3", {"s": 2, "r": [0, 3]}),
        # --- local variables by reference, and structs from functions with effects ---
        ("int x; void set(int &v) { v = 5; } void f() { int l = 2; set(l); x = l; }", "f()", {"x": 5}),
        ("int x; void up(int &v[3], int k) { v[k]++; } void f() { int l[3] = {1, 2, 3}; up(l, 1); up(l, 1); "
         "x = l[0] * 100 + l[1] * 10 + l[2]; }", "f()", {"x": 143}),
        ("int x, i = 1; void up(int &v) { v += i; i = 0; } void f() { int l[2][3]; l[1][1] = 4; up(l[i][i]); "
         "x = l[1][1] * 10 + l[0][0]; }", "f()", {"x": 50}),
        ("int x; int first(int &v[4], int k) { int i; for (i = 0; i < 4; i++) { v[i]++; if (v[i] == k) return i; "
         "v[i]++; } return -1; } void f() { int l[4] = {0, 2, 4, 6}; x = first(l, 5) + first(l, 9) * 10; "
         "x = x * 10 + l[3]; }", "f()", {"x": -72}),
        ("int x; bool pop(int &n) { if (n == 0) return false; n--; return true; } "
         "void f() { int n = 4; while (pop(n)) x += n; x = x * 10 + n; }", "f()", {"x": 60}),
        ("int x; bool pop(int &n) { if (n == 0) return false; n--; return true; } void f() { int n = 1; "
         "bool b = pop(n) && pop(n); x = b ? 100 : n; if (pop(n) || x == 0) x = 7; }", "f()", {"x": 7}),
        ("int x; int add(int &v, int k) { v += k; return v; } void f() { int l = 1; x = l + add(l, 2) * 10 + l; }",
         "f()", {"x": 34}),
        ("int x; void swap(int &a, int &b) { int t = a; a = b; b = t; } void sort(int &v[4]) { int i, j; "
         "for (i = 0; i < 3; i++) for (j = 0; j < 3 - i; j++) if (v[j] > v[j + 1]) swap(v[j], v[j + 1]); } "
         "void f() { int l[4] = {3, 1, 4, 2}; sort(l); x = l[0] * 1000 + l[1] * 100 + l[2] * 10 + l[3]; }", "f()",
         {"x": 1234}),
        ("int x; void two(int &a, int &b) { a = 3; b++; } void f() { int l; two(l, l); x = l; }", "f()", {"x": 4}),
        ("typedef struct { int k; int w[2]; } s; int x; void inner(int &v) { v = v + 7; } void up(s &v, int i) { "
         "v.k = 3; inner(v.w[i]); inner(v.k); } void f() { s l[2], o; int i = 1; up(l[i], i); o = l[1]; "
         "x = o.k * 100 + o.w[1] * 10 + l[0].k; }", "f()", {"x": 1070}),
        ("int x; double half(double &d) { d = d / 2; return d; } void f() { double d = 3; x = fint(half(d) * 10); }",
         "f()", {"x": 15}),
        ("int x; int c(int &v[2], const int &w[2]) { v[0] = w[1]; return w[0]; } void f() { int l[2] = {1, 2}; "
         "x = c(l, l) * 10 + l[0]; }", "f()", {"x": 22}),
        ("typedef struct { int a[2]; int n; } q_t; q_t q = {{5, 6}, 2}; typedef struct { int v; int at; } e_t; int x; "
         "e_t pop() { e_t e = {q.a[q.n - 1], q.n}; q.n--; return e; }",
         "x = pop().v * 10 + pop().at", {"x": 61, "q.n": 0}),
        ("typedef struct { int v; int at; } e_t; e_t e; int x; "
         "e_t take(int &n) { e_t made = {n, x}; n = 9; return made; } "
         "void f() { int l = 4; e = take(l); x = l; }", "f()", {"e.v": 4, "e.at": 0, "x": 9}),
        ("typedef struct { int v; int at; } e_t; e_t e; int x; int next() { x++; return x; } "
         "e_t pair(int a, int b) { e_t made = {a, b}; return made; }", "e = pair(next(), next() * 10)",
         {"e.v": 1, "e.at": 20, "x": 2}),
        ("typedef struct { int v; int at; } e_t; e_t e; int x = 1; "
         "e_t none() { e_t made = {0, 0}; x = 5; return made; } "
         "e_t one = {7, 8};", "e = x == 1 ? one : none()", {"e.v": 7, "e.at": 8, "x": 1}),
    ],
)  # fmt: skip
def test_values(tmp_path, declarations, update, expected):
    found = values_after(tmp_path, declarations, update)
    for name, value in expected.items():
        assert found[name] == (value if isinstance(value, list) else [value]), name


@pytest.mark.parametrize(
    ("declarations", "update", "message"),
    [
        ("int x; void f(int n) { assert(n > 3); }", "f(x)", "value 0 is out of range: the assertion in function f"),
        ("int x;", "x = 32767, x++", "value 32768 is out of range: variable 'x' with range [-32768, 32767]"),
        ("uint8_t x; int y;", "y = x--", "value -1 is out of range: variable 'x' with range [0, 255]"),
        ("const int N = 40000; int x;", "x = N + 1", "value 40001 is out of range"),
        ("int8_t some[1]; void panic() { some[2] = 1; }", "panic()", "index 2"),
        ("int[0,1] n; void panic() { n = 2; }", "panic()", "value 2 is out of range: variable 'n' with range [0, 1]"),
        ("const int c[2] = {4, 5}; int n; int f() { return c[2]; }", "n = f()", "index 2"),
    ],
)
def test_run_time_errors(tmp_path, declarations, update, message):
    assert message in error_of(tmp_path, declarations, update)


# --- whole models -----------------------------------------------------------------------------------------------------


def walks(network: Network, steps: int = 6, count: int = 4):
    """Walks of the kernel that the reference allows."""
    batch = accelerated_walks(compile_network(network), np.arange(count, dtype=np.uint64), 5, 1e9, steps)
    for number in range(count):
        walk = batch.walk(number)
        assert judge_walk(Oracle(network), walk).problem is None
        yield walk


def test_channels_as_arguments(tmp_path):
    text = """const int N = 3; chan c[N], m[2][N], short[N - 1]; int k() { return 1; }
process P(const int n, chan &row[n], chan &less[N - 1], chan &one) {
  state A; init A; trans A -> A { sync row[n - 1]!; }, A -> A { sync less[1]!; }, A -> A { sync one!; }; }
X = P(3, m[1], short, c[N - 1]); Y = P(N, c, short, m[k() - 1][0]);
system X, Y;
"""
    network = read(tmp_path, text)
    names = [[network.channels[edge.channel].name for edge in process.edges] for process in network.processes]
    assert names == [["m[1][2]", "short[1]", "c[2]"], ["c[2]", "short[1]", "m[0][0]"]]


def test_a_parameter_that_is_changed_is_a_variable_of_the_process(tmp_path):
    text = """process P(int k, const int most, int step) { state A; init A;
  trans A -> A { guard k < most; assign k += step; }; }
X = P(2, 6, 2); Y = P(5, 6, 1); system X, Y;
"""
    network = read(tmp_path, text)
    assert [(v.name, v.initial) for v in network.variables] == [("X.k", (2,)), ("Y.k", (5,))]
    for walk in walks(network):
        assert list(walk.integers[walk.steps]) == [6, 6]


def test_initial_values_drawn_at_random_come_first(tmp_path):
    text = """double r = random(10); int[3,9] n = 3 + fint(random(5)); clock x = random_uniform(2, 3); int seen;
process P() { double own[2] = {1, random(1)}; state A, B { x <= 9 }; commit A; init A;
  trans A -> B { guard r > 0 && x >= 2; assign seen = n; }; }
system P;
"""
    network = read(tmp_path, text)
    batch = accelerated_walks(compile_network(network), np.arange(20, dtype=np.uint64), 5, 1e9, 2)
    assert network.processes[1].name == "_initial_draws"
    assert (batch.steps == 2).all() and (batch.times[:, 1] == 0).all()
    values = {v.name: (batch.reals if v.kind.is_real else batch.integers)[:, 2, v.slot] for v in network.variables}
    assert len(set(values["r"])) == 20 and ((2 <= values["x"]) & (values["x"] < 3)).all()
    assert set(values["seen"]) == set(values["n"]) and set(values["n"]) <= set(range(3, 8))
    assert (batch.reals[:, 2, network.variable("P.own").slot] == 1).all()


def test_an_urgent_channel_with_a_clock_guard_fires_as_soon_as_possible(tmp_path):
    text = """urgent broadcast chan asap; clock x;
process P() { state A, B; init A; trans A -> B { guard x >= 3; sync asap!; assign x = 0; }, B -> A { }; }
system P;
"""
    for walk in walks(read(tmp_path, text)):
        assert walk.times[0] == 3.0


def test_a_synchronisation_after_a_branch_point(tmp_path):
    text = """broadcast chan a, b; int n;
process P() { state A, B, C; branchpoint K; init A; trans A -> K { assign n = 1; },
  K -> B { sync a!; assign n = n + 1; probability 3; }, K -> C { sync b!; assign n = n + 2; probability 1; }; }
process Q(const int[0,1] i) { state A, B; init A; trans A -> B { guard i == 0; sync a?; }, A -> B { guard i == 1;
  sync b?; }; }
system P, Q;
"""
    ends = set()
    for walk in walks(read(tmp_path, text), count=12):
        assert walk.times[0] == walk.times[1]
        ends.add((*(int(place) for place in walk.locations[2]), int(walk.integers[2][0])))
    assert ends == {(1, 1, 0, 2), (2, 0, 1, 3)}


def test_functions_of_processes_in_queries_and_many_values(tmp_path):
    text = """const int N = 500; int a[N]; clock y[N];
process G(const int[0,N - 1] i) { bool is(int n) { return a[i] == n; } void clear() { a[i] = 0; }
  state A; init A;
  trans A -> A { guard i == 3 && (forall (k : int[0,N - 1]) y[k] >= 2) && forall (k : int[0,N - 1]) a[k] == 0;
                 assign a[i] = 1; }; }
process T() { state A { forall (k : int[0,N - 1]) (y[k]' == 1 && y[k] <= 10) }; init A; }
X = G(3); Y = G(4); system X, Y, T;
"""
    network = read(tmp_path, text)
    condition = parse_condition("X.is(1) && !Y.is(1) && (sum (k : int[0,499]) a[k]) == 1", network, {})
    walk = accelerated_walks(compile_network(network), np.zeros(1, np.uint64), 5, 1e9, 1).walk(0)
    states = [judge_walk(Oracle(network), walk).state, Oracle(network).initial_state()]
    memories = [Memory(list(s.locations), list(s.integers), list(s.reals)) for s in states]
    assert [Evaluator(ExactCode(network), memory, Sample(0, set())).holds(condition) for memory in memories] == [
        True,
        False,
    ]
    for query, message in (
        ("X.si(1)", "unknown function of X 'si'."),
        ("X.is()", "function 'X.is' takes 1 argument, found 0."),
        ("X.clear() == 1", "query: 'X.clear' returns nothing, assigns variables or draws at random; a query can call "
         "functions without effects."),
    ):  # fmt: skip
        with pytest.raises(UserError) as caught:
            parse_condition(query, network, {})
        assert [problem.message for problem in caught.value.problems] == [message]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int i; for (i = 0; i < 9; i++) { if (i == 3) break; }", "'break'"),
        ("int i; for (i = 0; i < 9; i++) { if (i == 3) continue; }", "'continue'"),
        ("switch (n) { case 1: n = 2; }", "'switch'"),
    ],
)
def test_words_that_uppaal_reserves_are_named_with_what_to_write(tmp_path, body, message):
    file = tmp_path / "model.xta"
    file.write_text(
        MODEL.format(declarations=f"int n; void f() {{ {body} }}", local="", update="f()", system="system P;")
    )
    with pytest.raises(UserError) as caught:
        load_model(file)
    problem = caught.value.problems[0]
    assert message in problem.message and "as in UPPAAL" in problem.message and problem.line == 1
