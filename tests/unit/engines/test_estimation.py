"""Estimates by simulation against exact answers of chains; questions, methods, refusals."""

from __future__ import annotations

import math
from functools import cache

import pytest

from bbfalsify.chains import answer_csl, explore_chain
from bbfalsify.core.errors import UserError
from bbfalsify.core.seeds import SeedTree
from bbfalsify.engines.estimation.answered import Answered
from bbfalsify.engines.estimation.answering import Answering
from bbfalsify.engines.estimation.path_sampler import PathSampler
from bbfalsify.engines.estimation.questions import read_question
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.examples.chains import chain_file
from bbfalsify.modelling import Network, NetworkBuilder, load_network


@cache
def network(name: str, room: int = 10) -> Network:
    return load_network(chain_file(name), {"room": room} if name == "queue" else None)


def ask(model: Network, query: str, seed: int = 1, **settings: object) -> Answered:
    answering = Answering(model, EstimateSettings(**settings), lambda: True)
    return answering.answer(read_question(query, model), SeedTree(seed))


def timed() -> Network:
    """A delay uniform on [0, 4], then an exponential one: no chain."""
    b = NetworkBuilder("timed")
    b.declare("clock x; int[0,9] n = 0;")
    a = b.automaton("A")
    a.location("Wait", invariant="x <= 4")
    a.location("Done", exponential_rate=1)
    a.edge("Wait", "Done", action="go", update="n = 1")
    a.edge("Done", "Done", action="more", guard="n < 9", update="n++")
    return b.instance("A").build()


METHODS = ("sequence", "okamoto", "clopper_pearson", "wilson", "bayes")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_contains_the_exact_value(method: str):
    """H0: the 95 % interval covers; one fixed seed per method, so a false alarm is a failure for good (seen: none).

    A probability wrong by 0.02 lies outside an interval of half width 0.005 for every method.
    """
    found = ask(network("typist"), "Pr[<=10](<> Typist.Open)", method=method, confidence=0.99)
    assert found.estimate is not None and found.estimate.low <= 0.490728869 <= found.estimate.high
    assert found.estimate.high - found.estimate.low <= 0.0135 and found.runs == found.estimate.samples > 10_000


def test_a_chain_is_computed_where_there_is_one():
    found = ask(network("typist"), "Pr[<=10](<> Typist.Open)")
    assert found.runs == 0 and found.estimate is not None
    assert found.estimate.value == pytest.approx(0.490728869, rel=2e-9)


@pytest.mark.parametrize(
    ("query", "truth"),
    [
        ("Pr[<=1](<> A.Done)", 1 / 4),
        ("Pr[<=1]([] A.Wait)", 3 / 4),
        ("Pr[<=3](<> x >= 2 && A.Wait)", 1 / 2),
        ("Pr[<=9](A.Wait && x < 3 U A.Done)", 3 / 4),
        ("Pr[x<=1](<> A.Done)", 1 / 4),
        ("Pr[#<=0](<> A.Done)", 0.0),
        ("Pr[#<=1](<> A.Done)", 1.0),
        ("P=? [ A.Wait U<=3 A.Done ]", 3 / 4),
        ("P=? [ G<=1 !A.Done ]", 3 / 4),
    ],
)
def test_paths_of_a_model_that_is_no_chain(query: str, truth: float):
    """99.99 % intervals at one seed: a false alarm in nine has probability below 1e-3; errors of 0.02 are seen."""
    found = ask(timed(), query, confidence=0.9999, precision="0.01").estimate
    assert found is not None and found.low <= truth <= found.high and found.high - found.low <= 0.03


def test_verdicts():
    assert ask(timed(), "Pr[<=1](<> A.Done) >= 0.1").verdict is True
    assert ask(timed(), "Pr[<=1](<> A.Done) >= 0.5").verdict is False
    assert ask(timed(), "Pr[<=1]([] A.Wait) <= 0.5").verdict is False
    assert ask(timed(), "Pr[<=1](<> A.Done) >= 0.25", runs=1000).verdict is None
    assert ask(timed(), "Pr[<=1](<> A.Done) >= 0.1", method="sprt").verdict is True
    assert ask(timed(), "Pr[<=1](<> A.Done) <= 0.1", method="sprt").verdict is False
    assert ask(timed(), "Pr[<=2](<> A.Done) >= Pr[<=1](<> A.Done)").verdict is True


