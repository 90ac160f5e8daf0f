"""Simulations of stepwise systems end soon after their violation, and nothing that is reported changes."""

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus, Verdict
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.running import Driver, Execution, RequirementsJudge
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import Capabilities, CapabilityMissing, Port, StepwiseSession
from tests import heater
from tests.unit.running.test_resume import named

OPTIONS = Options(counterexamples=4, simulations=220, passes=2, traces=20)


def requirements(*formulas):
    found = [parse_stl(stl, signals=["T", "heat"]) for stl in formulas or ["always[0:20](T <= 75)"]]
    return [Requirement(f"R{i}", "", formula) for i, formula in enumerate(found, start=1)]


class SteppedHeater:
    """The heater, step by step; it counts the steps of each use in a file."""

    name = "heater"
    inputs, outputs = (Port("heat", "1"),), (Port("T", "degC"),)
    capabilities = Capabilities(stepwise=True)

    def __init__(self, file):
        self.file = file

    def open(self, seed):
        return HeaterSession(self.file)

    @property
    def steps(self):
        return [int(line) for line in self.file.read_text().split()]


class HeaterSession(StepwiseSession):
    def __init__(self, file):
        self.file, self.temperature, self.steps = file, 0.0, 0

    def observe(self):
        return {"T": self.temperature}

    def step(self, inputs, duration_s):
        target = 100.0 * inputs["heat"]
        self.temperature = target + (self.temperature - target) * float(np.exp(duration_s / -10.0))
        self.steps += 1

    def __exit__(self, *exception):
        with self.file.open("a") as file:
            file.write(f"{self.steps}\n")


def stimulus(heat, samples=161):
    times = np.linspace(0.0, 20.0, samples)
    return Stimulus(times, {"heat": np.full(samples, float(heat))})


def ask(system, queries, found=None, early_stop=True):
    judge = RequirementsJudge(found or requirements())
    with Driver(system, judge, Execution(early_stop=early_stop)) as driver:
        return driver.ask(queries)


def test_the_rest_is_not_executed(tmp_path):
    """It is violated after 10 ln 4 = 13.86 of 20 seconds: within a sixteenth of the samples it has to stop."""
    system = SteppedHeater(tmp_path / "steps")
    hot, cold, kept = ask(system, [Query("a", stimulus(1)), Query("b", stimulus(0)), Query("c", stimulus(1), True)])
    assert system.steps[1:] == [160, 160]  # nothing is violated; the whole trace is wanted
    assert 111 <= system.steps[0] <= 111 + 11
    [judgement], [whole] = hot.judgements, kept.judgements
    assert (judgement.verdict, judgement.first_violation_time) == (Verdict.VIOLATED, whole.first_violation_time)
    assert whole.robustness < judgement.robustness < 0
    assert len(kept.trace.times) == 161 and cold.judgements[0].verdict is Verdict.SATISFIED


def test_it_goes_on_until_all_requirements_are_violated(tmp_path):
    system = SteppedHeater(tmp_path / "steps")
    queries = [Query("a", stimulus(1))]
    ask(system, queries, requirements("always[0:20](T <= 20)", "always[0:20](T <= 75)"))
    ask(system, queries, requirements("always[0:20](T <= 20)", "always[0:20](T <= 95)"))
    ask(system, queries, requirements("always[0:20](T <= 20)", "eventually[0:5](T >= 60)"))
    assert 111 <= system.steps[0] <= 122 and system.steps[1] == 160 and 41 <= system.steps[2] <= 51


def test_short_traces_and_failures(tmp_path):
    class Broken(HeaterSession):
        def observe(self):
            return {"T": np.nan if self.steps > 30 else self.temperature}

    system = SteppedHeater(tmp_path / "steps")
    [one] = ask(system, [Query("a", stimulus(1, 2))])
    assert one.judgements[0].verdict is Verdict.VIOLATED and system.steps == [1]
    system.open = lambda seed: Broken(system.file)
    [broken] = ask(system, [Query("a", stimulus(1))])
    assert broken.status is SimulationStatus.MALFORMED and "expected finite numbers" in broken.message


def test_a_session_that_ends_by_itself_is_malformed(tmp_path):
    class Short(HeaterSession):
        def execute_until(self, stimulus, enough, *, every):
            return {"T": np.zeros(5)}

    system = SteppedHeater(tmp_path / "steps")
    system.open = lambda seed: Short(system.file)
    [answer] = ask(system, [Query("a", stimulus(1))])
    assert answer.status is SimulationStatus.MALFORMED and "expected 161 numbers" in answer.message


def test_a_whole_falsification_is_the_same(tmp_path):
    """Findings, times, probabilities and files, also the robustness: it is that of the confirming simulations."""
    system = SteppedHeater(tmp_path / "steps")
    results = [
        falsify(system, heater.profile(), requirements(), horizon=20.0, seed=1, options=OPTIONS, early_stop=stop,
                out=tmp_path / str(stop))
        for stop in (False, True)
    ]  # fmt: skip
    rows = [[named(row) for row in r.as_json()["counterexamples"]] for r in results]
    assert rows[0] == rows[1] and len(rows[0]) >= 3
    whole, stopped = (sum(system.steps[: len(system.steps) // 2]), sum(system.steps[len(system.steps) // 2 :]))
    assert stopped < whole
    for one, other in zip(*(r.counterexamples for r in results), strict=True):
        assert Counterexample.read(one.file) == Counterexample.read(other.file)
        assert replay(other.file, system).outcome is ReplayOutcome.SAME


def test_only_a_stepwise_system_can_be_stopped():
    with pytest.raises(CapabilityMissing, match="stopping a simulation early needs the capability 'stepwise'"):
        ask(heater_system, [])
