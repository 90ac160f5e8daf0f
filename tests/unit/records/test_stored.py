"""Results are written and read by the same dataclass: nothing is lost on the way, and older files are still read."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bbfalsify import check
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Outcome, StopReason
from bbfalsify.examples.models import named_model
from bbfalsify.records.recording import Recording
from bbfalsify.records.stored import Stored, member
from bbfalsify.results.check_result import CheckResult
from bbfalsify.results.falsify_result import FalsificationResult, RankedCounterexample
from bbfalsify.results.reach_result import QueryResult, ReachResult
from bbfalsify.results.recorded import result_from_json
from tests.unit.reporting.test_insights import rich_results
from tests.unit.reporting.test_tables import estimate, results


@dataclass(frozen=True, kw_only=True)
class Inner(Stored):
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outer(Stored):
    number: float
    outcome: Outcome = Outcome.ERROR
    place: Path | None = None
    parts: tuple[Inner, ...] = ()
    columns: dict[str, Estimate] = member("estimates", default_factory=dict)
    live: list[int] = member(None, default_factory=list)
    expected: str | None = member("expected", written=False, default=None)
    plain: dict[str, int] = field(default_factory=dict)


def stored(value: Stored) -> dict:
    """As it comes back from a file."""
    return json.loads(json.dumps(value.as_json(), allow_nan=False))


def test_a_dataclass_comes_back_as_it_was():
    one = Estimate(0.1, 0.0, 0.2, 0.95, "m", 9)
    outer = Outer(number=1.5, outcome=Outcome.REACHED, place=Path("runs/x"), parts=(Inner(words=("a", "b")),),
                  columns={"d6": one}, plain={"n": 1})  # fmt: skip
    data = stored(outer)
    assert data["outcome"] == "reached" and data["place"] == "runs/x" and "live" not in data and "expected" not in data
    assert Outer.from_json(data) == outer
    assert Outer.from_json({**data, "expected": "falsified", "unknown": 1}).expected == "falsified"


def test_missing_members_take_defaults_and_numbers_that_are_none_are_nan():
    assert Outer.from_json({"number": 2}) == Outer(number=2.0)
    assert math.isnan(Outer.from_json({"number": None}).number) and Outer(number=math.inf).as_json()["number"] is None
    assert Outer.from_json({"number": 1, "outcome": "word of a newer version"}).outcome == "word of a newer version"
    with pytest.raises(KeyError, match="number"):
        Outer.from_json({})


def test_a_falsification_with_everything_in_it_comes_back():
    data = rich_results()
    data |= {"store": "store", "columns": ["d6"], "units": {"T": "degC"}, "iterations": 3, "notes": ["n"]}
    data["known"] = [{"requirement": "R1", "actions": ["on"], "outcome": "same", "before": "open", "explanation": "e",
                      "reproduced": 3, "tries": 3, "file": "f"}]  # fmt: skip
    data["acceptance"] = {"file": "a.yaml", "all_accepted": False, "accepted": 1, "not_accepted": 1,
                          "unmet": [{"requirement": "R1", "actions": ["on"], "line": 4, "mode": None}]}  # fmt: skip
    first = data["requirements"][0]
    first["smc"] = {"probability": estimate(0.1), "met": [{"actions": ["on"], "times": 2}], "never_met": [["off"]]}
    first["convergence"] = [{"simulations": 8, "words": 1, "mass": 0.5}]
    data["counterexamples"][0]["shrunk"] = {
        "same_as": 1, "actions": ["on"], "settled": True, "simulations": 9, "status": "confirmed", "file": None,
        "probability": estimate(1e-3), "probability_with_uncertainty": None, "delay_quantiles": [0.5],
    }  # fmt: skip
    result = FalsificationResult.from_json(data)
    written = stored(result)
    for key in data.keys() - {"requirements", "counterexamples", "seconds"}:
        assert written[key] == data[key], key
    for row, back in zip(data["requirements"] + data["counterexamples"],
                         written["requirements"] + written["counterexamples"], strict=True):  # fmt: skip
        plain = {key: value for key, value in row.items() if key not in ("expected", "smc", "shrunk")}
        assert plain.items() <= back.items()
    assert stored(FalsificationResult.from_json(written)) == written
    assert result.requirements[0].baseline.met == ((("on",), 2),) and result.accepted("R1") is None
    assert result.counterexamples[0].shrunk.actions == ("on",) and result.stop_reason is StopReason.COMPLETED


def test_a_check_comes_back_without_its_machine():
    machine = MealyMachine.from_transitions({("s", "a"): ("t", "x"), ("t", "a"): ("s", "y")}, "s")
    result = check(machine, ["G(out == y)", "F(out == y)"], max_states=2, seed=1, out=None)
    back = CheckResult.from_json(stored(result))
    assert back.machine is None and back.states == 2 and back.outcome is result.outcome
    assert back.requirements == result.requirements and stored(back) == stored(result)
    assert back["R1"].steps == "a/x"


def test_a_search_for_states_comes_back(tmp_path):
    from bbfalsify.engines.reachability.settings import ReachSettings
    from bbfalsify.running.query_run import Question, answer_all
    from bbfalsify.running.reach.reach_run import ReachRun

    network, family = named_model("fischer-faulty:4")
    questions = [Question("Q1", "", family.query), Question("Q2", "never", "E<> false")]
    settings = ReachSettings(timeout=None, walks=11)
    result = answer_all(
        ReachRun, network, questions, about={}, settings=settings, seed=1, recording=Recording(tmp_path)
    )
    assert result.requirements[0].improvements and result.outcome is Outcome.FALSIFIED
    back = ReachResult.from_json(json.loads((result.directory / "results.json").read_text()))
    assert stored(back) == stored(result) and back.requirements == result.requirements


def test_a_query_that_is_not_searched_has_a_row(tmp_path):
    from bbfalsify.core.budget import Budget
    from bbfalsify.engines.reachability.settings import ReachSettings
    from bbfalsify.running.query_run import Question, answer_all
    from bbfalsify.running.reach.reach_run import ReachRun

    network, _ = named_model("fischer-faulty:4")
    never = [Question("Q2", "never", "E<> false")]
    how = {"settings": ReachSettings(), "budget": Budget(seconds=1e-9), "seed": 1, "recording": Recording(tmp_path)}
    result = answer_all(ReachRun, network, never, about={}, **how)
    assert result.stop_reason is StopReason.BUDGET_TIME
    assert result.requirements == (
        QueryResult(id="Q2", text="never", query="E<> false", in_words="E<> false: not searched to the end"),
    )


@pytest.mark.parametrize("kind", [FalsificationResult, CheckResult, ReachResult])
@pytest.mark.parametrize("data", [{}, {"requirements": 3}, [], {**results(), "requirements": [{"id": "R1"}]}])
def test_something_else_is_refused_in_one_sentence(kind, data):
    with pytest.raises(UserError, match="not the results of a run"):
        result_from_json(kind, data, file="results.json")


def test_the_estimate_shown_is_the_widest():
    row = results()["counterexamples"][0]
    wide = {**estimate(2e-3), "high": 1.0}
    assert RankedCounterexample.from_json({**row, "probability_with_uncertainty": wide}).shown.high == 1.0
    assert RankedCounterexample.from_json(row).share == pytest.approx(0.082)
