"""The exact law of one step: hand-computed probabilities under the additional-delay rule."""

import math
from fractions import Fraction

import pytest

from bbfalsify.modelling.network.network import Location
from tests.support.oracle import Oracle
from tests.support.sketches import Sketch, both, edge, let, op, term


def law_of(sketch: Sketch):
    interpreter = Oracle(sketch.network())
    return interpreter.step_law(interpreter.initial_state(), 0)


def component(edges_of, invariant_of=lambda x: op("<=", x, 5), initial=0, **location) -> Sketch:
    sketch = Sketch()
    x = sketch.clock("x", initial)
    sketch.process("P", [Location("S", invariant_of(x), **location)], edges_of(x))
    return sketch


def test_heater_user():
    law = law_of(
        component(
            lambda x: [
                edge(0, 0, op(">=", x, 3), [let(x, 0)], action="off"),
                edge(0, 0, op(">=", x, 4), [let(x, 0)], action="on"),
            ]
        )
    )
    assert law.probabilities == {"off": Fraction(3, 4), "on": Fraction(1, 4)}
    assert law.stuck == 0
    assert [(p.low, p.high, p.density, p.mass) for p in law.pieces] == [
        (3, 4, "uniform", Fraction(1, 2)),
        (4, 5, "uniform", Fraction(1, 2)),
    ]


def test_internal_gap_is_decided_by_drawing_again():
    law = law_of(
        component(lambda x: [edge(0, 0, op("<", x, 1), action="early"), edge(0, 0, op(">=", x, 4), action="late")])
    )
    assert law.probabilities == {"early": Fraction(1, 5), "late": Fraction(4, 5)}


def test_two_gaps_multiply():
    # Enabled on [1, 2] and [3, 4] of D = 5: 1/4, then 3/4 · 1/2, and 3/8 wait at D for ever.
    law = law_of(
        component(
            lambda x: [
                edge(0, 0, both(op(">=", x, 1), op("<=", x, 2)), action="first"),
                edge(0, 0, both(op(">=", x, 3), op("<=", x, 4)), action="second"),
            ]
        )
    )
    assert law.probabilities == {"first": Fraction(1, 4), "second": Fraction(3, 8)}
    assert law.stuck == Fraction(3, 8)


def test_only_at_the_bound_is_an_atom_and_strictly_before_is_not():
    at_bound = lambda x: [edge(0, 0, op("==", x, 5), action="a")]  # noqa: E731
    law = law_of(component(at_bound))
    assert law.probabilities == {"a": 1}
    assert law.pieces[0].density == "atom"
    law = law_of(component(at_bound, lambda x: op("<", x, 5)))
    assert law.probabilities == {} and law.stuck == 1


def test_an_isolated_moment_before_the_bound_has_probability_zero():
    law = law_of(component(lambda x: [edge(0, 0, op("==", x, 3), action="a")]))
    assert law.stuck == 1


def test_edges_share_by_weight_and_equal_labels_add_up():
    law = law_of(
        component(
            lambda x: [
                edge(0, 0, action="a", weight=2),
                edge(0, 0, op(">=", x, 2), action="b", weight=3),
                edge(0, 0, op(">=", x, 2), action="a", weight=1),
            ],
            initial=1,
        )
    )
    # D = 4; [0, 1): only a, mass 1/4; [1, 4]: a 3/6, b 3/6, mass 3/4.
    assert law.probabilities == {"a": Fraction(1, 4) + Fraction(3, 8), "b": Fraction(3, 8)}


def test_exponential_when_nothing_bounds_the_stay():
    law = law_of(
        component(
            lambda x: [edge(0, 0, op("<=", x, 1), action="early"), edge(0, 0, op(">", x, 3), action="late")],
            lambda x: None,
            exponential_rate=term(2),
        )
    )
    assert law.probabilities["early"] == pytest.approx(1 - math.exp(-2))
    assert law.probabilities["late"] == pytest.approx(math.exp(-2))
    assert law.stuck == pytest.approx(0)


def test_urgent_locations_and_urgent_channels_act_at_once():
    law = law_of(component(lambda x: [edge(0, 0, action="a"), edge(0, 0, op(">", x, 0), action="b")], urgent=True))
    assert law.probabilities == {"a": 1} and law.pieces[0].density == "atom"

    sketch = component(lambda x: [edge(0, 0, send=0, action="ping"), edge(0, 0, op("<=", x, 0), action="other")])
    sketch.channel("ping", broadcast=True, urgent=True)
    assert law_of(sketch).probabilities == {"ping": Fraction(1, 2), "other": Fraction(1, 2)}


def test_an_urgent_output_is_taken_when_it_is_first_enabled():
    sketch = component(lambda x: [edge(0, 0, op(">=", x, 2), send=0, action="ping"), edge(0, 0, action="other")])
    sketch.channel("ping", broadcast=True, urgent=True)
    # 2/5 act before, uniformly up to 5; the rest at 2, where both are enabled.
    assert law_of(sketch).probabilities == {"ping": Fraction(3, 10), "other": Fraction(7, 10)}


def test_the_invariant_of_another_component_hurries_nobody():
    for invariant_of, stuck in ((lambda x: None, pytest.approx(1)), (lambda x: op("<=", x, 5), 1)):
        sketch = component(lambda x: [edge(0, 0, action="a")], invariant_of)
        y = sketch.clock("y", 2)
        sketch.process("Q", [Location("B", op("<=", y, 2))], [])
        assert law_of(sketch).stuck == stuck


def test_entered_invariant_limits_the_law():
    sketch = Sketch()
    x = sketch.clock("x")
    sketch.process(
        "P",
        [Location("A", op("<=", x, 4)), Location("B", op("<=", x, 1))],
        [edge(0, 1, action="keep"), edge(0, 1, op(">=", x, 2), [let(x, 0)], action="reset")],
    )
    assert law_of(sketch).probabilities == {"keep": Fraction(1, 4), "reset": Fraction(3, 4)}


def test_handshakes_are_refused():
    sketch = component(lambda x: [edge(0, 0, send=0, action="c")])
    sketch.channel("c")
    sketch.process("Q", [Location("B")], [edge(0, 0, receive=0)])
    with pytest.raises(ValueError, match="handshake"):
        law_of(sketch)
