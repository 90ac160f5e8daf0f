"""FMUs as files: what is read from them without loading anything, and what is refused."""

import pickle
import stat
import subprocess
import sys
import zipfile

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.systems import FmuSystem, load_system
from bbfalsify.systems.fmu import archive
from bbfalsify.systems.fmu.description import read_description
from tests.fmus.building import edited

FMI2 = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="House" guid="{{1}}">
  <CoSimulation modelIdentifier="House" {flags}/>
  <TypeDefinitions>
    <SimpleType name="Temperature"><Real unit="degC"/></SimpleType>
    <SimpleType name="Mode"><Enumeration><Item name="off" value="1"/></Enumeration></SimpleType>
  </TypeDefinitions>
  <DefaultExperiment stopTime="1e8" stepSize="0.1"/>
  <ModelVariables>
    <ScalarVariable name="T_out" valueReference="1" causality="input">
      <Real declaredType="Temperature" start="20"/>
    </ScalarVariable>
    <ScalarVariable name="wind" valueReference="2" causality="input"><Real unit="furlong/fortnight"/></ScalarVariable>
    <ScalarVariable name="T" valueReference="3" causality="output"><Real unit="°C"/></ScalarVariable>
    <ScalarVariable name="a" valueReference="4" causality="output"><Real unit="m/s^2"/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="1" causality="output">
      <Enumeration declaredType="Mode"/>
    </ScalarVariable>
    <ScalarVariable name="note" valueReference="1" causality="output"><String/></ScalarVariable>
    {more}
  </ModelVariables>
</fmiModelDescription>"""
FMI3 = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="3.0" modelName="Box" instantiationToken="t">
  <CoSimulation modelIdentifier="Box" {flags}/>
  <TypeDefinitions><Float64Type name="Speed" unit="km/h"/></TypeDefinitions>
  <ModelVariables>
    <UInt64 name="n" valueReference="9" causality="structuralParameter" variability="fixed" start="2"/>
    <Float32 name="v" valueReference="1" causality="output" declaredType="Speed"/>
    <Int8 name="m" valueReference="2" causality="output"><Dimension start="3"/><Dimension valueReference="9"/></Int8>
    <String name="s" valueReference="3" causality="parameter"><Start value="x"/></String>
    <Clock name="c" valueReference="4" causality="input" intervalVariability="triggered"/>
    {more}
  </ModelVariables>
</fmiModelDescription>"""


def read(text, flags="", more=""):
    return read_description(text.format(flags=flags, more=more).encode(), "box.fmu")


def refused(call):
    with pytest.raises(UserError) as error:
        call()
    return [str(problem) for problem in error.value.problems]


def test_the_description_of_fmi_2():
    found = read(FMI2, 'canGetAndSetFMUstate="true" canHandleVariableCommunicationStepSize="true"')
    assert (found.fmi, found.identifier, found.token, found.step) == (2, "House", "{1}", 0.1)
    assert found.can_save and found.any_step and found.library.startswith("binaries/")
    units = {name: variable.unit for name, variable in found.variables.items()}
    assert units == {"T_out": "degC", "wind": None, "T": "degC", "a": "m/s2", "mode": None, "note": None}
    assert found.variables["T_out"].start == "20" and found.variables["mode"].kind == "Enumeration"


def test_the_description_of_fmi_3():
    found = read(FMI3, 'fixedInternalStepSize="0.01" canHandleVariableCommunicationStepSize="true"')
    assert (found.fmi, found.step, found.any_step, found.can_save) == (3, 0.01, False, False)
    assert found.variables["v"].unit == "km/h"
    assert list(found.variables["m"].element_names()) == ["m[0,0]", "m[0,1]", "m[1,0]", "m[1,1]", "m[2,0]", "m[2,1]"]
    assert found.variables["s"].start == "x" and not found.variables["n"].can_start_elsewhere


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "{}"><!ENTITY b "{}">]><fmiModelDescription>&b;</fmiModelDescription>'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB.format("ha" * 1000, "&a;" * 100_000), "defines a document type; refused"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><fmiModelDescription/>', "defines a document type; refused"),
        ("<fmiModelDescription", "cannot be read: unclosed token"),
        ("", "cannot be read: no element found"),
        ('<?xml version="1.0" encoding="klingon"?><fmiModelDescription/>', "cannot be read"),
        ("<html/>", "begins with <html>"),
        ('<fmiModelDescription fmiVersion="1.0"/>', "FMI version '1.0' is not supported. Allowed: 2.0, 3.0."),
        (
            '<fmiModelDescription fmiVersion="2.0"><ModelExchange modelIdentifier="m"/></fmiModelDescription>',
            "this FMU is for ModelExchange only; it must contain its own solver: export it again for co-simulation",
        ),
        (
            '<fmiModelDescription fmiVersion="3.0"><CoSimulation modelIdentifier="../../evil"/></fmiModelDescription>',
            "the model identifier '../../evil' is not a C identifier",
        ),
    ],
)
def test_descriptions_that_are_refused(text, said):
    [problem] = refused(lambda: read_description(text.encode(), "box.fmu"))
    assert problem.startswith("box.fmu: ") and said in problem


