"""Logs through structures: what is recovered, what is refused, and what the fitted file says."""

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.fitting import fit_profile
from bbfalsify.modelling import check_profile, load_profile, parse_profile
from tests.fitting_models import HEATER, INPUTS, PHONE, heater_sessions, phone_sessions, write_log


@pytest.fixture
def fit(tmp_path):
    def fit(structure, log, **options):
        (tmp_path / "structure.yaml").write_text(structure)
        file = tmp_path / "log.csv"
        if isinstance(log, str):
            file.write_text(log)
        else:
            write_log(file, log)
        return fit_profile([file], tmp_path / "structure.yaml", **options)

    return fit


def problems(fit, structure, log, **options):
    with pytest.raises(UserError) as error:
        fit(structure, log, **options)
    return [str(p).rsplit("/", 1)[-1] for p in error.value.problems]


def test_the_heaters_weights_are_recovered(fit, tmp_path):
    """Weights 1 and 2, 1,000 actions: 500 choices with both possible, standard error of the share 0.021, ±4.5 of it."""
    found = fit(HEATER, heater_sessions(np.random.default_rng(1), 20, 50, weight_on=2.0))
    share = found.estimates["weight of User.S -> S (on)"]
    assert abs(share.value - 2 / 3) < 0.095 and share.low < share.value < share.high
    assert found.tests["User.S"].law == "uniform" and not found.tests["User.S"].doubtful and found.notes == ()
    found.write(tmp_path / "fitted.yaml")
    profile = load_profile(tmp_path / "fitted.yaml")
    assert check_profile(profile) == [] and profile.inputs == found.profile.inputs
    assert set(profile.uncertainty) == set(found.estimates)
    weights = [float(e.weight.value) for e in profile.network.processes[0].edges]
    assert weights[1] / sum(weights) == pytest.approx(share.value, rel=1e-4)
    assert profile.uncertainty["weight of User.S -> S (on)"] == pytest.approx(
        1 / (share.value * share.samples), rel=1e-3
    )


def test_two_locations_with_an_exponential_and_a_uniform_wait(fit):
    """Rate 0.5, shares 0.7 and 0.9, about 580 and 420 actions; ±4.5 standard errors each."""
    found = fit(PHONE, phone_sessions(np.random.default_rng(3), 20, 50))
    rate = found.estimates["rate of User.Idle"]
    assert abs(rate.value - 0.5) < 4.5 * 0.5 / rate.samples**0.5
    call, hang_up = (found.estimates[f"weight of User.{e}"] for e in ("Idle -> Busy (call)", "Busy -> Idle (hang_up)"))
    assert abs(call.value - 0.7) < 4.5 * (0.21 / call.samples) ** 0.5
    assert abs(hang_up.value - 0.9) < 4.5 * (0.09 / hang_up.samples) ** 0.5
    assert {name: t.law for name, t in found.tests.items()} == {"User.Idle": "exponential", "User.Busy": "uniform"}
    assert not any(t.doubtful for t in found.tests.values())
    assert found.profile.uncertainty["rate of User.Idle"] == pytest.approx(1 / rate.samples, rel=1e-3)
    assert "# left" in found.text and "rate 0.5" in found.text.replace("rate 0.4", "rate 0.5")


def test_absolute_times_are_the_same_as_relative_ones(fit, tmp_path):
    sessions = list(heater_sessions(np.random.default_rng(1), 5, 20))
    plain = fit(HEATER, sessions)
    shifted = [[(2**20 + t, a) for t, a in events] for events in sessions]
    file = write_log(tmp_path / "absolute.csv", [[]])
    rows = [f"{n},{t!r},{a}" for n, events in enumerate(shifted) for t, a in [(2**20, ""), *events]]
    file.write_text("session,time,action\n" + "\n".join(rows))
    absolute = fit_profile([file], tmp_path / "structure.yaml")
    assert absolute.estimates == plain.estimates


