"""What runs code says so: `validate` and the collection of tests run none, `replay` of a foreign file asks."""

import json
import subprocess
import sys

import pytest

from bbfalsify.records.json_files import read_json

CAMPAIGN = """format_version: 1
system: {system}
profile: user.yaml
requirements: [{{id: R1, stl: "always[0:20](T <= 75)"}}]
engine: {{kind: falsify, horizon: 20, simulations: 30, passes: 2, traces: 10}}
seed: 1
"""
ADAPTER = """import pathlib
pathlib.Path(__file__).with_name("imported").touch()
from bbfalsify.examples.heater.system import heater as system
"""


@pytest.fixture
def study(heater, tmp_path):
    """A campaign whose adapter leaves a file behind when it is imported."""
    (tmp_path / "user.yaml").write_text((heater / "profile.yaml").read_text())
    (tmp_path / "a.py").write_text(ADAPTER)
    file = tmp_path / "c.campaign.yaml"
    file.write_text(CAMPAIGN.format(system="a.py"))
    return file


def test_validate_runs_nothing(cli, study, tmp_path):
    assert cli("validate", study).code == 0
    study.write_text(CAMPAIGN.format(system='"cmd:touch started"'))
    called = cli("validate", study)
    assert called.code == 0 and "the ports of 'cmd:touch started' were not checked" in called.out
    assert {"imported", "started"}.isdisjoint(p.name for p in tmp_path.iterdir())


def test_validate_still_compares_ports_with_the_profile(cli, study, tmp_path):
    own = "from bbfalsify import systems\n@systems.system(inputs=['hot'], outputs=['T'])\ndef own(stimulus): ...\n"
    (tmp_path / "a.py").write_text(ADAPTER + own)
    study.write_text(CAMPAIGN.format(system='"a.py:own"'))
    called = cli("validate", study)
    assert called.code == 2 and "unknown input 'heat'" in called.err and not (tmp_path / "imported").exists()


def test_validate_loads_on_request(cli, study, tmp_path):
    assert cli("validate", study, "--load").code == 0
    assert (tmp_path / "imported").exists()


def test_collecting_tests_runs_nothing(study, tmp_path):
    """In a process of its own: an adapter that was imported before is not imported again."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "."]
    collected = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "c.campaign.yaml::R1" in collected.stdout and not (tmp_path / "imported").exists()


@pytest.fixture
def foreign(cli, study, tmp_path):
    """A counterexample of one's own, and the same file as somebody else could have written it."""
    called = cli("run", study)
    assert called.code == 1, called.err
    own = next((tmp_path / "runs").rglob("counterexamples/*.json"))
    data = read_json(own)
    data["system"]["reference"] = "cmd:touch started"
    file = tmp_path / "foreign.json"
    file.write_text(json.dumps(data))
    return own, file


def test_replay_of_a_foreign_file_asks(cli, foreign, tmp_path, monkeypatch):
    own, file = foreign
    assert cli("replay", own).code == 1
    refused = cli("replay", file)
    assert refused.code == 2 and "runs the system 'cmd:touch started'" in refused.err and "--trust" in refused.err
    assert not (tmp_path / "started").exists()
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert cli("replay", file).problems == [f"{file}: not replayed."]
    assert not (tmp_path / "started").exists()
    assert cli("replay", file, "--trust").code == 3  # `touch` does not speak the protocol
    assert (tmp_path / "started").exists()
    assert cli("replay", file, "--system", "a.py").code == 1


def test_a_mark_is_bound_to_the_folder_and_to_the_user(cli, foreign, tmp_path, monkeypatch):
    own, _ = foreign
    data = read_json(own)
    data["system"]["base"] = str(tmp_path / "gone")  # then the adapter beside the file would be taken
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(data))
    assert cli("replay", moved).code == 2
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-of-another-user"))
    assert cli("replay", own).code == 2
