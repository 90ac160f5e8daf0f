"""Receiving edges of one process of which only some can be entered: each that can is a transition, as in UPPAAL."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify import reach, verify
from bbfalsify.kernel import compile_network, stochastic_walks
from bbfalsify.modelling import Network, load_network
from bbfalsify.modelling.formats.python_builder import NetworkBuilder
from bbfalsify.modelling.language import resolve
from bbfalsify.modelling.language.receiver_choices import exclusive, has_open_choices, with_receiver_choices
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
    return branching([(guard, [(1, update, invariant)]) for guard, update, invariant in edges])


def branching(edges: list[tuple[str, list[tuple[int | str, str, str]]]], later: str = "") -> Network:
    """A sender, and a receiver with edges (guard, branches: weight, update, invariant); a later one with an update."""
    builder = NetworkBuilder("choices").declare("broadcast chan c; clock x; int n = 1; int m = 0;")
    sender = builder.automaton("S")
    sender.location("A", initial=True)
    sender.edge("A", "A", sync="c!", update="m = 1")
    receiver = builder.automaton("R")
    receiver.location("L", initial=True)
    for number, (guard, branches) in enumerate(edges):
        for k, (_, _, invariant) in enumerate(branches):
            receiver.location(f"T{number}{k}", invariant=invariant or None)
        ends = [(f"T{number}{k}", weight, update) for k, (weight, update, _) in enumerate(branches)]
        receiver.edge("L", guard=guard or None, branches=ends, sync="c?")
    builder.instance("S").instance("R")
    if later:
        last = builder.automaton("Z")
        last.location("L", initial=True)
        last.edge("L", "L", sync="c?", update=later)
        builder.instance("Z")
    return builder.build()


GUARDS = st.sampled_from(["", "x >= 1", "x <= 1", "x < 2", "x > 1", "n == 1", "n == 2", "x >= 1 && n >= 1"])
UPDATES = st.sampled_from(["", "x = 0", "n = 2", "x = 0, n = 0", "n = n + 1", "x = 2"])
INVARIANTS = st.sampled_from(["", "x <= 0", "x < 1", "x <= 1 && n <= 1", "x <= n", "n == 2", "x <= 2"])
BRANCHES = st.lists(st.tuples(st.sampled_from([1, 1, 3, 0, "n", "n - 1"]), UPDATES, INVARIANTS), min_size=1, max_size=2)


@examples(300)
@given(
    st.lists(st.tuples(GUARDS, BRANCHES), min_size=2, max_size=3),
    st.sampled_from(["", "x = 0", "x = 3", "n = 2"]),
    st.booleans(),
)
def test_each_way_that_can_be_entered_is_a_transition(edges, later, as_uppaal):
    """Definition, by the reference interpreter without the guards: each choice of edges whose invariants hold.

    With all branches that may be drawn; in UPPAAL's dialect, each branch with which they hold.
    """
    edges = [(guard, [(1, "", ""), *ways] if all(w in (0, "n - 1") for w, _, _ in ways) else ways)
             for guard, ways in edges]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "with_receiver_choices", lambda network: network)
        plain = replace(branching(edges, later), as_uppaal=as_uppaal)
    rewritten = with_receiver_choices(plain)
    defined, guarded = ReferenceInterpreter(plain), ReferenceInterpreter(rewritten)
    first = defined.initial_state()
    [candidate] = defined.candidates(first)
    for delay in (Fraction(k, 2) for k in range(6)):
        evaluator = defined.evaluator_at(first, delay)
        parties = defined._taking_part(evaluator, candidate)
        assert parties is not None
        expected = {}
        for names in product(*parties):
            ways = dict(defined._ways(evaluator, [[name] for name in names]))
            entered = {moves for moves in ways if defined._can_enter(evaluator, moves)}
            expected |= dict.fromkeys(entered if as_uppaal or len(entered) == len(ways) else ())
        for interpreter in (defined, guarded):
            fired = [t for t in interpreter.transitions(first) if interpreter.can_fire(first, t, delay)]
            assert {outcome.moves for t in fired for outcome in interpreter.outcomes(first, t, delay)} == set(expected)
        if not has_open_choices(rewritten):  # engines draw once: edges, then branches
            drawn = guarded._taking_part(evaluator, candidate)
            possible = [way for way, _ in guarded._ways(evaluator, drawn)]
            assert not expected or set(possible) == set(expected)


BRANCHED = """<nta><declaration>broadcast chan c; clock x;</declaration>
<template><name>S</name><location id="a"/><init ref="a"/>
<transition><source ref="a"/><target ref="a"/><label kind="synchronisation">c!</label></transition></template>
<template><name>R</name><location id="l"><name>L</name></location>
<location id="early"><name>Early</name><label kind="invariant">x &lt; 1</label></location>
<location id="late"><name>Late</name></location><location id="other"><name>Other</name></location>
<branchpoint id="b"/><init ref="l"/>
<transition><source ref="l"/><target ref="b"/><label kind="guard">x &gt;= 2</label>
<label kind="synchronisation">c?</label></transition>
<transition><source ref="b"/><target ref="early"/></transition>
<transition><source ref="b"/><target ref="late"/></transition>
<transition><source ref="l"/><target ref="other"/><label kind="guard">x &gt;= 2</label>
<label kind="synchronisation">c?</label></transition></template>
<system>system S, R;</system></nta>
"""


@pytest.mark.parametrize(("target", "verdict"), [("Early", "violated"), ("Late", "holds"), ("Other", "holds")])
def test_a_branch_that_can_be_entered_is_enough_in_uppaals_dialect(tmp_path, target, verdict):
    """A rival edge that can always be entered does not forbid the one of which only a branch can."""
    file = tmp_path / "branched.xml"
    file.write_text(BRANCHED)
    assert verify(file, f"E<> R.{target}").verdict == verdict
    assert (reach(file, f"E<> R.{target}", walks=50, seed=1, jobs=1).found.best is not None) == (verdict == "holds")


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
