"""Signals and parameters on the command line and in campaigns: what is shown, and every mistake in one message."""

import json
from pathlib import Path

import pytest

TANK = """
import numpy as np
from bbfalsify.systems import ParameterInfo, system


@system(inputs={"inflow": "1"}, outputs={"level": "m"}, parameters={"area": ParameterInfo(1.0, low=0.5, high=2.0)})
def tank(times, inputs, *, area):
    return {"level": np.cumsum(inputs["inflow"]) / area}
"""
CAMPAIGN = """format_version: 1
name: tank
system: tank.py:tank
signals: {inflow: {range: [0, 2], every: 5}}
parameters: {area: {uniform: [0.8, 1.2]}}
requirements:
  - {id: R1, stl: "always[0:20](level <= 100)"}
engine: {kind: falsify, horizon: 20, period: 0.2, passes: 2, traces: 10}
seed: 1
"""


@pytest.fixture
def tank():
    Path("tank.py").write_text(TANK)
    Path("campaign.yaml").write_text(CAMPAIGN)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("every: 5", "every: 1.0e-9", ":4: signal 'inflow' has 20000000000 pieces in a use of 20. Allowed: at most"),
        ("range: [0, 2]", "range: [2, 0]", ":4: 'signals.inflow.range' ends before it begins: 2 is above 0."),
        ("range: [0, 2]", "range: [0, .inf]", ":4: 'signals.inflow.range.1' is infinite, and no law says"),
        ("{area:", "{aera:", ":5: unknown parameter 'aera' of the system 'tank'. Allowed: area. Did you mean 'area'?"),
        ("[0.8, 1.2]", "[0.8, 4]", ":5: parameter 'area' of the system 'tank': 4 is outside its range, 0.5 to 2."),
        (
            "uniform: [0.8, 1.2]",
            "values: [1, 9, 1.5]",
            ":5: parameter 'area' of the system 'tank': 9 is outside its range",
        ),
        ("uniform: [0.8, 1.2]", "normal: [1, 0.1]", "has no end there; 'range: [0.5, 2]' cuts it off."),
        ("signals: {inflow", "signals: {outflow", "nothing drives input 'inflow'"),
        ("every: 5", "every: 5, unit: kg", "'inflow' is in 'kg' here but in '1'"),
        ("horizon: 20", "horizon: 20, guide: portfollio", "engine.guide names an unknown guide 'portfollio'."),
        ("passes: 2", "passes: -1", "engine.passes must be at least 0"),
    ],
)
def test_mistakes_are_told_before_anything_runs(cli, tank, old, new, says):
    Path("campaign.yaml").write_text(CAMPAIGN.replace(old, new))
    called = cli("run", "campaign.yaml")
    assert called.code == 2 and says in called.err, called.err
    assert not Path("runs").exists()


def test_all_mistakes_are_told_at_once_each_with_its_own_line(cli, tank):
    """A law that cannot be read hides neither other signals and parameters, nor formulas."""
    Path("campaign.yaml").write_text("""\
format_version: 1
name: tank
system: tank.py:tank
signals:
  inflow: {range: [2, 0], every: 0}
  outflow: {range: [0, .inf]}
parameters:
  area: {exponential: 1}
  aera: {uniform: [0.8, 1.2]}
requirements: [{id: R1, stl: "always[0:20](levle <= 5)"}]
engine: {kind: falsify, horizon: 20, guide: portfollio}
""")
    called = cli("run", "campaign.yaml")
    assert called.code == 2 and not Path("runs").exists()
    told = [(line.split(": ")[0], line) for line in called.err.splitlines()]
    assert [place for place, _ in told] == [f"campaign.yaml:{n}" for n in (5, 5, 6, 6, 6, 8, 9, 10, 11)]
    for line, says in zip(
        (line for _, line in told),
        ("ends before", "above 0", "infinite", "when its value changes", "unknown input", "[0.5, 2]' cuts it off",
         "Did you mean 'area'?", "Did you mean 'level'?", "Did you mean 'portfolio'?"),
        strict=True,
    ):  # fmt: skip
        assert says in line


def test_places_are_those_of_the_campaign_where_the_entries_stand_there(cli, tank):
    Path("user.yaml").write_text(
        "format_version: 1\nname: user\nsignals:\n  inflov: {range: [0, 2], every: 5}\n"
        "parameters: {area: {uniform: [0.1, 1]}}\n"
    )
    values = "parameters:\n  aera: 1\nsignals: {inflo: {range: [0, 2], every: 1.0e-6}}"
    text = "".join(line for line in CAMPAIGN.splitlines(True) if not line.startswith(("signals", "parameters")))
    Path("campaign.yaml").write_text(f"{text}profile: user.yaml\n{values}\n")
    called, last = cli("run", "campaign.yaml"), len(text.splitlines()) + 4
    assert called.code == 2
    for says in (f"campaign.yaml:{last - 1}: unknown parameter 'aera'", f"campaign.yaml:{last}: unknown input 'inflo'",
                 f"campaign.yaml:{last}: signal 'inflo' has", "user.yaml:4: unknown input 'inflov'",
                 "user.yaml:5: parameter 'area'"):  # fmt: skip
        assert says in called.err, called.err


def test_values_are_in_json_show_and_the_report(cli, tank):
    Path("campaign.yaml").write_text(CAMPAIGN.replace("horizon: 20", "horizon: 20, guide: none"))
    called = cli("run", "campaign.yaml", "--json")
    assert called.code == 1
    results = json.loads(called.out)
    [row] = results["counterexamples"]
    assert row["values"][0]["name"] == "area" and row["values"][0]["time"] is None
    assert [v["time"] for v in row["values"] if v["name"] == "inflow"][0] == 0.0
    shown = cli("show", results["run_directory"]).out
    assert "inflow" in shown and " at 0" in shown
    steps = cli("show", results["run_directory"], "-n", "1").out
    assert "area = " in steps and "inflow = " in steps and "shrunk: simpler values" in steps and "  end" not in steps
    report = (Path(results["run_directory"]) / "report.html").read_text()
    assert "Simpler values that violate, too: area" in report


def test_a_signal_on_the_command_line(cli, tank):
    called = cli(
        "falsify", "--system", "tank.py:tank", "--signal", "inflow: {range: [0, 2], pieces: 4}", "--require",
        "always[0:20](level <= 100)", "--horizon", "20", "--period", "0.2", "--passes", "0", "--seed", "1",
    )  # fmt: skip
    assert called.code == 1 and "not estimated" in called.out
    assert "passes is 0: nothing was estimated or shrunk" in called.out
    wrong = cli("falsify", "--system", "tank.py:tank", "--signal", "inflow", "--require", "level > 0", "--horizon", "1")
    assert wrong.code == 2 and "--signal must be NAME: LAW, found 'inflow'." in wrong.err
    nobody = cli("falsify", "--system", "tank.py:tank", "--require", "level > 0", "--horizon", "1")
    assert nobody.code == 2 and "--profile is missing" in nobody.err


def test_validate_counts_runs_as_run_does(cli, tank):
    Path("campaign.yaml").write_text(CAMPAIGN.replace("seed: 1", "seed: [1, 2, 3]"))
    assert "campaign, 3 runs" in cli("validate", "campaign.yaml").out
    Path("signals.yaml").write_text("format_version: 1\nname: s\nsignals: {a: {range: [0, 1], every: 5}}\n")
    assert "profile, inputs a" in cli("validate", "signals.yaml").out