def test_every_problem_of_a_description_is_told():
    more = """
        <Float64 name="v" valueReference="5"/><Float64 name="w"/><Real name="r" valueReference="6"/>
        <Float64 name="z" valueReference="7"><Dimension valueReference="77"/></Float64>
        <Float64 name="huge" valueReference="8"><Dimension start="1000"/><Dimension start="1000"/></Float64>"""
    found = "\n".join(refused(lambda: read(FMI3, 'fixedInternalStepSize="-1"', more)))
    for said in (
        "fixedInternalStepSize is '-1'", "two variables are called 'v'", "'w': its type or value reference is missing",
        "'r': its type", "array 'z': the size of a dimension is unknown", "array 'huge' has 1000000 elements",
    ):  # fmt: skip
        assert said in found


# ---------------------------------------------------------------------------- archives


def packed(path, *members, description=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member, data in members:
            file.writestr(member, data)
        if description is not None:
            file.writestr("modelDescription.xml", description)
    return path


@pytest.mark.parametrize(
    "name", ["../evil.so", "/evil.so", "resources/../../evil", "C:/evil", "resources\\..\\evil", "a/./../../b"]
)
def test_a_member_that_leads_out_of_the_folder(tmp_path, name):
    path = packed(tmp_path / "box.fmu", (name, b"boo"), description="<fmiModelDescription/>")
    [problem] = refused(lambda: FmuSystem(path))
    assert "would be written outside its folder; refused" in problem


def test_links_and_doubles_and_strangers(tmp_path):
    link = zipfile.ZipInfo("resources/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = packed(tmp_path / "link.fmu", (link, b"/etc/passwd"), description="<fmiModelDescription/>")
    assert "'resources/link' is a symbolic link; refused" in refused(lambda: FmuSystem(path))[0]
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = packed(tmp_path / "two.fmu", ("a", b"1"), ("a", b"2"), description="<fmiModelDescription/>")
    assert "it contains a name twice" in refused(lambda: FmuSystem(path))[0]
    path = packed(tmp_path / "empty.fmu", ("a", b""))
    assert "there is no modelDescription.xml in it: not an FMU" in refused(lambda: FmuSystem(path))[0]
    (tmp_path / "text.fmu").write_text("no archive at all")
    assert "the archive is damaged" in refused(lambda: FmuSystem(tmp_path / "text.fmu"))[0]
    missing = refused(lambda: FmuSystem(tmp_path / "lnk.fmu"))[0]
    assert "there is no file lnk.fmu" in missing and "Did you mean 'link.fmu'?" in missing


def test_sizes_are_bounded(tmp_path, monkeypatch, fmus):
    monkeypatch.setattr(archive, "LARGEST_ARCHIVE", 100_000)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    found = "\n".join(refused(lambda: FmuSystem(fmus.build("heater"))))
    assert "members, more than 3" in found and "more than 0" in found
    monkeypatch.undo()
    monkeypatch.setattr(archive, "LARGEST_DESCRIPTION", 1000)
    assert "too large: 'modelDescription.xml'" in refused(lambda: FmuSystem(fmus.build("heater")))[0]


def test_an_archive_made_to_fill_the_disk_is_refused(tmp_path):
    """200 MB of zeros in 200 KB."""
    path = packed(tmp_path / "bomb.fmu", ("resources/zeros", bytes(200 << 20)), description="<fmiModelDescription/>")
    assert path.stat().st_size < 1 << 20
    assert "the archive is refused: it would become" in refused(lambda: FmuSystem(path))[0]


def test_a_damaged_member_is_found_when_unpacking(fmus, tmp_path):
    whole = fmus.build("heater").read_bytes()
    at = whole.index(b"class Heater(Fmi2Slave)")
    (tmp_path / "bad.fmu").write_bytes(whole[:at] + b"CLASS" + whole[at + 5 :])
    system = FmuSystem(tmp_path / "bad.fmu")
    assert "the archive is damaged: Bad CRC-32" in refused(system.set_up)[0]


def test_a_library_for_another_machine_only(fmus, tmp_path):
    def elsewhere(members):
        return {name.replace("linux64", "vax"): data for name, data in members.items()}

    path = edited(fmus.build("heater"), tmp_path / "vax.fmu", members=elsewhere)
    [problem] = refused(lambda: FmuSystem(path))
    assert "no library for this machine (binaries/linux64/Heater.so)" in problem and "Allowed: vax, win64" in problem


# ---------------------------------------------------------------------------- what users ask for


def test_every_wrong_name_at_once(fmus):
    found = refused(
        lambda: FmuSystem(
            fmus.build("heater"),
            inputs=["heta"],
            outputs={"x": "TT", "y": "T"},
            start_values={"powr": 1, "boost": 3, "power": "much", "label": 4, "T": 1},
            step=-1,
        )
    )
    assert len(found) == 8
    for problem, said in zip(
        found,
        [
            "unknown input variable 'heta'. Allowed: boost, heat, level, power. Did you mean 'heat'?",
            "unknown output variable 'TT'. Allowed: T, boost, heat, hot, letters, level, power, steps. Did you mean",
            "unknown start value 'powr'. Allowed: boost, heat, label, level, power. Did you mean 'power'?",
            "start value of 'boost': it is of type Boolean and takes 0 and 1, not 3",
            "start value of 'power': expected a finite number, got 'much'",
            "start value of 'label': expected a text, got 4",
            "unknown start value 'T'",
            "the step must be a positive number, found -1",
        ],
        strict=True,
    ):
        assert said in problem


def test_a_port_cannot_be_input_and_output(fmus):
    [problem] = refused(lambda: FmuSystem(fmus.build("heater"), outputs=["heat", "T"]))
    assert "'heat' is both an input and an output; rename one: outputs={'y': 'heat'}" in problem
    assert FmuSystem(fmus.build("heater"), outputs={"echo": "heat"}).outputs[0].name == "echo"


def test_an_fmu_is_a_reference(fmus, tmp_path):
    fmu = fmus.build("heater")
    assert load_system(fmu.name, base=fmu.parent).name == "Heater"
    adapter = tmp_path / "house" / "adapter.py"
    adapter.parent.mkdir()
    adapter.write_text(f"from bbfalsify.systems import FmuSystem\nsystem = FmuSystem({str(fmu)!r}, outputs=['T'])\n")
    assert [port.name for port in load_system("house", base=tmp_path).outputs] == ["T"]
    with pytest.raises(UserError, match=r"Did you mean 'Heater.fmu'\?"):
        load_system("Heatr.fmu", base=fmu.parent)


def test_an_fmu_travels_as_its_path(fmus):
    system = FmuSystem(fmus.build("heater"), inputs={"on": "heat"}, outputs=["T"], start_values={"power": 1}, step=2)
    copy = pickle.loads(pickle.dumps(system))
    assert (copy.inputs, copy.outputs, copy.capabilities) == (system.inputs, system.outputs, system.capabilities)
    assert copy.plan == system.plan


def test_describing_an_fmu_loads_neither_fmpy_nor_its_library(fmus):
    code = f"""
import sys
from bbfalsify.systems import load_system
print(load_system({str(fmus.build("heater"))!r}))
print([m for m in ("fmpy", "pythonfmu", "lxml", "scipy", "numba") if m in sys.modules])
print("Heater.so" in open("/proc/self/maps").read())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["<FMU Heater: heat, boost, level -> T, hot, steps>", "[]", "False"]


def test_without_fmpy_the_user_is_told_what_to_install(fmus, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    [problem] = refused(lambda: FmuSystem(fmus.build("heater")))
    assert "FMUs need FMPy: pip install 'bbfalsify[fmi]'" in problem
