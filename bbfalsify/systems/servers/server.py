"""Start and stop a server under test, with a port and a folder of its own.

    server = Server(["mosquitto", "-c", "{folder}/mosquitto.conf"], files={"mosquitto.conf": "listener {port}"})
    server.start()
    server.port, server.folder
    server.stop()

`{port}` and `{folder}` stand for a free port of the loopback interface and a fresh temporary folder; each instance has
its own, so several run side by side.  No shell is involved.  `start` returns when the process listens on the port.
Its output goes to our standard error (in a run: workers.log), without secrets and up to a limit.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from bbfalsify.core.errors import UserError
from bbfalsify.core.redaction import Redactor
from bbfalsify.systems.failures import SystemDied
from bbfalsify.systems.programs.launching import MARK, redactor_of, secret_problem
from bbfalsify.systems.programs.process_cost import memory_mb
from bbfalsify.systems.programs.process_tree import (
    descendants,
    how_it_ended,
    is_asleep,
    is_ending,
    kill,
    marked,
    reap,
    signal_group,
    telling_line,
)
from bbfalsify.systems.temporary import temporary_folder

START_S = 10.0
STOP_S = 1.0
"""Time to end by itself; less than a worker has to end, because the worker cleans up after it."""
_DYING_S = 1.0
_SLEEPS = 3
"""A server seen asleep so often in a row waits for something."""
_REAPING_S = 0.2
_LAST_WORDS = 500
_LOGGED = 1 << 20
"""Bytes of its output that are shown; the rest is read and dropped."""


class ServerFailed(SystemDied):
    """The server did not start, or did not start listening."""


class Server:
    """One server process; `start` may be called again after `stop`, and then gives a fresh folder and port."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
        start_s: float = START_S,
        memory_mb: float | None = None,
    ) -> None:
        """`secrets`: names of environment variables whose values must not appear anywhere.  `memory_mb`: it is ended
        after a session in which it has come to have more.
        """
        self.command, self.files, self.start_s = tuple(command), dict(files or {}), start_s
        self.environment = dict(environment or {})
        self.secrets = (secrets,) if isinstance(secrets, str) else tuple(secrets)
        self.memory_mb = memory_mb
        self.port = 0
        self.folder: Path | None = None
        self._process: subprocess.Popen | None = None
        self._output: _Output | None = None
        self._mark = ""
        self._owner = 0
        """The process that has started it; a fork of that process must not stop it."""
        redactor_of(self.secrets, self._variables())  # from now on this process knows what to hide

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_process": None, "_output": None, "folder": None}

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """True while it lives and is not about to end."""
        process = self._process if self._owner == os.getpid() else None
        return process is not None and process.poll() is None and not is_ending(process.pid)

    def goes_on(self) -> bool:
        """Tell, after it has closed a connection, whether it lives on.

        A server that goes on soon sleeps, waiting for the next client.  One that ends works until it is gone, however
        busy the machine is.
        """
        until, asleep = time.monotonic() + _DYING_S, 0
        while self.running and time.monotonic() < until:
            asleep = asleep + 1 if self.pid is not None and is_asleep(self.pid) else 0
            if asleep == _SLEEPS:
                return True
            time.sleep(0.0003)
        return self.running

    def how_it_ended(self) -> str:
        """Describe its end, once it is not running any more."""
        if self._process is None or self._output is None:
            return "it was not started"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return how_it_ended(self._process.poll(), telling_line(self._output.last_words(_DYING_S)))

    def over_memory(self) -> str | None:
        """Describe its memory if that exceeds the limit."""
        if self.memory_mb is None or self.pid is None:
            return None
        now_mb = memory_mb(self.pid)
        if now_mb is None or now_mb <= self.memory_mb:
            return None
        return f"the server had {now_mb:.0f} MB of memory, more than the {self.memory_mb:g} MB allowed"

    def start(self, *, tries: int = 3) -> None:
        """Start it and wait until it listens.  Somebody may take the free port first: then another is tried."""
        self.stop()
        if shutil.which(self.command[0]) is None:
            raise ServerFailed(f"there is no program '{self.command[0]}' on this machine")
        if problems := [p for name in self.secrets if (p := secret_problem(name, self._variables()))]:
            raise UserError(problems)
        for attempt in range(1, tries + 1):
            self.folder = temporary_folder("server")
            self.port = free_port()
            for name, text in self.files.items():
                (self.folder / name).write_text(self.fill(text), encoding="utf-8")
            self._launch()
            if self._listens():
                return
            alive = self.running
            said = "" if alive or self._output is None else self._output.last_words(_DYING_S)
            self.stop()
            if alive or attempt == tries:
                what = f"did not listen on port {self.port} within {self.start_s:g} s" if alive else "ended at once"
                raise ServerFailed(f"the server '{self.command[0]}' {what}" + (f"; it said: {said}" if said else ""))

    def _launch(self) -> None:
        known = self._variables()
        self._mark, self._owner = uuid.uuid4().hex, os.getpid()
        self._process = subprocess.Popen(
            [self.fill(part) for part in self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            cwd=self.folder,
            env={**known, MARK: self._mark},
            start_new_session=True,
        )
        assert self._process.stdout is not None  # it is a pipe
        self._output = _Output(self._process.stdout, redactor_of(self.secrets, known))

    def _variables(self) -> dict[str, str]:
        return {**os.environ, **self.environment}

    def stop(self) -> None:
        """End the process and all it has started, gently first; then remove its folder."""
        process, self._process = self._process, None
        output, self._output = self._output, None
        if self._owner != os.getpid():
            self.folder = None
            return
        if process is not None:
            started_by_it = descendants(process.pid)  # also those that left its group
            signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            # Its children have become ours if it died on its own; the mark tells them from the rest.
            started_by_it |= marked(descendants(os.getpid()), f"{MARK}={self._mark}")
            signal_group(process.pid, signal.SIGKILL)
            process.wait()
            kill(started_by_it)
            reap(started_by_it, _REAPING_S)
        if output is not None:
            output.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def fill(self, text: str) -> str:
        """Replace `{port}` and `{folder}` in a text."""
        return text.replace("{port}", str(self.port)).replace("{folder}", str(self.folder))

    def _listens(self) -> bool:
        until = time.monotonic() + self.start_s
        while time.monotonic() < until and self.running:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
                if self.pid is not None and _belongs_to_session(self.port, self.pid):
                    return True
            time.sleep(0.01)
        return False


class _Output(threading.Thread):
    """A thread that reads the output of a server, so that it never blocks; shows a part of it and keeps the end."""

    def __init__(self, pipe: IO[bytes], redactor: Redactor) -> None:
        super().__init__(daemon=True)
        self._pipe, self._redactor = pipe, redactor
        self._tail = b""
        self._left = _LOGGED
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := self._pipe.read(1 << 16):
                self._show(self._redactor.feed(data))
        self._show(self._redactor.rest())

    def _show(self, text: bytes) -> None:
        self._tail = (self._tail + text)[-_LAST_WORDS:]
        shown, self._left = text[: self._left], max(0, self._left - len(text))
        if shown:
            with contextlib.suppress(OSError):
                os.write(2, shown)

    def last_words(self, patience_s: float) -> str:
        """Return the end of the output of a server that has ended."""
        self.join(patience_s)
        return self._tail.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Close the pipe after the end of the server, without waiting for other processes that hold it."""
        self.join(_REAPING_S)
        if not self.is_alive():
            self._pipe.close()


def free_port() -> int:
    """Find a port of the loopback interface that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _belongs_to_session(port: int, session: int) -> bool:
    """Tell whether a process of this session holds the listening socket (on Linux; elsewhere True)."""
    if not sys.platform.startswith("linux"):
        return True
    listening = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if os.getsid(int(process.name)) == session:
                for descriptor in (process / "fd").iterdir():
                    with contextlib.suppress(OSError):
                        if os.readlink(descriptor) in listening:
                            return True
    return False


def _listening_inodes(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            for line in file.readlines()[1:]:
                columns = line.split()
                if columns[3] == "0A" and int(columns[1].rpartition(":")[2], 16) == port:
                    yield columns[9]
