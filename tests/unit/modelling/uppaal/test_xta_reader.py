"""UPPAAL's text formats: .xta, and .ta of older versions."""

import pytest

from tests.unit.modelling.helpers import after_first_edge, without_lines
from tests.unit.modelling.uppaal.uppaal_files import problems, read, xml_model

TRAINS = """// two trains
const int N = 2;
typedef int[0,N-1] id_t;
broadcast chan appr[id_t];
int n;

process Train(const id_t id, int &count) {
  clock x;
  const int slow = 3;
  int twice(int a) { return 2 * a; }
  state Safe, Appr { x <= 20 }, Far { ; 1:2 }, Near { x <= 5 ; 2 };
  commit Near;
  urgent Far;
  init Safe;
  trans
    Safe -> Appr { select k : id_t; guard x >= 2 && k == id; sync appr[id]!; assign x = 0, count := twice(slow); },
    Appr -> Safe { guard x > 4; },
    Appr -u-> Far { sync appr[id]?; };
}

A = Train(0, n);
B(const id_t i) = Train(i, n);
system A, B;
"""


def test_processes_states_and_edges(tmp_path):
    network = read(tmp_path, TRAINS, "trains.xta")
    assert [p.name for p in network.processes] == ["A", "B(0)", "B(1)"]
    safe, appr, far, near = network.processes[0].locations
    assert (appr.invariant is not None, far.urgent, near.committed) == (True, True, True)
    assert far.exponential_rate.value == 1 / 2
    assert near.exponential_rate.value == 2
    assert safe.line == 11
    edges = network.processes[2].edges
    assert [(e.source, e.branches[0].target, e.line) for e in edges] == [(0, 1, 16), (0, 1, 16), (1, 0, 17), (1, 2, 18)]
    assert [network.channels[e.channel].name for e in edges[:2]] == ["appr[1]", "appr[1]"]
    assert after_first_edge(network, "n") == 6


OLD = """const k 2, m 3;
clock x;
int id;
chan go;
process p {
  clock y;
  state a, b {x<=k, y<=k}, c;
  init a;
  trans a -> b { guard id==0, y>=1; sync go!; assign x:=0,id:=1; },
          -> c { guard x>k; },
        b -> a { };
}
process q { state s; init s; trans s -> s { sync go?; }; }
system p, q;
"""


def test_old_models(tmp_path):
    network = read(tmp_path, OLD, "old.ta")
    assert [e.source for e in network.processes[0].edges] == [0, 0, 1]
    modern = OLD.replace("const k 2, m 3;", "const int k = 2, m = 3;").replace("x<=k, y<=k", "x<=k && y<=k")
    modern = modern.replace("id==0, y>=1", "id==0 && y>=1").replace("        -> c", "a -> c")
    assert without_lines(network) == without_lines(read(tmp_path, modern, "old.xta"))


def test_the_same_model_in_xml_and_in_text(tmp_path):
    text = """int n; clock x;
process P() { state A { x <= 3 }, B; init A; trans A -> B { guard x > 1; assign n = 1; }; }
system P;"""
    xml = xml_model(declarations="int n; clock x;", invariant="x <= 3", guard="x > 1", update="n = 1")
    assert without_lines(read(tmp_path, text, "model.xta")) == without_lines(read(tmp_path, xml))


def test_branch_points(tmp_path):
    text = """process P() { state A, B; branchpoint C; init A;
trans A -> C { }, C -> A { probability 2; }, C -> B { probability 3; }; }
system P;"""
    (edge,) = read(tmp_path, text, "model.xta").processes[0].edges
    assert [(b.target, b.weight.value) for b in edge.branches] == [(0, 2), (1, 3)]


def process(body: str) -> str:
    return f"chan c;\nprocess P() {{\n{body}\n}}\nsystem P;"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (process("state A; init B;"), 3, "unknown location 'B'."),
        (process("state A;\nstate A; init A;"), 4, "there are two locations 'A'."),
        (process("state A;"), 2, "process 'P' has no 'init'."),
        (process("state A; init A;\ntrans A -> A { guard n > 1; };"), 4, "unknown name 'n' in the guard."),
        (process("state A; init A;\ntrans A -> D { };"), 4, "unknown location 'D' of automaton 'P'."),
        (process("state A; init A;\ntrans A -> A { colour 1; };"), 4, "unexpected 'colour'."),
        (process("state A init A;"), 3, "unexpected 'init'."),
        ("process P() { state A; init A; }", 1,
         "the line 'system …;' is missing: it names the processes of the model."),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, text, line, message):
    assert (line, message) in problems(tmp_path, text, "model.xta")


CSP = """chan a, b[2], c;
process P(const int[0,1] id) { state A, B; init A; trans A -> B { sync a; }, B -> A { sync b[id]; }; }
process Q() { state A; init A; trans A -> A { sync c; }; }
P0 = P(0); P1 = P(1);
system P0, P1, Q;
IO P0 {a, b[0]}
IO P1 {a, b}
IO Q {c}
"""


def test_synchronisation_as_in_csp(tmp_path):
    """Both processes with a channel in their alphabet move together; one that is alone with it moves alone."""
    network = read(tmp_path, CSP, "csp.xta")
    found = [[(e.action, e.channel, e.sends) for e in process.edges] for process in network.processes]
    assert found == [
        [("a", 0, True), ("b[0]", 1, True)],
        [("a", 0, False), ("b[1]", None, False)],
        [("c", None, False)],
    ]


@pytest.mark.parametrize(
    ("change", "to", "line", "message"),
    [
        ("IO P1 {a, b}", "IO P1 {b}", 2,
         "sync: process 'P1' uses 'a' without ! or ?, but does not have it in its alphabet."),
        ("IO Q {c}", "IO Q {a, c}", 2, "sync: 'a' joins 3 processes; at most two can synchronise without ! and ?."),
        ("IO Q {c}", "IO R {c}", 8, "unknown process 'R'."),
        ("IO Q {c}", "IO Q {d, c}", 8, "unknown channel 'd'."),
        (CSP[CSP.index("IO P0") :], "", 2, "sync: 'a' is followed by ! (send) or ? (receive)."),
    ],
)  # fmt: skip
def test_mistakes_in_alphabets(tmp_path, change, to, line, message):
    assert (line, message) in problems(tmp_path, CSP.replace(change, to), "csp.xta")