def test_the_first_action_is_followed_but_not_counted_unless_the_session_has_a_beginning(fit):
    rows = "".join(f"{4.5 * k},on\n" for k in range(1, 6))
    assert fit(HEATER, "time,action\n" + rows).counted == 4
    assert fit(HEATER, "time,action\n0,\n" + rows).counted == 5
    assert fit(HEATER, "time,action\n" + rows, from_zero=True).counted == 5


def test_time_that_was_only_watched_counts_for_rates(fit):
    log = "time,action\n0,\n1,look\n2,look\n"
    assert fit(PHONE, log).estimates["rate of User.Idle"].value == 1.0
    assert fit(PHONE, log + "10,\n").estimates["rate of User.Idle"].value == pytest.approx(0.2)


def test_bounds_are_fitted_when_asked_for(fit):
    wide = HEATER.replace("x <= 5", "x <= 60").replace("x >= 3", "x >= 0").replace("x >= 4", "x >= 0")
    sessions = list(heater_sessions(np.random.default_rng(1), 20, 50))
    kept, found = fit(wide, sessions), fit(wide, sessions, bounds=True)
    assert kept.tests["User.S"].doubtful and "do not look uniform" in kept.notes[0]
    location = found.profile.network.processes[0].locations[0]
    assert float(location.invariant.right.value) == pytest.approx(5, abs=0.02)
    off, on = (float(e.guard.right.value) for e in found.profile.network.processes[0].edges)
    assert off == pytest.approx(3, abs=0.02) and on == pytest.approx(4, abs=0.05)
    assert not found.tests["User.S"].doubtful and "unbiased ends" in found.text
    share = found.estimates["weight of User.S -> S (on)"]
    assert share.low < 0.5 < share.high  # among the moments at which both are possible under the new guards


def test_bounds_that_were_guessed_too_narrow_are_widened(fit):
    """Delays are uniform on [3, 5], on from 4: 1,000 of them lie within 0.05 of every end but for 1 in 1e8 logs."""
    narrow = HEATER.replace("x <= 5", "x <= 4.5").replace("x >= 3", "x >= 3.5").replace("x >= 4", "x >= 4.25")
    sessions = list(heater_sessions(np.random.default_rng(1), 20, 50))
    assert "is not possible in User.S" in problems(fit, narrow, sessions)[0]
    found = fit(narrow, sessions, bounds=True)
    user = found.profile.network.processes[0]
    assert float(user.locations[0].invariant.right.value) == pytest.approx(5, abs=0.05)
    off, on = (float(e.guard.right.value) for e in user.edges)
    assert off == pytest.approx(3, abs=0.05) and on == pytest.approx(4, abs=0.05)
    widened = [note.split(" was too narrow")[0] for note in found.notes if "widened to 'x" in note]
    assert widened == ["User.S: 'x <= 4.5'", "User.S -> S (off): 'x >= 3.5'", "User.S -> S (on): 'x >= 4.25'"]
    assert check_profile(found.profile) == [] and found.events == 1000


def test_bounds_are_widened_only_where_the_log_asks_for_it(fit):
    narrow = PHONE.replace("x <= 3", "x <= 2.5")
    found = fit(narrow, phone_sessions(np.random.default_rng(3), 20, 50), bounds=True)
    [note] = [note for note in found.notes if "widened" in note]
    assert note.startswith("User.Busy: 'x <= 2.5' was too narrow for the log, which has a delay of 2.9")


def test_what_wider_bounds_do_not_help_is_refused_as_before(fit):
    log = "time,action\n0,\n4,off\n12,off\n16,fly\n20,off\n"
    assert "fly" in problems(fit, HEATER, log, bounds=True)[0]
    twice = HEATER.replace("action: on", "action: off").replace("on: 1, off: 0", "off: 0")
    told = problems(fit, twice, "time,action\n0,\n2,off\n6,off\n", bounds=True)
    assert told == problems(fit, twice, "time,action\n0,\n2,off\n6,off\n")


