"""The tables of a campaign: those of its runs, one below the other."""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from bbfalsify import load_campaign
from bbfalsify.campaigns.run_all import run_all
from bbfalsify.examples import example_folder
from bbfalsify.records.json_files import WritingFailed, read_json
from bbfalsify.reporting.exports.table_files import write_campaign_tables, write_tables

NAMES = ("simulations", "counterexamples", "requirements", "convergence")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory) -> Path:
    """What varies is also the name of a column."""
    folder = tmp_path_factory.mktemp("campaign")
    heater = example_folder("heater")
    file = folder / "campaign.yaml"
    file.write_text(
        f"format_version: 1\nname: tables\nsystem: {heater}/system.py:heater\nprofile: {heater}/profile.yaml\n"
        f"requirements: {heater}/specification.yaml\nexecutor: in-process\nseed: 3\n"
        "engine: {kind: falsify, horizon: 20, counterexamples: 2, simulations: [44, 88], passes: 1, traces: 5}\n"
    )
    assert len(list(run_all(load_campaign(file), out=folder / "runs"))) == 2
    [directory] = (folder / "runs").iterdir()
    return directory


def table(file: Path) -> list[dict[str, str]]:
    with open(file, newline="") as text:
        return list(csv.DictReader(text))


def test_they_are_those_of_the_runs_with_what_tells_them_apart(campaign):
    together = {file.name: file for file in write_campaign_tables(campaign, parquet=True)}
    assert set(together) == {f"{name}.{kind}" for name in NAMES for kind in ("csv", "parquet")}
    for name in NAMES:
        expected = []
        for number, simulations in (("0001", "44"), ("0002", "88")):
            write_tables(campaign / "runs" / number)
            own = table(campaign / "runs" / number / "tables" / f"{name}.csv")
            assert own or name == "counterexamples"
            expected += [{"run": number, "run simulations": simulations, **row} for row in own]
        assert table(together[f"{name}.csv"]) == expected
        again = parquet.read_table(together[f"{name}.parquet"]).to_pylist()
        assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in again] == expected


def test_a_run_without_results_is_left_out(campaign, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(campaign, copy)
    (copy / "runs" / "0001" / "results.json").unlink()
    write_campaign_tables(copy)
    assert {row["run"] for row in table(copy / "tables" / "simulations.csv")} == {"0002"}


def test_requirements_of_some_runs_only_have_empty_cells_in_others(campaign, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(campaign, copy)
    results = read_json(copy / "runs" / "0002" / "results.json")
    results["requirements"][0]["id"] = "R9"
    (copy / "runs" / "0002" / "results.json").write_text(json.dumps(results))
    write_campaign_tables(copy)
    for row in table(copy / "tables" / "simulations.csv"):
        own, other = ("R1", "R9") if row["run"] == "0001" else ("R9", "R1")
        assert row[f"{own} verdict"] and not row[f"{other} verdict"] and not row[f"{other} robustness"]


def test_no_room_is_said_in_words(campaign, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(campaign, copy)
    shutil.rmtree(copy / "tables", ignore_errors=True)
    (copy / "tables").write_text("in the way")
    with pytest.raises(WritingFailed, match="tables: cannot be written"):
        write_campaign_tables(copy)


def test_parquet_holds_every_kind_of_cell_and_imports_no_pandas(tmp_path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from bbfalsify.reporting.exports.table_files import _parquet\n"
        f"with _parquet(Path({str(tmp_path / 'x.parquet')!r}), dict(a=str, b=float, c=int)) as write:\n"
        "    write([('größer', 0.1, 2**62), (None, None, None), ('', float('inf'), -1)] * 3)\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    rows = [tuple(row.values()) for row in parquet.read_table(tmp_path / "x.parquet").to_pylist()]
    assert rows == [("größer", 0.1, 2**62), (None, None, None), ("", float("inf"), -1)] * 3
