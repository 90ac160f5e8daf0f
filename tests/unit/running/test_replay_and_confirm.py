"""Confirming findings and replaying files, with real monitors and real workers."""

import dataclasses

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Query
from bbfalsify.core.seeds import SeedTree
from bbfalsify.core.trace import Stimulus, Trace
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.counterexample import (
    Counterexample,
    RequirementRecord,
    SeedRecord,
    SystemRecord,
    signals_as_samples,
)
from bbfalsify.running import Driver, ReplayOutcome, RequirementsJudge
from bbfalsify.running.confirm import confirm
from bbfalsify.running.judge import on_grid
from bbfalsify.running.replay import replay
from bbfalsify.systems import FunctionSystem, load_system

STL = "always[0:20](T <= 75)"
TIMES = np.linspace(0.0, 20.0, 101)
ALWAYS_ON = Stimulus(TIMES, {"heat": np.ones(101)}, ((0.0, "on"),))


@pytest.fixture
def heater():
    return load_system("bbfalsify.examples.heater.system:heater")


def requirements():
    return RequirementsJudge([Requirement("R1", "never above 75", parse_stl(STL, signals=["T", "heat"]))])


def like_heater(function):
    return FunctionSystem(function, inputs=["heat"], outputs=["T"], name="changed heater")


def weaker(factor):
    heater = load_system("bbfalsify.examples.heater.system:heater")
    return like_heater(lambda s: {"T": factor * heater(s)["T"]})


def sometimes(threshold):
    """Violates with a probability given by the threshold, decided by the seed alone."""

    def system(stimulus, seed):
        hot = np.random.default_rng(seed).random() < threshold
        return {"T": np.full(len(stimulus.times), 100.0 if hot else 0.0)}

    return like_heater(system)


@pytest.fixture
def found(heater):
    """A counterexample as a run writes it."""
    with Driver(heater, requirements()) as driver:
        query = Query("search/1", ALWAYS_ON, keep_trace=True)
        [answer] = driver.ask([query])
        confirmation = confirm(driver.rerun, query, 0, answer.judgements[0])
    outputs = {"T": answer.trace.signals["T"]}
    return Counterexample(
        requirement=RequirementRecord("R1", "never above 75", STL),
        horizon=20.0,
        actions=("on",),
        word=((0.0, "on"),),
        times=tuple(TIMES.tolist()),
        inputs=signals_as_samples(ALWAYS_ON.inputs),
        outputs=signals_as_samples(outputs),
        judgement=answer.judgements[0],
        status=confirmation.status,
        reproduced=confirmation.reproduced,
        tries=confirmation.tries,
        seed=SeedRecord(0, "search/1"),
        system=SystemRecord("bbfalsify.examples.heater.system:heater"),
        versions={},
    )


def test_a_deterministic_system_is_confirmed(found):
    assert (found.status, found.reproduced, found.tries) == ("confirmed", 3, 3)
    # 100 (1 - exp(-t/10)) passes 75 at 13.863; the first sample beyond it is at 14.
    assert found.judgement.first_violation_time == pytest.approx(14.0)


def test_the_same_system_gives_the_same_from_the_file_alone(found, tmp_path):
    file = tmp_path / "c.json"
    found.write(file)
    result = replay(file)
    assert (result.outcome, result.reproduced, result.tries) == (ReplayOutcome.SAME, 3, 3)
    assert result.largest_difference == 0.0 and result.rate == 1.0


def test_a_repaired_system_is_fixed(found):
    result = replay(found, weaker(0.8))
    assert (result.outcome, result.reproduced) == (ReplayOutcome.FIXED, 0)
    assert result.largest_difference == pytest.approx(0.2 * 100 * (1 - np.exp(-2)))


def test_a_system_that_violates_later_has_changed(found):
    result = replay(found, weaker(0.95))
    assert result.outcome is ReplayOutcome.CHANGED and result.explanation == "violated, but at another moment"


def test_a_system_that_fails_now_has_changed(found):
    def broken(stimulus):
        raise OSError("unplugged")

    result = replay(found, like_heater(broken))
    assert result.outcome is ReplayOutcome.CHANGED and "OSError: unplugged" in result.explanation


