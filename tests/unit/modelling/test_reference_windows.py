"""Sets of delays computed by hand: strictness, unions, stopwatches, entered invariants, urgency, no delay at all."""

import random
from fractions import Fraction

import pytest

from bbfalsify.modelling.network.expressions import Builtin, Conditional, Kind
from bbfalsify.modelling.network.network import Location, Rate
from bbfalsify.modelling.reference.delay_sets import Window, first_end, first_stretch, solve
from bbfalsify.modelling.reference.exact_values import affine
from tests.support.oracle import Oracle
from tests.support.sketches import Sketch, both, edge, let, negation, op, term


def windows_of(sketch: Sketch) -> dict[str, list[str]]:
    """Action to its windows as text, in the initial state."""
    interpreter = Oracle(sketch.network())
    found: dict[str, list[str]] = {}
    for t in interpreter.transitions(interpreter.initial_state()):
        action = sketch.processes[t.sender[0]].edges[t.sender[1]].action
        found.setdefault(action, []).extend(str(w) for w in t.windows)
    return found


def one_edge(guard_of, invariant_of=lambda x: None, rates_of=lambda x: (), updates_of=lambda x: ()) -> list[str]:
    """Windows of one self-loop over a clock x, which starts at 1."""
    sketch = Sketch()
    x = sketch.clock("x", 1)
    here = Location("here", invariant_of(x), rates_of(x))
    sketch.process("P", [here], [edge(0, 0, guard_of(x), updates_of(x), action="a")])
    return windows_of(sketch).get("a", [])


@pytest.mark.parametrize(
    ("operator", "constant", "expected"),
    [
        (">=", 3, ["[2, inf)"]),
        (">", 3, ["(2, inf)"]),
        ("<=", 3, ["[0, 2]"]),
        ("<", 3, ["[0, 2)"]),
        ("==", 3, ["[2, 2]"]),
        ("!=", 3, ["[0, 2)", "(2, inf)"]),
        ("<", 1, []),
        ("<=", 1, ["[0, 0]"]),
        (">", 1, ["(0, inf)"]),
    ],
)
def test_one_comparison_keeps_its_strictness(operator, constant, expected):
    assert one_edge(lambda x: op(operator, x, constant)) == expected


def test_disjunction_gives_a_union_and_touching_parts_merge():
    assert one_edge(lambda x: op("||", op("<", x, 2), op(">", x, 4))) == ["[0, 1)", "(3, inf)"]
    assert one_edge(lambda x: op("||", op("<", x, 2), op(">=", x, 2))) == ["[0, inf)"]


def test_negation_conjunction_and_implication():
    inside = lambda x: both(op(">=", x, 2), op("<", x, 4))  # noqa: E731
    assert one_edge(inside) == ["[1, 3)"]
    assert one_edge(lambda x: negation(inside(x))) == ["[0, 1)", "[3, inf)"]
    assert one_edge(lambda x: op("imply", op(">", x, 2), op(">=", x, 4))) == ["[0, 1]", "[3, inf)"]


def test_invariant_must_hold_throughout_the_delay():
    # x <= 3 or x >= 5: the part after the hole cannot be reached by waiting.
    assert one_edge(lambda x: None, lambda x: op("||", op("<=", x, 3), op(">=", x, 5))) == ["[0, 2]"]


def test_strict_invariant_excludes_the_bound():
    assert one_edge(lambda x: op(">=", x, 3), lambda x: op("<", x, 5), updates_of=lambda x: [let(x, 0)]) == ["[2, 4)"]


def test_rates_scale_and_stop():
    assert one_edge(lambda x: op(">=", x, 4), rates_of=lambda x: (Rate(x.slot, term(2)),)) == ["[3/2, inf)"]
    assert one_edge(lambda x: op(">=", x, 4), rates_of=lambda x: (Rate(x.slot, term(0)),)) == []
    assert one_edge(lambda x: op("<=", x, 4), rates_of=lambda x: (Rate(x.slot, term(0)),)) == ["[0, inf)"]
    assert one_edge(lambda x: op("<=", x, -1), rates_of=lambda x: (Rate(x.slot, term(-1)),)) == ["[2, inf)"]


def test_rate_from_data_and_exact_thirds():
    sketch = Sketch()
    speed, x = sketch.integer("speed", initial=3), sketch.clock("x")
    sketch.process("P", [Location("L", None, (Rate(x.slot, speed),))], [edge(0, 0, op("==", x, 1), action="a")])
    assert windows_of(sketch) == {"a": ["[1/3, 1/3]"]}


def test_clock_differences_do_not_move_unless_rates_differ():
    sketch = Sketch()
    x, y = sketch.clock("x", 2), sketch.clock("y")
    sketch.process("P", [Location("L")], [edge(0, 0, op(">", op("-", x, y), 1), action="a")])
    assert windows_of(sketch) == {"a": ["[0, inf)"]}
    sketch.process("Q", [Location("L", None, (Rate(y.slot, term(2)),))], [])
    assert windows_of(sketch) == {"a": ["[0, 1)"]}


def test_entered_invariant_sees_the_updates():
    def network(reset: bool):
        sketch = Sketch()
        x = sketch.clock("x")
        updates = [let(x, 0)] if reset else []
        sketch.process(
            "P", [Location("A"), Location("B", op("<=", x, 3))], [edge(0, 1, op(">=", x, 2), updates, action="a")]
        )
        return windows_of(sketch)

    assert network(reset=True) == {"a": ["[2, inf)"]}
    assert network(reset=False) == {"a": ["[2, 3]"]}


