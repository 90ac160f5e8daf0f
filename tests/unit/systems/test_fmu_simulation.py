"""Simulating FMUs of both versions: exact event times, types and arrays, grids, reset, saved states, clean folders."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.query import Query
from bbfalsify.core.verdict import Judgement, Verdict
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FmuSystem
from bbfalsify.systems.fmu.instance_reuse import Instances
from tests.fmus.asking import ask, driven, satisfied, signals, stimulus
from tests.fmus.building import edited


def room(heat, times, power=100.0):
    """The temperature of the heater's room, in closed form."""
    temperatures = [0.0]
    for on, duration in zip(heat, np.diff(times), strict=False):
        target = power * on
        temperatures.append(target + (temperatures[-1] - target) * np.exp(-duration / 10.0))
    return np.array(temperatures)


UNEVEN = [0.0, 1.0, np.pi, 3.5, 3.5 + 1e-9, 20.0]
HEAT = [1, 1, 0, 1, 0, 0]


def test_inputs_change_at_their_exact_times(fmus):
    system = FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T", "steps"])
    [answer] = ask(system, stimulus(UNEVEN, heat=HEAT))
    np.testing.assert_allclose(signals(answer)["T"], room(HEAT, UNEVEN), rtol=1e-14)
    assert signals(answer)["steps"].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("step", [None, 0.5])
def test_a_simulation_can_end_at_its_violation(fmus, step):
    """As far as it goes, an early end shows what the whole simulation shows; also where reset instances are tested."""
    system = FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T", "steps"], step=step)
    times = np.sort(np.append(np.linspace(0.0, 20.0, 81), [1.23, 7.77]))
    on = stimulus(times, heat=1)
    [whole] = ask(system, on)

    def judge(trace):
        samples = len(trace.times)
        assert all(np.array_equal(v, whole.trace.signals[n][:samples]) for n, v in trace.signals.items())
        hot = np.flatnonzero(trace.signals["T"] > 75)
        at = float(trace.times[hot[0]]) if len(hot) else np.inf
        return (Judgement(Verdict.VIOLATED if len(hot) else Verdict.SATISFIED, -samples, at),)

    with WorkerPool(system, judge, Execution(early_stop=True)) as pool:
        answers = list(pool.answers([Query(f"q/{i}", on) for i in range(5)]))
    assert {a.judgements for a in answers} == {answers[0].judgements}
    [judgement] = answers[0].judgements
    [expected] = judge(whole.trace)
    assert judgement.first_violation_time == expected.first_violation_time
    assert 50 < -judgement.robustness < 70 < -expected.robustness == 83


def test_types_become_numbers_and_numbers_types(fmus):
    system = FmuSystem(fmus.build("heater"))
    assert [port.name for port in system.inputs] == ["heat", "boost", "level"]
    assert [port.name for port in system.outputs] == ["T", "hot", "steps"]
    [answer] = ask(system, stimulus([0, 10, 20], heat=1, boost=[0, 1, 1], level=[7, 0, 0]))
    first = 107 * (1 - np.exp(-1))
    np.testing.assert_allclose(signals(answer)["T"], [0, first, 200 + (first - 200) * np.exp(-1)])
    assert signals(answer)["hot"].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"boost": 0.5}, "input 'boost' is of type Boolean and takes 0 and 1, not 0.5"),
        ({"level": 1.5}, "input 'level' is of type Integer and takes whole numbers from -2147483648 to 2147483647"),
        ({"level": 3e9}, "not 3e+09"),
    ],
)
def test_a_number_that_is_no_value_of_the_type_is_refused(fmus, inputs, said):
    [answer] = ask(FmuSystem(fmus.build("heater")), stimulus([0, 1], **{"heat": 0, "boost": 0, "level": 0, **inputs}))
    assert answer.status.value == "raised" and said in answer.message


