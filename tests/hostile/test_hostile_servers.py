"""Whatever a server does is an output or the typed outcome of that one session; nothing stays; the run goes on."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from bbfalsify.core.errors import SystemFailure, UserError
from bbfalsify.core.query import WordQuery
from bbfalsify.core.verdict import SimulationStatus as Status
from bbfalsify.records.recording import RunRecord
from bbfalsify.records.run_directory import RunDirectory
from bbfalsify.running import Driver, Execution
from bbfalsify.systems.servers import LineMapper, SocketSystem
from bbfalsify.systems.servers.server import Server
from tests.hostile.processes import nothing_stays

PROGRAM = Path(__file__).with_name("hostile_server.py")
SYMBOLS = {"echo": "echo", "count": "count", "bad": "bad"}
WORDS = [("echo",), ("echo", "bad", "echo"), ("count",)]


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Folders of servers are made here, and none may stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.glob("bbfalsify-*-server-*")) == []


def server(deed, *, silence_s=20.0, reset="reconnect", **options):
    command = [sys.executable, "-I", "-S", str(PROGRAM), deed, "{port}", "{folder}"]
    mapper = LineMapper(SYMBOLS, reply=r"250 (\w+)", banner=True)
    return SocketSystem(deed, mapper, server=Server(command, **options), silence_s=silence_s, reset=reset)


def run(system, words=WORDS, folder=None, **execution):
    """Answers, having checked that no process outlives the run."""
    record = RunRecord(directory=None if folder is None else RunDirectory(folder))
    with nothing_stays() as look, Driver(system, None, Execution(**execution), record) as driver:
        answers = driver.ask([WordQuery(f"w{i}", word) for i, word in enumerate(words)])
        look()
    return answers


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        ("exits", "the process ended itself with exit code 3; its last output: error: no licence"),
        ("aborts", "killed by SIGABRT"),
        ("crashes", "killed by SIGSEGV"),
        ("leaves_a_server_and_dies", "killed by SIGKILL"),
    ],
)
def test_a_server_that_ends_is_the_outcome_of_its_session(deed, said):
    """With the answers that came before; the next session has a new server."""
    before, bad, after = run(server(deed))
    assert (before.symbols, after.symbols) == (("echo",), ("count",))
    assert (bad.status, bad.symbols) == (Status.DIED, ("echo",))
    assert bad.message.startswith("answer 2: the server is gone: ") and said in bad.message


@pytest.mark.parametrize(
    ("deed", "silence_s", "status", "seen"),
    [
        ("hangs", 0.5, Status.OK, ("echo", "silence", "silence")),
        ("half", 0.5, Status.MALFORMED, ("echo", "silence")),
        ("half_and_closes", 20.0, Status.OK, ("echo", "closed", "closed")),
        ("endless", 20.0, Status.OK, ("echo", "flood", "closed")),
    ],
)
def test_what_a_server_does_not_answer_is_an_output(deed, silence_s, status, seen):
    """Half an answer is none; with it in the way, nobody knows to what the rest belongs."""
    _, bad, _ = run(server(deed, silence_s=silence_s, reset="restart"))
    assert (bad.status, bad.symbols) == (status, seen)


def test_garbage_is_an_output():
    answers = run(server("garbage"))
    assert all(a.ok for a in answers) and len(answers[1].symbols[1]) <= 80


def test_a_million_lines_are_no_answers_to_later_symbols():
    """The first line answers its symbol; the others were there before the next symbol was sent."""
    answers = run(server("a_million_lines"))
    assert [a.symbols for a in answers] == [("echo",), ("echo", "step"), ("count",)]
    assert answers[1].status is Status.MALFORMED
    assert "answer 3: before 'echo' the server had said something nobody had asked for: '250 step" in answers[1].message


def test_a_flood_of_errors_is_bounded_and_stays_off_the_terminal(tmp_path, capfd):
    answers = run(server("floods_its_errors"), folder=tmp_path)
    assert [a.symbols for a in answers] == [("echo",), ("echo", "fine", "echo"), ("count",)]
    assert 0 < (tmp_path / "workers.log").stat().st_size < 2 << 20
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("deed", ["ignores_sigterm", "has_children", "starts_slowly"])
def test_what_is_odd_but_no_failure(deed):
    assert [a.symbols for a in run(server(deed))] == [("echo",), ("echo", "bad", "echo"), ("count",)]


@pytest.mark.parametrize(
    ("deed", "said"),
    [("hangs_on_start", "did not listen on port"), ("exits_on_start", "ended at once; it said: no licence")],
)
def test_a_server_that_cannot_be_started(deed, said):
    with pytest.raises(SystemFailure, match=said):
        run(server(deed, start_s=0.5))


def test_memory_growth_has_a_limit():
    answers = run(server("eats_memory", memory_mb=100))
    assert [a.status for a in answers] == [Status.OK, Status.DIED, Status.OK]
    assert "more than the 100 MB allowed" in answers[1].message
    assert 0 < answers[0].memory_mb < 100 < answers[1].memory_mb
    assert all(a.cpu_seconds >= 0 for a in answers)


def test_killed_by_somebody_else():
    """Between two sessions nobody is to blame; within one, that one has the status."""
    system = server("hangs")
    try:
        with system.open(0) as session:
            assert session.step("echo") == "echo"
        os.kill(system.server.pid, signal.SIGKILL)
        with system.open(0) as session:
            assert session.step("echo") == "echo"
            killer = os.fork()
            if killer == 0:
                time.sleep(0.05)
                os.kill(system.server.pid, signal.SIGKILL)
                os._exit(0)
            with pytest.raises(Exception, match="the server is gone: the process was killed by SIGKILL"):
                session.step("bad")
            os.waitpid(killer, 0)
        with system.open(0) as session:
            assert session.step("count") == "count"
    finally:
        system.close()


def test_a_server_that_drops_every_tenth_connection():
    """Each drop is the failure of its word; with votes no word fails."""
    words = [("echo", "count")] * 30
    answers = run(server("drops_every_tenth"), words)
    # Asking whether somebody listens was the first connection.
    assert [i for i, a in enumerate(answers) if not a.ok] == [8, 18, 28]
    assert all(
        a.status is Status.RAISED and a.message.endswith("the server closed the connection before the first symbol")
        for a in answers
        if not a.ok
    )
    assert all(a.symbols == ("echo", "count") for a in run(server("drops_every_tenth"), words, votes=3))


REMOVE = "import os, sys; os.path.exists('mail/busy') and sys.exit('busy'); os.path.isdir('mail') or os.mkdir('mail')"


def test_a_reset_does_not_race_the_server():
    """After each session the server is busy for a while; a reset at that time would find it so and fail.

    Closing waits until the server has closed, too, which it does when it has finished.
    """
    system = server("finishes_slowly", reset=[sys.executable, "-I", "-S", "-c", REMOVE])
    assert [a.symbols for a in run(system, [("echo",)] * 5)] == [("echo",)] * 5


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit(7)"], "ended with exit code 7"),
        (["no-such-command-anywhere"], "cannot be started: No such file or directory"),
    ],
)
def test_a_reset_that_fails_fails_the_session(command, said):
    [answer] = run(server("hangs", reset=command), [("echo",)])
    assert answer.status is Status.RAISED and said in answer.message


def test_a_secret_of_a_server_is_seen_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("MAIL_TOKEN", "s3same-open")
    code = "import os, sys; print('token', os.environ['MAIL_TOKEN'], flush=True); sys.exit(1)"
    system = SocketSystem(
        "mail", LineMapper(SYMBOLS), server=Server([sys.executable, "-c", code], secrets=["MAIL_TOKEN"])
    )
    with pytest.raises(SystemFailure, match=r"it said: token \*\*\*$"):
        run(system, folder=tmp_path)
    assert "token ***" in (text := (tmp_path / "workers.log").read_text()) and "s3same" not in text
    monkeypatch.delenv("MAIL_TOKEN")
    with pytest.raises(UserError, match="'MAIL_TOKEN', named as a secret, is not set"):
        system.server.start()
    system.server.stop()