def test_bounds_that_cannot_be_fitted_are_kept_and_said(fit):
    carried = HEATER.replace('"x <= 5"', '"x <= 5 && x >= 0"')
    found = fit(carried, heater_sessions(np.random.default_rng(1), 3, 20), bounds=True)
    assert any("not of the form" in note for note in found.notes) and "x <= 5 && x >= 0" in found.text


def test_an_edge_never_taken_and_a_location_never_visited(fit):
    found = fit(PHONE, "time,action\n0,\n" + "".join(f"{k},look\n" for k in range(1, 9)))
    assert any("User.Busy was never visited" in note for note in found.notes)
    assert "never visited in the log: kept as given" in found.text and "half a time added" in found.text
    assert found.estimates["weight of User.Idle -> Busy (call)"].low == 0
    assert check_profile(found.profile) == []


def test_impossible_actions_are_told_with_place_and_alternatives(fit):
    log = "session,time,action\na,0,\na,2.5,off\nb,0,\nb,3.5,on\nc,0,\nc,3.5,off\nc,9.5,off\n"
    assert problems(fit, HEATER, log) == [
        "log.csv:3: 'off' is not possible in User.S after 2.5. Possible there: off (from 3 to 5), on (from 4 to 5).",
        "log.csv:5: 'on' is not possible in User.S after 3.5. Possible there: off (from 3 to 5), on (from 4 to 5).",
        "log.csv:8: 'off' is not possible in User.S after 6. Possible there: off (from 3 to 5), on (from 4 to 5).",
    ]


def test_a_tolerance_forgives_rounded_times(fit):
    log = "time,action\n0,\n2.99,off\n8,on\n"
    assert len(problems(fit, HEATER, log)) == 1
    assert fit(HEATER, log, tolerance=0.02).counted == 2


def test_too_little_to_learn_from(fit):
    assert (
        "0 actions to learn from; at least 2 are needed; the first action"
        in problems(fit, HEATER, "time,action\n1,on\n")[0]
    )
    assert "1 actions to learn from; at least 2 are needed." in problems(fit, HEATER, "time,action\n0,\n4,on\n")[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('action: on, guard: "x >= 4"', 'action: off, guard: "x >= 4"', "may be one of several edges (lines 11, 12"),
        ("to: S, action: on,", 'action: on, branches: [{to: S, update: "x = 0"}, {to: S}],', "which branch of 'on'"),
        ("to: S, action: on,", "to: S,", "has no action"),
        ('guard: "x >= 4", update: "x = 0"', 'guard: "x >= z", update: "x = 0, z = random(1)"', "random draw"),
    ],
)
def test_structures_that_a_log_cannot_tell_apart(fit, old, new, message):
    structure = HEATER.replace(old, new).replace('"clock x;"', '"clock x; double z = 0.5;"')
    if "branches" in new:
        structure = structure.replace(', guard: "x >= 4", update: "x = 0"}', ', guard: "x >= 4"}')
    if "on" not in parse_profile(structure.replace("on: 1, ", "")).network.actions:
        structure = structure.replace("on: 1, ", "")
    found = problems(fit, structure, "time,action\n0,\n4.5,off\n9,off\n")
    assert any(message in p for p in found), found


def test_what_does_not_decide_does_not_disturb(fit):
    """A draw, an ODE and a clock that is never reset, none of them in a guard; a nameless start."""
    structure = (
        """
format_version: 1
name: user
declarations: "clock t, y; double mass = 1.0;"
automata:
  User:
    declarations: "clock x;"
    initial: Start
    locations:
      Start: {committed: true}
      S: {invariant: "x <= 5", rates: {y: "mass - y"}}
    edges:
      - {from: Start, to: S, update: "mass = random_uniform(1, 2)"}
      - {from: S, to: S, action: off, guard: "x >= 3", update: "x = 0, mass = random(2)"}
      - {from: S, to: S, action: on, guard: "x >= 4", update: "x = 0, mass = y"}
"""
        + INPUTS % "on: 1, off: 0"
    )
    sessions = list(heater_sessions(np.random.default_rng(1), 5, 30))
    plain, found = fit(HEATER, sessions), fit(structure, sessions)
    assert found.estimates == plain.estimates


