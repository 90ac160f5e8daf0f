"""A whole falsification through real worker processes: list, files, flaky and failing systems, interruption."""

import itertools
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from bbfalsify import falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.verdict import Outcome, SimulationStatus, StopReason
from bbfalsify.engines.falsification.baseline import smc
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.engines.falsification.space import ProfileSpace
from bbfalsify.engines.falsification.usage import Usage
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.kernel import compile_network
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.modelling import parse_profile
from bbfalsify.records.counterexample import Counterexample
from bbfalsify.records.event_log import read_events
from bbfalsify.records.json_files import read_json
from bbfalsify.running.replay import ReplayOutcome, replay
from bbfalsify.systems import system
from tests import heater

SPACE = ProfileSpace(Usage(heater.profile(), compile_network(heater.profile().network), 20.0, 1.0))
SMALL = Options(counterexamples=10, simulations=440, passes=10, traces=20)


def requirement(stl="always[0:20](T <= 75)", name="R1"):
    return Requirement(name, "", parse_stl(stl, signals=["T", "heat"]))


def run(box=heater_system, requirements=None, out=None, profile=None, **arguments):
    arguments = {"horizon": 20.0, "options": SMALL, "seed": 1, **arguments}
    return falsify(box, profile or heater.profile(), requirements or [requirement()], out=out, **arguments)


