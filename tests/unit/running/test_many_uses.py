"""Many uses executed and judged in one call: the same numbers as one by one, whatever fails or is interrupted."""

import os
import shutil

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import UsesQuery
from bbfalsify.core.verdict import VERDICTS
from bbfalsify.engines.estimation.settings import EstimateSettings
from bbfalsify.engines.falsification.baseline.seeded_uses import SeededUses
from bbfalsify.engines.falsification.baseline.walk_uses import WalkUses
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.kernel import WalkStatus, compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.stl.stl_monitor import judge, judge_many
from bbfalsify.modelling import parse_profile
from bbfalsify.records.answer_records import one_by_one
from bbfalsify.records.event_log import read_events
from bbfalsify.records.recording import Recording
from bbfalsify.running import Execution
from bbfalsify.running.estimate.closed_loop import estimate_use
from bbfalsify.systems import FunctionSystem, system
from tests import heater

PORTS = {"inputs": {"heat": "1"}, "outputs": {"T": "degC"}}
REQUIREMENTS = [Requirement(f"R{limit}", "", parse_stl(f"always[0:20](T <= {limit})")) for limit in (75, 60)]


def estimated(box, jobs=1, runs=700, directory=None, **execution):
    settings = EstimateSettings(horizon=20.0, method="sequence", precision="0.0001", runs=runs)
    recording = Recording(directory=directory)
    found = estimate_use(
        box, heater.profile(), REQUIREMENTS, settings, seed=1, execution=Execution(jobs=jobs, **execution),
        recording=recording,
    )  # fmt: skip
    return [(row.estimate, row.runs, row.warnings, row.outcome) for row in found.requirements]


def alone(stimulus):
    return heater_system(stimulus)


def names(directory):
    events = [event for event in read_events(directory / "events.jsonl") if event.kind == "BatchAnswered"]
    return [record["query"] for event in events for record in event.data["answers"]]


def test_batches_and_workers_do_not_change_numbers(tmp_path):
    one_by_one_ = estimated(FunctionSystem(alone, **PORTS), directory=tmp_path / "alone")
    assert estimated(heater_system, directory=tmp_path / "many") == one_by_one_
    assert estimated(heater_system, jobs=3) == estimated(heater_system, executor="in-process") == one_by_one_
    assert names(tmp_path / "many") == [f"smc/{100 * i + 1}-{100 * i + 100}" for i in range(7)]
    assert names(tmp_path / "alone") == [f"smc/{i}" for i in range(1, 701)]


@pytest.mark.parametrize(
    ("method", "requirement"),
    [("importance", 0), ("words", 0), ("words", 1), ("conditional", 0), ("quasi_random", 0), ("splitting", 0)],
)
def test_rare_event_methods_ask_for_many_uses_too(method, requirement, tmp_path):
    settings = EstimateSettings(horizon=20.0, method=method, runs=1500, particles=50, passes=2)
    found = [
        estimate_use(box, heater.profile(), [REQUIREMENTS[requirement]], settings, seed=1,
                     execution=Execution(jobs=jobs), recording=Recording(directory=tmp_path / name)).requirements[0]
        for name, box, jobs in (("alone", FunctionSystem(alone, **PORTS), 1), ("many", heater_system, 2))
    ]  # fmt: skip
    assert found[0].estimate == found[1].estimate and found[0].runs == found[1].runs <= 1500
    assert len(names(tmp_path / "many")) < len(names(tmp_path / "alone")) == found[0].runs


