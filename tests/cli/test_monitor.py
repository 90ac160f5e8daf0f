import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TRACE = "time,action,T\n0,,10\n1,on,80\n2,off,70\n"


@pytest.fixture
def trace(written):
    return written("trace.csv", TRACE)


def test_a_violated_formula_is_1(cli, trace):
    called = cli("monitor", "always(T <= 75)", trace)
    assert (called.code, called.err) == (1, "")
    assert called.out == "formula: violated, robustness -5, certain at time 1\n"


def test_a_satisfied_formula_is_0(cli, trace):
    assert cli("monitor", "always[0:2](T <= 90)", trace).code == 0


def test_a_trace_that_is_too_short_is_4(cli, trace):
    called = cli("monitor", "eventually[0:5](T >= 90)", trace)
    assert called.code == 4
    assert called.out.startswith("formula: inconclusive")


def test_a_specification_file_as_json(cli, trace, heater):
    called = cli("monitor", heater / "specification.yaml", trace, "--json")
    assert called.code == 1
    assert called.json == {
        "requirements": [
            {
                "requirement": "R1",
                "verdict": "violated",
                "robustness": -5.0,
                "first_violation_time": 1.0,
                "vacuous": False,
            }
        ]
    }


def test_mistakes_in_formula_and_trace_come_together(cli, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("time,T\n0,1\n0,2\n")
    called = cli("monitor", "always[5:2](T <= 1)", file)
    assert called.code == 2
    assert called.problems == [
        f"{file}:3: time must grow; 0 follows 0.",
        "formula, column 7: the time interval [5:2] is empty, its lower bound is the larger.",
    ]


def test_unknown_signal(cli, trace):
    called = cli("monitor", "always(temp <= 1)", trace)
    assert called.problems == ["formula, column 8: unknown signal 'temp'. Allowed: T."]


def test_missing_files(cli, trace):
    assert cli("monitor", "none.yaml", trace).problems == ["there is no specification file 'none.yaml'."]
    assert cli("monitor", "always(T < 1)", "none.csv").problems == ["none.csv: there is no such file."]


def test_each_walk_of_a_file_is_judged_by_itself(cli, tmp_path):
    file = tmp_path / "walks.csv"
    file.write_text("walk,time,T\n1,0,10\n1,1,80\n2,0,20\n2,1,60\n")
    called = cli("monitor", "always[0:1](T <= 75)", file)
    assert called.code == 1
    assert called.out.splitlines() == [
        "walk 1, formula: violated, robustness -5, certain at time 1",
        "walk 2, formula: satisfied, robustness 15",
    ]
    rows = cli("monitor", "always[0:1](T <= 75)", file, "--json").json["requirements"]
    assert [(row["walk"], row["verdict"]) for row in rows] == [("1", "violated"), ("2", "satisfied")]


def test_walks_without_time_are_refused(cli, tmp_path):
    file = tmp_path / "walks.csv"
    file.write_text("walk,heat,time\n1,0,10\n")
    assert (
        f"{file}:1: the column after 'walk' must be 'time'; found 'heat'." in cli("monitor", "heat <= 1", file).problems
    )


def test_rtamt_as_the_judge(cli, trace):
    pytest.importorskip("rtamt", reason="RTAMT does not run on Python 3.13")
    called = cli("monitor", "always(T <= 75)", trace, "--monitor", "rtamt")
    assert (called.code, called.out, called.err) == (1, "formula: violated, robustness -5\n", "")
    assert cli("monitor", "always(T <= 90)", trace, "--monitor", "rtamt").code == 0
    called = cli("monitor", "T < 1 until[1:inf] T > 2", trace, "--monitor", "rtamt")
    assert called.problems == ["RTAMT has no interval [1:inf] of until and since."]


def test_unknown_monitor(cli, trace):
    called = cli("monitor", "always(T <= 75)", trace, "--monitor", "rtmat")
    assert called.problems == ["unknown monitor 'rtmat'. Allowed: bbfalsify, rtamt. Did you mean 'rtamt'?"]


def run_alone(*arguments: object) -> tuple[int, str, int]:
    """Exit code, output and peak memory in MB of a process of its own; it must not load numba.

    The peak is asked of /proc where there is one: `getrusage` also counts that of the process that started it.
    """
    code = (
        "import os, sys\nfrom bbfalsify.cli.main import main\n"
        "from bbfalsify.systems.programs.process_cost import memory_mb, peak_of_ours_mb\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    code = ended.code\n"
        "peak = memory_mb(os.getpid(), peak=True) or peak_of_ours_mb()\n"
        "print('numba' in sys.modules, code, int(peak))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    *said, last = done.stdout.splitlines()
    loaded, ended, peak = last.split()
    assert loaded == "False"
    return int(ended), "\n".join(said), int(peak)


def written(folder: Path, formula: str, period: float | None) -> Path:
    time = "time: dense" if period is None else f"time: discrete, period: {period}"
    file = folder / "specification.yaml"
    file.write_text(f'format_version: 1\nrequirements:\n  - {{id: R1, stl: "{formula}", {time}}}\n')
    return file


@pytest.mark.parametrize("period", [None, 1])
def test_traces_are_judged_without_compiled_code(tmp_path, trace, period):
    ended, said, _ = run_alone("monitor", written(tmp_path, "always(T <= 75)", period), trace)
    assert (ended, said) == (1, "R1: violated, robustness -5, certain at time 1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("period", "formula", "verdict"),
    [
        (None, "always(T <= 75)", "inconclusive"),
        (None, "always(T > 65 implies eventually[0:30.005](T < 60))", "inconclusive"),
        (None, "always[0:20]((T > 50) until[0:5] (T < 65))", "violated"),
        (None, "always(historically[0:3](T > 40) since (T < 80))", "inconclusive"),
        (0.01, "always[0:20](rise(T > 60) implies ((T > 50) until[1:5] (T < 65)))", "satisfied"),
        (0.01, "always(historically[0:3](T > 40) since next(T < 80))", "inconclusive"),
    ],
)
def test_a_million_samples_take_less_than_200_megabytes(tmp_path, period, formula, verdict):
    times = np.arange(1_000_000) * 0.01
    values = 60 + 10 * np.sin(times / 7) + np.random.default_rng(0).normal(0, 0.5, len(times))
    file = tmp_path / "long.csv"
    with file.open("w") as out:
        out.write("time,T,u\n")
        out.writelines(f"{t:.2f},{v:.6f},{i % 3}\n" for i, (t, v) in enumerate(zip(times, values, strict=True)))
    _, said, peak = run_alone("monitor", written(tmp_path, formula, period), file)
    assert said.startswith(f"R1: {verdict}") and peak < 200


@pytest.mark.parametrize(("formula", "code"), [("always(T <= 75)", 1), ("eventually[0:5](T >= 90)", 4), ("always(", 2)])
def test_the_exit_code_stays_though_the_reader_of_the_json_has_left(trace, formula, code):
    command = [sys.executable, "-m", "bbfalsify", "monitor", formula, str(trace), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait() == code and "rror" not in said
