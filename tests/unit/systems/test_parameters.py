"""Parameters of systems: declared, checked, and set at the beginning of a simulation."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.query import Query
from bbfalsify.core.trace import Stimulus
from bbfalsify.running import Execution, WorkerPool
from bbfalsify.systems import FmuSystem, ParameterInfo, Preset, ProcessSystem, ProgramSystem, load_system, system
from bbfalsify.systems.failures import SessionFailure
from bbfalsify.systems.interface import NothingToClose
from bbfalsify.systems.parameters import open_session, value_problems
from tests.fmus.asking import satisfied

TIMES = np.array([0.0, 1.0, 2.0])


def stimulus(**parameters: float) -> Stimulus:
    return Stimulus(TIMES, {"u": np.array([1.0, 2.0, 3.0])}, parameters=parameters)


@system(inputs=["u"], outputs=["y"], parameters={"gain": ParameterInfo(2.0, low=0.0), "offset": 0.5})
def line(stimulus: Stimulus, *, gain: float, offset: float) -> dict[str, Any]:
    return {"y": gain * stimulus.inputs["u"] + offset}


@system(inputs=["u"], outputs=["y"], batch=True, parameters={"gain": 2.0})
def lines(stimuli: list[Stimulus], gain: list[float]) -> list[dict[str, Any]]:
    return [{"y": g * s.inputs["u"]} for s, g in zip(stimuli, gain, strict=True)]


def answers(box: Any, *stimuli: Stimulus) -> list[list[float]]:
    """The output y of each, as a worker sees it."""
    queries = [Query(f"q/{i}", s, keep_trace=True) for i, s in enumerate(stimuli)]
    with WorkerPool(box, satisfied, Execution(time_limit=20.0)) as pool:
        found = list(pool.answers(queries))
    assert all(answer.ok for answer in found), [answer.message for answer in found]
    return [np.round(answer.trace.signals["y"], 9).tolist() for answer in found]


def test_a_simulation_has_its_own_values_and_the_next_the_defaults() -> None:
    assert answers(line, stimulus(gain=3.0), stimulus(), stimulus(offset=0.0)) == [
        [3.5, 6.5, 9.5],
        [2.5, 4.5, 6.5],
        [2.0, 4.0, 6.0],
    ]


def test_a_batch_has_a_value_per_stimulus() -> None:
    assert answers(lines, stimulus(gain=3.0), stimulus()) == [[3.0, 6.0, 9.0], [2.0, 4.0, 6.0]]
    with Preset(lines, {"gain": 5.0}).open(0) as session:
        [first, second] = session.execute_many([stimulus(gain=3.0), stimulus()])
    assert (first["y"][0], second["y"][0]) == (3.0, 5.0)


def test_wrong_values_are_named_together() -> None:
    with pytest.raises(UserError) as found:
        open_session(line, 0, {"gian": 1.0, "gain": -1.0, "offset": float("nan")})
    text = str(found.value)
    assert "unknown parameter 'gian' of the system 'line'" in text and "Did you mean 'gain'?" in text
    assert "-1 is outside its range, 0 to inf" in text and "found nan" in text


def test_a_system_without_parameters_says_so() -> None:
    plain = system(inputs=["u"], outputs=["y"])(lambda stimulus: {"y": stimulus.inputs["u"]})
    [problem] = value_problems(plain, {"mass": 1.0})
    assert "declares no parameters" in problem.message


def test_a_function_without_the_argument_is_refused() -> None:
    with pytest.raises(UserError, match="no argument 'mass'"):
        system(inputs=["u"], outputs=["y"], parameters={"mass": 1.0})(lambda stimulus: {})
    with pytest.raises(UserError, match="default of parameter 'mass'"):
        system(inputs=["u"], outputs=["y"], parameters={"mass": ParameterInfo(1.0, low=2.0)})(lambda s, mass: {})


def test_a_preset_changes_defaults_and_keeps_the_rest() -> None:
    preset = Preset(line, {"gain": 10.0})
    assert preset.parameters["gain"].default == 10.0 and preset.parameters["offset"].default == 0.5
    assert preset.name == "line" and preset.outputs == line.outputs
    assert answers(preset, stimulus(offset=0.0), stimulus(gain=1.0)) == [[10.0, 20.0, 30.0], [1.5, 2.5, 3.5]]
    assert answers(pickle.loads(pickle.dumps(preset)), stimulus()) == [[10.5, 20.5, 30.5]]


def test_parameters_survive_pickling_by_value() -> None:
    made = system(inputs=["u"], outputs=["y"], parameters={"gain": 2.0})(_scaled)
    assert pickle.loads(pickle.dumps(made)).parameters == made.parameters


def _scaled(times: np.ndarray, inputs: dict[str, np.ndarray], gain: float) -> dict[str, Any]:
    return {"y": gain * inputs["u"]}


def test_an_fmu_begins_with_the_values(fmus: Any) -> None:
    box = FmuSystem(fmus.build("heater"), outputs={"y": "T"}, inputs={"u": "heat"})
    info = box.parameters["power"]
    assert info.default is not None
    half = {"power": info.default / 2}
    times = np.linspace(0.0, 2.0, 3)

    def heating(**values: float) -> Stimulus:
        return Stimulus(times, {"u": np.ones(3)}, parameters=values)

    first, second, third = answers(box, heating(), heating(**half), heating())
    assert first == third and second[-1] < first[-1]
    assert answers(Preset(box, half), heating()) == [second]
    assert answers(FmuSystem(box.path, outputs={"y": "T"}, inputs={"u": "heat"}, start_values=half), heating()) == [
        second
    ]


PROGRAM = """
import sys
gain = float(sys.argv[1])
rows = [line.split(",") for line in sys.stdin.read().split()]
print("y"), [print(gain * float(row[1])) for row in rows[1:]]
"""


def test_a_program_finds_values_in_its_command(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(PROGRAM)
    command = [sys.executable, "{here}/box.py", "{gain}"]
    box = ProgramSystem(command, folder=tmp_path, inputs=["u"], outputs=["y"], parameters={"gain": 2.0})
    assert answers(box, stimulus(), stimulus(gain=0.5)) == [[2.0, 4.0, 6.0], [0.5, 1.0, 1.5]]
    with pytest.raises(UserError, match="'mass' does not reach the program"):
        ProgramSystem(command, inputs=[], outputs=["y"], parameters={"gain": 1.0, "mass": 2.0})
    with pytest.raises(UserError, match="unknown placeholder 'gain'|no placeholder 'gain'"):
        ProgramSystem(command, inputs=[], outputs=["y"])


def test_a_program_that_stays_alive_says_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "box.py").write_text(
        "from bbfalsify.systems.programs.serve import serve\n"
        "serve(name='box', inputs={'u': None}, outputs={'y': None}, parameters={'gain': {'default': 2.0, 'low': 0}},\n"
        "      run=lambda times, inputs, gain: {'y': [gain * u for u in inputs['u']]})\n"
    )
    box = ProcessSystem([sys.executable, "box.py"], folder=tmp_path)
    assert box.parameters == {"gain": ParameterInfo(2.0, low=0)}
    assert answers(box, stimulus(), stimulus(gain=0.5)) == [[2.0, 4.0, 6.0], [0.5, 1.0, 1.5]]


def test_any_system_is_served_with_its_parameters() -> None:
    command = [sys.executable, "-m", "bbfalsify.systems.programs.serve", f"{__file__}:line"]
    box = ProcessSystem(command, folder=Path(__file__).parents[3])
    assert box.parameters == line.parameters
    assert answers(box, stimulus(), stimulus(gain=1.0)) == [[2.5, 4.5, 6.5], [1.5, 2.5, 3.5]]


MODEL = """
format_version: 1
name: tank
declarations: |
  double u = 0;
  double gain = 2;
  int[0,9] start = 3;
  double level = 0;
