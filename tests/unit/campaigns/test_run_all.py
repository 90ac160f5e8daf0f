"""A campaign of several runs: what of it is on disk when."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

from bbfalsify import load_campaign
from bbfalsify.campaigns.run_all import run_all
from bbfalsify.examples import example_folder


def test_the_records_of_all_runs_are_on_disk_before_the_summary_says_that_it_is_done(tmp_path, monkeypatch):
    """fsync is called as always; here it also notes what it was called for."""
    heater = example_folder("heater")
    file = tmp_path / "campaign.yaml"
    file.write_text(
        f"format_version: 1\nname: three\nsystem: {heater}/system.py:heater\nprofile: {heater}/profile.yaml\n"
        f"requirements: {heater}/specification.yaml\nexecutor: in-process\nseed: [1, 2, 3]\n"
        "engine: {kind: falsify, horizon: 20, counterexamples: 1, simulations: 44, passes: 1, traces: 5, shrink: 0}\n"
    )
    waited, really = [], os.fsync

    def fsync(handle):
        waited.append(os.readlink(f"/proc/self/fd/{handle}"))
        really(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    for done in run_all(load_campaign(file), out=tmp_path / "runs"):
        assert done.executed
    [directory] = (tmp_path / "runs").iterdir()
    runs = [directory / "runs" / f"000{number}" for number in (1, 2, 3)]
    records = [str(run / "events.jsonl") for run in runs]
    assert list(dict.fromkeys(path for path in waited if path in records)) == records
    assert {str(directory / "runs"), *map(str, runs)} <= set(waited), "their names, too"
    summary = max(number for number, path in enumerate(waited) if path == str(directory))
    assert max(map(waited.index, records)) < summary
    made_again = [path for path in waited if path.endswith(".tmp") and path.startswith(str(directory / "runs"))]
    assert not made_again, "nobody waits for what can be made again"


def test_an_executor_that_is_open_is_used_and_not_written_down(tmp_path):
    """The manifest repeats the campaign, which names no executor here."""
    campaign = load_campaign(example_folder("heater") / "campaign.yaml")
    with ThreadPoolExecutor(1) as executor:
        [done] = run_all(campaign, out=tmp_path, executor=executor)
    manifest = json.loads((tmp_path / os.listdir(tmp_path)[0] / "manifest.json").read_text())
    assert done.results["outcome"] == "falsified" and manifest["configuration"]["executor"] is None
