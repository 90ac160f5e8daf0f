"""What cannot work in a profile is found, and nothing else is complained about."""

from __future__ import annotations

import pytest

from bbfalsify.modelling import NetworkBuilder, check_profile, parse_profile
from bbfalsify.modelling.profiles.profile_checks import check_network
from tests.support.classics import preemptive_tasks

PROFILE = """\
format_version: 1
name: p
declarations: |
  clock x, y; int[0,3] n; broadcast chan b; chan h;
automata:
  A:
    initial: L
    locations:
      L: {location}
      M: {other}
    edges:
      - {{from: L, to: M, action: go, guard: "x >= 3", update: "x = 0"}}
      - {edge}
inputs:
  u: {{actions: {{go: 1}}, initial: 0}}
"""
BACK = '{from: M, to: L, action: back, guard: "x >= 1", update: "x = 0"}'
LOCATION_LINE, OTHER_LINE, GO_LINE, EDGE_LINE = 9, 10, 12, 13


def complaints(location: str = "{invariant: x <= 5}", other: str = "{invariant: x <= 5}", edge: str = BACK):
    profile = parse_profile(PROFILE.format(location=location, other=other, edge=edge), file="p.yaml")
    problems = check_profile(profile)
    assert all(p.file == "p.yaml" for p in problems)
    return [(p.line, p.message) for p in problems]


def test_nothing_to_complain_about():
    assert complaints() == []
    assert complaints(location="{}", other="{exponential_rate: 2}") == []


def test_handshake():
    edge = BACK.replace("action: back", 'sync: "h!"')
    assert complaints(edge=edge) == [
        (
            EDGE_LINE,
            "channel 'h' is a handshake, which has no meaning in a random profile; declare it 'broadcast chan'.",
        )
    ]
    assert complaints(edge=BACK.replace("action: back", 'sync: "b!"')) == []


@pytest.mark.parametrize(
    ("guard", "why"),
    [
        ("false", "its guard is never true"),
        ("n > 3", "its guard is never true"),
        ("x >= 1 && n < 0", "its guard is never true"),
        ("x >= 3 && x < 3", "its guard contradicts itself"),
        ("x >= 6", "its guard contradicts the invariant of the location it leaves"),
        ("x > 5", "its guard contradicts the invariant of the location it leaves"),
        ("6 <= x", "its guard contradicts the invariant of the location it leaves"),
        ("x == 5.5", "its guard contradicts the invariant of the location it leaves"),
    ],
)
def test_actions_that_can_never_be_taken(guard, why):
    edge = BACK.replace("x >= 1", guard).replace("from: M", "from: L")
    found = complaints(edge=edge, other="{}")
    assert (EDGE_LINE, f"action 'back' can never be taken: {why}.") in found
    # and the location M is then a dead end
    assert [line for line, _ in found] == [OTHER_LINE, EDGE_LINE]


def test_guards_that_only_look_impossible():
    for guard in ("x >= 5", "x >= 1 || x >= 9", "y >= 9", "n == 3", "n != 1", "x > 4.9", "!(x < 1)"):
        assert complaints(edge=BACK.replace("x >= 1", guard)) == []


def test_actions_of_unreachable_locations():
    text = PROFILE.format(location="{}", other="{}", edge=BACK)
    text = text.replace("    edges:\n", "      U: {}\n    edges:\n      - {from: U, to: L, action: never}\n")
    (problem,) = check_profile(parse_profile(text, file="p.yaml"))
    assert (problem.line, problem.message) == (13, "action 'never' can never be taken: location 'U' cannot be reached.")


def test_a_label_is_alive_if_one_of_its_edges_is():
    text = PROFILE.format(location="{}", other="{}", edge=BACK)
    text = text.replace("    edges:\n", "    edges:\n      - {from: L, to: L, action: go, guard: false}\n")
    assert check_profile(parse_profile(text)) == []


def test_dead_ends():
    edge = BACK.replace("from: M", "from: L")
    assert complaints(location="{}", other="{}", edge=edge) == [
        (OTHER_LINE, "no edge can leave location 'M' of 'A': nothing happens after it is entered.")
    ]
    assert complaints(location="{}", other="{invariant: x <= 2}", edge=edge) == [
        (
            OTHER_LINE,
            "location 'M' of 'A' must be left before its invariant ends, but no edge can leave it: time stops there.",
        )
    ]
    assert complaints(location="{}", other="{committed: true}", edge=edge) == [
        (OTHER_LINE, "location 'M' of 'A' is committed and no edge can leave it: time stops there.")
    ]