def test_start_values_hold_in_every_simulation(fmus):
    system = FmuSystem(
        fmus.build("heater"),
        inputs={"switch": "heat"},
        outputs={"temperature": "T", "letters": "letters"},
        start_values={"power": 50, "boost": True, "label": "four"},
    )
    assert [port.name for port in system.outputs] == ["temperature", "letters"]
    for answer in ask(system, *[stimulus([0, 10], switch=1)] * 3):
        np.testing.assert_allclose(signals(answer)["temperature"][-1], 100 * (1 - np.exp(-1)))
        assert signals(answer)["letters"].tolist() == [4, 4]


def test_a_tunable_parameter_can_be_driven(fmus):
    system = FmuSystem(fmus.build("heater"), inputs=["power"], outputs=["T"], start_values={"heat": 1})
    [answer] = ask(system, stimulus([0, 10, 20], power=[50, 0, 0]))
    half = 50 * (1 - np.exp(-1))
    np.testing.assert_allclose(signals(answer)["T"], [0, half, half * np.exp(-1)])


def test_enumerations_are_numbers(fmus, tmp_path):
    def enumerated(text):
        lines = text.split("<ScalarVariable")
        return "<ScalarVariable".join(
            line.replace("<Integer", '<Enumeration declaredType="Level"') if 'name="level"' in line else line
            for line in lines
        )

    system = FmuSystem(
        edited(fmus.build("heater"), tmp_path / "e.fmu", description=enumerated),
        outputs={"n": "level", "T": "T"},
        inputs=["level"],
    )
    assert system.description.variables["level"].kind == "Enumeration"
    [answer] = ask(system, stimulus([0, 1, 2], level=[3, 2, 1]))
    assert signals(answer)["n"].tolist() == [3, 3, 2]


# ---------------------------------------------------------------------------- FMI 3


def test_fmi_3_with_arrays(fmus):
    system = FmuSystem(fmus.build("fmi3_box"))
    assert [port.name for port in system.inputs] == ["u[0]", "u[1]", "u[2]", "on", "level"]
    names = [port.name for port in system.outputs]
    assert names[:4] == ["y[0]", "y[1]", "y[2]", "m[0,0]"] and names[-1] == "big"
    asked = stimulus([0, 1, 1.5, 4], **{"u[0]": [1, 2, 3, 4], "u[1]": 1, "u[2]": 2}, on=[0, 1, 0, 0], level=7)
    for answer in ask(system, *[asked] * 3):
        seen = signals(answer)
        assert seen["y[0]"].tolist() == [0, 2, 4, 6] and seen["y[2]"].tolist() == [0, 4, 4, 4]
        assert seen["m[1,2]"].tolist() == [5, 6, 7, 8] and seen["m[0,1]"].tolist() == [1, 2, 3, 4]
        assert seen["total"].tolist() == [30, 11, 112, 13]
        assert seen["odd"].tolist() == [0, 1, 0, 1] and seen["count"].tolist() == [0, 1, 2, 3]
        assert seen["big"].tolist() == [2.0**40] * 4


def test_elements_that_are_not_driven_keep_their_start(fmus):
    system = FmuSystem(
        fmus.build("fmi3_box"), inputs=["u[1]"], outputs={"out": "y"}, start_values={"u[0]": 5, "gain": 3}
    )
    assert [port.name for port in system.outputs] == ["out[0]", "out[1]", "out[2]"]
    [answer] = ask(system, stimulus([0, 1, 2], **{"u[1]": [1, 2, 3]}))
    assert [signals(answer)[f"out[{i}]"].tolist()[1:] for i in range(3)] == [[15, 15], [3, 6], [60, 60]]


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        (1, "fmi3DoStep from time 3 to 4: the FMU wanted to end the simulation"),
        (2, "fmi3DoStep from time 2 to 3: the FMU discarded it"),
        (3, "fmi3DoStep from time 2 to 3: the FMU answered a fatal error"),
    ],
)
def test_fmi_3_that_stops_early_never_gives_a_short_trace(fmus, deed, said):
    system = FmuSystem(fmus.build("fmi3_box"), inputs=["level"], outputs=["count"], start_values={"deed": deed})
    failing, short, again = ask(system, *[stimulus(range(n), level=0) for n in (6, 3, 6)])
    assert failing.status.value == again.status.value == "raised"
    assert said in failing.message and again.message == failing.message
    assert short.ok


