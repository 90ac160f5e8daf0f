"""Counterexample files: what is written is read back, and what is wrong is named."""

import json
import math

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.estimate import Estimate
from bbfalsify.core.verdict import Judgement, SimulationStatus, Verdict
from bbfalsify.records.counterexample import Counterexample, RequirementRecord, SeedRecord, SystemRecord


def example(**changes):
    facts = dict(
        requirement=RequirementRecord("R1", "never above 75", "always[0:2](T <= 75)"),
        horizon=2.0,
        actions=("on", "off"),
        word=((0.5, "on"), (2.5, "off"), (3.0, "on")),
        times=(0.0, 0.1 + 0.2, 0.5, 2.0),
        inputs={"heat": (0.0, 0.0, 1.0, 1.0)},
        outputs={"T": (0.0, 1.0, 2.0, 80.0)},
        judgement=Judgement(Verdict.VIOLATED, -5.0, 1.75),
        status="confirmed",
        reproduced=3,
        tries=3,
        seed=SeedRecord(7, "search/12"),
        system=SystemRecord("adapters/heater", "/somewhere", "abc"),
        versions={"bbfalsify": "0.1.0"},
        probability=Estimate(1e-4, 5e-5, 2e-4, 0.95, "splitting", 1000),
        estimates={"D.8": Estimate(2e-4, 0.0, 1.0, 0.95, "splitting", 10)},
    )
    return Counterexample(**{**facts, **changes})


@pytest.mark.parametrize(
    "counterexample",
    [
        example(),
        example(probability=None, estimates={}, profile="p.yaml", status="flaky", reproduced=0, tries=0),
        example(
            simulation=SimulationStatus.DIED,
            outputs={},
            judgement=Judgement(Verdict.VIOLATED, -math.inf, 2.0),
            seed=SeedRecord(2**63, "q", ("run", "3")),
        ),
    ],
    ids=["usual", "sparse", "crash"],
)
def test_round_trip(tmp_path, counterexample):
    file = tmp_path / "c.json"
    counterexample.write(file)
    assert Counterexample.read(file) == counterexample
    json.loads(file.read_text(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_lists_of_numbers_stay_on_one_line(tmp_path):
    example().write(tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text()
    assert '\n    "heat": [0.0, 0.0, 1.0, 1.0]\n' in text and '"format_version": 1' in text


def test_stimulus_and_trace_are_those_of_the_run():
    stimulus, trace = example().stimulus, example().trace
    assert stimulus.times.tolist() == [0.0, 0.1 + 0.2, 0.5, 2.0] and stimulus.duration == 2.0
    assert stimulus.events == ((0.5, "on"),)  # what fires after the end is in the word, not in the signals
    assert sorted(trace.signals) == ["T", "heat"]
    assert example(simulation=SimulationStatus.RAISED).trace is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("format_version"), "not a counterexample file"),
        (
            lambda d: d.update(format_version=99),
            "format_version 99 is not known to this version of bbfalsify. Allowed: 1",
        ),
        (lambda d: d.pop("times"), "times: is missing"),
        (lambda d: d.update(horizn=1), "horizn: is not known. Did you mean 'horizon'? Allowed: requirement, horizon"),
        (lambda d: d["requirement"].update(stl=3), "requirement.stl: must be a text, found a number"),
        (lambda d: d.update(status="proved"), "status: must be 'confirmed' or 'flaky', found 'proved'"),
        (lambda d: d.update(word=[[1.0, "on", 2]]), "word.0: must be a list of 2 values, found a list"),
        (lambda d: d["inputs"].update(heat=[0, 1, "x", 1]), "inputs.heat.2: must be a number, found a text"),
        (lambda d: d["inputs"].update(heat=3), "inputs.heat: must be a list, found a number"),
        (lambda d: d.update(seed=[]), "seed: must be an object, found a list"),
        (lambda d: d.update(simulation="fine"), "simulation: must be 'ok' or 'raised'"),
        (lambda d: d.update(tries=True), "tries: must be a whole number, found true or false"),
        (lambda d: d["inputs"].update(heat=[1, 2]), "inputs.heat: 2 values for 4 times"),
        (lambda d: d["outputs"].update(T=[0, 1, "nan", 3]), "outputs.T: every value must be finite"),
        (lambda d: d.update(times=[0, 2, 1, 3]), "times: must not be empty, and must grow"),
        (lambda d: d.update(actions=["off"]), "word: does not begin with the actions of the key"),
        (lambda d: d.update(reproduced=4), "reproduced: must lie between 0 and tries"),
        (lambda d: d["judgement"].update(verdict="satisfied"), "a counterexample is violated, not satisfied"),
    ],
)
def test_wrong_files_are_refused_by_name(tmp_path, change, said):
    file = tmp_path / "c.json"
    data = example().as_json()
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(UserError) as error:
        Counterexample.read(file)
    assert said.lower() in str(error.value).lower() and str(file) in str(error.value)


def test_all_problems_come_at_once(tmp_path):
    file = tmp_path / "c.json"
    data = example().as_json()
    del data["times"], data["seed"]["root"]
    file.write_text(json.dumps(data))
    with pytest.raises(UserError) as error:
        Counterexample.read(file)
    assert len(error.value.problems) == 2


def test_what_is_not_json_is_said_with_its_line(tmp_path):
    file = tmp_path / "c.json"
    file.write_text('{"format_version": 1,\n oops')
    with pytest.raises(UserError, match=r"c.json:2: not valid JSON"):
        Counterexample.read(file)
    with pytest.raises(UserError, match="there is no such file"):
        Counterexample.read(tmp_path / "missing.json")
