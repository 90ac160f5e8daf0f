"""The normal form of a model is read again into the same network."""

import pytest

from bbfalsify.modelling import load_model, load_profile, parse_network, parse_profile
from bbfalsify.modelling.formats.yaml_writer import converted
from tests.unit.modelling.helpers import without_lines
from tests.unit.modelling.test_structs_and_references import INSTANCES
from tests.unit.modelling.uppaal.test_xml_reader import BRANCHES, FISCHER
from tests.unit.modelling.uppaal.test_xta_reader import OLD, TRAINS
from tests.unit.modelling.uppaal.uppaal_files import xml_model

PROFILE = """
format_version: 1
name: user
ode_step: 0.125
declarations: |
  clock t;
  double g = 0.5;
automata:
  User:
    declarations: |
      clock x;

      int f(int k) { return k; }  // a comment
    initial: S
    locations:
      S: {invariant: "x <= 5", cost_rate: 2}
      "on": {exponential_rate: 3, rates: {t: "(g - t)/72"}}
      Q: {committed: true}
    edges:
      - {from: S, to: "on", action: "on", guard: "x >= 4", update: "x = 0", weight: 2, cost: 1}
      - from: "on"
        select: "i : int[0,1]"
        branches: [{to: S, weight: 1}, {to: Q, weight: f(3), update: "x = 0, g = i"}]
inputs:
  heat: {actions: {"on": 1}, initial: 0}
outputs: {T: {unit: degC}}
uncertainty: {rate of User.on: 0.5}
"""


def files(folder):
    strange = xml_model(
        declarations="int n;\tint m; // tab  \n const int N = 7;",
        local="\n  clock x; \n",
        guard="n == 0  // why",
        update="n = 1,\n  m = 2 // last",
        more=BRANCHES.replace("n = 5", "n = 5 // first"),
    )
    texts = {"fischer.xml": FISCHER, "strange.xml": strange, "trains.xta": TRAINS, "old.ta": OLD}
    texts["instances.yaml"] = INSTANCES
    for name, text in texts.items():
        (folder / name).write_text(text)
        yield folder / name


@pytest.mark.parametrize("number", range(5))
def test_models(tmp_path, number):
    file = list(files(tmp_path))[number]
    network, queries = load_model(file)
    text, _ = converted(file)
    (tmp_path / "again.yaml").write_text(text)
    again, queries_again = load_model(tmp_path / "again.yaml")
    assert without_lines(again) == without_lines(network)
    assert [query[:2] for query in queries_again] == [query[:2] for query in queries]
    assert converted(tmp_path / "again.yaml")[0] == text


def test_profiles_keep_their_ports(tmp_path):
    (tmp_path / "user.yaml").write_text(PROFILE)
    text, _ = converted(tmp_path / "user.yaml")
    again, first = parse_profile(text), load_profile(tmp_path / "user.yaml")
    assert without_lines(again.network) == without_lines(first.network)
    assert (again.inputs, again.outputs, again.uncertainty) == (first.inputs, first.outputs, first.uncertainty)


def test_a_profile_whose_automata_stand_in_an_uppaal_file(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "user.xml").write_text(
        xml_model(declarations="broadcast chan press;", local="clock x;", invariant="x <= 5", sync="press!")
    )
    (tmp_path / "user.yaml").write_text("""
format_version: 1
name: user
model: models/user.xml
inputs:
  button: {actions: {press: 1}, initial: 0}
""")
    profile = load_profile(tmp_path / "user.yaml")
    assert (profile.name, profile.network.actions) == ("user", ("press",))
    inlined = converted(tmp_path / "user.yaml")[0]
    assert "model:" not in inlined
    assert without_lines(parse_profile(inlined).network) == without_lines(profile.network)
    assert without_lines(parse_network(inlined)) == without_lines(profile.network)
