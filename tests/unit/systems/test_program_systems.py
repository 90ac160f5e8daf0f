"""One process per simulation: files and pipes, CSV and JSON, placeholders, and programs that misbehave."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.core.trace import Stimulus
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.systems import Capabilities, MalformedAnswer, Port, ProgramSystem, SystemDied
from bbfalsify.systems.signal_files import read_outputs, write_inputs
from bbfalsify.systems.temporary import remove_left_behind, temporary_folder
from tests.hostile.hostile_systems import queries
from tests.hostile.pool_runs import run
from tests.hostile.processes import descendants

BATCH = Path(__file__).parents[2] / "hostile" / "batch_program.py"
PYTHON = [sys.executable, "-I", "-S"]


def program(deed, source="{input}", target="{output}", form="csv", **options):
    command = [*PYTHON, str(BATCH), deed, source, target, form]
    ports = {"inputs": ["bad", "u"], "outputs": ["y"]}
    return ProgramSystem(command, **ports, name=deed, input_format=form, output_format=form, **options)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary folders go, to see what is left of them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize(("source", "target"), [("{input}", "{output}"), ("-", "-"), ("{input}", "-")])
def test_every_route(form, source, target, temporary):
    system = program("good", source, target, form)
    stimulus = Stimulus(np.array([0.0, 1 / 3, 1.0]), {"bad": np.zeros(3), "u": np.array([1 / 3, 2e-300, -1e22])})
    with system.open(0) as session:
        assert list(session.execute(stimulus)["y"]) == [1 / 3, 2e-300, -1e22], "every digit survives the journey"
    assert session.usage.cpu_seconds > 0
    assert list(temporary.iterdir()) == []


def test_fixed_names_of_files_and_the_folder_of_the_run(temporary, tmp_path):
    script = "sed s/u/y/ {folder}/in.csv > out.csv && test $(pwd) = {folder} && test $(ls {here}/marker)"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "marker").touch()
    options = {"input_file": "in.csv", "output_file": "out.csv", "folder": tmp_path / "home"}
    system = ProgramSystem(["sh", "-c", script], inputs=["u"], outputs=["y"], **options)
    with system.open(0) as session:
        assert list(session.execute(Stimulus(np.array([0.0, 1.0]), {"u": np.array([5.0, 6.0])}))["y"]) == [5.0, 6.0]


def test_seed_and_duration_are_placeholders():
    command = ["sh", "-c", "echo seed,duration; echo {seed},{duration}"]
    system = ProgramSystem(command, inputs=[], outputs=["seed", "duration"])
    assert system.capabilities == Capabilities(seedable=True)
    with system.open(2**60 + 3) as session:
        answer = session.execute(Stimulus(np.array([0.25]), {}))
    assert (answer["seed"], answer["duration"]) == ([3.0], [0.25])


def test_wrong_descriptions_are_reported_together(tmp_path):
    with pytest.raises(UserError) as error:
        ProgramSystem("x {inptu}", inputs=[], outputs=[], input_format="xml", resample="spline", time_limit_s=0)
    text = str(error.value)
    assert len(error.value.problems) == 5 and "Did you mean 'input'?" in text
    system = ProgramSystem("./no-such-program", inputs=[], outputs=["y"], folder=tmp_path)
    with pytest.raises(UserError, match="there is no program"):
        system.prepare()


@pytest.mark.parametrize(
    ("deed", "status", "said"),
    [
        ("exits", Status.DIED, "the process ended itself with exit code 3; its last output: license server not"),
        ("crashes", Status.DIED, "SIGSEGV"),
        ("writes_nothing", Status.MALFORMED, "it wrote no file 'output.csv' (No such file or directory)"),
        ("short", Status.MALFORMED, "its output has 10 samples, 11 were asked for"),
        ("nan", Status.MALFORMED, "'y': expected finite numbers, got nan at time 0.4"),
    ],
)
def test_misdeeds_are_the_status_of_their_simulation(deed, status, said, temporary):
    answers = run(program(deed), bad=[0, 1, 0])
    assert [a.status for a in answers] == [Status.OK, status, Status.OK]
    assert said in answers[1].message
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("talks", "its output has no column 'y'; it begins 'Simulator 4.2"),
        ("garbage", r"its output is not text: '\\x80\\x81"),
        ("writes_nothing", "its output is empty"),
        ("floods", "more than 1 MB of output: 'xxx"),
    ],
)
def test_rubbish_on_standard_output(deed, said):
    answers = run(program(deed, target="-", output_limit_mb=1), bad=[1, 0])
    assert [a.status for a in answers] == [Status.MALFORMED, Status.OK]
    assert said in answers[0].message


def test_a_hanging_run_is_cut_off_with_everything_it_started(temporary):
    answers = run(program("hangs", time_limit_s=0.4), bad=[1, 0])
    assert [a.status for a in answers] == [Status.TIMED_OUT, Status.OK]
    assert answers[0].message == "it did not end within 0.4 s"
    assert list(temporary.iterdir()) == []


def test_folders_of_killed_workers_are_removed_by_the_next(temporary):
    """The run's own limit kills the worker, which cannot clean up any more."""
    answers = run(program("hangs"), bad=[1, 0], time_limit=0.4)
    assert [a.status for a in answers] == [Status.TIMED_OUT, Status.OK]
    assert list(temporary.iterdir()) == []