def test_entered_invariant_through_copied_and_conditional_values():
    sketch = Sketch()
    x, y = sketch.clock("x"), sketch.clock("y")
    copied = Conditional(op("<", x, 2), op("+", x, 5), Builtin("min", (x, term(4.0)), Kind.DOUBLE), Kind.DOUBLE)
    # y becomes x + 5 before 2 and min(x, 4) from then on; y <= 6 allows x <= 1 and everything from 2 on.
    sketch.process(
        "P", [Location("A"), Location("B", op("<=", y, 6))], [edge(0, 1, None, [let(y, copied)], action="a")]
    )
    assert windows_of(sketch) == {"a": ["[0, 1]", "[2, inf)"]}


def test_other_processes_invariants_also_bound_the_delay_and_the_state_entered():
    sketch = Sketch()
    x, y = sketch.clock("x"), sketch.clock("y")
    sketch.process("P", [Location("A")], [edge(0, 0, op(">=", x, 1), [let(y, 7)], action="spoil"),
                                          edge(0, 0, op(">=", x, 1), action="wait")])  # fmt: skip
    sketch.process("Q", [Location("B", op("<=", y, 4))], [])
    assert windows_of(sketch) == {"wait": ["[1, 4]"]}


def test_no_time_passes_in_urgent_and_committed_locations():
    for name in ("urgent", "committed"):
        sketch = Sketch()
        x = sketch.clock("x")
        sketch.process("P", [Location("A")], [edge(0, 0, action="free"), edge(0, 0, op(">", x, 0), action="later")])
        sketch.process("Q", [Location("B", **{name: True})], [edge(0, 0, action="own")])
        expected = {"own": ["[0, 0]"]} if name == "committed" else {"free": ["[0, 0]"], "own": ["[0, 0]"]}
        assert windows_of(sketch) == expected


def test_urgent_channel_stops_time_at_the_first_enabled_moment():
    sketch = Sketch()
    hurry = sketch.channel("hurry", urgent=True)
    ready = sketch.integer("ready", initial=1)
    sketch.process("P", [Location("A")], [edge(0, 0, send=hurry, action="hurry"), edge(0, 0, action="free")])
    sketch.process("Q", [Location("B")], [edge(0, 0, op("==", ready, 1), receive=hurry)])
    assert windows_of(sketch) == {"hurry": ["[0, 0]"], "free": ["[0, 0]"]}
    sketch.variables[0] = sketch.variables[0].__class__("ready", Kind.INT, 0, initial=(0,))
    assert windows_of(sketch) == {"free": ["[0, inf)"]}


def test_timelock_and_deadlock_have_no_transitions_but_different_bounds():
    sketch = Sketch()
    x = sketch.clock("x")
    sketch.process("P", [Location("A", op("<=", x, 3))], [edge(0, 0, op(">", x, 3))])
    interpreter = Oracle(sketch.network())
    state = interpreter.initial_state()
    assert interpreter.transitions(state) == []
    assert interpreter.delay_bound(state).high == 3

    free = Sketch()
    free.process("P", [Location("A")], [])
    interpreter = Oracle(free.network())
    assert interpreter.transitions(interpreter.initial_state()) == []
    assert interpreter.delay_bound(interpreter.initial_state()).high is None


def test_violated_invariant_allows_not_even_delay_zero():
    sketch = Sketch()
    x = sketch.clock("x", 5)
    sketch.process("P", [Location("A", op("<=", x, 3))], [edge(0, 0)])
    interpreter = Oracle(sketch.network())
    assert interpreter.delay_bound(interpreter.initial_state()) is None
    assert interpreter.transitions(interpreter.initial_state()) == []


def test_products_of_clocks_and_odes_are_approximate_but_close():
    squared = one_edge(lambda x: op(">=", op("*", x, x), 9))
    assert len(squared) == 1
    assert float(squared[0][1:].split(",")[0]) == pytest.approx(2, abs=1e-9)

    sketch = Sketch()
    heat = sketch.clock("heat")  # heat' = 2 - heat reaches 1 after ln 2
    flow = Rate(heat.slot, op("-", 2, heat))
    sketch.process("P", [Location("A", None, (flow,))], [edge(0, 0, op(">=", heat, 1), action="a")])
    interpreter = Oracle(sketch.network())
    (transition,) = interpreter.transitions(interpreter.initial_state())
    assert transition.windows[0].low == pytest.approx(0.6931471805599453, abs=1e-7)
    assert transition.windows[0].high is None
    entered = interpreter.fire(interpreter.initial_state(), transition, Fraction(1))
    assert entered.reals[0] == pytest.approx(2 - 2 * 0.36787944117144233, abs=1e-7)


def test_first_stretch_is_that_of_the_whole_set():
    """2,000 random conditions with nested decisions, so that breakpoints appear only where others are decided."""
    generator = random.Random(7)
    operators = ("<", "<=", "==", "!=", ">", ">=")

    def condition(depth: int):
        value = affine(generator.randint(-6, 6), Fraction(generator.randint(-4, 4), 2))
        operator, bound = generator.choice(operators), generator.randint(-3, 6)
        if depth == 0 or generator.random() < 0.3:
            return lambda sample: sample.compare(operator, value, bound)
        left, right, join = condition(depth - 1), condition(depth - 1), generator.choice(("and", "or", "if"))
        if join == "and":
            return lambda sample: left(sample) and right(sample)
        if join == "or":
            return lambda sample: left(sample) or right(sample)
        other = condition(depth - 1)
        return lambda sample: left(sample) if other(sample) else right(sample)

    stretches = set()
    for _ in range(2000):
        holds = condition(3)
        found, stretch = first_end(holds), first_stretch(solve(holds))
        assert stretch == (() if found is None else (Window(Fraction(0), False, found[0], not found[1]),))
        stretches.add(str(stretch))
    assert len(stretches) > 50
