"""Falsification over signals and parameters, with a real driver: files, replay, shrinking, resuming, workers."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify import falsify, system
from bbfalsify.core.choices import HIGHEST
from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Outcome
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile, value_profile
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import ParameterInfo

PROFILE = """
format_version: 1
name: driver
signals: {throttle: {range: [0, 100], every: 5}}
parameters: {mass: {uniform: [0.5, 2]}}
"""


@system(inputs=["throttle"], outputs=["v"], parameters={"mass": 1.0})
def car(times, inputs, *, mass):
    v = np.zeros(len(times))
    for i, dt in enumerate(np.diff(times)):
        v[i + 1] = v[i] + dt * (0.12 * inputs["throttle"][i] - 0.085 * v[i]) / mass
    return {"v": v}


FAST = Requirement("R1", "slow", parse_stl("always[0:30](v <= 135)", signals=["v"]))
IMPOSSIBLE = Requirement("R2", "never", parse_stl("always[0:30](v <= 1000)", signals=["v"]))


def run(tmp_path, name="out", requirements=(FAST,), simulations=200, guide="auto", **given):
    options = Options(passes=2, traces=10, simulations=simulations, guide=guide)
    settings = {"horizon": 30.0, "period": 0.1, "seed": 1, "options": options, **given}
    return falsify(car, parse_profile(PROFILE), list(requirements), directory=tmp_path / name, **settings)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run(tmp_path_factory.mktemp("values"))


def test_one_row_per_requirement_with_its_values(found):
    assert found.outcome is Outcome.FALSIFIED
    [row] = found.counterexamples
    assert [value.name for value in row.values][:2] == ["mass", "throttle"]
    assert row.values[0].time is None and row.values[1].time == 0.0
    assert not any("most probable of" in note for note in found.notes), "there is one key, and nothing to compare"
    assert all(value.time is None or value.time <= row.first_violation_time for value in row.values)


def test_what_does_not_fit_the_system_is_told_to_python_users_before_anything_runs():
    calls = []

    @system(inputs=["throttle"], outputs=["v"], parameters={"mass": ParameterInfo(1.0, low=0.5, high=2.0)})
    def counting(times, inputs, *, mass):
        calls.append(mass)
        return {"v": np.zeros(len(times))}

    wrong = value_profile({"throtle": {"range": [0, 1], "every": 1e-9}}, {"mas": 1.0, "mass": {"uniform": [0.1, 1]}})
    with pytest.raises(UserError) as told:
        falsify(counting, wrong, "always[0:30](w <= 1)", horizon=30, out=None)
    text = str(told.value)
    for says in ("unknown input 'throtle'", "nothing drives input 'throttle'", "Did you mean 'mass'?",
                 "0.1 is outside its range", "pieces in a use of 30", "unknown signal 'w'"):  # fmt: skip
        assert says in text
    assert not calls


def test_the_file_keeps_parameters_values_and_all_choices_and_is_replayed(found):
    [row] = found.counterexamples
    stored = Counterexample.read(row.file)
    assert set(stored.parameters) == {"mass"}
    assert stored.choices.labels[:2] == (("parameter", "mass", 0), ("value", "throttle", 0))
    assert len(stored.choices.quantiles) == 7
    assert replay(stored, car).outcome is ReplayOutcome.SAME


def test_a_replay_sets_the_parameters(found):
    stored = Counterexample.read(found.counterexamples[0].file)
    heavy = replace(stored, parameters={"mass": 50.0})
    assert replay(heavy, car).outcome is ReplayOutcome.FIXED
    with pytest.raises(UserError, match="Did you mean 'mass'"):
        replay(replace(stored, parameters={"mas": 1.0}), car)


def test_it_is_shrunk_to_simple_values(found):
    core = Counterexample.read(found.counterexamples[0].shrunk.file)
    quantiles = np.array(core.choices.quantiles)
    simple = np.isin(quantiles, [0.0, 0.5, HIGHEST]) | (np.abs(quantiles * 100 - np.round(quantiles * 100)) < 1e-6)
    assert np.all(simple)
    assert replay(core, car).outcome is ReplayOutcome.SAME


def test_any_number_of_workers_gives_the_same_result(found, tmp_path):
    again = run(tmp_path, jobs=2)
    assert again.counterexamples[0].values == found.counterexamples[0].values
    assert again.counterexamples[0].probability == found.counterexamples[0].probability
    assert again.simulations == found.simulations


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_killed_run_goes_on_in_the_middle_of_its_guide(found, tmp_path, share):
    copy = tmp_path / "out"
    shutil.copytree(found.directory, copy)
    events = copy / "events.jsonl"
    events.write_bytes(events.read_bytes()[: int(share * events.stat().st_size)])
    (copy / "results.json").unlink()
    again = run(tmp_path)
    assert again.counterexamples[0].values == found.counterexamples[0].values
    assert again.counterexamples[0].probability == found.counterexamples[0].probability
    assert again.simulations == found.simulations


@pytest.mark.parametrize("guide", ["portfolio", "cma_es", "trust_region", "stretch_mutation", "cross_entropy"])
def test_every_guide_goes_on_where_its_run_was_killed(tmp_path, guide):
    options = Options(passes=0, simulations=40, guide=guide, proposals=3)
    whole = run(tmp_path, "whole", [IMPOSSIBLE], options=options)
    copy = tmp_path / "killed"
    shutil.copytree(whole.directory, copy)
    events = copy / "events.jsonl"
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    (copy / "results.json").unlink()
    again = run(tmp_path, "killed", [IMPOSSIBLE], options=options, jobs=2)
    assert again.simulations == whole.simulations and 40 * 4 // 5 <= whole.simulations <= 40
    assert again.requirements[0].best_robustness == whole.requirements[0].best_robustness


def test_one_repetition_confirms_where_that_is_asked_for(found, tmp_path):
    once = run(tmp_path, options=Options(passes=0, simulations=200, confirmations=1))
    assert Counterexample.read(once.counterexamples[0].file).tries == 1
    assert Counterexample.read(found.counterexamples[0].file).tries == 3
    assert once.counterexamples[0].values == found.counterexamples[0].values


def test_nothing_found_ends_with_the_budget_of_the_search(tmp_path):
    result = run(tmp_path, requirements=[IMPOSSIBLE], simulations=230, guide="none")
    assert (result.outcome, result.counterexamples) == (Outcome.NOT_FALSIFIED, ())
    assert 230 * 4 // 5 <= result.iterations <= result.simulations <= 230


def test_the_store_knows_the_only_key(tmp_path):
    first = run(tmp_path, store=tmp_path / "store")
    second = run(tmp_path, "again", store=tmp_path / "store", simulations=40)
    assert second.iterations == 0
    [row] = second.counterexamples
    assert row.known and row.values == first.counterexamples[0].values
