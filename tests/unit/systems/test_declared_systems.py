"""Declarations are read without running anything; what is computed is said to be unknown."""

from pathlib import Path

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.systems import Capabilities, ParameterInfo, Port, load_system
from bbfalsify.systems.declared import NotRead, declared_system
from bbfalsify.systems.declared_text import DeclaredSignals, DeclaredSymbols

ROOT = Path(__file__).parents[3]
SPOILS = "import pathlib\npathlib.Path('spoiled').touch()\n"
FUNCTION = """
from bbfalsify.systems import Port, system
OUT = {"T": "degC"}
@system(inputs=(Port("heat", "1"),), outputs=OUT)
def tank(stimulus, seed):
    return {}
"""
CLASS = """
from bbfalsify import Capabilities, Port
class Adapter:
    name = "door"
    alphabet = ("open", "close")
    capabilities = Capabilities(stepwise=True)
    def open(self, seed): ...
"""
CALL = """
from bbfalsify.systems import ProcessSystem
box = ProcessSystem(["./sim"], inputs=["u"], outputs={"y": None}, capabilities=computed(), name="sim")
"""


@pytest.fixture
def adapter(tmp_path, monkeypatch):
    """Write an adapter that leaves a file behind when it is imported, and read its declaration."""
    monkeypatch.chdir(tmp_path)

    def read(text: str, reference: str = "a.py"):
        (tmp_path / "a.py").write_text(SPOILS + text)
        found = declared_system(reference, tmp_path)
        assert not (tmp_path / "spoiled").exists()
        return found

    return read


def test_declarations_that_are_written_out(adapter):
    tank = DeclaredSignals("tank", Capabilities(seedable=True), (Port("heat", "1"),), (Port("T", "degC"),), {})
    assert adapter(FUNCTION) == adapter(FUNCTION, "a.py:tank") == tank
    assert adapter(CLASS) == DeclaredSymbols("door", Capabilities(stepwise=True), ("open", "close"))
    assert adapter(CALL) == DeclaredSignals("sim", None, (Port("u"),), (Port("y"),))


def test_parameters_that_are_written_out(adapter):
    text = FUNCTION.replace("outputs=OUT", "outputs=OUT, parameters={'m': ParameterInfo(1.0, low=-1), 'k': -2}")
    assert adapter(text).parameters == {"m": ParameterInfo(1.0, low=-1), "k": ParameterInfo(-2.0)}
    assert adapter(FUNCTION.replace("outputs=OUT", "outputs=OUT, parameters=f()")).parameters is None


@pytest.mark.parametrize("name", ["heater", "thermal_house", "automatic_transmission", "thermal_house_octave"])
def test_shipped_adapters_are_read_as_they_are_loaded(name):
    read, loaded = declared_system(f"adapters/{name}", ROOT), load_system(f"adapters/{name}", ROOT)
    assert isinstance(read, DeclaredSignals) and (read.inputs, read.outputs) == (loaded.inputs, loaded.outputs)
    assert read.capabilities == loaded.capabilities


@pytest.mark.parametrize(
    "given, capabilities",
    [
        ("batch=True", Capabilities(seedable=True, batch=True)),
        ("batch=False, step=0.5", Capabilities(seedable=True, step_s=0.5)),
        ("batch=tanks", Capabilities(seedable=True, batch=True)),
        ("batch=lambda stimuli, seeds: []", Capabilities(seedable=True, batch=True)),
        ("batch=make()", None),
    ],
)
def test_abilities_that_the_decorator_is_given(adapter, given, capabilities):
    text = FUNCTION.replace("@system(", "def tanks(stimuli, seeds): ...\n@system(").replace("=OUT)", f"=OUT, {given})")
    assert adapter(text).capabilities == capabilities


@pytest.mark.parametrize(
    "text",
    ["system = make()\n", "class Adapter:\n    inputs = f()\n    outputs = ()\n", "from os import *\n", "x = 1\n"],
)
def test_what_is_computed_is_not_read(adapter, text):
    assert isinstance(adapter(text), NotRead)


def test_imports_are_followed_without_importing(adapter, tmp_path):
    (tmp_path / "other.py").write_text(SPOILS + FUNCTION)
    found = adapter("from other import tank as system\n")
    assert isinstance(found, DeclaredSignals) and found.name == "tank"
    (tmp_path / "other.py").write_text("from a import system as tank\n")  # a circle
    assert isinstance(adapter("from other import tank as system\n"), NotRead)


def test_mistakes_that_show_without_running(adapter):
    for text, reference, message in (
        ("def (", "a.py", "a.py:3: the adapter is not valid Python"),
        (FUNCTION, "a.py:tnk", "unknown name 'tnk'.* Did you mean 'tank'"),
        (FUNCTION + FUNCTION.replace("tank", "pump"), "a.py", "several systems"),
        ("", "cmd:no-such-program", "there is no program 'no-such-program'"),
        ("", "nowhere.module:x", "no module 'nowhere.module'"),
    ):
        with pytest.raises(UserError, match=message):
            adapter(text, reference)


def test_a_program_is_looked_up_and_not_started(tmp_path):
    assert isinstance(declared_system("cmd:touch spoiled", tmp_path), NotRead)
    assert not (tmp_path / "spoiled").exists()


def test_data_is_loaded(tmp_path):
    (tmp_path / "m.dot").write_text('digraph g {\na -> a [label="x/y"];\n}')
    assert declared_system("m.dot", tmp_path).alphabet == ("x",)
