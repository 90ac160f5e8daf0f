"""Campaigns as a user meets them: beginnings that work, ten mistakes at once, runs that fail, refused resumes."""

import csv
import json
from pathlib import Path

import pytest
import yaml


def small(heater, **changes):
    data = yaml.safe_load((heater / "campaign.yaml").read_text())
    engine = {**data["engine"], "simulations": 44, "passes": 2, "traces": 5, **changes.pop("engine", {})}
    data = {**data, **changes, "engine": engine}
    (heater / "campaign.yaml").write_text(yaml.safe_dump(data))
    return heater / "campaign.yaml"


def test_what_new_writes_works_together(cli):
    for what in ("adapter", "profile", "campaign"):
        assert cli("new", what, "pump").code == 0
    assert cli("validate", "experiments/pump/campaign.yaml", "profiles/pump.yaml").code == 0
    text = Path("experiments/pump/campaign.yaml").read_text()
    Path("experiments/pump/campaign.yaml").write_text(text.replace("simulations: 500", "simulations: 88\n  traces: 5"))
    called = cli("run", "experiments/pump/campaign.yaml", "-q")
    assert called.code == 0 and "R1 falsified (as expected)" in called.out
    again = cli("new", "campaign", "pump")
    assert again.code == 2 and "there is already something at" in again.err
    assert Path("experiments/pump/campaign.yaml").read_text() != text


def test_a_new_campaign_names_every_key(cli):
    """What is commented out becomes valid when the comment sign is taken away."""
    cli("new", "adapter", "pump")
    cli("new", "profile", "pump")
    cli("new", "campaign", "pump")
    file = Path("experiments/pump/campaign.yaml")
    lines = []
    for line in file.read_text().splitlines():
        if line.startswith(("# Can", "#  ", "# Every", "# A list", "# early_stop", "# accepted")):
            continue  # words, and two keys that do not fit this system
        lines.append(line.replace("# ", "", 1) if line.strip().startswith("# ") else line)
    file.write_text("\n".join(lines))
    called = cli("validate", file)
    assert (called.code, called.err) == (0, "")


TEN_MISTAKES = """format_version: 1
name: [heater]
sistem: system.py:heater
system: system.py:heater
profile: nobody.yaml
requirements:
  - {id: R1, stl: "always[0:20](T <= )"}
  - {id: R1, stl: "always[0:20](T <= 75)", expected: falsifed}
  - {stl: "always[0:20](T <= 75)"}
engine: {kind: falsify, horizon: -20, trace: 100}
seed: one
"""


def test_ten_mistakes_are_ten_messages(cli, heater):
    (heater / "campaign.yaml").write_text(TEN_MISTAKES)
    called = cli("run", heater / "campaign.yaml")
    assert called.code == 2 and called.out == ""
    file = str(heater / "campaign.yaml")
    assert [int(line.split(":")[1]) for line in called.problems] == [2, 3, 5, 7, 8, 8, 9, 10, 10, 11]
    assert all(line.startswith(f"{file}:") for line in called.problems)
    assert not Path("runs").exists()
    for said in ("Did you mean 'system'?", "Did you mean 'traces'?", "Did you mean 'falsified'?", "R1' is given twice"):
        assert said in called.err
    assert json.loads(cli("run", heater / "campaign.yaml", "--json").out)["error"]["problems"] == called.problems


def test_a_run_that_fails_does_not_cost_the_others(cli, heater):
    """A grid of a nanosecond is a slip of the pen that no type forbids."""
    file = small(heater, seed=[1, 2], engine={"period": [None, 1e-9]})
    called = cli("run", file, "--json", "-q")
    runs = called.json["runs"]
    assert [r["category"] for r in runs] == ["correct", "correct", "error", "error"]
    assert "makes more than 10000000 samples" in runs[2]["notes"][0]
    assert called.code == 1
    [summary] = Path("runs").glob("*/summary.json")
    assert json.loads(summary.read_text())["categories"] == {"correct": 2, "error": 2}
    shown = cli("run", file, "--resume", "-q")
    assert shown.code == 1
    assert "4 runs: 2 correct, 2 error" in shown.out


def test_a_budget_of_the_whole_run_ends_it(cli, heater):
    called = cli("run", small(heater, budget={"simulations": 100}, engine={"simulations": 88}), "--json", "-q")
    assert called.json["simulations"] == 100 and called.json["stop_reason"] == "budget: simulations"
    assert called.json["counterexamples"][-1]["probability"]["method"] == "not estimated"


def test_resume_without_a_run_starts_one_and_with_a_finished_one_shows_it(cli, heater):
    file = small(heater)
    first = cli("run", file, "--resume", "--json", "-q")
    again = cli("run", file, "--resume", "--json", "-q")
    assert (first.code, again.code) == (0, 0) and first.json == again.json
    assert len(list(Path("runs").iterdir())) == 1
    assert cli("run", file, "--resume", first.json["run_directory"], "--json", "-q").json == first.json


def test_what_cannot_be_resumed(cli, heater):
    file = small(heater)
    directory = Path(cli("run", file, "--json", "-q").json["run_directory"])
    (directory / "results.json").unlink()
    assert "without --resume" in cli("run", file, directory).err
    assert "not a run directory" in cli("run", file, "--resume", heater).err
    small(heater, engine={"traces": 6})
    called = cli("run", file, "--resume")
    assert called.code == 2
    assert f"{directory}/manifest.json: this run cannot be continued: engine.traces was 5, and is 6 now." in called.err
    assert not (directory / "results.json").exists()


def test_a_campaign_that_changed_is_refused_as_a_whole(cli, heater):
    file = small(heater, seed=[1, 2])
    cli("run", file, "-q")
    profile = heater / "profile.yaml"
    profile.write_text(profile.read_text() + "# a comment\n")
    small(heater, seed=[1, 2, 3])
    called = cli("run", file, "--resume")
    assert called.code == 2
    assert f"{profile} has changed" in called.err
    assert "describes other runs than the 2 that were begun (3 now)" in called.err


@pytest.mark.parametrize("executor", ["dusk", "dask:"])
def test_wrong_executors(cli, heater, executor):
    called = cli("run", small(heater), "--executor", executor)
    assert called.code == 2
    assert f"executor cannot be '{executor}'. Allowed: local, in-process, dask, dask:ADDRESS." in called.err


def test_of_many_runs_there_is_a_line_each_and_tables_and_a_report_of_all(cli, heater):
    """The rest is made when it is asked for."""
    seeds = list(range(101))
    file = small(heater, seed=seeds, executor="in-process", engine={"counterexamples": 1, "passes": 1, "shrink": 0})
    done = cli("run", file, "-q")
    lines = done.out.splitlines()
    found = [line for line in lines if line.startswith("heater") and "R1 " in line]
    assert len(found) == 101 and found[7].startswith("heater-8 (seed 7): R1 "), done.out
    [directory] = Path("runs").iterdir()
    run = directory / "runs" / "0008"
    assert not (run / "tables").exists() and not (run / "report.html").exists()
    with open(directory / "tables" / "requirements.csv", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [(row["run"], int(row["run seed"]), row["id"]) for row in rows] == [(f"{i + 1:04d}", i, "R1") for i in seeds]
    assert (directory / "report.html").is_file()
    assert cli("report", run).code == 0
    assert (run / "report.html").is_file() and (run / "tables" / "simulations.csv").is_file()
