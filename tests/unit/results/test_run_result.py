"""Results of every engine are read by one class, as far as all have the same."""

import math

from bbfalsify import check
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.verdict import Outcome
from bbfalsify.records.stored import to_json
from bbfalsify.results.run_result import RunResult

MACHINE = MealyMachine.from_transitions({("s", "a"): ("t", "x"), ("t", "a"): ("s", "y")}, "s")


def test_results_of_a_check_are_read():
    found = check(MACHINE, ["G(out == y)", "F(out == y)"], max_states=2, seed=1, out=None)
    read = RunResult.from_json(found.as_json())
    assert (read.engine, read.outcome, read.simulations) == ("check", Outcome.FALSIFIED, found.queries)
    # As JSON: numbers that are none are equal there, in every version of Python.
    assert to_json(read.counterexamples) == to_json(found.counterexamples)
    assert read.counterexamples[0].actions == ("a",)
    assert read.of("R2") == () and math.isnan(read.counterexamples[0].robustness)
    assert [row.formula for row in read.requirements] == ["G(out == y)", "F(out == y)"]
    assert "violated by: a" in read.requirements[0].in_words


def test_results_of_a_check_without_a_list_are_read():
    data = check(MACHINE, "G(out == y)", max_states=2, seed=1, out=None).as_json()
    queries = data["queries"]
    del data["counterexamples"], data["simulations"]
    read = RunResult.from_json(data)
    assert read.simulations == queries and [row.actions for row in read.counterexamples] == [("a",)]


def test_what_a_campaign_adds_is_read_and_not_written():
    data = check(MACHINE, "G(out == y)", max_states=2, seed=1, out=None).as_json()
    data["requirements"][0]["expected"], data["category"], data["varies"] = "falsified", "correct", {"seed": 2}
    read = RunResult.from_json(data)
    assert (read.requirements[0].expected, read.category, read.varies) == ("falsified", "correct", {"seed": 2})
    assert not {"category", "varies"} & set(read.as_json())


def test_only_what_was_accepted_counts_as_accepted():
    row = {"requirement": "R1", "actions": ["on"], "rank": 1, "status": "confirmed"}
    data = {"outcome": "falsified", "seed": 1, "requirements": [{"id": "R1", "outcome": "falsified"}]}
    said = [RunResult.from_json({**data, "counterexamples": rows}).accepted("R1") for rows in (
        [], [row], [{**row, "accepted": "new"}, {**row, "accepted": "accepted"}])]  # fmt: skip
    assert said == [None, None, 1]