@pytest.fixture(scope="module")
def plain():
    """The heater, falsified: what other runs are compared with."""
    return run(jobs=1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The same with a run directory."""
    return run(out=tmp_path_factory.mktemp("runs"), name="heater")


def test_the_list_does_not_depend_on_the_number_of_workers(plain):
    one, two = plain, run(jobs=2)
    assert one.outcome is Outcome.FALSIFIED and len(one.counterexamples) == 4
    assert one.counterexamples == two.counterexamples and one.found_probability == two.found_probability
    assert run(seed=2).counterexamples != one.counterexamples


def test_rows_keep_the_arrays_of_the_run_that_confirmed_them(plain):
    """T' = 10·heat − T/10, exactly: the outputs belong to the inputs, and pass 75 when the row says so."""
    assert plain.directory is None
    for row in plain.counterexamples:
        trace = row.trace
        assert [action for _, action in trace.events][: len(row.actions) - 1] == list(row.actions[:-1])
        assert list(trace.inputs) == ["heat"] and list(trace.outputs) == ["T"]
        temperature = [0.0]
        for delay, heat in zip(np.diff(trace.times), trace.inputs["heat"], strict=False):
            temperature.append(100 * heat + (temperature[-1] - 100 * heat) * np.exp(-delay / 10))
        assert trace.outputs["T"] == pytest.approx(temperature, abs=1e-3)
        assert trace.times[np.argmax(trace.outputs["T"] > 75)] == pytest.approx(row.first_violation_time)
        assert "trace" not in row.as_json() and type(row).from_json(row.as_json()).trace is None


def test_what_the_profile_does_not_know_widens_the_intervals(plain):
    """Same seed, same values; only the shown interval differs, by the elasticity of each counterexample."""
    text = heater.PROFILE + 'uncertainty: {"weight of User.S -> S (on)": 0.25}\n'
    known, unsure = plain, run(profile=parse_profile(text))
    assert [c.probability for c in known.counterexamples] == [c.probability for c in unsure.counterexamples]
    assert all(c.probability_with_uncertainty is None for c in known.counterexamples)
    row = unsure.requirements[0]
    elasticities = row.sensitivity.elasticities
    for c in unsure.counterexamples:
        wide = c.probability_with_uncertainty
        assert wide.method.endswith("with the profile's uncertainty")
        assert wide.low < c.probability.low and wide.high > c.probability.high
        [_, on] = elasticities[c.rank]
        own, both = (np.log(e.high / c.probability.value) for e in (c.probability, wide))
        assert both == pytest.approx(np.hypot(own, 1.959964 * 0.5 * on.value), rel=1e-6)
    assert row.found_probability_with_uncertainty.high > row.found_probability.high
    quiet = run(profile=parse_profile(text), options=replace(SMALL, sensitivity=False))
    assert quiet.requirements[0].sensitivity is None
    assert quiet.counterexamples == unsure.counterexamples, "asked for or not, the intervals are the same"


def test_times_coverage_and_sensitivity_are_part_of_the_result():
    result = run(baseline=smc.SmcOptions(epsilon=0.1, simulations=500))
    row = result.requirements[0]
    times = row.time_to_violation
    assert times.listed.probability == pytest.approx(row.found_probability.value)
    assert sum(times.listed.histogram) == pytest.approx(row.found_probability.value)
    assert times.listed.samples == sum(c.violating for c in result.counterexamples)
    assert 10 * np.log(4) + 4 <= times.listed.quantiles[0] <= times.listed.quantiles[-1] <= 20
    assert all(c.time_to_violation.samples == c.violating for c in result.counterexamples)
    assert (times.plain is None) == (row.baseline.violations == 0)
    walks = {
        "search": result.profile_coverage.walks["search"],
        "simulation": row.baseline.simulations,
        "counterexamples": 4,
    }
    # The search leaves a fifth of its budget for judging again, early and in the end, and room to confirm one more.
    assert result.profile_coverage.walks == walks and 440 * 4 // 5 - 4 * 4 <= walks["search"] <= 440 - 4 * 3
    assert {s.parameter for s in row.sensitivity.swaps} <= {"weight of User.S -> S (on)", "weight of User.S -> S (off)"}
    assert set(row.sensitivity.elasticities) == {1, 2, 3, 4}


def test_everything_is_stored_and_replayable(kept):
    result = kept
    assert read_json(result.directory / "results.json") == result.as_json()
    assert json.loads((result.directory / "manifest.json").read_text())["seed"] == 1
    files = sorted((result.directory / "counterexamples").iterdir())
    assert [c.file for c in result.counterexamples] == [str(f) for f in files]
    for row in result.counterexamples:
        stored = Counterexample.read(row.file)
        assert stored.actions == row.actions and stored.probability == row.probability
        assert row.status == stored.status == "confirmed" and stored.reproduced == stored.tries == 3
        assert replay(row.file, heater_system).outcome is ReplayOutcome.SAME
        # The accelerator, runs along words and the shrinker made these; all of them have choices.
        shrunk = [Counterexample.read(row.shrunk.file)] if row.shrunk is not None else []
        for file in [stored, *shrunk]:
            played = SPACE.repeated(file.choices.sequence)
            steps = min(len(file.word), played.walk.steps)
            assert played.walk.times[:steps] == pytest.approx([time for time, _ in file.word[:steps]], abs=1e-9)
            assert played.walk.actions(SPACE.usage.model)[:steps] == tuple(action for _, action in file.word[:steps])
            assert played.walk.times[steps - 1] >= file.times[-1]
    kinds = [e.kind for e in read_events(result.directory / "events.jsonl")]
    assert kinds[0] == "RunStarted" and kinds[-1] == "RunStopped"
    assert kinds.count("FindingReported") == kinds.count("EstimateMade") == 4


def test_the_papers_equations_are_stored_beside_the_probability(tmp_path):
    asked = run(out=tmp_path, options=replace(SMALL, columns=("d8", "d9"), passes=4))
    for row, data in zip(asked.counterexamples, asked.as_json()["counterexamples"], strict=True):
        assert set(data["estimates"]) == {"d6", "d8", "d9_set", "d9_multiset", "d9_traces"}
        stored = Counterexample.read(row.file).estimates
        assert stored == {"cylinder": row.cylinder, **row.columns}
        assert row.columns["d6"].value <= row.columns["d8"].value * (1 + 1e-9)
        assert row.columns["d6"].value >= row.probability.value * (1 - 1e-9) or row.violating == 0
    assert asked.as_json()["columns"] == ["d8", "d9"]
    plain = run(options=replace(SMALL, passes=4))
    assert plain.simulations < asked.simulations and plain.as_json()["columns"] == []
    assert [set(c.columns) for c in plain.counterexamples] == [{"d6"}] * 4
    # Asking for more changes nothing about what is there anyway.
    assert [c.probability for c in plain.counterexamples] == [c.probability for c in asked.counterexamples]
    assert [c.columns["d6"] for c in plain.counterexamples] == [c.columns["d6"] for c in asked.counterexamples]


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def cold_heater(stimulus):
    return {"T": np.zeros(len(stimulus.times))}


def test_replay_on_a_mended_system_says_fixed(kept):
    assert replay(kept.counterexamples[0].file, cold_heater).outcome is ReplayOutcome.FIXED


def test_not_falsified_says_how_close_it_came_and_never_more():
    result = run(cold_heater)
    assert result.outcome is Outcome.NOT_FALSIFIED and result.counterexamples == ()
    assert result.requirements[0].best_robustness == 75.0 and result.found_probability is None


def test_a_formula_that_looks_further_than_the_horizon_is_judged_all_the_same():
    result = run(requirements=[requirement("always[30:80](T <= 200)")], options=replace(SMALL, simulations=44))
    assert result.outcome is Outcome.NOT_FALSIFIED  # judged, not inconclusive
    note = "R1 looks further ahead than the horizon of 20: to judge it, simulations go on until 80"
    assert note in result.notes
    assert not any("looks further" in n for n in run(options=replace(SMALL, simulations=44)).notes)


def test_several_requirements_get_their_own_lists_and_totals():
    requirements = [requirement(), requirement("always[0:20](T <= 78)", "R2"), requirement("always(T <= 101)", "R3")]
    result = run(requirements=requirements)
    outcomes = [r.outcome for r in result.requirements]
    assert outcomes == [Outcome.FALSIFIED, Outcome.FALSIFIED, Outcome.NOT_FALSIFIED]
    assert result.found_probability is None
    first, second = (result.requirements[i].found_probability.value for i in (0, 1))
    assert 0 < second < first  # hotter is rarer


def test_a_flaky_failure_is_reported_with_its_status():
    calls = itertools.count()

    @system(inputs={"heat": "1"}, outputs={"T": "degC"})
    def moody(stimulus):
        hot = next(calls) % 8 == 7  # never twice in a row, so a repetition of a violating run passes
        return {"T": np.full(len(stimulus.times), 90.0 if hot else 0.0)}

    result = run(moody, options=Options(counterexamples=1, simulations=110, passes=2, traces=5))
    assert [c.status for c in result.counterexamples] == ["flaky"]


@system(inputs={"heat": "1"}, outputs={"T": "degC"})
def fragile(stimulus):
    """Dies where it should get hot."""
    answer = heater_system.open(0).execute(stimulus)
    if answer["T"].max() > 75:
        os._exit(3)
    return answer


def test_a_dying_system_is_a_finding_when_asked_and_a_note_otherwise(tmp_path):
    small = Options(counterexamples=2, simulations=66, passes=2, traces=5)
    quiet = run(fragile, options=small)
    # Those that died may be the violating ones (here they are), so nothing can be concluded.
    assert quiet.outcome is Outcome.INCONCLUSIVE and "died" in quiet.notes[0]
    loud = run(fragile, options=small, on_failure="violation", out=tmp_path)
    assert loud.outcome is Outcome.FALSIFIED
    stored = Counterexample.read(loud.counterexamples[0].file)
    assert stored.simulation is SimulationStatus.DIED and stored.status == "confirmed"
    assert replay(loud.counterexamples[0].file, fragile).outcome is ReplayOutcome.SAME


def test_failures_that_count_as_violations_have_the_keys_and_probabilities_of_violations():
    """The system raises exactly where the heater violates, so everything must be as for the heater.

    1,000 traces per key; ±4.5 standard errors, false alarm 4 · 7e-6; counting a failure for every word that passes
    through it (the moment of a failure is not seen) would give keys that are not among the four.
    """
    options = Options(simulations=440, passes=10, traces=100)
    result = run(raising_above(75), options=options, on_failure="violation")
    assert {c.actions for c in result.counterexamples} == set(heater.EXACT)
    for c in result.counterexamples:
        exact = heater.EXACT[c.actions]
        fraction = exact / c.cylinder.value
        error = c.cylinder.value * np.sqrt(fraction * (1 - fraction) / c.traces)
        assert abs(c.probability.value - exact) <= 4.5 * error, c.actions
        assert c.status == "confirmed"


def raising_above(limit):
    """A heater that raises where it gets hotter than this."""

    @system(inputs={"heat": "1"}, outputs={"T": "degC"})
    def raising(stimulus):
        answer = heater_system.open(0).execute(stimulus)
        if answer["T"].max() > limit:
            raise RuntimeError("too hot")
        return answer

    return raising


def test_failures_that_count_as_violations_are_counted_once_in_the_total():
    """40,000 uses by hand: 0.228 ± 0.002; failures along listed words were counted twice."""
    options = Options(counterexamples=10, simulations=220, passes=5, traces=20)
    [judged] = run(raising_above(40), options=options, on_failure="violation").requirements
    assert judged.violation.low <= 0.228 <= judged.violation.high + judged.unseen.high


def test_modes_leave_out_simulations_that_nobody_could_judge():
    options = Options(counterexamples=2, simulations=88, passes=5, traces=20)
    result = run(raising_above(40), [requirement("always[0:20](T <= 30)")], options=options)
    assert result.outcome is Outcome.FALSIFIED and result.modes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"box": lambda s: {}}, "a system is needed, not function"),
        ({"requirements": [75]}, "a Requirement or a formula is needed, not int"),
        ({"requirements": requirement("eventually(T <= 75)")}, "no finite trace can violate R1"),  # one without a list
        ({"horizon": -1.0}, "the horizon must be finite and not negative"),
        ({"horizon": "x"}, "the horizon must be finite and not negative, found 'x'"),
        ({"period": 1e-9}, "samples"),
    ],
)
def test_wrong_arguments_from_python_are_named(arguments, message):
    with pytest.raises(UserError, match=message):
        run(**arguments)


