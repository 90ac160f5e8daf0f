"""Structures learned from logs: the right number of situations, laws of delays, inputs."""

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.fitting import learn_profile
from bbfalsify.fitting.profile_learning import learn_edges
from bbfalsify.modelling import check_profile, parse_profile
from tests.fitting_models import HEATER, heater_sessions, phone_sessions, write_log

SHOP = {
    0: [("login", 1.0, 1)],
    1: [("browse", 0.6, 1), ("buy", 0.3, 2), ("quit", 0.1, 0)],
    2: [("pay", 0.7, 1), ("quit", 0.3, 0)],
}


def words_of(chain, rng, sessions, steps):
    words = []
    for _ in range(sessions):
        at, word = 0, []
        for _ in range(steps):
            options = chain[at]
            choice = options[rng.choice(len(options), p=[p for _, p, _ in options])]
            word.append(choice[0])
            at = choice[2]
        words.append(word)
    return words


def test_a_chain_of_three_situations_is_found_with_its_edges():
    edges = learn_edges(words_of(SHOP, np.random.default_rng(0), 200, 20))
    assert len({n for source, _, target in edges for n in (source, target)}) == 3
    names = {source: sorted(a for s, a, _ in edges if s == source) for source, _, _ in edges}
    assert sorted(names.values()) == [["browse", "buy", "quit"], ["login"], ["pay", "quit"]]


def test_learning_is_deterministic():
    words = words_of(SHOP, np.random.default_rng(0), 60, 15)
    assert learn_edges(words) == learn_edges(list(words))


def test_the_heaters_user_is_one_situation_with_a_uniform_law(tmp_path):
    log = write_log(tmp_path / "log.csv", heater_sessions(np.random.default_rng(1), 40, 25))
    found = learn_profile([log])
    (process,) = found.profile.network.processes
    assert len(process.locations) == 1 and process.locations[0].invariant is not None
    share = found.estimates["weight of User.Q0 -> Q0 (on)"]
    assert abs(share.value - 0.25) < 0.065  # 1,000 choices, 4.5 standard errors of 0.014
    assert "uniform: Akaike's criterion" in found.text and not found.tests["User.Q0"].doubtful
    assert any("placeholders" in note for note in found.notes) and "TO FILL IN" in found.text
    assert check_profile(found.profile) == [] and parse_profile(found.text).network == found.profile.network


def test_two_situations_with_different_laws_and_inputs_of_another_file(tmp_path):
    log = write_log(tmp_path / "log.csv", phone_sessions(np.random.default_rng(1), 150, 12))
    (tmp_path / "inputs.yaml").write_text(
        "inputs:\n  u: {actions: {call: 1, look: 0, hang_up: 2, redial: 3}, initial: 0}\noutputs:\n  T: {unit: degC}\n"
    )
    found = learn_profile([log], inputs=tmp_path / "inputs.yaml")
    (process,) = found.profile.network.processes
    assert [location.invariant is None for location in process.locations] == [True, False]
    assert found.estimates["rate of User.Q0"].low < 0.5 < found.estimates["rate of User.Q0"].high
    assert [i.name for i in found.profile.inputs] == ["u"] and found.profile.outputs == (("T", "degC"),)
    assert found.notes == ()


def test_where_sessions_end_users_begin_again(tmp_path):
    text = "session,time,action\n" + "".join(
        f"{n},0,\n{n},{1 + n % 7 / 7},a\n{n},{2 + n % 5 / 5},b\n" for n in range(30)
    )
    (tmp_path / "log.csv").write_text(text)
    found = learn_profile([tmp_path / "log.csv"])
    (process,) = found.profile.network.processes
    assert [(e.source, e.action, e.branches[0].target) for e in process.edges] == [(0, "a", 1), (1, "b", 0)]
    assert check_profile(found.profile) == []


def test_long_sessions_are_cut_and_few_are_doubted(tmp_path):
    log = write_log(tmp_path / "log.csv", heater_sessions(np.random.default_rng(1), 2, 250))
    found = learn_profile([log])
    assert found.events == 400 and any("first 200 actions" in note for note in found.notes)
    assert any("2 sessions tell situations apart only" in note for note in found.notes)


def test_wrong_input(tmp_path):
    log = write_log(tmp_path / "log.csv", [[(1.0, "a")]])
    with pytest.raises(UserError, match="1 actions to learn from"):
        learn_profile([log])
    write_log(log, [[(1.0, "a"), (2.0, "b")]])
    with pytest.raises(UserError, match="epsilon must lie between"):
        learn_profile([log], epsilon=0.0)
    (tmp_path / "inputs.yaml").write_text("name: x\n")
    with pytest.raises(UserError, match="no section 'inputs'"):
        learn_profile([log], inputs=tmp_path / "inputs.yaml")
    (tmp_path / "inputs.yaml").write_text(HEATER)
    with pytest.raises(UserError, match="unknown action 'on'"):
        learn_profile([log], inputs=tmp_path / "inputs.yaml")


def test_exponential_delays_in_short_sessions_are_learned_and_fit(tmp_path):
    """200 sessions that end after twice the mean delay: the law was taken for uniform, or said not to fit."""
    rng, lines = np.random.default_rng(1), ["session,time,action"]
    for session in range(200):
        times = np.cumsum(rng.exponential(2.0, size=40))
        lines += [f"{session},0,", *(f"{session},{t:.6f},on" for t in times[times < 4.0]), f"{session},4,"]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    found = learn_profile([tmp_path / "log.csv"])
    tests = found.tests.values()
    assert tests and not any(test.doubtful or test.law != "exponential" for test in tests)
