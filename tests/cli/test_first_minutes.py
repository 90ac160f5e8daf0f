"""First minutes: an empty folder, a system of one's own, mistakes that everybody makes once."""

import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from bbfalsify.examples import example_folder
from bbfalsify.modelling.profiles.profile_schema import profile_schema

PROFILE = example_folder("heater") / "profile.yaml"


@pytest.mark.parametrize("begin", [("new", "campaign", "pump"), ("init", "pump")], ids=["new", "init"])
def test_what_is_begun_in_an_empty_folder_runs(cli, begin):
    written = cli(*begin)
    assert (written.code, written.err) == (0, "")
    assert written.out.endswith("Try it:  bbfalsify run experiments/pump/campaign.yaml\n")
    assert cli("validate", "experiments/pump/campaign.yaml").code == 0
    ran = cli("run", "experiments/pump/campaign.yaml", "-q")
    assert (ran.code, ran.err) == (0, "")
    assert "R1 falsified (as expected)" in ran.out


def test_init_writes_the_four_parts_and_overwrites_none(cli, tmp_path):
    cli("init", "gate", "--engine", "check")
    parts = {"adapters/gate/adapter.py", "specs/gate.yaml", "experiments/gate/campaign.yaml"}
    assert parts <= {str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*.*")}
    assert cli("validate", "experiments/gate/campaign.yaml").code == 0
    again = cli("init", "gate")
    assert again.code == 2 and "there is already something at experiments/gate/campaign.yaml" in again.err
    assert cli("init", "two words").problems == [
        "the name must consist of letters, digits and underscores; found 'two words'."
    ]


def test_info_lists_ports_units_and_parameters(cli, heater, tmp_path):
    assert cli("info", f"{heater}/system.py:heater").out.splitlines()[1:] == ["input   heat  1", "output  T     degC"]
    (tmp_path / "pan.py").write_text(
        "from bbfalsify.systems import Port\n"
        "from bbfalsify.systems.parameters import ParameterInfo\n"
        "from bbfalsify.systems import system\n"
        "@system(inputs=[Port('u', 'W', 0, 10)], outputs={'T': 'degC'},\n"
        "        parameters={'mass': ParameterInfo(1.5, 'kg', 1.0)})\n"
        "def pan(stimulus, mass):\n"
        "    return {'T': stimulus.inputs['u']}\n"
    )
    assert cli("info", "pan.py:pan").out.splitlines()[1:] == [
        "input      u     W     0 to 10",
        "output     T     degC",
        "parameter  mass  kg    1 to …   default 1.5",
    ]
    facts = cli("info", "pan.py:pan", "--json").json
    assert facts["parameters"] == [{"name": "mass", "unit": "kg", "low": 1.0, "high": None, "default": 1.5}]
    (tmp_path / "m.dot").write_text('digraph g {\ns0;\ns0 -> s0 [label="a/x"];\n__start0 -> s0;\n}\n')
    assert cli("info", "m.dot").out.endswith("symbols: a\n")


def test_info_of_an_fmu(cli, fmus):
    facts = cli("info", fmus.build("heater"), "--json").json
    assert [port["name"] for port in facts["inputs"]] == ["heat", "boost", "level"]
    assert "T" in [port["name"] for port in facts["outputs"]]


def test_the_schema_of_profiles_allows_what_the_reader_allows(cli):
    schema = cli("schema", "profile").json
    assert schema == profile_schema()
    profile = yaml.safe_load(PROFILE.read_text())
    jsonschema.validate(profile, schema)
    profile["automata"]["User"]["edges"][0]["gaurd"] = "x >= 1"
    with pytest.raises(jsonschema.ValidationError, match="gaurd"):
        jsonschema.validate(profile, schema)


def test_a_profile_given_to_run_is_called_one(cli):
    (problem,) = cli("run", PROFILE).problems
    assert "this is a profile or a model, not a campaign" in problem and "new campaign" in problem


def campaign(folder, requirement, horizon=20):
    system, profile = f"{folder}/system.py:heater", folder / "profile.yaml"
    text = f"format_version: 1\nname: x\nsystem: {system}\nprofile: {profile}\nrequirements:\n  - {requirement}\n"
    file = Path("c.yaml")
    file.write_text(f"{text}engine: {{kind: falsify, horizon: {horizon}, simulations: 20}}\n")
    return file


def test_a_formula_about_symbols_under_falsify_is_told_whose_it_is(cli, heater):
    (problem,) = cli("validate", campaign(heater, '{id: R1, ltl: "G(out == a)"}')).problems
    assert problem == "c.yaml:6: 'ltl' is about symbols, for engines such as check; this engine takes stl."


def test_a_horizon_of_0_says_what_is_judged(cli, heater):
    told = "the horizon is 0 and no formula looks ahead: only time 0 is judged"
    assert told in cli("run", campaign(heater, '{id: R1, stl: "T <= 75"}', horizon=0), "-q").out
    assert told not in cli("run", campaign(heater, '{id: R1, stl: "always[0:2](T <= 75)"}', horizon=0), "-q").out


def test_validate_notes_a_formula_that_looks_beyond_the_horizon(cli, heater):
    told = cli("validate", campaign(heater, '{id: R1, stl: "always[0:60](T <= 75)"}', horizon=30)).out
    assert "R1 looks further ahead than the horizon of 30" in told and "no problems" in told


def test_a_model_that_does_not_exist_is_told_the_closest(cli):
    (problem,) = cli("reach", "--example", "fisher:3", "--query", "E<> true").problems
    assert problem.startswith("--example or MODEL: unknown model 'fisher'. Did you mean 'fischer'? Allowed: ")


def test_files_are_written_though_the_reader_of_the_output_has_left(cli, heater, tmp_path):
    """As `bbfalsify run … --junit results.xml | head -0`."""
    file = campaign(heater, '{id: R1, stl: "always[0:2](T <= 75)"}')
    code = "from bbfalsify.cli.main import main; main()"
    command = [sys.executable, "-c", code, "run", str(file), "-q", "--junit", "results.xml"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    said = process.stderr.read().decode()
    assert (process.wait(), said) == (0, "")
    assert "<testcase" in (tmp_path / "results.xml").read_text()