def test_a_sequential_test_needs_few_runs():
    assert ask(timed(), "Pr[<=1](<> A.Done) >= 0.5", method="sprt").runs < 2000


def test_an_expectation():
    """E[max n up to 4.5] ≥ 1; n counts 1 and then a Poisson number: mean 1 + E[(4.5 - U)] up to the cap of 9."""
    found = ask(timed(), "E[<=4; 20000](max: x)").estimate
    assert found is not None and found.value == pytest.approx(4.0, abs=1e-6)
    counted = ask(timed(), "E[<=4; 20000](max: n)").estimate
    assert counted is not None and counted.low - 0.05 <= 1 + 2.0 <= counted.high + 0.05


def passing() -> Network:
    """n is 7, then 0 before time passes; m is 9 for no time at all, at an exponential moment."""
    b = NetworkBuilder("passing")
    b.declare("clock x; int n = 7; int m = 0;")
    a = b.automaton("A")
    a.location("First", committed=True)
    a.location("Wait", exponential_rate=1)
    a.location("Passing", committed=True)
    a.location("Done")
    a.edge("First", "Wait", action="zero", update="n = 0")
    a.edge("Wait", "Passing", action="go", update="m = 9")
    a.edge("Passing", "Done", action="end", update="m = 1")
    return b.instance("A").build()


def test_expectations_and_simulations_see_what_lasts_no_time():
    assert ask(passing(), "E[<=1; 50](max: n)").estimate.value == 7
    reached = ask(passing(), "E[<=1; 4000](max: m)", confidence=0.9999).estimate
    assert reached.low <= 9 * (1 - math.exp(-1)) <= reached.high and reached.high - reached.low < 0.6
    shown = ask(passing(), "simulate [<=50; 1] {n, m}").trajectories["runs"][0]["values"]
    assert shown["n"][:4] == [7, 7, 0, 0] and {0, 9, 1} == set(shown["m"])


def test_an_expectation_sees_within_states():
    """x (5 - x) is largest, 6.25, in the middle of the one state; 31 moments within it come as close as 0.001."""
    value = ask(passing(), "E[<=5; 20](max: x * (5 - x))").estimate.value
    assert 6.2 < value <= 6.25


def test_an_expectation_of_one_value_warns():
    assert "all 50 runs have the same value" in ask(passing(), "E[<=1; 50](max: n)").warnings[0]


@pytest.mark.parametrize("query", ["E[<=9; 5](max: n)", "simulate [<=9; 2] {n}"])
def test_runs_that_are_cut_are_no_values(query: str):
    with pytest.raises(
        UserError, match="a run made 3 steps up to time .* was to last until 9; allow more with --steps"
    ):
        ask(timed(), query, steps=3)


def test_an_endless_loop_without_delay_is_named_at_once():
    b = NetworkBuilder("loop")
    a = b.automaton("A")
    a.location("Wait", exponential_rate=1)
    a.location("Loop", committed=True)
    a.location("Done")
    a.edge("Wait", "Loop", action="go")
    a.edge("Loop", "Loop", action="again")
    a.edge("Wait", "Done", action="end")
    model = b.instance("A").build()
    for method in ("sequence", "importance"):
        with pytest.raises(UserError, match="a run made 20000 steps, .* an endless loop without delay"):
            ask(model, "Pr[<=10](<> A.Done)", method=method, steps=20_000)


def test_simulated_runs():
    shown = ask(timed(), "simulate [<=4; 3] {n, x}").trajectories
    assert shown is not None and len(shown["runs"]) == 3 and shown["expressions"] == ["n", "x"]
    assert all(run["times"][0] == 0 and run["times"][-1] == 4 for run in shown["runs"])


def test_a_goal_that_is_never_met_takes_no_endless_training(monkeypatch):
    """Runs get more time until a tenth of them meets the goal: here none ever does, at 3.3 steps per unit of time."""
    steps, plainly = [], PathSampler.runs
    monkeypatch.setattr(PathSampler, "runs", lambda *a, **k: [made := plainly(*a, **k), steps.append(made.steps)][0])
    found = ask(network("queue"), "P=? [ F<=5 waiting < 0 ]", method="importance", runs=30_000)
    assert found.estimate is not None and found.estimate.none_seen and max(steps) < 4_000_000