def test_a_trace_that_got_too_short_to_judge_has_changed(found):
    """The requirement of the file looks further than its signals go."""
    longer = dataclasses.replace(found, requirement=RequirementRecord("R1", "", "always[0:30](T <= 200)"))
    result = replay(longer)
    assert result.outcome is ReplayOutcome.CHANGED and "inconclusive" in result.explanation


def count_of_violations(root, tries):
    judge = requirements()
    with Driver(sometimes(0.5), judge, seeds=SeedTree(root)) as driver:
        return sum(bool(a.violated) for a in driver.ask([Query(f"q/{i}", ALWAYS_ON) for i in range(tries)]))


def test_a_seedable_system_repeats_what_its_seed_decided():
    """With probability one half per simulation: repeating a finding repeats its seed, so it is confirmed."""
    assert 0 < count_of_violations(3, 20) < 20
    with Driver(sometimes(0.5), requirements(), seeds=SeedTree(3)) as driver:
        queries = [Query(f"q/{i}", ALWAYS_ON) for i in range(20)]
        answers = driver.ask(queries)
        hits = [i for i, answer in enumerate(answers) if answer.violated]
        confirmations = [confirm(driver.rerun, queries[i], 0, answers[i].judgements[0]) for i in hits]
    assert all(c.status == "confirmed" for c in confirmations)


def alternating(tmp_path):
    """A system with a hidden memory: it violates at every second use."""
    memory = tmp_path / "uses"

    def system(stimulus):
        uses = int(memory.read_text()) if memory.exists() else 0
        memory.write_text(str(uses + 1))
        return {"T": np.full(len(stimulus.times), 100.0 if uses % 2 == 0 else 0.0)}

    return like_heater(system)


def test_what_does_not_reproduce_is_flaky_with_its_rate(tmp_path):
    with Driver(alternating(tmp_path), requirements()) as driver:
        query = Query("q", ALWAYS_ON)
        [answer] = driver.ask([query])
        confirmation = confirm(driver.rerun, query, 0, answer.judgements[0], tries=5)
    assert (confirmation.status, confirmation.reproduced, confirmation.tries) == ("flaky", 2, 5)
    assert confirmation.trace.signals["T"][0] == 100.0


def test_a_violation_at_ever_other_moments_is_flaky_though_it_always_happens(tmp_path):
    memory = tmp_path / "uses"

    def drifting(stimulus):
        uses = int(memory.read_text()) if memory.exists() else 0
        memory.write_text(str(uses + 1))
        return {"T": np.where(stimulus.times >= 5 + uses, 100.0, 0.0)}

    with Driver(like_heater(drifting), requirements()) as driver:
        query = Query("q", ALWAYS_ON)
        [answer] = driver.ask([query])
        confirmation = confirm(driver.rerun, query, 0, answer.judgements[0])
    assert (confirmation.status, confirmation.reproduced, confirmation.same_moment) == ("flaky", 3, False)


def test_replaying_flakiness(found, tmp_path):
    result = replay(found, alternating(tmp_path), tries=4)
    assert result.outcome is ReplayOutcome.CHANGED and result.explanation == "violated in only 2 of 4 tries"
    flaky = dataclasses.replace(found, status="flaky", reproduced=1)
    result = replay(flaky, alternating(tmp_path))
    assert (result.outcome, result.reproduced, result.tries) == (ReplayOutcome.SAME, 5, 10)


def test_a_crash_that_counts_as_a_violation_is_replayed_as_a_crash(found):
    def crashes(stimulus):
        raise ZeroDivisionError

    crash = dataclasses.replace(found, simulation=SimulationStatus.RAISED, outputs={})
    assert replay(crash, like_heater(crashes)).outcome is ReplayOutcome.SAME
    assert replay(crash, weaker(0.5)).outcome is ReplayOutcome.FIXED
    result = replay(crash, weaker(1.0))
    assert result.outcome is ReplayOutcome.CHANGED and "but it violates the requirement" in result.explanation


