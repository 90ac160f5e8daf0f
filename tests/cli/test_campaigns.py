"""Campaigns as a user meets them: beginnings that work, ten mistakes at once, runs that fail, refused resumes."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import yaml

from bbfalsify.records.json_files import read_json, write_json


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


@pytest.mark.parametrize("engine", ["check", "reach"])
def test_what_new_writes_for_other_engines_works(cli, engine):
    assert cli("new", "adapter", "pump", "--kind", "symbols").code == 0
    assert cli("new", "campaign", "pump", "--engine", engine).code == 0
    called = cli("run", "experiments/pump/campaign.yaml", "-q", "--json")
    assert called.code == 0
    assert {row["outcome"] for row in called.json["requirements"]} <= {"not_falsified", "falsified", "reached"}


@pytest.mark.parametrize(("engine", "kind"), [("falsify", "function"), ("check", "symbols"), ("reach", "function")])
def test_a_new_campaign_names_every_key(cli, engine, kind):
    """What is commented out becomes valid when the comment sign is taken away."""
    cli("new", "adapter", "pump", "--kind", kind)
    cli("new", "profile", "pump")
    cli("new", "campaign", "pump", "--engine", engine)
    file = Path("experiments/pump/campaign.yaml")
    lines = []
    for line in file.read_text().splitlines():
        words = ("# Can", "# Does", "#  ", "# Every", "# A list", "# A model")
        if (
            line.startswith((*words, "# early_stop", "# accepted", "# expected", "# signals", "# parameters"))
            or "alphabet: []" in line
        ):
            continue  # words, and keys that do not fit these systems and requirements
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


def test_what_is_made_of_results_is_worth_no_failure(cli, heater):
    """A disk may be full when they are written; here, something stands in the way."""
    file = small(heater)
    before = cli("run", file, "--json", "-q").json
    directory = Path(before["run_directory"])
    shutil.rmtree(directory / "tables")
    for name in ("tables", "time_to_violation.svg", "report.html", "results.json"):
        (directory / name).unlink(missing_ok=True)
    (directory / "tables").write_text("mine")
    for name in ("time_to_violation.svg", "report.html"):
        (directory / name).mkdir()
        (directory / name / "mine").write_text("mine")
    called = cli("run", file, "--resume", directory, "-q")
    assert called.code == 0 and "R1 falsified (as expected)" in called.out
    assert [line.split(":")[0] for line in called.problems] == ["no tables or plots", "no report"]
    assert (directory / "tables").read_text() == "mine", "nothing is overwritten"
    assert json.loads((directory / "results.json").read_text())["counterexamples"] == before["counterexamples"]


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


def test_a_full_disk_says_how_to_go_on(cli, heater, monkeypatch):
    import errno

    def full(handle, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("bbfalsify.records.line_file.os.write", full)
        called = cli("run", heater / "campaign.yaml", "-q")
    assert called.code == 2 and "events cannot be recorded: No space left on device" in called.err
    how = called.problems[-1].partition("go on: bbfalsify ")[2]
    assert how.endswith("campaign.yaml --resume")
    again = cli(*how.split(), "-q", "--json")
    assert again.code == 0 and again.json["outcome"] == "falsified"


def test_a_folder_is_no_campaign_but_has_one(cli, heater):
    called = cli("run", heater)
    assert called.code == 2
    assert "this is a folder; name a file. Allowed: " in called.err and " campaign.yaml, profile.yaml" in called.err


def test_a_finished_run_of_another_format_is_not_shown_as_if_it_were_ours(cli, heater):
    first = cli("run", heater / "campaign.yaml", "-q", "--json").json
    manifest = Path(first["run_directory"]) / "manifest.json"
    write_json(manifest, {**read_json(manifest), "format_version": 7})
    for arguments in (("run", heater / "campaign.yaml", "--resume"), ("report", manifest.parent / "results.json")):
        called = cli(*arguments)
        assert called.code == 2 and "a run directory of format 7" in called.err


@pytest.mark.parametrize(
    "damage",
    [lambda text: text[: len(text) // 2], lambda text: "\0" * len(text), lambda text: text.replace(":", "", 1)],
)
def test_a_damaged_manifest_is_named_when_its_run_is_to_be_resumed(cli, heater, damage):
    first = cli("run", heater / "campaign.yaml", "-q", "--json").json
    manifest = Path(first["run_directory"]) / "manifest.json"
    manifest.write_text(damage(manifest.read_text()))
    called = cli("run", heater / "campaign.yaml", "--resume")
    assert called.code == 2 and f"{manifest}:" in called.err and "start a new one, without --resume" in called.err
    assert len(list(manifest.parent.parent.iterdir())) == 1


def test_what_nobody_expected_is_in_the_summary(cli, heater):
    spec = heater / "specification.yaml"
    spec.write_text(spec.read_text().replace(", expected: falsified", ""))
    text = (heater / "campaign.yaml").read_text().replace("seed: 1", "seed: [1, 2]")
    (heater / "campaign.yaml").write_text(text.replace("simulations: 2000", "simulations: 440, shrink: 0"))
    called = cli("run", heater / "campaign.yaml", "-q")
    assert called.code == 1 and "2 runs: 2 without an expectation" in called.out
    assert "nobody said what to expect: heater-2 (seed 2): R1 falsified" in called.out


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
