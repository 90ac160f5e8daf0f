"""Whole runs of the example: what is found, what is printed, what is stored, and how it replays."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bbfalsify.records.json_files import read_json
from tests.heater import EXACT
from tests.hostile.processes import listen_to_interrupts

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}


def falsify(cli, heater, *options):
    return cli(
        "falsify", "--system", f"{heater}/system.py:heater", "--profile", heater / "profile.yaml",
        "--require", "always[0:20](T <= 75)", "--horizon", 20, "--simulations", 300, "--passes", 3, "--traces", 20,
        "--seed", 1, *options,
    )  # fmt: skip


def test_the_example_is_falsified_as_expected(cli):
    called = cli("run", "--example", "heater")
    assert called.code == 0
    lines = called.out.splitlines()
    assert "R1 falsified (as expected): never above 75 degrees" in lines
    assert not any(line.startswith(("seed", "run directory")) for line in lines)
    assert lines[-2].startswith("report: runs/heater-")
    assert lines[-1].startswith("replay: bbfalsify replay runs/heater-")
    assert lines[1].startswith("R1, never above 75 degrees: violated in at least 1 of 2")
    assert re.match("2 failure modes explain (9[0-9.]*|100) % of that", lines[2])
    assert any(line.startswith("1  on 4 times ") for line in lines)
    assert max(map(len, lines[: lines.index("R1 falsified (as expected): never above 75 degrees")])) <= 80
    directory = Path(lines[-2].split(": ")[1]).parent
    assert (directory / "manifest.json").is_file() and (directory / "events.jsonl").is_file()
    shown = cli("show", directory).out
    assert "seed: 1" in shown and f"run directory: {directory}" in shown
    assert "probability that a use meets one of these: " in shown
    assert all("·".join(word) in shown for word in EXACT)
    replayed = cli(*lines[-1].split()[2:])
    assert replayed.code == 1
    assert replayed.out.startswith("SAME: ")


def test_the_json_contract(cli, heater):
    called = falsify(cli, heater, "--json", "-q")
    assert (called.code, called.err) == (1, "")
    data = called.json
    contract = {"outcome", "seed", "simulations", "counterexamples", "found_probability", "smc", "run_directory"}
    assert contract <= set(data)
    assert (data["outcome"], data["seed"]) == ("falsified", 1)
    estimate = {"value", "low", "high", "confidence", "method", "samples", "none_seen", "at_least", "unseen"}
    assert set(data["found_probability"]) == estimate
    overall = data["requirements"][0]
    assert set(overall["violation"]) == estimate and set(overall["unseen"]) == {"high", "confidence"}
    assert (
        overall["violation"]["low"] <= sum(EXACT.values()) <= overall["violation"]["high"] + overall["unseen"]["high"]
    )
    for rank, row in enumerate(data["counterexamples"], start=1):
        assert row["rank"] == rank
        assert row["status"] == "confirmed"
        assert set(row["probability"]) == estimate
        assert tuple(row["actions"]) in EXACT
        assert 13.8 < row["first_violation_time"] <= 20
        assert row["robustness"] < 0
        assert Path(row["file"]).is_file()
    assert read_json(Path(data["run_directory"]) / "results.json") == data


def test_same_seed_same_result_whatever_the_jobs(cli, heater):
    def result(jobs: int) -> list:
        data = falsify(cli, heater, "--json", "-q", "--jobs", jobs).json
        return [(c["actions"], c["probability"]) for c in data["counterexamples"]]

    assert result(1) == result(2)


def test_an_unexpected_outcome_is_1_and_an_expected_one_0(cli, heater):
    campaign = heater / "campaign.yaml"
    campaign.write_text(
        campaign.read_text()
        .replace("requirements: specification.yaml", 'requirements: [{id: R9, stl: "always[0:20](T <= 200)"}]')
        .replace("simulations: 2000", "simulations: 50")
    )
    called = cli("run", campaign)
    assert called.code == 0
    assert "R9 not falsified" in called.out
    assert "not falsified is not verified" in called.out
    campaign.write_text(campaign.read_text().replace("}]", ", expected: falsified}]"))
    called = cli("run", campaign)
    assert called.code == 1
    assert "R9 not falsified (expected: falsified)" in called.out


def test_lists_multiply_into_runs(cli, heater):
    campaign = heater / "campaign.yaml"
    text = campaign.read_text().replace("simulations: 2000", "simulations: [22, 44]").replace("seed: 1", "seed: [1, 2]")
    campaign.write_text(text.replace("traces: 100", "traces: 5"))
    called = cli("run", campaign, "--json", "-q")
    runs = called.json["runs"]
    assert [(r["varies"]["simulations"], r["varies"]["seed"]) for r in runs] == [(22, 1), (22, 2), (44, 1), (44, 2)]
    assert len({r["run_directory"] for r in runs}) == 4


def test_nothing_but_the_result_is_on_stdout(cli, heater):
    """Nor what an adapter prints while it is imported."""
    file = heater / "system.py"
    file.write_text(f"{file.read_text()}\nprint('loading')\n")
    called = falsify(cli, heater, "--json")
    json.loads(called.out)
    assert "loading" in called.err
    shown = falsify(cli, heater)
    assert "loading" not in shown.out and "R1" in shown.out


def test_on_a_terminal_the_bar_goes_away_and_stdout_stays_clean(heater):
    """stderr is a terminal, stdout a pipe, as in `bbfalsify ... > file`."""
    watching, terminal = pty.openpty()
    command = [
        sys.executable, "-m", "bbfalsify.cli.main", "falsify", "--system", "system.py:heater", "--profile",
        "profile.yaml", "--require", "always[0:20](T <= 75)", "--horizon", "20", "--simulations", "300",
        "--passes", "2", "--traces", "10",
    ]  # fmt: skip
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    with subprocess.Popen(command, cwd=heater, stdout=subprocess.PIPE, stderr=terminal, env=environment) as process:
        os.close(terminal)
        shown = everything(watching).decode()
        printed = process.stdout.read()
    assert process.returncode == 1
    assert b"R1 falsified" in printed
    assert b"\x1b" not in printed
    assert "searching" in shown and "/300" in shown
    assert shown.rstrip().endswith("\x1b[2K"), "the last thing is an erased line"


def everything(terminal: int) -> bytes:
    """What is written to it until nobody has its other end any more; it hands out a few kilobytes at a time."""
    pieces = []
    with open(terminal, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while piece := file.read(1_000_000):
            pieces.append(piece)
    return b"".join(pieces)


def interrupted(heater, *arguments):
    """Run a command on a slow system; interrupt it as soon as a finding has been recorded.  Return what it printed."""
    system = heater / "system.py"
    system.write_text(system.read_text().replace("    decays =", "    import time; time.sleep(0.02)\n    decays ="))
    process = subprocess.Popen(
        [sys.executable, "-m", "bbfalsify.cli.main", *map(str, arguments), "--out", "runs"],
        cwd=heater, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=ENVIRONMENT, preexec_fn=listen_to_interrupts,
    )  # fmt: skip
    while not any("FindingReported" in events.read_text() for events in heater.glob("runs/*/events.jsonl")):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
            raise AssertionError(process.communicate())
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "Traceback" not in err, err
    return out


def test_ctrl_c_keeps_what_was_found(heater):
    out = interrupted(heater, "run", heater / "campaign.yaml")
    assert "R1 falsified" in out
    assert out.splitlines()[-1].startswith("to go on: bbfalsify run ") and out.endswith("--resume --out runs\n")


def test_an_interrupted_command_goes_on_where_it_was_told_to(cli, heater):
    """Its seed was drawn: the run that goes on has the same one, and ends with the list it would have had."""
    common = [
        "falsify", "--system", heater / "system.py:heater", "--profile", heater / "profile.yaml", "--horizon", "20",
        "--require", "always[0:20](T <= 70)", "--simulations", "80", "--passes", "2", "--traces", "5", "--shrink", "0",
    ]  # fmt: skip
    out = interrupted(heater, *common)
    told = "to go on: the same command with --resume "
    assert out.splitlines()[-1].startswith(told)
    directory = heater / out.splitlines()[-1].removeprefix(told)
    resumed = cli(*common, "-q", "--json", "--resume", directory).json
    undisturbed = cli(*common, "-q", "--json", "--seed", resumed["seed"]).json
    members = ("outcome", "seed", "simulations", "found_probability")
    assert {key: resumed[key] for key in members} == {key: undisturbed[key] for key in members}
    actions = [[row["actions"] for row in results["counterexamples"]] for results in (resumed, undisturbed)]
    assert actions[0] == actions[1] != []


def test_budget_zero_and_horizon_zero_are_defined(cli, heater):
    common = ["falsify", "--system", heater / "system.py:heater", "--profile", heater / "profile.yaml", "-q", "--json"]
    nothing = cli(*common, "--require", "always[0:20](T <= 75)", "--horizon", "20", "--simulations", "0")
    assert (nothing.code, nothing.json["outcome"], nothing.json["simulations"]) == (4, "inconclusive", 0)
    now = cli(*common, "--require", "T >= 1", "--horizon", "0", "--simulations", "22", "--passes", "2", "--traces", "5")
    # At time 0 the room is cold: violated in the first delay, whatever ends it.
    assert (now.code, now.json["found_probability"]["value"]) == (1, pytest.approx(1.0))
    assert {tuple(c["actions"]) for c in now.json["counterexamples"]} == {("on",), ("off",)}


def test_outlier_guiding_and_adaptive_duration_still_find_the_failures(cli, heater):
    called = cli(
        "falsify", "--system", heater / "system.py:heater", "--profile", heater / "profile.yaml", "-q", "--json",
        "--require", "always[0:20](T <= 75)", "--horizon", "20", "--simulations", "660", "--seed", "1",
        "--passes", "2", "--traces", "5", "--guide", "outlier", "--adaptive-duration",
    )  # fmt: skip
    found = {tuple(c["actions"]) for c in called.json["counterexamples"]}
    assert called.code == 1 and len(found) == 4
