"""Settings after the `?` of a reference: read, checked, and seen by the system."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.running.doctor.doctor import examine
from bbfalsify.systems import FmuSystem, load_system
from bbfalsify.systems.declared import declared_system
from bbfalsify.systems.declared_text import DeclaredSignals
from bbfalsify.systems.reference_settings import ReferenceSettings, split_reference
from bbfalsify.systems.references import resolve_reference
from tests.fmus.asking import ask, signals, stimulus
from tests.fmus.building import edited

CART = """
from bbfalsify.systems import system
@system(inputs=["u"], outputs=["y"], parameters={"mass": 1.0, "friction": 0.0})
def cart(stimulus, *, mass, friction):
    return {"y": stimulus.inputs["u"] / mass - friction}
"""


def refused(call: Any) -> list[str]:
    with pytest.raises(UserError) as error:
        call()
    return [problem.message + str(problem) for problem in error.value.problems]


def test_settings_are_split_at_commas_outside_brackets_and_unquoted() -> None:
    place, found = split_reference("a/b.fmu?outputs=m[0,1],v:der(x),a%2Cb&inputs=u&step=0.5&set.name=x%26y&set.on=true")
    assert place == "a/b.fmu"
    outputs = {"m[0,1]": "m[0,1]", "v": "der(x)", "a,b": "a,b"}
    assert found == ReferenceSettings({"u": "u"}, outputs, 0.5, {"name": "x&y", "on": 1.0})
    assert split_reference("a.py:b") == ("a.py:b", ReferenceSettings())


def test_all_mistakes_in_settings_are_named_with_the_closest() -> None:
    found = refused(lambda: split_reference("a.fmu?output=x&step=-1&set.=3&inputs=&step=2"))
    assert len(found) == 5
    assert "unknown setting 'output' after the '?' of 'a.fmu'" in found[0] and "Did you mean 'outputs'?" in found[0]
    assert "'step=-1': expected a positive number" in found[1]
    assert "'inputs=' after the '?' of 'a.fmu': expected KEY=VALUE" in found[3]
    assert "'step' is given twice" in found[4]
    [only_set] = refused(lambda: split_reference("plant.py:cart?step=1"))
    assert "set.NAME" in only_set and "outputs" not in only_set


def test_a_command_keeps_its_question_marks(tmp_path: Path) -> None:
    assert resolve_reference("cmd:ls a?b=c", tmp_path).command == ("ls", "a?b=c")


def test_parameters_of_a_function_are_set_by_its_reference(tmp_path: Path) -> None:
    (tmp_path / "plant.py").write_text(CART)
    box = load_system("plant.py:cart?set.mass=4", tmp_path)
    with box.open(0) as session:
        assert session.execute(Stimulus(np.zeros(1), {"u": np.array([2.0])}))["y"].tolist() == [0.5]
    for load in (load_system, declared_system):
        [problem] = refused(lambda load=load: load("plant.py:cart?set.mas=4", tmp_path))
        assert "unknown parameter 'mas' of the system 'cart'" in problem and "Did you mean 'mass'?" in problem
        [problem] = refused(lambda load=load: load("plant.py:cart?set.mass=heavy", tmp_path))
        assert "'set.mass=heavy': expected a number" in problem
    assert isinstance(declared_system("plant.py?set.mass=2", tmp_path), DeclaredSignals)


def test_an_fmu_takes_outputs_step_and_start_values(fmus: Any) -> None:
    fmu = fmus.build("heater")
    box = load_system(f"{fmu.name}?outputs=T,count:steps&inputs=heat&step=0.5&set.power=50&set.label=abc", fmu.parent)
    same = FmuSystem(
        fmu, outputs={"T": "T", "count": "steps"}, inputs=["heat"], step=0.5, start_values={"power": 50, "label": "abc"}
    )
    assert (box.inputs, box.outputs, box.capabilities) == (same.inputs, same.outputs, same.capabilities)
    assert box.parameters["power"].default == 50.0
    use = stimulus([0.0, 1.0, 2.0], heat=1.0)
    [one], [other] = ask(box, use), ask(same, use)
    assert np.array_equal(signals(one)["T"], signals(other)["T"]) and signals(one)["count"][-1] == 4


def test_an_fmu_names_what_it_does_not_have(fmus: Any) -> None:
    fmu = fmus.build("heater")
    found = refused(lambda: load_system(f"{fmu}?outputs=Tt&set.powr=3"))
    assert "unknown output variable 'Tt'" in found[0] and "unknown start value 'powr'" in found[1]
    assert "Did you mean 'power'?" in found[1]


def test_a_parameter_that_is_no_input_says_how_to_set_it(fmus: Any, tmp_path: Path) -> None:
    fixed = edited(
        fmus.build("heater"), tmp_path / "fixed.fmu", description=lambda text: text.replace("tunable", "fixed")
    )
    [problem] = refused(lambda: FmuSystem(fixed, inputs=["power"]))
    assert "'power' is a parameter that keeps its value during a simulation" in problem
    assert "'fixed.fmu?set.power=…'" in problem
    [problem] = refused(lambda: FmuSystem(fixed, inputs=["T"]))
    assert "'T' is of causality 'output': only inputs and tunable parameters can be driven" in problem


def test_an_fmu_without_outputs_or_step_says_the_reference_that_helps(fmus: Any, tmp_path: Path) -> None:
    def bare(text: str) -> str:
        text = re.sub(r'canHandleVariableCommunicationStepSize="true"', "", text)
        return text.replace('causality="output"', 'causality="local"')

    fmu = edited(fmus.build("heater"), tmp_path / "bare.fmu", description=bare)
    assert any("'bare.fmu?step=0.1'" in problem for problem in refused(lambda: FmuSystem(fmu)))
    [problem] = refused(lambda: FmuSystem(fmu, step=0.1))
    assert "'bare.fmu?outputs=…'" in problem and "T" in problem
    assert load_system(f"{fmu}?outputs=T&step=0.1").capabilities.grid_period_s == 0.1


def test_an_archive_whose_names_begin_with_a_dot_is_read(fmus: Any, tmp_path: Path) -> None:
    target = tmp_path / "dotted.fmu"
    with zipfile.ZipFile(fmus.build("heater")) as old, zipfile.ZipFile(target, "w") as new:
        new.writestr("./", b"")
        for info in old.infolist():
            new.writestr(f"./{info.filename}", old.read(info))
    use = stimulus([0.0, 1.0], heat=1.0, boost=0.0, level=0.0)
    [one], [other] = ask(FmuSystem(target), use), ask(FmuSystem(fmus.build("heater")), use)
    assert np.array_equal(signals(one)["T"], signals(other)["T"])


ENUMERATION = (
    '<TypeDefinitions><SimpleType name="Mode"><Enumeration><Item name="low" value="1"/><Item name="high" value="3"/>'
    "</Enumeration></SimpleType></TypeDefinitions><ModelVariables>"
)


def test_the_doctor_keeps_to_an_enumeration_that_begins_at_1(fmus: Any, tmp_path: Path) -> None:
    def described(text: str) -> str:
        text = re.sub(
            r'(<ScalarVariable[^>]*name="level"[^>]*>\s*)<Integer[^>]*/>',
            r'\1<Enumeration declaredType="Mode" start="1"/>',
            text,
        )
        return text.replace("<ModelVariables>", ENUMERATION, 1)

    box = FmuSystem(edited(fmus.build("heater"), tmp_path / "modes.fmu", description=described))
    assert [(port.low, port.high) for port in box.inputs if port.name == "level"] == [(1.0, 3.0)]
    assert examine(box, duration=2.0).problems == []
    [answer] = ask(box, stimulus([0.0, 1.0], heat=1.0, boost=0.0, level=0.0))
    assert "input 'level' is of type Enumeration and takes whole numbers from 1 to 3, not 0" in answer.message