def test_a_clock_that_is_carried_over_is_followed_exactly(fit):
    """Every second action resets x; the bound of the second delay is what the first one left."""
    structure = (
        """
format_version: 1
name: user
automata:
  User:
    declarations: "clock x;"
    initial: A
    locations: {A: {invariant: "x <= 2"}, B: {invariant: "x <= 5"}}
    edges:
      - {from: A, to: B, action: a}
      - {from: B, to: A, action: b, update: "x = 0"}
      - {from: B, to: A, action: c, guard: "x >= 4", update: "x = 0"}
"""
        + INPUTS % "a: 1, b: 0, c: 2"
    )
    rng = np.random.default_rng(7)
    sessions = []
    for _ in range(10):
        time, events = 0.0, []
        for _ in range(20):
            first = rng.uniform(0, 2)
            second = rng.uniform(first, 5)
            events += [(time + first, "a"), (time + second, "c" if second >= 4 and rng.random() < 0.5 else "b")]
            time += second
        sessions.append(events)
    found = fit(structure, sessions)
    assert not any(t.doubtful for t in found.tests.values()) and len(found.tests) == 2
    share = found.estimates["weight of User.B -> A (c)"]
    assert share.low < 0.5 < share.high


def test_instances_of_one_automaton_are_fitted_together(fit):
    structure = """
format_version: 1
name: users
automata:
  User:
    parameters: "const int[1,2] id"
    initial: S
    locations: {S: {exponential_rate: 1}}
    edges:
      - {from: S, to: S, sync: "go[id]!"}
      - {from: S, to: S, sync: "stop[id]!"}
declarations: "broadcast chan go[3], stop[3];"
inputs:
  u: {actions: {"go[1]": 1, "go[2]": 2, "stop[1]": 3, "stop[2]": 4}, initial: 0}
"""
    rng = np.random.default_rng(2)
    events, time = [], 0.0
    for _ in range(400):
        time += rng.exponential(1 / 4)  # two users, each with rate 2
        name, number = ("go" if rng.random() < 0.8 else "stop"), rng.integers(1, 3)
        events.append((time, f"{name}[{number}]"))
    found = fit(structure, [events])
    rates = [e for name, e in found.estimates.items() if name.startswith("rate")]
    assert len(rates) == 2 and rates[0] == rates[1] and rates[0].samples == 400
    assert rates[0].low < 2 < rates[0].high
    assert any("several components race" in note for note in found.notes) and found.tests == {}


def test_numbers_that_are_computed_are_kept(fit):
    structure = HEATER.replace('action: on, guard: "x >= 4"', 'action: on, guard: "x >= 4", weight: "n + 1"').replace(
        '"clock x;"', '"clock x; int[0,3] n = 2;"'
    )
    found = fit(structure, heater_sessions(np.random.default_rng(1), 3, 20))
    assert "weight is computed: kept as given" in found.text and found.estimates == {}


def test_an_old_uncertainty_does_not_survive(fit):
    structure = HEATER + 'uncertainty: {"weight of User.S -> S (on)": 9}\n'
    found = fit(structure, heater_sessions(np.random.default_rng(1), 3, 20))
    assert found.profile.uncertainty["weight of User.S -> S (on)"] < 1


@pytest.mark.parametrize("options", [{"confidence": 1.0}, {"tolerance": -1.0}, {"tolerance": float("nan")}])
def test_wrong_options(fit, options):
    with pytest.raises(UserError, match="must"):
        fit(HEATER, "time,action\n0,\n4,on\n8,on\n", **options)
