"""The traces beside a counterexample: both kinds, extremes kept, also after an interruption; the tables of a run."""

import csv
import shutil

import numpy as np
import pytest
from pyarrow import parquet

from bbfalsify import falsify
from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Trace, thinned
from bbfalsify.engines.falsification.settings import Options
from bbfalsify.examples.heater.system import heater as heater_system
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.records.fan_file import read_fans
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.reporting.exports.table_files import write_tables
from tests import heater


def run(directory):
    requirement = Requirement("R1", "", parse_stl("always[0:20](T <= 75)", signals=["T", "heat"]))
    options = Options(simulations=220, passes=2, traces=30, fan=8)
    settings = {"horizon": 20.0, "options": options, "seed": 1, "directory": directory}
    return falsify(heater_system, heater.profile(), [requirement], **settings)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fans") / "run"
    result = run(directory)
    RunDirectory(directory).write_results(result.as_json())
    return directory, result


def test_a_fan_holds_violating_traces_and_others(done):
    directory, result = done
    fans = read_fans(directory / "fans.npz")
    assert [(fan.requirement, fan.rank) for fan in fans] == [("R1", rank) for rank in range(1, 5)]
    for fan, found in zip(fans, result.counterexamples, strict=True):
        assert len(fan.traces) == 8
        violating = sum(trace.violated for trace in fan.traces)
        assert violating >= 4 or found.violating / found.traces < 0.3, "half of them violate, where there are so many"
        for trace in fan.traces:
            assert set(trace.signals) == {"heat", "T"} and len(trace.times) == len(trace.signals["T"])
            hot = trace.signals["T"].max() > 75
            assert hot or not trace.violated
            assert trace.violated is False or trace.first_violation_time <= trace.times[-1]
    assert {trace.violated for fan in fans for trace in fan.traces} == {True, False}


def test_a_resumed_run_has_the_same_fans(done, tmp_path):
    """The record holds no signals of those traces; they are executed once more to be seen."""
    directory, _ = done
    again = tmp_path / "again"
    shutil.copytree(directory, again)
    (again / "results.json").unlink()
    (again / "fans.npz").unlink()
    run(again)
    for one, two in zip(read_fans(directory / "fans.npz"), read_fans(again / "fans.npz"), strict=True):
        for a, b in zip(one.traces, two.traces, strict=True):
            assert a.violated == b.violated and np.array_equal(a.signals["T"], b.signals["T"])


def test_thinning_keeps_ends_and_extremes():
    rng = np.random.default_rng(1)
    times = np.arange(10_000.0)
    signals = {"a": rng.normal(size=10_000), "b": rng.normal(size=10_000)}
    thin = thinned(Trace(times, signals), 200)
    assert len(thin.times) <= 204 and thin.times[0] == 0 and thin.times[-1] == 9999
    for name, values in signals.items():
        assert thin.signals[name].min() == values.min() and thin.signals[name].max() == values.max()
    short = Trace(times[:50], {"a": signals["a"][:50]})
    assert thinned(short) is short


def test_a_file_that_holds_no_fans_is_refused(tmp_path):
    (tmp_path / "fans.npz").write_bytes(b"PK nonsense")
    with pytest.raises(UserError, match="fans.npz: not the fans of a run"):
        read_fans(tmp_path / "fans.npz")


def test_tables(done):
    directory, result = done
    files = {file.name: file for file in write_tables(directory, parquet=True)}
    rows = {name: list(csv.DictReader(open(file))) for name, file in files.items() if name.endswith(".csv")}
    confirming = 3 * sum(1 + (row.shrunk.same_as != row.rank) for row in result.counterexamples)
    assert len(rows["simulations.csv"]) == result.simulations - confirming
    violated = [row for row in rows["simulations.csv"] if row["R1 verdict"] == "violated"]
    assert violated and all(float(row["R1 robustness"]) < 0 and row["R1 first_violation_time"] for row in violated)
    for row, found in zip(rows["counterexamples.csv"], result.counterexamples, strict=True):
        assert row["actions"] == " ".join(found.actions) and float(row["probability"]) == found.probability.value
    [requirement] = rows["requirements.csv"]
    assert (requirement["id"], requirement["outcome"]) == ("R1", "falsified")
    assert [row["requirement"] for row in rows["convergence.csv"]] == ["R1"] * len(result.requirements[0].convergence)
    for name, table in rows.items():
        again = parquet.read_table(files[name.replace(".csv", ".parquet")]).to_pylist()
        assert len(again) == len(table)
        assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in again] == table
