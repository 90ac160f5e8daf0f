"""Profiles: inputs and outputs, units, the open loop, and two real ones that must be read without a complaint."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from bbfalsify.core.units import UNITS, unit_problem
from bbfalsify.modelling import ComputedInput, HeldInput, check_profile, describe_network, load_profile, parse_network
from bbfalsify.modelling import parse_profile as parse
from bbfalsify.modelling.network.expressions import Binary, Call, Constant, Kind, Random, Read
from bbfalsify.modelling.network.network import Rate
from tests.unit.modelling.evaluator import Evaluator
from tests.unit.modelling.helpers import problems_of

ROOT = Path(__file__).parents[3]
HEATER = (ROOT / "profiles" / "heater_user.yaml").read_text(encoding="utf-8")

WEATHER = """\
format_version: 1
name: weather
declarations: |
  const double year = 8736;
  clock x;                      // hours since 1 January, only observed
  clock A;                      // anomaly of the temperature
  double g = 0;                 // where the anomaly tends to
  double bias = 0;
  double season() { return sin(2 * pi * (x - 2484) / year); }
  double daily() { return (4.5 + 1.5 * season()) * sin(2 * pi * (x - 9) / 24); }
automata:
  Weather:
    declarations: clock c;
    initial: Start
    locations:
      Start: {committed: true}
      Normal: {invariant: c <= 180, rates: {A: "(g - A)/72"}}
      Small_Fluct: {invariant: "c <= 24 && A' == (g - A)/72"}
      Large_Fluct: {invariant: c <= 60, rates: {A: "(g - A)/72"}}
    edges:
      - {from: Start, to: Normal, action: choose, update: "bias = random_normal(0, 1), c = 0"}
      - {from: Normal, to: Small_Fluct, action: small_pos, guard: c >= 45, update: "c = 0, g = 18"}
      - {from: Normal, to: Small_Fluct, action: small_neg, guard: c >= 45, update: "c = 0, g = -18"}
      - {from: Normal, to: Large_Fluct, action: large_pos, guard: c >= 150, update: "c = 0, g = 20"}
      - {from: Normal, to: Large_Fluct, action: large_neg, guard: c >= 150, update: "c = 0, g = -30"}
      - {from: Small_Fluct, to: Normal, action: fade, guard: c >= 6, update: "c = 0, g = 0"}
      - {from: Large_Fluct, to: Normal, action: calm, guard: c >= 24, update: "c = 0, g = 0", weight: 8}
      - {from: Large_Fluct, to: Large_Fluct, action: again, guard: c >= 24, update: c = 0, weight: 2}
inputs:
  T_out: {value: "5.5 + 16.5 * season() + daily() + A + bias", unit: degC}
outputs:
  T: {unit: degC}
