"""UPPAAL models where models of our own could stand: as the user of a black box, and as the box itself."""

import shutil
from pathlib import Path

import pytest

from bbfalsify.modelling.formats.model_files import model_hash
from bbfalsify.systems.references import resolve_reference

ROOT = Path(__file__).parents[2]
HEATER = """<nta>
<declaration>double heat = 0.0; hybrid clock T;</declaration>
<template><name>Heater</name>
<location id="id0"><name>Running</name><label kind="invariant">T' == (100*heat - T)/10</label></location>
<init ref="id0"/></template>
<system>system Heater;</system>
</nta>
"""
PORTS = """
format_version: 1
name: heater
model: heater.xml
ports:
  inputs: {heat: {unit: "1"}}
  outputs: {T: {unit: degC}}
"""


def falsified(cli, profile: str, system: object = ROOT / "adapters" / "heater") -> dict:
    called = cli(
        "falsify", "--system", system, "--profile", ROOT / "profiles" / profile, "--require", "always[0:20](T <= 75)",
        "--horizon", 20, "--counterexamples", 2, "--simulations", 120, "--passes", 2,
        "--traces", 30, "--shrink", 0, "--seed", 7, "--json", "--quiet",
    )  # fmt: skip
    assert called.code == 1, called.err
    return called.json


def ranking(results: dict) -> list:
    found = results["counterexamples"]
    return [(c["actions"], c["probability"], c["first_violation_time"]) for c in found]


@pytest.fixture
def by_hand(cli) -> list:
    """The list of the same user, written in YAML."""
    rows = ranking(falsified(cli, "heater_user.yaml"))
    assert len(rows) == 2
    return rows


def test_a_user_drawn_in_uppaal_gives_the_same_list_and_can_be_replayed(cli, by_hand):
    results = falsified(cli, "heater_user_uppaal.yaml")
    assert ranking(results) == by_hand
    assert cli("replay", results["counterexamples"][0]["file"]).code == 1


def test_a_box_drawn_in_uppaal_behaves_as_the_box_itself(cli, by_hand, tmp_path):
    (tmp_path / "heater.xml").write_text(HEATER)
    (tmp_path / "heater.yaml").write_text(PORTS)
    rows = ranking(falsified(cli, "heater_user_uppaal.yaml", tmp_path / "heater.yaml"))
    assert [(actions, at) for actions, _, at in rows] == [(actions, at) for actions, _, at in by_hand]


def test_the_xml_alone_is_refused_with_what_to_write(cli):
    xml = ROOT / "profiles" / "heater_user.xml"
    options = ("--require", "always[0:20](T <= 75)", "--horizon", 20)
    as_profile = cli("falsify", "--system", ROOT / "adapters" / "heater", "--profile", xml, *options)
    assert as_profile.code == 2 and "'model: heater_user.xml' and 'inputs'" in as_profile.err
    as_system = cli("falsify", "--system", xml, "--profile", ROOT / "profiles" / "heater_user.yaml", *options)
    assert as_system.code == 2 and "with 'model: …' and 'ports'" in as_system.err


def test_handshakes_are_refused_in_a_profile(cli, tmp_path):
    for name in ("heater_user.xml", "heater_user_uppaal.yaml"):
        text = (ROOT / "profiles" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("broadcast chan", "chan"))
    called = cli("validate", "heater_user_uppaal.yaml")
    assert called.code == 2
    assert all(f"heater_user.xml:{line}: channel" in called.err for line in (14, 23))


def test_another_automaton_is_another_input_of_a_run(tmp_path):
    """The YAML file stays as it is; what the user does stands in the XML."""
    for name in ("heater_user.xml", "heater_user_uppaal.yaml"):
        shutil.copy(ROOT / "profiles" / name, tmp_path)
    profile, system = tmp_path / "heater_user_uppaal.yaml", tmp_path / "heater.yaml"
    (tmp_path / "heater.xml").write_text(HEATER)
    system.write_text(PORTS)
    before = model_hash(profile), resolve_reference("heater.yaml", tmp_path).file_hash()
    for name, old, new in (("heater_user.xml", "&gt;= 4", "&gt;= 3"), ("heater.xml", "100*", "90*")):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    after = model_hash(profile), resolve_reference("heater.yaml", tmp_path).file_hash()
    assert all(old != new for old, new in zip(before, after, strict=True))