def test_auto_answers_where_nothing_is_random():
    """A deadlock at the beginning: importance sampling, with which auto goes on, has nothing to tilt."""
    b = NetworkBuilder("stuck")
    b.declare("int[0,1] n = 0;")
    a = b.automaton("A")
    a.location("Wait", exponential_rate=1)
    a.edge("Wait", "Wait", action="go", guard="n > 0", update="n = 1")
    model, compared = b.instance("A").build(), "Pr[<=1](<> n == 1) >= Pr[<=2](<> n == 1)"
    exact = ask(model, compared)
    assert exact.verdict is True and exact.estimate is not None and exact.estimate.low == exact.estimate.high == 0
    found = ask(model, "Pr[#<=1](<> n == 1) >= Pr[#<=2](<> n == 1)", runs=1000, confidence=0.99)
    assert found.estimate is not None and found.estimate.low < found.estimate.value == 0 < found.estimate.high


def test_no_hit_is_an_upper_bound_with_a_warning():
    found = ask(network("queue", 30), "P=? [ F<=10 waiting == room ]", method="sequence", runs=2000)
    assert found.estimate is not None and found.estimate.low == found.estimate.value == 0 < found.estimate.high
    assert found.estimate.none_seen and any("upper limit" in warning for warning in found.warnings)


def test_splitting_finds_what_plain_simulation_does_not():
    """Overflow of a queue of 20 within 100: 4.0e-5.  A 99.9 % interval over 20 passes; off by half is seen always."""
    model = network("queue", 20)
    exact = answer_csl(explore_chain(model), "P=? [ F<=100 waiting == room ]").value
    found = ask(model, "P=? [ F<=100 waiting == room ]", method="splitting", score="waiting", particles=500,
                confidence=0.999).estimate  # fmt: skip
    assert exact is not None and found is not None and found.low <= exact <= found.high < 2 * exact


def test_a_score_that_never_rises_is_named():
    found = ask(network("queue", 30), "P=? [ F<=10 waiting == room ]", method="splitting", score="0 - waiting")
    assert any("does the score rise" in warning for warning in found.warnings)


def test_same_seed_same_result():
    one, two = (ask(timed(), "Pr[<=1](<> A.Done)", seed=3) for _ in range(2))
    assert one.estimate == two.estimate != ask(timed(), "Pr[<=1](<> A.Done)", seed=4).estimate


@pytest.mark.parametrize(
    ("query", "settings", "says"),
    [
        ("P=? [ F A.Done ]", {}, "it needs a chain"),
        ("S=? [ A.Done ]", {}, "location 'A.Wait' has an invariant over clocks"),
        ("Pr[<=1](<> A.Done)", {"method": "chain"}, "has an invariant over clocks"),
        ("P=? [ F<=1 A.Dune ]", {}, "Did you mean 'Done'"),
        ("E<> A.Done", {}, "'bbfalsify reach' answers it"),
        ("P=? [ F[3,1] A.Done ]", {}, r"the interval \[3, 1\] is empty"),
        ("P>=2 [ F<=1 A.Done ]", {}, "between 0 and 1"),
    ],
)
def test_refusals(query: str, settings: dict, says: str):
    with pytest.raises(UserError, match=says):
        ask(timed(), query, **settings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"precision": "often"}, "must be a number between 0 and 1"),
        ({"precision": "relative 0.1", "method": "wilson"}, "cannot be relative"),
        ({"method": "splitting"}, "score"),
        ({"horizon": 3.0, "method": "chain"}, "is for models"),
    ],
)
def test_settings_that_do_not_go_together(settings: dict, says: str):
    with pytest.raises(UserError, match=says):
        EstimateSettings(**settings)


def test_relative_precision():
    found = ask(timed(), "Pr[<=1](<> A.Done)", precision="relative 0.05").estimate
    assert found is not None and (found.high - found.low) / 2 <= 0.05 * found.value
    assert math.isclose(EstimateSettings(precision="relative 0.05").relative or 0, 0.05)


@pytest.mark.parametrize(("query", "value"), [("Pr[<=2](<> false)", 0.0), ("Pr[<=2]([] true)", 1.0)])
def test_a_goal_that_is_never_met_is_not_met(query: str, value: float):
    found = ask(network("queue", 3), query, method="sequence", runs=200).estimate
    assert found is not None and found.value == value and found.low <= value <= found.high
