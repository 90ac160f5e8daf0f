"""Receiving edges of one process of which only some can be entered: each that can is a transition, as in UPPAAL."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify import reach, verify
from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.modelling import Network, load_network
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
        for interpreter in (defined, guarded):
            fired = [t for t in interpreter.transitions(first) if interpreter.can_fire(first, t, delay)]
            assert {outcome.moves for t in fired for outcome in interpreter.outcomes(first, t, delay)} == expected


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


def test_what_the_broadcast_changes_decides_who_receives(tmp_path):
    """The sender makes Zero impossible to enter: One is the only way, found by zones, walks and the interpreter."""
    file = tmp_path / "unknown.xta"
    file.write_text(UNKNOWN)
    for query, verdict in (("A[] !R.One", "violated"), ("E<> R.One", "holds"), ("E<> R.Zero", "violated"),
                           ("A[] not deadlock", "violated"), ("E<> R.L && x > 1", "holds"),
                           ("E[] R.L", "holds")):  # fmt: skip
        assert verify(file, query).verdict == verdict, query
    assert reach(file, "E<> R.One", walks=10).found.best
    assert not reach(file, "E<> R.Zero", walks=10).found.best
    file.write_text(UNKNOWN.replace("state A;", "state A { x <= 1 };"))
    assert verify(file, "A<> R.One").verdict == "holds"


def test_what_invariants_of_others_read_decides_who_receives(tmp_path):
    """Only the edge to Zero keeps the invariant of the sender."""
    file = tmp_path / "others.xta"
    text = UNKNOWN.replace("assign m = 1;", "").replace("Zero { m == 0 }", "Zero").replace("A;", "A { m == 0 };", 1)
    file.write_text(text.replace("L -> One { sync c?;", "L -> One { sync c?; assign m = 1;"))
    assert [verify(file, f"E<> R.{place}").verdict for place in ("Zero", "One")] == ["holds", "violated"]


BRANCHES = """<nta><declaration>clock x;</declaration><template><name>P</name>
<location id="a"><name>A</name></location>
<location id="b"><name>B</name><label kind="invariant">x &lt;= 1</label></location>
<location id="c"><name>C</name></location><branchpoint id="p"/><init ref="a"/>
<transition><source ref="a"/><target ref="p"/><label kind="guard">x &gt; 2</label></transition>
<transition><source ref="p"/><target ref="b"/></transition><transition><source ref="p"/><target ref="c"/></transition>
</template><system>system P;</system></nta>"""


def test_a_branch_that_cannot_be_entered_does_not_forbid_the_other(tmp_path):
    file = tmp_path / "branches.xml"
    file.write_text(BRANCHES)
    assert [verify(file, f"E<> P.{place}").verdict for place in "CB"] == ["holds", "violated"]
    assert reach(file, "E<> P.C", walks=10).found.best
    file.write_text(BRANCHES.replace('<target ref="b"/>', '<target ref="b"/><label kind="assignment">x = 0</label>'))
    assert [verify(file, f"E<> P.{place}").verdict for place in "CB"] == ["holds", "holds"]


def test_draws_among_what_can_be_entered_keep_their_proportions(tmp_path):
    """Branches B, C, D of weights 5, 1, 3, of which B cannot be entered: C in a quarter of the walks.

    [0.2, 0.3] of 2000 alarms falsely once in a million seeds; weights that were lost would give 0.5 or 0.11.
    """
    weights = {"b": 5, "c": 1, "d": 3}
    branches = "".join(
        f'<transition><source ref="p"/><target ref="{place}"/><label kind="probability">{weight}</label></transition>'
        for place, weight in weights.items()
    )
    begin, end = BRANCHES.split('<transition><source ref="p"/>', 1)
    text = begin + branches + end[end.index("</template>") :]
    file = tmp_path / "weights.xml"
    file.write_text(text.replace("<branchpoint", '<location id="d"><name>D</name></location><branchpoint'))
    network = load_network(file)
    walks = stochastic_walks(compile_network(network), np.arange(2000, dtype=np.uint64), 1e9, 1)
    places = [network.processes[0].locations[walks.walk(i).locations[-1, 0]].name for i in range(2000)]
    assert set(places) == {"C", "D"}
    assert 0.2 < places.count("C") / 2000 < 0.3
    interpreter = ReferenceInterpreter(network)
    first = interpreter.initial_state()
    [transition] = interpreter.transitions(first)
    shares = {}
    interpreter.fire(first, transition, Fraction(3), choose=lambda options: shares.update(options) or options[0][0])
    assert sorted(shares.values()) == [Fraction(1, 4), Fraction(3, 4)]