def test_a_crash_whose_input_ends_with_it_is_fixed_once_it_does_not_come(found):
    """The input of a failing simulation is cut there, so `always[0:20]` stays open: that said CHANGED."""
    half = len(found.times) // 2
    inputs = {name: values[:half] for name, values in found.inputs.items()}
    cut = dataclasses.replace(found, times=found.times[:half], inputs=inputs, outputs={})
    assert replay(cut, weaker(0.5)).outcome is ReplayOutcome.CHANGED, "a violation may come after the end"
    result = replay(dataclasses.replace(cut, simulation=SimulationStatus.RAISED), weaker(0.5))
    assert result.outcome is ReplayOutcome.FIXED
    assert result.explanation == "the simulation does not fail any more, and the requirement is not violated any more"


def test_a_file_for_another_system_is_refused(found):
    other = FunctionSystem(lambda s: {}, inputs=["valve"], outputs=["T", "p"], name="pump")
    with pytest.raises(UserError) as error:
        replay(found, other)
    assert "inputs heat; the system 'pump' has valve" in str(error.value)
    assert "outputs T; the system 'pump' has T, p" in str(
        error.value
    ) or "outputs T; the system 'pump' has p, T" in str(error.value)


def test_a_system_that_cannot_be_found_is_said_with_its_reference(found):
    lost = dataclasses.replace(found, system=SystemRecord("adapters/heatr", "nowhere"))
    with pytest.raises(UserError, match="no system 'adapters/heatr'"):
        replay(lost)


def test_the_reference_is_looked_up_beside_the_file_too(found, tmp_path):
    (tmp_path / "box.py").write_text("from bbfalsify.examples.heater.system import heater\n")
    file = tmp_path / "c.json"
    dataclasses.replace(found, system=SystemRecord("box.py", "/no/such/folder")).write(file)
    assert replay(file).outcome is ReplayOutcome.SAME


# ---------------------------------------------------------------------------- judging


def test_discrete_time_sees_multiples_of_the_period_only():
    times = np.array([0.0, 0.5, 1.0, 1.2, 2.0, 3.0])
    grid, signals = on_grid(Trace(times, {"x": np.array([0.0, 1.0, 2.0, 9.0, 4.0, 5.0])}), 1.0)
    assert (grid.tolist(), signals["x"].tolist()) == ([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, 5.0])
    formula = parse_stl("always[0:3](x <= 5)", signals=["x"])
    judge = RequirementsJudge([Requirement("D", "", formula, "discrete", 1.0), Requirement("C", "", formula)])
    judge.warm_up()
    discrete, dense = judge(Trace(times, {"x": np.array([0.0, 1.0, 2.0, 9.0, 4.0, 5.0])}))
    assert (discrete.verdict, dense.verdict) == (Verdict.SATISFIED, Verdict.VIOLATED)


def test_a_grid_that_is_a_rounding_error_away_is_met():
    times = np.arange(11) * 0.1
    _, signals = on_grid(Trace(times, {"x": np.arange(11.0)}), 0.1)
    assert signals["x"].tolist() == list(range(11))
    _, signals = on_grid(Trace(np.cumsum(np.full(11, 0.1)) - 0.1, {"x": np.arange(11.0)}), 0.1)
    assert signals["x"].tolist() == list(range(11))


def test_a_requirement_that_does_not_fit_the_system_is_the_users_to_correct(heater):
    judge = RequirementsJudge([Requirement("R", "", parse_stl("always(p <= 1)", signals=None))])
    with pytest.raises(UserError, match="'p'"):
        with Driver(heater, judge) as driver:
            driver.ask([Query("q", ALWAYS_ON)])


def test_judgements_survive_the_journey(heater):
    """What comes back from a worker is what the monitor says here."""
    judge = requirements()
    with Driver(heater, judge) as driver:
        [answer] = driver.ask([Query("q", ALWAYS_ON, keep_trace=True)])
    assert answer.judgements == judge(answer.trace)
    assert isinstance(answer.judgements[0], Judgement)
