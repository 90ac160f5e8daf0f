"""Finite machines and their files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bbfalsify.automata.mealy import MealyMachine, dot_text, parse_dot, read_dot
from bbfalsify.core.errors import UserError

TURNSTILE = """digraph turnstile {
__start0 [label="" shape="none"];
locked; open [label="open door"];
locked -> open   [label="coin/click"];
locked -> locked [color=red, label="push / stop"];
open -> open     [label="coin/return"];
open -> locked   [label="push/go/on"];
__start0 -> locked;
}
"""


def test_a_file_as_people_write_it():
    machine = parse_dot(TURNSTILE.replace("locked; open [", "locked;\nopen ["))
    assert (machine.inputs, machine.states) == (("coin", "push"), ("locked", "open"))
    assert machine.run(["push", "coin", "coin", "push", "push"]) == ("stop", "click", "return", "go/on", "stop")


@st.composite
def machines(draw):
    states, inputs = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    names = draw(st.lists(st.text('ab "\\é0;[]>', min_size=1, max_size=4).map(str.strip).filter(bool), min_size=3,
                          max_size=3, unique=True))  # fmt: skip
    table = st.lists(st.integers(0, states - 1), min_size=states * inputs, max_size=states * inputs)
    answers = st.lists(st.sampled_from(names), min_size=states * inputs, max_size=states * inputs)
    pairs = [(f"q{s}", f"in {i}") for s in range(states) for i in range(inputs)]
    targets = zip((f"q{t}" for t in draw(table)), draw(answers), strict=True)
    return MealyMachine.from_transitions(dict(zip(pairs, targets, strict=True)), "q0", name="any name")


@given(machines())
def test_writing_and_reading_gives_the_same_machine(machine):
    again = parse_dot(dot_text(machine))
    assert (again.inputs, again.outputs, again.states) == (machine.inputs, machine.outputs, machine.states)
    assert np.array_equal(again.successor, machine.successor) and np.array_equal(again.answer, machine.answer)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("coin/click", "coin", 'm.dot:5: a transition needs label="input/output".'),
        ('open -> open     [label="coin/return"];', "", "1 transitions are missing (open on coin)"),
        ("open -> open  ", "locked -> open", "m.dot:7: 'locked' already answers 'coin' in another way, in line 5."),
        ("open -> open  ", "open => open", "m.dot:7: neither a state nor a transition"),
        ("__start0 -> locked;", "__start0 -> locked;\n__start1 -> open;", "several initial states: locked, open."),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, message):
    text = TURNSTILE.replace("locked; open [", "locked;\nopen [")
    assert old in text
    with pytest.raises(UserError) as error:
        parse_dot(text.replace(old, new), file="m.dot")
    assert message in str(error.value)


def test_an_empty_and_a_missing_file(tmp_path):
    with pytest.raises(UserError, match="there is no transition in this file"):
        parse_dot("digraph g {\n}")
    with pytest.raises(UserError, match="there is no such file"):
        read_dot(tmp_path / "none.dot")


def test_an_unknown_input_gets_the_closest_match():
    machine = parse_dot(TURNSTILE.replace("locked; open [", "locked;\nopen ["))
    with pytest.raises(UserError, match="Did you mean 'coin'"):
        machine.run(["coins"])