def test_ending_with_the_last_step_is_no_early_end(fmus):
    system = FmuSystem(fmus.build("fmi3_box"), inputs=["level"], outputs=["count"], start_values={"deed": 1})
    assert all(answer.ok for answer in ask(system, *[stimulus(range(4), level=0)] * 3))


# ---------------------------------------------------------------------------- grids


def with_step(text, step="0.5"):
    assert "<ModelVariables>" in text
    return text.replace("<ModelVariables>", f'<DefaultExperiment stepSize="{step}" stopTime="1e8"/><ModelVariables>')


def test_an_fmu_of_one_step_size_runs_on_its_grid(fmus, tmp_path):
    fmu = edited(fmus.build("heater", "--no-variable-step"), tmp_path / "grid.fmu", description=with_step)
    system = FmuSystem(fmu, inputs=["heat"], outputs=["T", "steps"])
    assert system.capabilities.grid_period_s == 0.5
    times, heat = [0.0, 0.3, 0.5, 0.7, 0.8, 1.0, 1.2], [1, 0, 0, 1, 0, 0, 1]
    [answer] = ask(system, stimulus(times, heat=heat))
    # On from 0 to 0.5: that it went off at 0.3 is seen at 0.5; the pulse from 0.7 to 0.8 is not seen at all.
    half, one = room([1, 0], [0, 0.5, 1.0])[1:]
    np.testing.assert_allclose(signals(answer)["T"], [0, 0, half, half, half, one, one])
    assert signals(answer)["steps"].tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_without_a_variable_step_and_without_a_period_it_must_be_given(fmus):
    fmu = fmus.build("heater", "--no-variable-step")
    with pytest.raises(Exception, match="steps of one size only and does not say which"):
        FmuSystem(fmu)
    assert FmuSystem(fmu, step=0.25).capabilities.grid_period_s == 0.25


@pytest.mark.parametrize("step", [None, 0.3])
def test_step_by_step_gives_the_same_as_whole_signals(fmus, step):
    """Random times and inputs, with and without a grid; some samples fall on grid points."""
    system = FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T", "steps"], step=step)
    rng = np.random.default_rng(7)
    times = np.unique(np.r_[0.0, rng.uniform(0, 6, 20), 0.3 * np.arange(1, 11)])
    heat = rng.integers(0, 2, len(times)).astype(float)
    [whole] = ask(system, stimulus(times, heat=heat))

    def walk(session):
        rows = [session.observe()]
        for value, duration in zip(heat, np.diff(times), strict=False):
            session.step({"heat": value}, duration)
            rows.append(session.observe())
        return rows

    single = driven(system, walk, len(times))
    np.testing.assert_allclose(single["T"], signals(whole)["T"], rtol=1e-12)
    assert single["steps"].tolist() == signals(whole)["steps"].tolist()


# ---------------------------------------------------------------------------- reset


def test_a_reset_that_forgets_nothing_is_found_out(fmus, tmp_path):
    asked = stimulus([0, 1, 2], u=1)
    answers = ask(FmuSystem(fmus.build("forgetful")), *[asked] * 5, log=tmp_path / "log")
    assert [signals(answer)["T"].tolist() for answer in answers] == [[0, 1, 2]] * 5
    assert "reset does not work" in (tmp_path / "log").read_text()