def test_uses_that_end_early_have_the_same_input_as_one_by_one():
    usage = Usage(heater.profile(), compile_network(heater.profile().network), 20.0, 0.5)
    walks = usage.stochastic_walks(np.arange(60, dtype=np.uint64))
    whole = [walks.walk(i) for i in range(60)]
    # To the end, to its last action, to a moment on the grid and to one off it, before any action, without steps.
    stops = [(None, float(walk.times[-1]), 3.0, 7.3, 0.2, 0.0)[i % 6] for i, walk in enumerate(whole)]
    many = WalkUses(usage, [walk.prefix(i % 9) for i, walk in enumerate(whole)], stops)
    for walk, stop, made in zip(many.walks, stops, many.stimuli(), strict=True):
        alone = usage.stimulus(walk, stop=stop)
        assert made is not None and made.events == alone.events and made.parameters == alone.parameters
        assert np.array_equal(made.times, alone.times) and np.array_equal(made.inputs["heat"], alone.inputs["heat"])


def test_the_records_of_many_uses_say_as_much_as_those_of_single_ones(tmp_path):
    for name, box in (("many", heater_system), ("alone", FunctionSystem(alone, **PORTS))):
        estimated(box, runs=300, directory=tmp_path / name)
    found = [
        [
            (single["query"], [[verdict, robustness] for verdict, robustness, *_ in single["judgements"]])
            for event in read_events(tmp_path / name / "events.jsonl") if event.kind == "BatchAnswered"
            for record in event.data["answers"] for single in one_by_one(record)
        ]
        for name in ("many", "alone")
    ]  # fmt: skip
    assert len(found[0]) == 300 and found[0] == found[1]


@pytest.mark.parametrize("share", [0.3, 0.7, 1.0])
def test_a_resumed_run_ends_in_the_same_place(tmp_path, share):
    expected = estimated(heater_system, directory=tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "again")
    (tmp_path / "again" / "results.json").unlink()
    events = tmp_path / "again" / "events.jsonl"
    events.write_bytes(events.read_bytes()[: int(share * events.stat().st_size)])
    assert estimated(heater_system, jobs=2, directory=tmp_path / "again") == expected
    assert sorted(set(names(tmp_path / "again"))) == sorted(names(tmp_path / "again"))  # nothing twice


def noise(times, seed):
    return {"T": 70 + np.random.default_rng(seed).normal(0, 2, len(times))}


def noisy(stimulus, seed):
    return noise(stimulus.times, seed)


def test_a_random_system_gets_the_seed_of_each_use():
    many = FunctionSystem(noisy, **PORTS, batch=lambda stimuli, seeds: [
        noise(stimulus.times, seed) for stimulus, seed in zip(stimuli, seeds, strict=True)
    ])  # fmt: skip
    assert estimated(many, runs=200) == estimated(FunctionSystem(noisy, **PORTS), runs=200)


def raising(stimulus):
    if len(stimulus.events) == 6:
        raise RuntimeError("six")
    return heater_system(stimulus)


def short(stimulus):
    return {"T": heater_system(stimulus)["T"][1:]} if len(stimulus.events) == 6 else heater_system(stimulus)


def infinite(stimulus):
    return {"T": heater_system(stimulus)["T"] + (np.inf if len(stimulus.events) == 6 else 0)}


@pytest.mark.parametrize("function", [raising, short, infinite])
def test_a_use_that_fails_among_many_is_found(function):
    many = FunctionSystem(function, **PORTS, batch=lambda stimuli: [function(stimulus) for stimulus in stimuli])
    found = estimated(many, runs=300)
    assert found == estimated(FunctionSystem(function, **PORTS), runs=300)
    assert any("simulations failed" in warning for warning in found[0][2])


def test_a_worker_that_dies_among_many_costs_one_use():
    def dying(stimulus):
        if stimulus.events[0][0] > 4.99:
            os._exit(1)
        return heater_system(stimulus)

    many = FunctionSystem(dying, **PORTS, batch=lambda stimuli: [dying(stimulus) for stimulus in stimuli])
    assert estimated(many, runs=200) == estimated(FunctionSystem(dying, **PORTS), runs=200)


def test_function_and_batch_take_seeds_both_or_neither():
    with pytest.raises(UserError, match="only one takes seeds"):
        system(**PORTS, batch=lambda stimuli: [])(noisy)