def test_children_of_a_good_run_are_gone_when_it_ends():
    before = descendants(os.getpid())
    system = program("leaves_children")
    with system.open(0) as session:
        session.execute(queries([1])[0].stimulus)
    assert descendants(os.getpid()) == before


def test_memory_has_a_limit():
    with pytest.raises(SystemDied, match="more than the 100 MB allowed"), program("memory", memory_mb=100).open(0) as s:
        s.execute(queries([1])[0].stimulus)
    assert s.usage.memory_mb > 100


def test_what_it_prints_beside_its_file_goes_to_the_log(tmp_path):
    log = tmp_path / "workers.log"
    run(program("good"), bad=[0, 0], log=log)
    assert log.read_text() == "simulation finished\n" * 2


@pytest.mark.parametrize(
    ("how", "expected"),
    [("hold", [0, 0, 0, 0, 0, 0, 11, 11, 11, 11, 20]), ("linear", [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20])],
)
def test_times_of_its_own(how, expected):
    stimulus = queries([0])[0].stimulus
    with program("own_times", resample=how).open(0) as session:
        assert session.execute(stimulus)["y"] == pytest.approx(expected)
    with pytest.raises(MalformedAnswer, match="3 samples, 11 were asked for"), program("own_times").open(0) as session:
        session.execute(stimulus)


OUTPUTS = (Port("T"),)
TWO = Stimulus(np.array([0.0, 2.0]), {})


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("csv", "time,T\n0,1\n1,2\n", "sample 1 of its output is at time 1, it was asked for at 2"),
        ("csv", "time,T\n0,1\n2\n", "row 2 of its output has 1 fields, the header has 2"),
        ("csv", "time,T\n0,1\n2,warm\n", "'T' of its output holds something that is no number"),
        ("csv", "time,t\n0,1\n2,2\n", "no column 'T'"),
        ("json", "{", "its output is not JSON"),
        ("json", "[1]", "no 'outputs'"),
        ("json", '{"outputs": {"T": [1, 2]}, "times": [0, "x"]}', "'times' of its output holds"),
    ],
)
def test_outputs_that_cannot_be_read(form, text, said):
    with pytest.raises(MalformedAnswer) as error:
        read_outputs(form, text.encode(), OUTPUTS, TWO, None)
    assert said in str(error.value)


def test_resampling_needs_times_that_cover_the_run():
    with pytest.raises(MalformedAnswer, match="covers the times 0 to 1, not 0 to 2"):
        read_outputs("csv", b"time,T\n0,1\n1,2\n", OUTPUTS, TWO, "hold")
    with pytest.raises(MalformedAnswer, match="no times"):
        read_outputs("csv", b"T\n1\n2\n", OUTPUTS, TWO, "hold")


def test_a_header_may_have_spaces_and_quotes():
    read = read_outputs("csv", b'"time", "T"\r\n0, 1\r\n2.0000001, 2.5\r\n', OUTPUTS, TWO, None)
    assert list(read["T"]) == [1.0, 2.5]


def test_csv_input_is_what_the_documentation_says():
    stimulus = Stimulus(np.array([0.0, 0.1]), {"heat": np.array([1.0, 0.0])}, ((0.1, "off"),))
    assert write_inputs("csv", stimulus, 3) == b"time,heat\n0.0,1.0\n0.1,0.0\n"


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "pipe"])
def test_an_output_file_that_is_a_device_is_no_answer(tmp_path, target):
    """A link to a file without an end, or to one that nobody writes: neither fills the memory, nor waits."""
    if target == "pipe":
        target = str(tmp_path / "pipe")
        os.mkfifo(target)
    system = ProgramSystem(["ln", "-s", target, "{output}"], inputs=["u"], outputs=["y"])
    with pytest.raises(MalformedAnswer, match="is a device, a pipe or a folder"), system.open(0) as session:
        session.execute(Stimulus(np.array([0.0]), {"u": np.array([1.0])}))


def test_folders_of_dead_processes_are_removed_and_others_stay(temporary):
    with subprocess.Popen(["true"]) as dead:
        pass
    mine = temporary_folder("program")
    gone, of_the_dead = mine.name.split("-"), mine.with_name(mine.name.replace(f"-{os.getpid()}-", f"-{dead.pid}-"))
    of_the_dead.mkdir()
    (of_the_dead / "output.csv").write_text("x")
    elsewhere = mine.with_name("-".join([gone[0], "17", *gone[2:]]))  # another container's, with its own numbers
    elsewhere.mkdir()
    remove_left_behind()
    assert mine.exists() and elsewhere.exists() and not of_the_dead.exists()
