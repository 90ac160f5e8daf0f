"""Receiving edges of one process of which only some can be entered: each that can is a transition, as in UPPAAL."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify import verify
from bbfalsify.modelling import Network
from bbfalsify.modelling.formats.python_builder import NetworkBuilder
from bbfalsify.modelling.language import resolve
from bbfalsify.modelling.language.receiver_choices import exclusive, with_receiver_choices
from bbfalsify.modelling.network.expressions import Binary, Constant, Kind, Read
from bbfalsify.modelling.reference.interpreter import ReferenceInterpreter
from tests.drawing import examples

OBSERVER = """broadcast chan tick; clock x;
process Sender() { state A; init A; trans A -> A { guard x >= 3; sync tick!; }; }
process Observer() {
  state Waits { x <= 5 }, Right, Early { x < 5 };
  init Waits;
  trans Waits -> Right { guard x >= 5; sync tick?; },
        Waits -> Early { sync tick?; };
}
system Sender, Observer;
"""


def test_an_edge_that_cannot_be_entered_does_not_forbid_the_other(tmp_path):
    """At time 5 only Right can be entered; verifyta calls such an observer's query satisfied."""
    file = tmp_path / "observer.xta"
    file.write_text(OBSERVER)
    found = verify(file, "E<> Observer.Right")
    assert (found.verdict, [step["time"] for step in found.steps]) == ("holds", [5.0])
    assert verify(file, "E<> Observer.Early").verdict == "holds"


def test_a_broadcast_that_nobody_can_enter_does_not_happen(tmp_path):
    file = tmp_path / "observer.xta"
    file.write_text(OBSERVER.replace("Right,", "Right { x < 5 },"))
    assert verify(file, "E<> Observer.Right").verdict == "violated"
    assert verify(file, "A[] not deadlock").verdict == "violated"  # at time 5 nothing can happen any more


def built(edges: list[tuple[str, str, str]]) -> Network:
    """A sender, and a receiver with edges (guard, update, invariant of the target)."""
    builder = NetworkBuilder("choices").declare("broadcast chan c; clock x; int n = 1; int m = 0;")
    sender = builder.automaton("S")
    sender.location("A", initial=True)
    sender.edge("A", "A", sync="c!", update="m = 1")
    receiver = builder.automaton("R")
    receiver.location("L", initial=True)
    for number, (guard, update, invariant) in enumerate(edges):
        receiver.location(f"T{number}", invariant=invariant or None)
        receiver.edge("L", f"T{number}", guard=guard or None, update=update or None, sync="c?")
    return builder.instance("S").instance("R").build()


GUARDS = st.sampled_from(["", "x >= 1", "x <= 1", "x < 2", "x > 1", "n == 1", "n == 2", "x >= 1 && n >= 1"])
UPDATES = st.sampled_from(["", "x = 0", "n = 2", "x = 0, n = 0", "n = n + 1"])
INVARIANTS = st.sampled_from(["", "x <= 0", "x < 1", "x <= 1 && n <= 1", "x <= n", "n == 2", "x <= 2"])


@examples(150)
@given(st.lists(st.tuples(GUARDS, UPDATES, INVARIANTS), min_size=2, max_size=4))
def test_each_way_that_can_be_entered_is_a_transition(edges):
    """Definition, by the reference interpreter without the guards: every combination whose invariants hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "with_receiver_choices", lambda network: network)
        plain = built(edges)
    defined, guarded = ReferenceInterpreter(plain), ReferenceInterpreter(with_receiver_choices(plain))
    first = defined.initial_state()
    [candidate] = defined.candidates(first)
    for delay in (Fraction(k, 2) for k in range(6)):
        evaluator = defined.evaluator_at(first, delay)
        parties = defined._taking_part(evaluator, candidate)
        assert parties is not None
        expected = {moves for moves, _ in defined._ways(evaluator, parties) if defined._can_enter(evaluator, moves)}
        fired = [t for t in guarded.transitions(first) if guarded.can_fire(first, t, delay)]
        assert {outcome.moves for t in fired for outcome in guarded.outcomes(first, t, delay)} == expected


def test_what_others_write_is_left_alone():
    """The sender writes m before the receiver's target is entered: no guard can say what holds then."""
    network = built([("", "", "m == 1"), ("", "", "m == 0")])
    assert all(edge.guard is None for edge in network.processes[1].edges)


