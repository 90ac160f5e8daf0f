"""A server under test as a process of ours: own port, own folder, started when needed and gone afterwards.

    server = Server(["mosquitto", "-c", "{folder}/mosquitto.conf"], files={"mosquitto.conf": "listener {port}"})
    server.start()
    server.port, server.folder
    server.stop()

`{port}` and `{folder}` stand for a free port of the loopback interface and a fresh temporary folder; each instance has
its own, so several run side by side.  No shell is involved.  Start means: the process lives and somebody listens.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bbfalsify.systems.process_tree import descendants, kill

START_S = 10.0
STOP_S = 2.0
_LAST_WORDS = 500


class ServerFailed(Exception):
    """The server did not start, or did not start listening."""


class Server:
    """One server process; `start` may be called again after `stop`, and then gives a fresh folder and port."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        files: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        start_s: float = START_S,
    ) -> None:
        self.command, self.files, self.start_s = tuple(command), dict(files or {}), start_s
        self.environment = dict(environment or {})
        self.port = 0
        self.folder: Path | None = None
        self._process: subprocess.Popen | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ended(self, *, within_s: float) -> bool:
        """Whether the process is gone; one that is dying gets a moment to be so."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(within_s)
        return not self.running

    def start(self, *, tries: int = 3) -> None:
        """Start it and wait until it listens.  Somebody may take the free port first: then another is tried."""
        self.stop()
        if shutil.which(self.command[0]) is None:
            raise ServerFailed(f"there is no program '{self.command[0]}' on this machine")
        for attempt in range(1, tries + 1):
            self.folder = Path(tempfile.mkdtemp(prefix="bbfalsify-server-"))
            self.port = free_port()
            for name, text in self.files.items():
                (self.folder / name).write_text(self._fill(text), encoding="utf-8")
            log = self.folder / "server.log"
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    [self._fill(part) for part in self.command],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=self.folder,
                    env={**os.environ, **self.environment},
                    start_new_session=True,
                )
            if self._listens():
                return
            alive = self.running
            said = log.read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace").strip()
            self.stop()
            if alive or attempt == tries:
                what = f"did not listen on port {self.port} within {self.start_s:g} s" if alive else "ended at once"
                raise ServerFailed(f"the server '{self.command[0]}' {what}" + (f"; it said: {said}" if said else ""))

    def stop(self) -> None:
        """End the process and all it has started, gently first; then remove its folder."""
        process, self._process = self._process, None
        if process is not None:
            started_by_it = descendants(process.pid)  # also those that left its group
            _signal_group(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            _signal_group(process, signal.SIGKILL)
            process.wait()
            kill(started_by_it)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def _fill(self, text: str) -> str:
        return text.replace("{port}", str(self.port)).replace("{folder}", str(self.folder))

    def _listens(self) -> bool:
        until = time.monotonic() + self.start_s
        while time.monotonic() < until and self.running:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
                if _belongs_to_session(self.port, self._process.pid):
                    return True
            time.sleep(0.01)
        return False


def free_port() -> int:
    """A port of the loopback interface that nobody used a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _belongs_to_session(port: int, session: int) -> bool:
    """Linux: whether a process of this session holds the listening socket, and not somebody else on the same port."""
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


def _signal_group(process: subprocess.Popen, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