FORMULAS = [
    "always[0:3](x <= 0.5)",
    "eventually[0:2](x > 1.2)",
    "(x > 0) until[1:2] (y > 0)",
    "always(x > 0.9 implies eventually[0:1](y < 0))",
    "not (historically(x < 1) or y == 0)",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_judged_together_as_alone(text):
    rng, formula = np.random.default_rng(5), parse_stl(text)
    traces = []
    for _ in range(60):
        times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 0.6, rng.integers(1, 12)))])
        traces.append((times, {name: rng.normal(0, 1, len(times)) for name in "xy"}))
    offsets = np.cumsum([0, *(len(times) for times, _ in traces)])
    flat = {name: np.concatenate([signals[name] for _, signals in traces]) for name in "xy"}
    verdicts, robustness, moments = judge_many(formula, np.concatenate([times for times, _ in traces]), offsets, flat)
    for row, (times, signals) in enumerate(traces):
        single = judge(formula, times, signals)
        assert (VERDICTS[verdicts[row]], robustness[row], moments[row]) == (
            single.verdict, single.robustness, single.first_violation_time,
        )  # fmt: skip
    assert len(set(verdicts.tolist())) > 1


def test_what_cannot_be_judged_together_is_judged_alone():
    formula = parse_stl("always(1 / x > 0)")
    times, offsets = np.array([0.0, 1.0]), np.array([0, 2])
    with np.errstate(all="ignore"):
        assert judge_many(formula, times, offsets, {"x": np.array([1.0, np.nan])}) is None
    assert judge_many(formula, times, offsets, {"y": np.ones(2)}) is None


SIGNALS = """
format_version: 1
name: mixed
automata:
  User:
    declarations: clock x; clock y;
    initial: S
    locations: {S: {invariant: "x <= 1"}}
    edges:
      - {from: S, to: S, action: up, update: "x = 0"}
      - {from: S, to: S, action: rest, guard: "x >= 0.5", update: "x = 0"}
      - {from: S, to: S, action: down, update: "x = 0"}
inputs:
  held: {actions: {up: 1, down: -1}, initial: 0.5, unit: "1"}
MORE"""
MORE = {
    "held inputs": "",
    "computed": '  u: {value: "y * 2", unit: "1"}\n',
    "drawn": "signals: {w: {range: [0, 1], every: 1}}\n",
}


@pytest.mark.parametrize("what", MORE)
def test_stimuli_made_together_are_those_made_alone(what):
    profile = parse_profile(SIGNALS.replace("MORE", MORE[what]))
    usage = Usage(profile, compile_network(profile.network), 3.1, 0.25)
    seeds = np.random.default_rng(3).integers(0, 2**64, size=50, dtype=np.uint64)
    walks = usage.stochastic_walks(seeds)
    expected = usage.values.seeded({i: walks.walk(i) for i in range(50)}, seeds)
    made = SeededUses(usage, seeds).stimuli()
    for i, stimulus in enumerate(made):
        assert walks.status[i] == WalkStatus.REACHED_END
        single = usage.stimulus(expected[i])
        assert np.array_equal(stimulus.times, single.times) and stimulus.events == single.events
        assert stimulus.inputs.keys() == single.inputs.keys() and stimulus.parameters == single.parameters
        assert all(np.array_equal(stimulus.inputs[name], single.inputs[name]) for name in single.inputs)
    parts = UsesQuery("smc", 11, SeededUses(usage, seeds)).divided(20)
    assert [part.name for part in parts] == ["smc/11-30", "smc/31-50", "smc/51-60"]


def test_the_vectorised_heater_is_the_heater():
    profile = heater.profile()
    usage = Usage(profile, compile_network(profile.network), 20.0, 0.2)
    stimuli = SeededUses(usage, np.arange(40, dtype=np.uint64)).stimuli()
    with heater_system.open(0) as session:
        together = session.execute_many(stimuli)
    for stimulus, outputs in zip(stimuli, together, strict=True):
        assert np.array_equal(outputs["T"], heater_system(stimulus)["T"])