def test_guards_beyond_the_invariant_stop_time():
    edge = BACK.replace("x >= 1", "x >= 6")
    assert complaints(edge=edge) == [
        (
            OTHER_LINE,
            "location 'M' of 'A' must be left before its invariant ends, but no edge can leave it: time stops there.",
        ),
        (
            EDGE_LINE,
            "action 'back' can never be taken: its guard contradicts the invariant of the location it leaves.",
        ),
    ]


def test_loops_that_take_no_time():
    edge = BACK.replace("x >= 1", "true")
    for zero in ("{urgent: true}", "{committed: true}", "{invariant: x <= 0}"):
        text = PROFILE.format(location=zero, other=zero, edge=edge).replace('"x >= 3"', '"true"')
        (problem,) = check_profile(parse_profile(text))
        assert problem.line == LOCATION_LINE
        assert problem.message == (
            "the loop through 'L', 'M' of 'A' takes no time and cannot be left: time can never pass."
        )


def test_a_timeless_loop_that_can_be_left_is_an_initialisation():
    b = NetworkBuilder("t").declare("int[0,3] i; clock x;")
    p = b.automaton("P")
    p.location("Init", committed=True)
    p.location("Go", invariant="x <= 2")
    p.edge("Init", "Init", guard="i < 3", update="i++")
    p.edge("Init", "Go", guard="i == 3")
    p.edge("Go", "Go", update="x = 0", action="go")
    assert check_network(b.build()) == []


def test_a_forgotten_reset():
    forgotten = BACK.replace(', update: "x = 0"', "")
    text = PROFILE.format(location="{invariant: x <= 5}", other="{invariant: x <= 5}", edge=forgotten)
    assert check_profile(parse_profile(text)) == []  # the other edge resets it
    (problem,) = check_profile(parse_profile(text.replace(', update: "x = 0"', "")))
    assert problem.line == LOCATION_LINE
    assert problem.message == (
        "clock 'x' is never reset in the loop through 'L', 'M' of 'A', and the invariants keep it below 5: "
        "from then on time can never pass."
    )


@pytest.mark.parametrize("update", ["x = 0", "reset()", "z[0] = 0, x = 1", "n = twice()"])
def test_resets_are_seen_through_functions(update):
    b = NetworkBuilder("t").declare("clock x, z[2]; int n; void reset() { x = 0; } int twice() { reset(); return 2; }")
    b.automaton("P").location("L", invariant="x <= 5").edge("L", "L", guard="x >= 3", update=update)
    assert check_network(b.build()) == []


def test_another_process_may_reset_the_clock():
    b = NetworkBuilder("t").declare("clock x, y;")
    b.automaton("P").location("L", invariant="x <= 5").edge("L", "L", guard="x >= 3")
    b.automaton("Q").location("L", invariant="y <= 4").edge("L", "L", guard="y >= 2", update="x = 0, y = 0")
    assert check_network(b.build()) == []


def test_stopped_clocks_do_not_stop_time():
    b = NetworkBuilder("t").declare("clock x;")
    b.automaton("P").location("L", invariant="x <= 5 && x' == 0").edge("L", "L")
    assert check_network(b.build()) == []


def test_one_component_may_come_to_rest_while_another_goes_on():
    b = NetworkBuilder("t").declare("clock x; double mass;")
    chooser = b.automaton("Choose")
    chooser.location("Start", committed=True)
    chooser.location("Done")
    chooser.edge("Start", "Done", update="mass = random_uniform(50, 90)")
    user = b.automaton("User")
    user.location("L", invariant="x <= 5").edge("L", "L", update="x = 0", action="press")
    assert check_network(b.build()) == []
    user.location("End").edge("L", "End", action="leave")
    assert [p.message for p in check_network(b.build())] == [
        "no edge can leave location 'Done' of 'Choose': nothing happens after it is entered.",
        "no edge can leave location 'End' of 'User': nothing happens after it is entered.",
    ]


def test_observers_and_stopwatches_are_fine():
    b = NetworkBuilder("t").declare("clock x; broadcast chan ping; int[0,9] seen;")
    b.automaton("User").location("L", invariant="x <= 5").edge("L", "L", sync="ping!", update="x = 0")
    observer = b.automaton("Observer")
    observer.location("Idle")
    observer.location("Seen")
    observer.edge("Idle", "Seen", sync="ping?", update="seen = 1")
    assert check_network(b.build()) == []
    assert check_network(preemptive_tasks()) == []
