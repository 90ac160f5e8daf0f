"""`--system model.fmu`: the same findings as with the model in Python, and mistakes with exit code 2."""

import json

import pytest

from tests.fmus.building import edited

REQUIRE = "always[0:20](T <= 75)"
SMALL = ("--horizon", 20, "--counterexamples", 4, "--simulations", 300, "--passes", 3, "--traces", 10, "--seed", 1)


def only_heat(text):
    """The heater with one input and one output, with units."""
    lines = []
    for line in text.splitlines():
        if any(f'name="{name}"' in line for name in ("boost", "level", "hot", "steps")):
            line = line.replace('causality="input"', 'causality="local"')
            line = line.replace('causality="output"', 'causality="local"')
        lines.append(line)
    return "\n".join(lines).replace("<Real/>", '<Real unit="degC"/>')


@pytest.fixture
def fmu(fmus, tmp_path):
    return edited(fmus.build("heater"), tmp_path / "heater.fmu", description=only_heat)


def falsify(cli, heater, fmu, *more, require=REQUIRE):
    profile = heater / "profile.yaml"
    return cli("falsify", "--system", fmu, "--profile", profile, "--require", require, *SMALL, "--json", *more)


def test_an_fmu_gives_the_findings_of_its_python_twin(cli, heater, fmu):
    of_fmu, of_twin = (falsify(cli, heater, box) for box in (fmu, "bbfalsify.examples.heater.system:heater"))
    assert of_fmu.code == of_twin.code == 1
    rows = [
        [(c["rank"], c["actions"], c["probability"]["value"]) for c in called.json["counterexamples"]]
        for called in (of_fmu, of_twin)
    ]
    assert rows[0] == rows[1] and len(rows[0]) >= 3
    file = of_fmu.json["counterexamples"][0]["file"]
    again = cli("replay", file)
    assert again.code == 1 and "SAME" in again.out
    assert json.loads((fmu.parent / file).read_text())["system"]["reference"].endswith("heater.fmu")


def test_a_grid_is_in_the_notes(cli, heater, fmu):
    adapter = fmu.parent / "adapter.py"
    adapter.write_text("from bbfalsify.systems import FmuSystem\nsystem = FmuSystem('heater.fmu', step=0.5)\n")
    called = falsify(cli, heater, adapter)
    [note] = [note for note in called.json["notes"] if "grid" in note]
    assert note.startswith("the system runs on a grid of 0.5: an input that changes between two grid points acts from")


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ("always[0:20](TT <= 75)", "unknown signal 'TT'. Allowed: T, heat. Did you mean 'T'?"),
        ("always[0:20](hot == 0)", "unknown signal 'hot'"),
    ],
)
def test_wrong_names_are_exit_code_2(cli, heater, fmu, require, said):
    called = falsify(cli, heater, fmu, require=require)
    assert called.code == 2 and said in called.err


def test_a_profile_that_does_not_fit_is_exit_code_2(cli, heater, fmus):
    called = falsify(cli, heater, fmus.build("heater"))
    assert called.code == 2
    assert "nothing drives input 'boost' of system 'Heater'" in called.err and "input 'level'" in called.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("<CoSimulation", "<ModelExchange"), "for ModelExchange only"),
        (lambda text: f"<!DOCTYPE x [<!ENTITY a 'b'>]>{text.partition('?>')[2]}", "a document type; refused"),
        (lambda text: text.replace('fmiVersion="2.0"', 'fmiVersion="1.0"'), "FMI version '1.0' is not supported"),
    ],
)
def test_fmus_that_cannot_be_used_are_exit_code_2(cli, heater, fmus, tmp_path, change, said):
    called = falsify(cli, heater, edited(fmus.build("heater"), tmp_path / "odd.fmu", description=change))
    assert called.code == 2 and said in called.err and "odd.fmu" in called.err
    assert "Traceback" not in called.out + called.err


def test_a_library_that_does_not_load_is_exit_code_3(cli, heater, fmu, tmp_path):
    def spoiled(members):
        return {name: b"" if name.endswith(".so") else data for name, data in members.items()}

    called = falsify(cli, heater, edited(fmu, tmp_path / "spoiled.fmu", members=spoiled))
    assert called.code == 3 and "the library cannot be loaded" in called.out + called.err


def test_arrays_in_profiles_and_formulas(cli, tmp_path, fmus):
    profile = tmp_path / "profile.yaml"
    profile.write_text(
        "format_version: 1\nname: p\nautomata:\n  U:\n    declarations: clock x;\n    initial: S\n"
        "    locations: {S: {invariant: x <= 2}}\n    edges:\n"
        "      - {from: S, to: S, action: up, guard: x >= 1, update: x = 0}\n"
        "      - {from: S, to: S, action: down, guard: x >= 1, update: x = 0}\n"
        "inputs:\n  u[0]: {actions: {up: 1, down: 0}, initial: 0}\n  u[1]: {actions: {down: 3}, initial: 0}\n"
    )
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from bbfalsify.systems import FmuSystem\n"
        f"system = FmuSystem({str(fmus.build('fmi3_box'))!r}, inputs=['u[0]', 'u[1]'], outputs=['y'])\n"
    )
    require = "always[0:4](y[0] + y[1] < 8)"
    called = cli("falsify", "--system", adapter, "--profile", profile, "--require", require, *SMALL, "--json")
    assert called.code == 1, called.err
    assert all({"up", "down"} <= set(c["actions"]) for c in called.json["counterexamples"])


def test_settings_after_the_reference_are_used_by_every_command(cli, heater, fmu, tmp_path):
    weak = f"{fmu}?set.power=10&outputs=T&step=0.05"
    assert falsify(cli, heater, fmu).json["outcome"] == "falsified"
    assert falsify(cli, heater, weak).json["outcome"] == "not_falsified"
    (tmp_path / "weak.yaml").write_text(
        f"format_version: 1\nsystem: [heater.fmu, '{weak}']\nprofile: {heater}/profile.yaml\n"
        f"requirements: [{{id: R1, stl: '{REQUIRE}'}}]\n"
        "engine: {kind: falsify, horizon: 20, simulations: 100, passes: 2, traces: 10}\nseed: 1\n"
    )
    assert cli("validate", tmp_path / "weak.yaml").code == 0
    runs = cli("run", tmp_path / "weak.yaml", "--json").json["runs"]
    assert [run["outcome"] for run in runs] == ["falsified", "not_falsified"]
    assert "fit for use" in cli("doctor", weak).out
    assert "Did you mean 'outputs'?" in cli("doctor", f"{fmu}?outpts=T").err


def test_validate_describes_an_fmu(cli, fmu, tmp_path):
    assert "heater.fmu: FMU, 1 input, 1 output, 3 parameters" in cli("validate", fmu).out
    (tmp_path / "broken.fmu").write_bytes(b"PK")
    called = cli("validate", tmp_path / "broken.fmu")
    assert called.code == 2 and "the archive is damaged" in called.err