"""


def test_heater_profile():
    profile = load_profile(ROOT / "profiles" / "heater_user.yaml")
    assert profile.name == "heater_user"
    assert profile.inputs == (HeldInput("heat", "1", (("on", 1.0), ("off", 0.0)), 0.0),)
    assert profile.outputs == (("T", "degC"),)
    assert profile.network.actions == ("off", "on")
    assert profile.network.largest_constant == 5
    (process,) = profile.network.processes
    x = Read(0, Kind.CLOCK)
    assert process.locations[0].invariant == Binary("<=", x, Constant(5, Kind.INT), Kind.BOOL)
    assert [edge.guard.right.value for edge in process.edges] == [3, 4]
    assert check_profile(profile) == []


def test_heater_profile_explains_every_key():
    keys = [line for line in HEATER.splitlines() if line.strip() and not line.strip().startswith("#")]
    names = {line.strip().removeprefix("- ").split(":")[0] for line in keys}
    explained = {line.strip().removeprefix("- ").split(":")[0] for line in keys if "  #" in line}
    names_of_the_model = {"S"}
    assert names - explained <= names_of_the_model


def test_weather_profile():
    profile = parse(WEATHER)
    assert check_profile(profile) == []
    network = profile.network
    (process,) = network.processes
    assert network.actions[1:] == ("small_pos", "small_neg", "large_pos", "large_neg", "fade", "calm", "again")
    # A' = (g - A)/72, whichever way it is written
    anomaly, target = network.variable("A"), network.variable("g")
    change = Binary("-", Read(target.slot, Kind.DOUBLE), Read(anomaly.slot, Kind.CLOCK), Kind.DOUBLE)
    rate = Rate(anomaly.slot, Binary("/", change, Constant(72, Kind.INT), Kind.DOUBLE))
    assert [location.rates for location in process.locations] == [(), (rate,), (rate,), (rate,)]
    assert network.largest_constant == 180
    assert isinstance(process.edges[0].branches[0].updates[0].value, Random)
    (temperature,) = profile.inputs
    assert isinstance(temperature, ComputedInput) and temperature.unit == "degC"
    assert any(isinstance(part, Call) for part in _parts(temperature.expression))


@pytest.mark.parametrize(
    ("hour", "expected"), [(0, -12.763314472), (1, -13.247934715), (12, -8.503294648), (100, -13.742329864)]
)
def test_weather_without_anomaly(hour, expected):
    """Check values of the outdoor temperature at full hours."""
    profile = parse(WEATHER)
    evaluator = Evaluator(profile.network)
    evaluator.reals[profile.network.variable("x").slot] = hour
    assert math.isclose(float(evaluator.value(profile.inputs[0].expression)), expected, abs_tol=1e-9)


def _parts(expression):
    from bbfalsify.modelling.network.visit import subexpressions

    return list(subexpressions(expression))


def test_a_profile_is_also_a_network():
    assert parse_network(HEATER) == parse(HEATER).network


def test_inputs_may_use_local_names_and_locations():
    text = HEATER.replace("actions: {on: 1, off: 0}", 'value: "User.S ? User.x + x : 0"').replace(
        "    initial: 0", "    "
    )
    (found,) = parse(text).inputs
    assert isinstance(found, ComputedInput)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{on: 1, off: 0}", "{onn: 1, off: 0}", 33, "unknown action 'onn' in input 'heat'."),
        ("{on: 1, off: 0}", "{on: yes, off: 0}", 33, "'inputs.heat.actions.on' must be a number, found 'yes'."),
        ("{on: 1, off: 0}", "{}", 33, "input 'heat' names no action."),
        ("{on: 1, off: 0}", "[on]", 33, "'inputs.heat.actions' must be a mapping, found a list."),
        ("    initial: 0  ", "    #", 32,
         "the key 'initial' is missing in input 'heat': its value before the first action."),
        ("initial: 0 ", "initial: .nan ", 34, "'inputs.heat.initial' must be a number, found 'nan'."),
        ('unit: "1"', "unit: [degC]", 35, "'inputs.heat.unit' must be a name, found a list."),
        ("T: {unit: degC}", "T: {units: degC}", 38, "unknown key 'units' in 'outputs.T'."),
        ("T: {unit: degC}", "heat: {unit: degC}", 38, "'heat' is both an input and an output."),
        ("    actions: {on: 1, off: 0}", "   # ", 32,
         "input 'heat' needs 'actions' (a value per action) or 'value' (an "
         "expression)."),
        ("    unit: ", "    value: x\n    unit: ", 32, "input 'heat' has both 'actions' and 'value'; choose one."),
        ("guard: x >= 4", 'guard: x >= 4 && T < 20', 25,
         "guard: 'T' is an output of the system under test, and a profile "
         "is open loop: it cannot depend on what the system does."),
    ],
)  # fmt: skip
def test_mistakes(old, new, line, message):
    assert old in HEATER
    assert problems_of(HEATER.replace(old, new, 1), parse) == [(line, message)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("y + 1", "unknown name 'y' in the value of input 'heat'."),
        ("x > 1", "input 'heat' must be a number, found a bool. Write (… ? 1 : 0)."),
        ("random(2)", "value of input 'heat': 'random' draws at random, which is only allowed in updates."),
        ("T", "value of input 'heat': 'T' is an output of the system under test, and a profile is open loop: it cannot "
         "depend on what the system does."),
        ("Usr.x", "unknown process 'Usr'."),
        ("User.q", "unknown location or variable of User 'q'."),
    ],
)  # fmt: skip
def test_computed_inputs(value, message):
    text = HEATER.replace("actions: {on: 1, off: 0}", f'value: "{value}"').replace("    initial: 0", "    # ")
    assert problems_of(text, parse) == [(33, message)]


def test_a_variable_may_be_called_like_an_output():
    text = HEATER.replace("declarations: clock x;", "declarations: clock x; int T;").replace(
        "guard: x >= 4", "guard: x >= 4 && T < 20"
    )
    assert parse(text).outputs == (("T", "degC"),)


def test_units():
    assert unit_problem("km/h") is None
    problem = unit_problem("kmh", file="f", line=3)
    assert problem is not None and problem.closest == "km/h" and (problem.file, problem.line) == ("f", 3)
    wanted = "s ms min h d degC K degF m km m/s km/h rpm rad deg % 1 W kW V A N Pa bar kg J Hz".split()
    assert set(wanted) <= set(UNITS)


def test_description():
    facts = dict(describe_network(parse(WEATHER).network))
    assert facts["name"] == "weather"
    assert (facts["automata"], facts["locations"], facts["edges"]) == ("1", "4", "8")
    assert facts["actions"].startswith("8 (choose, small_pos")
    assert (facts["clocks"], facts["variables"]) == ("3", "0 int or bool, 2 double")
    assert (facts["channels"], facts["functions"]) == ("0", "2")


def test_reading_a_profile_loads_no_heavy_library():
    """`validate` must start at once: half a second each would go to numba or scipy."""
    code = (
        "import sys; from bbfalsify.modelling import load_profile, check_profile; "
        "assert check_profile(load_profile('profiles/heater_user.yaml')) == []; "
        "print(sorted({'numba', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