def test_guards_that_contradict_each_other_need_no_choice():
    network = built([("n == 1", "", "x <= 1"), ("n == 2", "", "x <= 2")])
    guards = [edge.guard for edge in network.processes[1].edges]
    assert all(isinstance(guard, Binary) and guard.operator == "==" for guard in guards)
    n, one = Read(0, Kind.INT), Constant(1, Kind.INT)
    assert exclusive(Binary("<", n, one, Kind.BOOL), Binary(">=", n, one, Kind.BOOL))
    assert not exclusive(Binary("<=", n, one, Kind.BOOL), Binary(">=", n, one, Kind.BOOL))


UNKNOWN = """broadcast chan c; int m = 0; clock x;
process S() { state A; init A; trans A -> A { guard x <= 1; sync c!; assign m = 1; }; }
process R() {
  state L, Zero { m == 0 }, One;
  init L;
  trans L -> Zero { sync c?; }, L -> One { sync c?; };
}
system S, R;
"""


def test_no_proof_where_uppaal_has_more_transitions(tmp_path):
    """The sender makes Zero impossible to enter; UPPAAL still enters One, the engines do not fire."""
    file = tmp_path / "unknown.xta"
    file.write_text(UNKNOWN)
    for query in ("A[] !R.One", "E<> R.One", "A[] not deadlock"):
        found = verify(file, query)
        assert found.verdict == "undecided" and "UPPAAL may have more" in found.in_words(), query
        assert "several edges of 'R.L' receive 'c'" in str(found.answer.why)
    assert verify(file, "E<> R.L && x > 1").verdict == verify(file, "E[] R.L").verdict == "holds"  # a run is a run
    file.write_text(UNKNOWN.replace("state A;", "state A { x <= 1 };"))
    assert verify(file, "A<> R.One").verdict == "undecided"
    file.write_text(
        UNKNOWN.replace("L -> Zero {", "L -> Zero { guard m == 1;").replace("L -> One {", "L -> One { guard m != 1;")
    )
    assert [verify(file, query).verdict for query in ("A[] !R.Zero", "E<> R.One")] == ["holds", "holds"]


def test_what_invariants_of_others_read_is_no_proof_either(tmp_path):
    """Only the edge to Zero keeps the invariant of the sender."""
    file = tmp_path / "others.xta"
    text = UNKNOWN.replace("assign m = 1;", "").replace("Zero { m == 0 }", "Zero").replace("A;", "A { m == 0 };", 1)
    file.write_text(text.replace("L -> One { sync c?;", "L -> One { sync c?; assign m = 1;"))
    assert verify(file, "E<> R.Zero").verdict == "undecided"


def test_branches_that_may_be_impossible_to_enter_are_no_proof(tmp_path):
    file = tmp_path / "branches.xml"
    text = """<nta><declaration>clock x;</declaration><template><name>P</name>
<location id="a"><name>A</name></location>
<location id="b"><name>B</name><label kind="invariant">x &lt;= 1</label></location>
<location id="c"><name>C</name></location><branchpoint id="p"/><init ref="a"/>
<transition><source ref="a"/><target ref="p"/><label kind="guard">x &gt; 2</label></transition>
<transition><source ref="p"/><target ref="b"/></transition><transition><source ref="p"/><target ref="c"/></transition>
</template><system>system P;</system></nta>"""
    file.write_text(text)
    found = verify(file, "E<> P.C")
    assert found.verdict == "undecided" and "branches" in str(found.answer.why)
    file.write_text(text.replace('<target ref="b"/>', '<target ref="b"/><label kind="assignment">x = 0</label>'))
    assert verify(file, "E<> P.C").verdict == "holds"
