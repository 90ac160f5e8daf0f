"""The parameters of a profile: which there are, what they are called, and how well a profile says it knows them."""

from __future__ import annotations

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import NetworkBuilder, Profile, parse_profile, profile_parameters
from tests import heater
from tests.unit.modelling.helpers import problems_of


def names(network) -> list[str]:
    return [p.name for p in profile_parameters(network)]


def test_weights_of_the_heater_user_default_to_one():
    parameters = profile_parameters(heater.profile().network)
    assert [(p.name, p.kind, p.value) for p in parameters] == [
        ("weight of User.S -> S (off)", "weight", 1.0),
        ("weight of User.S -> S (on)", "weight", 1.0),
    ]
    assert [(p.process, p.location, p.edge, p.branch) for p in parameters] == [(0, 0, 0, None), (0, 0, 1, None)]
    assert [p.line for p in parameters] == [11, 12]


def several_kinds():
    b = NetworkBuilder("caller").declare("int n = 2; broadcast chan c;")
    user = b.automaton("User", declarations="clock x;")
    user.location("Idle", exponential_rate="1/4.0")
    user.location("Busy", invariant="x <= 3")
    user.location("Slow", invariant="n < 9")
    user.location("Now", committed=True)
    user.edge("Idle", action="call", weight=3, branches=[("Busy", 2, "x = 0"), ("Idle", 1, ""), ("Idle", "n", "n = 2")])
    user.edge("Idle", "Busy", action="poke", guard="x >= 1", weight="n")
    user.edge("Busy", "Slow", action="end", guard="x >= 1")
    user.edge("Busy", "Slow", action="end", guard="x >= 2", weight=0.5)
    user.edge("Slow", "Now", sync="c!")
    user.edge("Now", "Idle", action="back")
    b.automaton("Ear").location("L").edge("L", "L", sync="c?", weight=7)
    return b.build()


def test_every_kind_and_its_value():
    """Not parameters: weights computed from variables, weights of receivers, rates of bounded or committed stays."""
    assert {p.name: p.value for p in profile_parameters(several_kinds())} == {
        "weight of User.Idle -> Busy | Idle (call)": 3.0,
        "branch weight of User.Idle -> Busy (call)": 2.0,
        "branch weight of User.Idle -> Idle (call) no. 1": 1.0,
        "weight of User.Busy -> Slow (end) no. 1": 1.0,
        "weight of User.Busy -> Slow (end) no. 2": 0.5,
        "weight of User.Slow -> Now (c)": 1.0,
        "weight of User.Now -> Idle (back)": 1.0,
        "rate of User.Idle": 0.25,
        "rate of User.Slow": 1.0,
    }


def test_names_are_unique_over_instances_and_selected_values():
    b = NetworkBuilder("many")
    user = b.automaton("User", parameters="const int[0,1] id")
    user.location("L").edge("L", "L", select="i : int[0,2]", action="go")
    found = names(b.build())
    assert len(found) == len(set(found)) == 2 * 3 + 2
    assert found[:2] == ["weight of User(0).L -> L (go) no. 1", "weight of User(0).L -> L (go) no. 2"]


UNCERTAIN = heater.PROFILE + "uncertainty:\n"


def test_uncertainty_is_read():
    profile = parse_profile(UNCERTAIN + "  weight of User.S -> S (on): 0.04\n")
    assert profile.uncertainty == {"weight of User.S -> S (on)": 0.04}
    assert heater.profile().uncertainty == {}
    assert isinstance(hash(Profile("p", None, ())), int)


@pytest.mark.parametrize("value", ["-0.1", "much", ".nan"])
def test_an_uncertainty_is_a_variance(value):
    [(line, message)] = problems_of(UNCERTAIN + f"  weight of User.S -> S (on): {value}\n", parse_profile)
    assert line == 16
    assert "must" in message


def test_unknown_parameters_are_all_named_with_what_was_meant():
    text = UNCERTAIN + "  weight of User.S -> S (onn): 0.04\n  rate of User.S: 1\n"
    with pytest.raises(UserError) as caught:
        parse_profile(text, file="model.yaml")
    first, second = caught.value.problems
    assert (first.line, second.line) == (16, 17)
    assert first.closest == "weight of User.S -> S (on)"
    assert "rate of User.S" in second.message


def test_a_model_that_cannot_be_read_does_not_make_parameters_unknown():
    broken = (UNCERTAIN + "  weight of User.S -> S (on): 1\n").replace("x >= 4", "x >= four")
    messages = [message for _, message in problems_of(broken, parse_profile)]
    assert len(messages) == 1
    assert "four" in messages[0]