automata:
  Tank:
    initial: Runs
    locations: {Runs: {}}
ports:
  inputs: {u: }
  outputs: {y: {value: "gain * u + start"}}
  parameters: {gain: {unit: "1"}, start: }
"""


def test_a_model_begins_with_the_values(tmp_path: Path) -> None:
    (tmp_path / "tank.yaml").write_text(MODEL)
    box = load_system("tank.yaml", tmp_path)
    assert box.parameters == {
        "gain": ParameterInfo(2.0, "1"),
        "start": ParameterInfo(3.0, None, 0, 9, whole=True),
    }
    plain, other = answers(box, stimulus(), stimulus(gain=1.0, start=0.0))
    assert (plain[1], other[1]) == (5.0, 1.0)


def test_a_model_cannot_have_an_input_as_parameter(tmp_path: Path) -> None:
    (tmp_path / "tank.yaml").write_text(MODEL.replace("start: }", "start: , v: {variable: u}}"))
    with pytest.raises(UserError, match="is an input"):
        load_system("tank.yaml", tmp_path)


@pytest.mark.parametrize(("session", "found"), [(NothingToClose, "a class, not an object of it"), ("s", "a str")])
def test_a_session_that_is_none_is_named(session: object, found: str) -> None:
    class Odd:
        name = "odd"

        def open(self, seed: int) -> object:
            return session

    with pytest.raises(SessionFailure, match=rf"open\(\) of 'odd' returned {found}: a session has __enter__"):
        open_session(Odd(), 1)
