"""Firing: who takes part, in which order updates run, what is drawn, and what goes wrong at run time."""

from fractions import Fraction

import numpy as np
import pytest

from bbfalsify.modelling.network.expressions import (
    Assign,
    AtLocation,
    Bound,
    Call,
    Evaluate,
    Function,
    If,
    Kind,
    Quantifier,
    Random,
    Return,
    While,
)
from bbfalsify.modelling.network.network import Branch, Location
from bbfalsify.modelling.reference.exact_values import ModelRuntimeError
from tests.support.oracle import Oracle
from tests.support.sketches import Sketch, edge, element, let, negation, op, term

ZERO = Fraction(0)


def fire_only(sketch: Sketch, delay=ZERO, **choices):
    """The state after the only transition of the initial state."""
    interpreter = Oracle(sketch.network())
    (transition,) = interpreter.transitions(interpreter.initial_state())
    return interpreter.fire_choosing(interpreter.initial_state(), transition, Fraction(delay), **choices)


def test_handshake_needs_a_partner_in_another_process_and_runs_the_sender_first():
    sketch = Sketch()
    c = sketch.channel("c")
    a, b = sketch.integer("a", initial=1), sketch.integer("b", initial=2)
    sketch.process("Q", [Location("B")], [edge(0, 0, op("==", a, 1), [let(b, op("+", a, b))], receive=c)])
    sketch.process("P", [Location("A"), Location("C")], [edge(0, 1, None, [let(a, 10)], send=c), edge(0, 0, receive=c)])
    # The receiver's guard sees a = 1, its update a = 10; P's own c? is no partner of its c!.
    state = fire_only(sketch)
    assert state.integers == (10, 12)
    assert state.locations == (0, 1)


def test_every_pair_of_a_handshake_is_a_transition_of_its_own():
    sketch = Sketch()
    c = sketch.channel("c")
    sketch.process("P", [Location("A")], [edge(0, 0, send=c)])
    for name in ("Q", "R"):
        sketch.process(name, [Location("B")], [edge(0, 0, receive=c), edge(0, 0, receive=c)])
    interpreter = Oracle(sketch.network())
    found = interpreter.transitions(interpreter.initial_state())
    assert [t.receivers for t in found] == [((1, 0),), ((1, 1),), ((2, 0),), ((2, 1),)]


def test_broadcast_updates_sender_then_receivers_in_the_order_of_processes():
    sketch = Sketch()
    c = sketch.channel("c", broadcast=True)
    log = sketch.integer("log", high=10**6)
    append = lambda digit: [let(log, op("+", op("*", log, 10), digit))]  # noqa: E731
    sketch.process("First", [Location("A")], [edge(0, 0, None, append(1), receive=c)])
    sketch.process("Sender", [Location("A")], [edge(0, 0, None, append(2), send=c)])
    sketch.process("Deaf", [Location("A")], [edge(0, 0, op("==", log, 2), append(9), receive=c)])
    sketch.process("Last", [Location("A")], [edge(0, 0, op("==", log, 0), append(3), receive=c)])
    # Guards are evaluated before any update: Deaf (log == 2) stays, Last (log == 0) follows.
    assert fire_only(sketch).integers == (213,)


def test_broadcast_receivers_are_those_enabled_at_the_delay():
    sketch = Sketch()
    c = sketch.channel("c", broadcast=True)
    x = sketch.clock("x")
    sketch.process("P", [Location("A")], [edge(0, 0, send=c)])
    sketch.process("Q", [Location("A"), Location("B", op("<=", x, 3))], [edge(0, 1, op(">=", x, 2), receive=c)])
    interpreter = Oracle(sketch.network())
    (transition,) = interpreter.transitions(interpreter.initial_state())
    # Alone before 2; with Q from 2 to 3; after 3 Q would have to follow into a location it may not enter.
    assert [str(w) for w in transition.windows] == ["[0, 3]"]
    assert interpreter.fire(interpreter.initial_state(), transition, Fraction(1)).locations == (0, 0)
    assert interpreter.fire(interpreter.initial_state(), transition, Fraction(5, 2)).locations == (0, 1)
    with pytest.raises(ValueError, match="cannot fire"):
        interpreter.fire(interpreter.initial_state(), transition, Fraction(4))


def test_several_receiving_edges_of_one_process_are_a_choice():
    sketch = Sketch()
    c = sketch.channel("c", broadcast=True)
    sketch.process("P", [Location("A")], [edge(0, 0, send=c)])
    sketch.process("Q", [Location("A"), Location("B"), Location("C")], [edge(0, 1, receive=c), edge(0, 2, receive=c)])
    assert fire_only(sketch, receivers={1: 1}).locations == (0, 2)
    with pytest.raises(ValueError, match="say which"):
        fire_only(sketch)
    entered = {fire_only(sketch, generator=np.random.default_rng(seed)).locations for seed in range(20)}
    assert entered == {(0, 1), (0, 2)}


