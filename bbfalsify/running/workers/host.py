"""A process beside a process of an executor: it owns the worker in which the system runs.

Processes of an executor have threads, may not have children of their own (Dask's), and are not ours: forking a worker
there would be asking for trouble.  So the first task that arrives starts a host, and later ones find it; each is used
by one task at a time.  It has one thread, and forks its worker as the driver does.
Tasks are handed through as bytes.  When the executor's process dies, the host and its worker go with it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import BBFalsifyError, SystemFailure, UserError
from bbfalsify.running.workers.assignment import OUR_FAULT, UNUSABLE, WRONG_INPUT, Assignment
from bbfalsify.running.workers.channel import BlockingChannel, unpacked
from bbfalsify.systems.temporary import temporary

ANSWERS, UNKNOWN_RUN = "answers", "unknown run"
"""The first item of what a task brings back; else what a worker says that is no answer (`assignment.py`)."""

_START = "import sys; from bbfalsify.running.workers.host import main; main(sys.argv[1])"

# ---------------------------------------------------------------------- in the executor's process

_idle: list[_Host] = []
_lock = threading.Lock()
_starter: ThreadPoolExecutor | None = None
"""One thread starts all hosts and never ends: on Linux a host dies with the thread that started it."""


def answer_there(run: str, payload: bytes, introduction: bytes | None) -> bytes:
    """A task: the answers to these queries; `introduction` is what the run is about, for a host that does not know."""
    host = _take()
    try:
        brought = host.ask(run, payload, introduction)
    except BaseException:
        host.end()
        raise
    with _lock:
        _idle.append(host)
    return brought


def _take() -> _Host:
    global _starter
    with _lock:
        while _idle:
            host = _idle.pop()
            if host.alive:
                return host
            host.end()
        if _starter is None:
            _starter = ThreadPoolExecutor(1, thread_name_prefix="bbfalsify-host-starter")
            atexit.register(_end_idle)
        starter = _starter
    return starter.submit(_Host).result()


def _end_idle() -> None:
    """End the hosts that wait for tasks when the process ends: where it is a user's, nobody else does."""
    with _lock:
        while _idle:
            _idle.pop().end()


def _environment() -> dict[str, str]:
    """Environment in which everything can be imported that can be imported here.

    Dask tells its processes to give memory back at once, and with that setting every array of more than 128 KB is
    mapped anew: the thermal house spends four times as long in the operating system, a tenth more in all.  It is meant
    for Dask's own processes, not for the system's.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "MALLOC_TRIM_THRESHOLD_"}
    return inherited | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


class _Host:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(),
            )
        self._channel = BlockingChannel(ours)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, run: str, payload: bytes, introduction: bytes | None) -> bytes:
        self._channel.send((run, payload, introduction))
        brought: bytes | None = self._channel.receive()
        if brought is None:
            raise RuntimeError("the process that hosts the system's worker died")
        return brought

    def end(self) -> None:
        self._channel.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()
        self._process.wait()


# ---------------------------------------------------------------------- in the host itself


class _Service:
    """Answers for one run at a time; the worker of another run goes when the next one comes."""

    def __init__(self, log: Path) -> None:
        self._run = ""
        self._pool: Any = None
        self._shared: tuple[object, ...] = ()
        self._log, self._read = log, 0

    def __call__(self, run: str, payload: bytes, introduction: bytes | None) -> bytes:
        if run != self._run and introduction is None:
            return pickle.dumps((UNKNOWN_RUN,))
        try:
            if run != self._run and introduction is not None:
                self.close()
                self._open(run, introduction)
            answers = list(self._pool.answers(unpacked(payload, self._shared)))
            return pickle.dumps((ANSWERS, answers, self._printed()), protocol=5)
        except UserError as error:
            return pickle.dumps((WRONG_INPUT, str(error)))
        except SystemFailure as error:
            return pickle.dumps((UNUSABLE, str(error)))
        except BBFalsifyError as error:
            return pickle.dumps((OUR_FAULT, str(error)))

    def _open(self, run: str, introduction: bytes) -> None:
        from bbfalsify.running.workers.lost_executor import check_versions
        from bbfalsify.running.workers.pool import WorkerPool

        wanted, assignment = pickle.loads(introduction)
        check_versions(wanted)
        work: Assignment = pickle.loads(assignment).arrived()
        self._pool = WorkerPool.of(work, self._log)
        self._run, self._shared = run, work.shared

    def _printed(self) -> bytes:
        """Return what the system printed since the last task."""
        if not self._log.is_file():
            return b""
        with open(self._log, "rb") as file:
            file.seek(self._read)
            text = file.read()
        self._read += len(text)
        return text

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool, self._run = None, ""


def serve(end: socket.socket) -> None:
    channel = BlockingChannel(end)
    with temporary("host") as folder:
        service = _Service(folder / "printed")
        try:
            while (message := channel.receive()) is not None:
                channel.send(service(*message))
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            service.close()
            channel.end()


def main(number: str) -> None:
    """Serve in a process of its own; the argument is the number of its end of the line."""
    from bbfalsify.running.workers.worker import die_with_parent

    if os.name == "posix":
        os.setsid()  # Ctrl-C is for whoever asked
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        die_with_parent()
    serve(socket.socket(fileno=int(number)))
