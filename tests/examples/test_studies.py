"""The studies of experiments/bench, small: they run, and their tables say what they are about."""

import re
import sys

import pytest

from tests.examples.documents import ROOT


@pytest.fixture
def study(monkeypatch, capsys):
    """Imports a study as the command line would, runs it with arguments and gives what it prints."""
    monkeypatch.syspath_prepend(str(ROOT / "experiments" / "bench"))

    def study(name: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
        __import__(name).main()
        return capsys.readouterr().out

    yield study
    for name in (
        "estimators",
        "estimate_coverage",
        "interval_coverage",
        "search",
        "guiding",
        "in_process",
        "state_search",
    ):
        sys.modules.pop(name, None)


def test_estimators(study):
    """Where all clocks are reset the conditional estimators say the exact value; with one that is not, nobody does."""
    out = study("estimators", "--runs", "3", "--efforts", "20", "--clock-runs", "2")
    table, rest = out.split("\nheater,")
    rows = [line.split() for line in table.splitlines() if re.match(r"conditional|quasi-random", line)]
    assert len(rows) == 6 and all(row[6] in ("+0.0%", "-0.0%") and row[7] == "0" for row in rows)
    exact = [float(line.split()[6]) for line in table.splitlines() if line.startswith("exact product")]
    assert exact == pytest.approx([1.9225e-16, 4.0104e-27, 4.2304e-42], rel=1e-4)
    assert all(reading in rest for reading in ("d6", "d8", "d9_set", "d9_multiset", "d9_traces"))
    assert rest.count("no exact product: clock 'User.y' is read in User.S and is not reset") == 3


def test_coverage_of_intervals(study):
    """Two repetitions say nothing about coverage; that the closed form agrees with the system is checked inside."""
    out = study("interval_coverage", "--repetitions", "2", "--passes", "10", "--traces", "40")
    assert out.count("2 repetitions, 10 passes of 40, nominal 95 %") == 3
    rows = [line.split() for line in out.splitlines() if line.startswith("on·on·on·off ")]
    assert [row[1] for row in rows] == ["9.554183e-04"] * 3 and all(row[2].endswith("%") for row in rows)


def test_coverage_of_estimates(study, tmp_path):
    """Of each kind of case a few repetitions; made in two parts they are the same as in one."""
    cases = ("ruin: plain", "ruin: splitting, adaptive", "heater, rarely: quasi_random")
    whole = study("estimate_coverage", "--repetitions", "4", "--into", str(tmp_path / "whole"), "--only", *cases)
    study("estimate_coverage", "--repetitions", "1", "--into", str(tmp_path / "parts"), "--only", *cases)
    study("estimate_coverage", "--repetitions", "4", "--into", str(tmp_path / "parts"), "--only", *cases)
    shown = study("estimate_coverage", "--show", "--into", str(tmp_path / "parts"), "--only", *cases)
    assert shown.splitlines() == [line for line in whole.splitlines() if not line.startswith("<!--")]
    assert shown.count("| 4 |") >= 5 + 1 and "| heater, rarely | 0.0003853 | quasi_random" in shown


def test_highways_as_in_table_1(study):
    """Random search finds the fault of ten retransmissions, and highways find it by shorter traces."""
    out = study("state_search", "highway", "--runs", "2", "--only", "bounded-retransmission:10")
    ours, published = (line for line in out.splitlines() if "268 / 137" in line or line.startswith("bounded"))
    cells = [[int(n) for n in cell.split(" / ")] for cell in re.findall(r"\d+ / \d+ / \d+", ours)]
    assert len(cells) == 5 and published.count(" / 100") == 5
    assert [percent for _, _, percent in cells] == [100] * 5
    assert cells[4][1] < cells[1][1]
