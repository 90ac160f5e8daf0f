"""Continuous systems checked as finite machines, and violations ranked by use."""

import math

import numpy as np
import pytest

from bbfalsify import UserError, load_profile, system
from bbfalsify.automata.mealy import MealyMachine
from bbfalsify.examples import example_folder
from bbfalsify.modelling import parse_network
from bbfalsify.records.word_counterexample import WordCounterexample
from bbfalsify.results.check_result import CheckVerdict
from bbfalsify.running.check.check import check
from bbfalsify.running.check.replay_word import replay_word
from bbfalsify.running.replay import ReplayOutcome
from bbfalsify.systems import Capabilities, Port
from bbfalsify.systems.interface import StepwiseSession
from bbfalsify.systems.sampled import RepeatedSession, SampledSystem, SteppedSession

ON_OFF = {"on": {"heat": 1.0}, "off": {"heat": 0.0}}


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def heater(stimulus):
    temperature, temperatures = 0.0, [0.0]
    for heat, duration in zip(stimulus.inputs["heat"], np.diff(stimulus.times), strict=False):
        temperature = 100 * heat + (temperature - 100 * heat) * np.exp(-duration / 10)
        temperatures.append(temperature)
    return {"T": temperatures}


class SteppedHeater:
    name, inputs, outputs = "heater", (Port("heat", "1"),), (Port("T", "degC"),)
    capabilities = Capabilities(stepwise=True)

    class Session(StepwiseSession):
        def __init__(self):
            self.temperature = 0.0

        def observe(self):
            return {"T": self.temperature}

        def step(self, inputs, duration_s):
            target = 100 * inputs["heat"]
            self.temperature = target + (self.temperature - target) * math.exp(-duration_s / 10)

    def open(self, seed):
        return self.Session()


def test_steps_and_repeated_simulations_answer_alike():
    word = ("on", "off", "on", "on", "off", "on")
    answers = []
    for box, kind in ((heater, RepeatedSession), (SteppedHeater(), SteppedSession)):
        with SampledSystem(box, ON_OFF, 2.0, lambda values: f"{values['T']:.6f}/{values['heat']:g}").open(0) as session:
            assert isinstance(session, kind)
            answers.append([session.step(symbol) for symbol in word])
    assert answers[0] == answers[1] and answers[0][0] == f"{100 * (1 - math.exp(-0.2)):.6f}/1"


def test_a_violation_on_samples_with_its_probability_under_the_profile(tmp_path):
    """After k periods of 4 the heater is at 100 (1 - exp(-0.4 k)): above 75 from k = 4 on.  P(on) is 1/4 per action."""
    profile = load_profile(example_folder("heater") / "profile.yaml")
    result = check(
        heater, "always(T <= 75)", symbols=ON_OFF, period=4.0, profile=profile, max_symbols=3000, seed=1, out=tmp_path
    )
    [row] = result.requirements
    assert row.verdict is CheckVerdict.VIOLATED and row.prefix == ("on",) * 4
    assert row.probability.value == pytest.approx(1 / 256) and row.probability.method == "exact product"
    assert any("not seen" in note for note in result.notes) and any("not their times" in note for note in result.notes)
    file = WordCounterexample.read(row.file)
    assert file.probability == row.probability
    assert replay_word(file, heater).outcome is ReplayOutcome.SAME


def test_a_requirement_that_the_samples_keep():
    result = check(heater, "always(T <= 75)", symbols={"off": {"heat": 0.0}}, period=4.0, max_states=2)
    assert result.requirements[0].verdict is CheckVerdict.SATISFIED_UP_TO_BOUND


def test_a_profile_with_other_actions_gives_no_probability_and_says_why():
    machine = MealyMachine.from_transitions({("s", "a"): ("s", "no"), ("s", "b"): ("s", "ok")}, "s")
    model = (
        "format_version: 1\nname: users\nautomata:\n  U:\n    declarations: clock x;\n    initial: S\n"
        "    locations: {S: {invariant: x <= 1}}\n    edges:\n"
        "      - {from: S, to: S, action: a, update: x = 0}\n      - {from: S, to: S, action: %s, update: x = 0}\n"
    )
    known = check(machine, "G(out != no)", max_states=1, profile=parse_network(model % "b"))
    assert known.requirements[0].probability.value == pytest.approx(0.5)
    foreign = check(machine, "G(out != no)", max_states=1, profile=parse_network(model % "c"))
    assert foreign.requirements[0].probability is None
    assert any("does not take (c)" in note for note in foreign.notes)
    loop = check(machine, "G F out == ok", max_states=1, profile=parse_network(model % "b"))
    assert loop.requirements[0].loop and any("one round" in note for note in loop.notes)


def test_wrong_symbols_are_all_named():
    with pytest.raises(UserError) as wrong:
        check(heater, "always(T <= 75)", symbols={"on": {"heta": 1.0}, "off": {}}, period=0.0, max_states=2)
    text = str(wrong.value)
    assert "period" in text
    with pytest.raises(UserError) as wrong:
        check(heater, "always(T <= 75)", symbols={"on": {"heta": 1.0}, "off": {}}, period=1.0, max_states=2)
    assert "Did you mean 'heat'?" in str(wrong.value) and "'off' does not say the value of heat" in str(wrong.value)
    with pytest.raises(UserError, match="both symbols and a period"):
        check(heater, "always(T <= 75)", symbols=ON_OFF, max_states=2)
