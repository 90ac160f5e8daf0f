"""Violations of a check, grouped by the step of the learned machine that breaks the requirement."""

import itertools

from bbfalsify import check
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.automata.observation_tree import ObservationTree
from bbfalsify.engines.checking.causes import causes_of
from bbfalsify.engines.checking.claims import Claim, Violation
from bbfalsify.logic.ltl import Lasso, first_bad_prefix, ltl
from bbfalsify.reporting.terminal.check import cause_lines, check_lines
from bbfalsify.results.check_result import CheckResult
from bbfalsify.results.recorded import result_from_json

DOOR = {
    ("shut", "code"): ("ready", "ok"), ("shut", "key"): ("armed", "ok"), ("shut", "wait"): ("shut", "none"),
    ("ready", "code"): ("locked", "ok"), ("ready", "key"): ("ready", "no"), ("ready", "wait"): ("shut", "none"),
    ("armed", "code"): ("ready", "ok"), ("armed", "key"): ("armed", "no"), ("armed", "wait"): ("locked", "alarm"),
    ("locked", "code"): ("locked", "alarm"), ("locked", "key"): ("locked", "no"), ("locked", "wait"): ("shut", "none"),
}  # fmt: skip
"""Alarms sound in two places: waiting after the key, and a third code."""


def machine():
    return MealyMachine.from_transitions(DOOR, "shut")


SILENT, WAITING = ltl("G(out != alarm)"), ltl("G(in == wait -> out == none)")


def grouped(*properties, seen=()):
    door, tree = machine(), ObservationTree()
    for word in seen:
        tree.add(word, door.run(word))
    word = ("key", "wait")
    violation = Violation(Lasso(word), door.run(word), word, None, 3, 3)
    claims = [Claim(f"R{k}", "", property) for k, property in enumerate(properties, start=1)]
    return causes_of(door, claims, dict.fromkeys(range(len(claims)), violation), tree)


def test_each_step_that_violates_is_one_cause_with_its_shortest_word_first():
    [causes] = grouped(SILENT, seen=[("key", "wait")]).values()
    assert [(c.state, c.input, c.output, c.word) for c in causes] == [
        ("armed", "wait", "alarm", ("key", "wait")),
        ("locked", "code", "alarm", ("code", "code", "code")),
    ]
    assert causes[0].observed[0] and not any(causes[0].observed[1:]) and not any(causes[1].observed)


def test_every_word_of_a_cause_violates_with_its_last_step_and_none_is_shorter():
    door = machine()
    [causes] = grouped(SILENT).values()
    for cause in causes:
        assert cause.others
        for word in (cause.word, *cause.others):
            assert first_bad_prefix(SILENT, word, door.run(word), inputs=door.inputs) == len(word)
            assert (word[-1], door.run(word)[-1]) == (cause.input, cause.output)
    shortest = min(
        len(word)
        for length in range(1, 4)
        for word in itertools.product(door.inputs, repeat=length)
        if first_bad_prefix(SILENT, word, door.run(word), inputs=door.inputs) == length
    )
    assert len(causes[0].word) == shortest


def test_requirements_that_one_step_breaks_name_each_other():
    causes = grouped(SILENT, WAITING)
    assert causes[0][0].requirements == ("R2",) and causes[0][1].requirements == ()
    assert [(c.state, c.requirements) for c in causes[1]] == [("armed", ("R1",))]


def test_a_violation_that_the_machine_does_not_show_is_grouped_by_what_was_observed():
    tree = ObservationTree()
    for word in (("key", "wait"), ("key", "key", "wait", "code"), ("code", "code", "code")):
        tree.add(word, machine().run(word))
    small = MealyMachine.from_transitions({("s", symbol): ("s", "ok") for symbol in ("code", "key", "wait")}, "s")
    violation = Violation(Lasso(("key", "wait")), ("ok", "alarm"), ("key", "wait"), None, 3, 3)
    [causes] = causes_of(small, [Claim("R1", "", SILENT)], {0: violation}, tree).values()
    assert [(c.state, c.word, c.others) for c in causes] == [
        (None, ("key", "wait"), (("key", "key", "wait"),)),
        (None, ("code", "code", "code"), ()),
    ]


def test_results_files_and_the_terminal_hold_causes():
    result = check(machine(), ["G(out != alarm)", "G(in == wait -> out == none)"], max_states=5, seed=1)
    data = result.as_json()
    assert result_from_json(CheckResult, data).requirements[0].causes == result.requirements[0].causes
    lines = list(check_lines(data, 60, False))
    assert any("cause 1: wait is answered alarm" in line for line in lines)
    assert all(len(line) <= 60 for line in lines if "cause" in line)
    assert sum("cause" in line for line in cause_lines(result.requirements[0], 60)) == len(
        result.requirements[0].causes
    )
