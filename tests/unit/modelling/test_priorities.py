"""Priorities of channels and processes, in small models with the transitions that remain possible."""

from fractions import Fraction

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import load_network, parse_network
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from tests.unit.modelling.uppaal.uppaal_files import problems, read

ABC = """chan low, mid, high; int n; clock x;
chan priority low < default, mid < high;
process S() {
  state A, B { x <= 3 }; init A;
  trans A -> A { sync low!; },
        A -> A { sync mid!; assign n = 1; },
        A -> A { guard n == 1 && x >= 2; sync high!; },
        A -> B { guard n == 2; sync high!; assign n = 3; };
}
process R() { state C; init C; trans C -> C { sync low?; }, C -> C { sync mid?; }, C -> C { sync high?; }; }
process T() { state D; init D; trans D -> D { assign n = 2; }; }
system S, R, T;
"""


def possible(network, *, n: int = 0, x=0, delay=0) -> set[str]:
    interpreter = ReferenceInterpreter(network)
    state = interpreter.initial_state()
    integers, reals = list(state.integers), list(state.reals)
    integers[network.variable("n").slot] = n
    reals[network.variable("x").slot] = Fraction(x)
    state = type(state)(state.locations, tuple(integers), tuple(reals), state.time)
    found = [t for t in interpreter.transitions(state) if interpreter.can_fire(state, t, Fraction(delay))]
    return {network.processes[t.sender[0]].edges[t.sender[1]].action for t in found}


def test_channels(tmp_path):
    network = read(tmp_path, ABC, "abc.xta")
    assert possible(network) == {"mid", "D->D"}  # `low` is below the default
    assert possible(network, n=1) == {"mid", "D->D"}
    assert possible(network, n=1, delay=2) == {"high"}  # only from then on
    assert possible(network, n=2) == {"high"}


def test_a_transition_into_a_violated_invariant_blocks_nothing(tmp_path):
    network = read(tmp_path, ABC, "abc.xta")
    assert possible(network, n=2, x=4) == {"mid", "D->D"}
    reset = read(tmp_path, ABC.replace("assign n = 3;", "assign n = 3, x = 0;"), "abc.xta")
    assert possible(reset, n=2, x=4) == {"high"}


def test_a_transition_that_a_committed_location_excludes_blocks_nothing(tmp_path):
    committed = ABC.replace("state D;", "state D; commit D;")
    assert possible(read(tmp_path, committed, "abc.xta"), n=2) == {"D->D"}


def test_a_broadcast_that_a_committed_location_hears_blocks_what_is_lower(tmp_path):
    """Its sender is not committed; the receiver's location is left by it all the same."""
    text = """int n; clock x; broadcast chan high; chan priority default < high;
process S() { state A; init A; trans A -> A { sync high!; }; }
process R() { state B, C; commit B; init B;
  trans B -> C { guard n < 2; sync high?; }, B -> C { }; }
system S, R;
"""
    network = read(tmp_path, text, "heard.xta")
    assert possible(network) == {"high"}
    assert possible(network, n=2) == {"B->C"}  # nobody in a committed location hears it


def test_processes(tmp_path):
    text = """int n; clock x; chan c;
process P(const int[1,3] id) { state A; init A; trans A -> A { guard n < id; }; }
process Q() { state A; init A; trans A -> A { guard n == 5; sync c!; }; }
process R() { state A; init A; trans A -> A { sync c?; }; }
system P < Q < R;
"""
    network = read(tmp_path, text, "p.xta")
    assert possible(network) == {"A->A"}
    assert possible(network, n=5) == {"c"}
    reverse = read(tmp_path, text.replace("P < Q < R", "Q, R < P").replace("n < id", "n > id"), "p.xta")
    assert possible(reverse, n=5) == {"A->A"}


def test_channels_come_before_processes(tmp_path):
    text = """int n; clock x; broadcast chan c, d;
chan priority c < default < d;
process P() { state A; init A; trans A -> A { sync c!; }; }
process Q() { state A; init A; trans A -> A { guard n == 1; sync d!; }; }
system Q < P;
"""
    network = read(tmp_path, text, "p.xta")
    assert possible(network) == {"c"}
    assert possible(network, n=1) == {"d"}


def test_without_a_default_it_is_the_lowest(tmp_path):
    text = ABC.replace("low < default, mid < high", "low < mid < high")
    assert possible(read(tmp_path, text, "abc.xta")) == {"mid"}
    alone = text.replace("sync mid!", "sync low!")
    assert possible(read(tmp_path, alone, "abc.xta")) == {"low", "D->D"}


def test_elements_of_arrays(tmp_path):
    text = """const int N = 2; chan c[N], m[2][N]; int n; clock x;
chan priority c[0], m[1] < default < c[N - 1], m[0][1];
process S() { state A; init A;
  trans A -> A { guard n == 0; sync c[0]!; }, A -> A { guard n < 2; sync m[1][0]!; }, A -> A { sync m[0][0]!; },
        A -> A { guard n > 1; sync c[1]!; }, A -> A { guard n > 1; sync m[0][1]!; };
}
process R(const int[0,1] i) { state A; init A; trans A -> A { sync c[i]?; }, A -> A { sync m[i][0]?; }; }
system S, R;
"""
    network = read(tmp_path, text, "c.xta")
    assert possible(network) == {"m[0][0]"}
    assert possible(network, n=2) == {"c[1]"}


def test_partners_of_different_priority(tmp_path):
    text = """chan c; broadcast chan b; int n; clock x;
process S() { state A; init A; trans A -> A { guard n != 3; sync c!; }, A -> A { guard n > 2; sync b!; }; }
process R(const int[1,2] i) { state A; init A; trans A -> A { guard n == i || n == 0; sync c?; }, A -> A { }; }
process H() { state A; init A; trans A -> A { guard n == 2; sync c?; }, A -> A { guard n == 4; sync b?; }; }
system S < R < H;
"""
    network = read(tmp_path, text, "c.xta")
    assert possible(network) == {"c", "A->A"}  # S with R, as high as R alone
    assert possible(network, n=2) == {"c"}  # S with H
    assert possible(network, n=3) == {"A->A"}  # S alone is below R
    assert possible(network, n=4) == {"b"}  # H receives


@pytest.mark.parametrize(
    ("change", "to", "line", "message"),
    [
        ("mid < high;", "mid < top;", 2, "unknown channel 'top'."),
        ("mid < high;", "mid < high; chan priority low < default;", 2,
         "there are two declarations of channel priorities."),
        ("assign n = 3;", "assign set();", 2,
         "these priorities are not supported: an edge of higher priority (line 8) enters a location with an invariant "
         "after updates that are more than plain assignments."),
        ("system S, R, T;", "system S < R < T < U;", 12, "unknown automaton 'U'."),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, change, to, line, message):
    with_function = ABC.replace("clock x;", "clock x; void set() { x = 0; }")
    assert (line, message) in problems(tmp_path, with_function.replace(change, to), "abc.xta")


def test_in_yaml(tmp_path):
    from bbfalsify.modelling.formats.yaml_writer import converted

    (tmp_path / "abc.xta").write_text(ABC.replace("system S, R, T", "system S, R < T"))
    text, _ = converted(tmp_path / "abc.xta")
    assert 'priorities: {channels: "low < default, mid < high", processes: "S, R < T"}' in text
    assert [e.guard for e in parse_network(text).processes[0].edges] == [
        e.guard for e in load_network(tmp_path / "abc.xta").processes[0].edges
    ]
    with pytest.raises(UserError, match="unknown key 'channel'"):
        parse_network(text.replace("{channels:", "{channel:"))
