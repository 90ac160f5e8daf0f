"""Environments of gymnasium as black boxes, compared with the environments themselves."""

import gymnasium
import numpy as np
import pytest

from bbfalsify import Requirement, Stimulus, UserError, falsify, load_system, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.testing import check_system

USER = """
format_version: 1
name: pusher
automata:
  User:
    declarations: clock x;
    initial: S
    locations: {S: {invariant: "x <= 0.4"}}
    edges:
      - {from: S, to: S, action: left, guard: "x >= 0.02", update: "x = 0"}
      - {from: S, to: S, action: right, guard: "x >= 0.02", update: "x = 0"}
inputs:
  action: {actions: {left: 0, right: 1}, initial: 0}
outputs:
  "obs[2]": {}
"""


def stimulus(times, **inputs):
    return Stimulus(np.array(times, float), {name: np.array(values, float) for name, values in inputs.items()})


def test_a_cart_pole_gives_what_the_environment_gives():
    system = load_system("gym:CartPole-v1")
    assert [(p.name, p.low, p.high) for p in system.inputs] == [("action", 0.0, 1.0)]
    assert [p.name for p in system.outputs] == ["obs[0]", "obs[1]", "obs[2]", "obs[3]", "reward", "ended"]
    assert system.step_s == 0.02
    with system.open(7) as session:
        seen = session.execute(stimulus([0, 0.02, 0.03, 0.04, 0.1], action=[1, 0, 1, 1, 0]))
    itself = gymnasium.make("CartPole-v1")
    rows = [itself.reset(seed=7)[0]]
    rows += [itself.step(action)[0] for action in (1, 0, 1, 1, 1)]
    # The sample at 0.03 lies inside a step: it shows the step before, and its action begins with the next one.
    assert np.array_equal(seen["obs[2]"], [rows[i][2] for i in (0, 1, 1, 2, 5)])
    check_system(system, duration=0.5)


def test_actions_of_numbers_and_settings():
    system = load_system("gym:Pendulum-v1?set.g=0")
    assert [(p.name, p.low, p.high) for p in system.inputs] == [("action[0]", -2.0, 2.0)]
    with system.open(1) as session:
        weightless = session.execute(stimulus([0, 0.05, 0.1], **{"action[0]": [0, 0, 0]}))
    speed = weightless["obs[2]"]
    assert np.ptp(speed) == 0, "without gravity and torque nothing accelerates"


def test_nothing_changes_after_the_end_of_an_episode():
    with load_system("gym:CartPole-v1").open(3) as session:
        times = np.arange(0, 2, 0.02)
        seen = session.execute(stimulus(times, action=np.ones(len(times))))
    first = int(np.argmax(seen["ended"]))
    assert 0 < first < 30 and (seen["ended"][first:] == 1).all()
    assert (seen["obs[2]"][first:] == seen["obs[2]"][first]).all()


def test_a_pole_is_made_to_fall():
    system = load_system("gym:CartPole-v1")
    profile = parse_profile(USER)
    up = Requirement("R1", "the episode goes on", parse_stl("always[0:1](ended <= 0.5)"))
    result = falsify(system, profile, up, horizon=1, seed=1, out=None)
    assert result.outcome == "falsified"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("gym:CartPol-v1", "unknown environment 'CartPol-v1'"),
        ("gym:CartPole-v1?set.nonsense=1", "gymnasium cannot make 'CartPole-v1'"),
    ],
)
def test_wrong_environments_are_named(reference, said):
    with pytest.raises(UserError, match=said):
        load_system(reference)