def test_instances_are_reused_and_checked_ever_more_rarely(fmus, monkeypatch, tmp_path):
    """Of 20 simulations, 1 + 5 (the checks at the 1st, 2nd, 4th, 8th and 16th reuse) need a new instance."""
    made = tmp_path / "made"
    original = Instances.new

    def counted(self):
        with open(made, "a") as file:
            file.write("x")
        return original(self)

    monkeypatch.setattr(Instances, "new", counted)
    answers = ask(FmuSystem(fmus.build("heater"), inputs=["heat"]), *[stimulus(UNEVEN, heat=HEAT)] * 20)
    assert len({tuple(signals(answer)["T"]) for answer in answers}) == 1
    assert len(made.read_text()) == 6


# ---------------------------------------------------------------------------- saved states


def test_a_saved_state_is_continued_from(fmus):
    system = FmuSystem(fmus.build("heater", "--handle-state"), inputs=["heat"], outputs=["T", "steps"])
    assert system.capabilities.snapshot and system.capabilities.stepwise

    def branch(session):
        session.step({"heat": 1}, 2.0)
        saved, rows = session.save(), [session.observe()]
        for heat in (1, 0, 1):
            session.restore(saved)
            session.step({"heat": heat}, 3.0)
            rows.append(session.observe())
        session.restore(saved)
        return [*rows, session.observe()]

    seen = driven(system, branch, 5)
    assert seen["T"][0] == seen["T"][4] == pytest.approx(room([1], [0, 2])[1])
    assert seen["T"][1] == seen["T"][3] == pytest.approx(room([1], [0, 5])[1])
    assert seen["T"][2] == pytest.approx(room([1, 0], [0, 2, 5])[2])
    assert seen["steps"].tolist() == [1, 2, 2, 2, 1]


def test_a_state_belongs_to_its_session(fmus):
    system = FmuSystem(fmus.build("heater", "--handle-state"), inputs=["heat"], outputs=["T"])
    kept = []

    def keep(session):
        if kept:
            session.restore(kept[0])
        kept.append(session.save())
        return [session.observe()]

    from tests.fmus.asking import Driven

    first, second = ask(Driven(system, keep), *[stimulus([0.0], heat=0)] * 2)
    assert first.ok and "saved in another session" in second.message


def test_an_fmu_that_cannot_save_says_so(fmus):
    system = FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T"])
    assert not system.capabilities.snapshot
    with pytest.raises(AssertionError, match="this FMU cannot save its state"):
        driven(system, lambda session: [session.save()], 1)


# ---------------------------------------------------------------------------- folders


def test_the_archive_is_unpacked_once_and_removed(fmus, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    system = FmuSystem(fmus.build("heater"), inputs=["heat"], outputs=["T"])
    assert list(tmp_path.iterdir()) == []
    with WorkerPool(system, satisfied, Execution(jobs=2)) as pool:
        from bbfalsify.core.query import Query

        queries = [Query(f"q/{i}", stimulus(UNEVEN, heat=HEAT)) for i in range(4)]
        assert all(answer.ok for answer in pool.answers(queries))
        [folder] = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        inside = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert "resources/heater.py" in inside and not [name for name in inside if "win64" in name]
    assert list(tmp_path.iterdir()) == []


def test_a_killed_worker_leaves_no_folder(fmus, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    system = FmuSystem(fmus.build("hostile"), start_values={"deed": 3})
    answers = ask(system, stimulus(range(9), bad=1, u=0), stimulus(range(9), bad=0, u=0))
    assert [answer.status.value for answer in answers] == ["died", "ok"]
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_does_not_inherit_loads_the_fmu_itself(fmus, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    system = FmuSystem(fmus.build("heater"), inputs={"on": "heat"}, outputs=["T"])
    [answer] = ask(system, stimulus(UNEVEN, on=HEAT), start_method="spawn")
    np.testing.assert_allclose(signals(answer)["T"], room(HEAT, UNEVEN), rtol=1e-14)
    assert [p for p in Path(tmp_path).iterdir() if "-fmu-" in p.name] == []