def test_committed_locations_go_first_and_a_broadcast_may_leave_one_by_receiving():
    sketch = Sketch()
    c, d = sketch.channel("c", broadcast=True), sketch.channel("d", broadcast=True)
    sketch.process("P", [Location("A")], [edge(0, 0, send=c, action="c"), edge(0, 0, send=d, action="d")])
    sketch.process("Q", [Location("B", committed=True)], [edge(0, 0, receive=c)])
    interpreter = Oracle(sketch.network())
    (transition,) = interpreter.transitions(interpreter.initial_state())
    assert transition.sender == (0, 0)


def test_branches_carry_their_probabilities_and_must_all_be_enterable():
    sketch = Sketch()
    x, n = sketch.clock("x"), sketch.integer("n", initial=3)
    branches = [Branch(0, (), 0, n), Branch(1, (), 0, term(1)), Branch(2, (), 0, term(0))]
    low, never = Location("Low", op("<=", x, 2)), Location("Never", op("<", x, 0))
    sketch.process("P", [Location("A"), low, never], [edge(0, 0, branches=branches)])
    interpreter = Oracle(sketch.network())
    (transition,) = interpreter.transitions(interpreter.initial_state())
    assert [str(w) for w in transition.windows] == ["[0, 2]"]
    ways = interpreter.outcomes(interpreter.initial_state(), transition, Fraction(2))
    assert [(o.state.locations, o.probability) for o in ways] == [((0,), Fraction(3, 4)), ((1,), Fraction(1, 4))]
    assert interpreter.fire_choosing(interpreter.initial_state(), transition, ZERO, branches={0: 1}).locations == (1,)


def test_time_and_stopwatches_advance_on_firing():
    sketch = Sketch()
    sketch.clock("x", Fraction(1, 4))
    sketch.process("P", [Location("A")], [edge(0, 0)])
    state = fire_only(sketch, Fraction(1, 3))
    assert state.reals == (Fraction(7, 12),)
    assert state.time == Fraction(1, 3)


def test_functions_loops_arrays_and_quantifiers():
    sketch = Sketch()
    squares = sketch.integer("squares", size=4)
    total = sketch.integer("total")
    i, upto = Bound(1, Kind.INT), Bound(0, Kind.INT)
    fill = Function(
        "fill", (Kind.INT,), Kind.INT, 2,
        (
            While(op("<", i, upto), (Assign(element(squares, i), op("*", i, i)), let(i, op("+", i, 1)))),
            If(op("==", op("%", upto, 2), 0), (Return(term(7)),), (Return(term(8)),)),
        ),
    )  # fmt: skip
    call = Call(sketch.function(fill), (term(4),), Kind.INT)
    added = Quantifier("sum", 0, 0, 3, element(squares, Bound(0, Kind.INT)), Kind.INT)
    every = Quantifier("forall", 0, 0, 3, op("==", element(squares, Bound(0, Kind.INT)), 0), Kind.BOOL)
    sketch.process("P", [Location("A")], [edge(0, 0, every, [Evaluate(call), let(total, op("+", added, call))])])
    assert fire_only(sketch).integers == (0, 1, 4, 9, 21)


def test_integer_division_truncates_towards_zero_and_locations_can_be_asked():
    sketch = Sketch()
    quotient, rest = sketch.integer("quotient"), sketch.integer("rest")
    updates = [let(quotient, op("/", term(-7), 2)), let(rest, op("%", term(-7), 2))]
    sketch.process("P", [Location("A"), Location("B")], [edge(0, 1, negation(AtLocation(0, 1)), updates)])
    assert fire_only(sketch).integers == (-3, -1)


def test_random_draws_do_not_restrict_and_are_supplied_or_generated():
    sketch = Sketch()
    x = sketch.clock("x")
    draw = Random("random", (term(4),))
    sketch.process("P", [Location("A"), Location("B", op("<=", x, 2))], [edge(0, 1, None, [let(x, draw)])])
    assert fire_only(sketch, draw=lambda name, arguments: Fraction(3, 2)).reals == (Fraction(3, 2),)
    assert 0 <= fire_only(sketch, generator=np.random.default_rng(1)).reals[0] < 4


@pytest.mark.parametrize(
    ("kind", "updates_of"),
    [
        ("range", lambda n, a: [let(n, 5, 0, 4)]),
        ("bounds", lambda n, a: [let(element(a, op("+", n, 3)), 1)]),
        ("bounds", lambda n, a: [let(n, element(a, -1))]),
        ("division", lambda n, a: [let(n, op("/", 1, n))]),
        ("division", lambda n, a: [let(n, op("%", 1, n))]),
        ("loop", lambda n, a: [While(op("==", n, 0), (let(n, 0),))]),
    ],
)
def test_run_time_errors_name_variable_and_edge_but_do_not_disable(kind, updates_of):
    sketch = Sketch()
    n, a = sketch.integer("n", 0, 4), sketch.integer("a", size=3)
    sketch.process("P", [Location("A")], [edge(0, 0, None, updates_of(n, a), action="go")])
    with pytest.raises(ModelRuntimeError) as caught:
        fire_only(sketch)
    assert caught.value.kind == kind
    assert "P, edge 0 'go'" in str(caught.value)
    if kind == "range":
        assert caught.value.variable == "n"
    if kind == "bounds":
        assert caught.value.variable == "a"