def test_a_system_that_always_fails_is_an_error_with_its_own_words():
    @system(inputs={"heat": "1"}, outputs={"T": "degC"})
    def broken(stimulus):
        raise RuntimeError("no licence")

    result = run(broken)
    assert result.outcome is Outcome.ERROR and result.stop_reason is StopReason.SYSTEM_FAILED
    assert any("no licence" in note for note in result.notes)


def test_budget_zero_is_inconclusive():
    result = run(options=Options(simulations=0))
    assert result.outcome is Outcome.INCONCLUSIVE and result.simulations == 0


def test_no_time_ends_the_search_at_once():
    result = run(max_time=0.0)
    assert result.stop_reason is StopReason.BUDGET_TIME and result.iterations == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('guard: "x >= 4"', 'guard: "x >= 6"', "on"),
        ("action: on", 'sync: "c!"', "handshake"),
    ],
)
def test_a_profile_with_a_fault_is_refused_before_anything_runs(old, new, message):
    text = heater.PROFILE.replace(old, new)
    if "sync" in new:
        text = text.replace("automata:", 'declarations: "chan c;"\nautomata:').replace(
            "{on: 1, off: 0}", "{c: 1, off: 0}"
        )
    profile = parse_profile(text)
    with pytest.raises(UserError, match=message):
        falsify(heater_system, profile, [requirement()], horizon=20.0, out=None)


def test_plain_simulation_beside_the_list(plain):
    result = run(baseline=smc.SmcOptions(epsilon=0.01, simulations=4000))
    baseline = result.requirements[0].baseline
    assert baseline.probability == result.smc
    assert baseline.probability.low <= sum(heater.EXACT.values()) <= baseline.probability.high
    assert baseline.explained is not None and {key for key, _ in baseline.met} <= set(heater.EXACT)
    assert plain.smc is None


def test_settings_of_something_else_are_refused():
    with pytest.raises(UserError, match=r"baseline must be SmcOptions\(…\); found Options\."):
        run(baseline=Options())
