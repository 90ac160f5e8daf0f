"""Output of workers: kept up to a limit, counted beyond it, never shown on the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bbfalsify.core.redaction import Redactor
from bbfalsify.systems.programs.process_tree import telling_line

NEXT_SIMULATION = b"\x1e"
"""Written by the worker before each simulation, so that last words are not blamed on a later one; not kept."""
_TAIL = 4096
LIMIT_BYTES = 1_000_000
"""Bytes that are kept of what the workers of a run print."""


class WorkerLog:
    """One file for all workers of a run; nothing is written (or created) until a worker prints."""

    def __init__(self, path: Path | None, limit_bytes: int = LIMIT_BYTES) -> None:
        self._path = path
        self._left = limit_bytes
        self.dropped = 0

    def write(self, data: bytes) -> None:
        kept = data[: self._left]
        self.dropped += len(data) - len(kept)
        self._left -= len(kept)
        if kept and self._path is not None:
            with open(self._path, "ab") as file:
                file.write(kept)

    def close(self) -> None:
        if self.dropped and self._path is not None:
            with open(self._path, "ab") as file:
                file.write(f"\n[{self.dropped} more bytes were printed and not kept]\n".encode())
        self.dropped = 0


class WorkerOutput:
    """The parent's end of one worker's standard output and error."""

    def __init__(self, connection: Any, log: WorkerLog) -> None:
        self._connection = connection
        self._log = log
        self._tail = b""
        self._redactor = Redactor()
        self.closed = False
        os.set_blocking(connection.fileno(), False)

    def fileno(self) -> int:
        number: int = self._connection.fileno()
        return number

    def drain(self, *, at_most_bytes: int = 1 << 22) -> None:
        """Take what has been printed so far; bounded, so that a flood cannot hold up the driver."""
        while at_most_bytes > 0 and not self.closed:
            try:
                data = os.read(self._connection.fileno(), 1 << 16)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.closed = True
            at_most_bytes -= len(data)
            self._keep(self._redactor.feed(data))

    def _keep(self, data: bytes) -> None:
        before, mark, after = data.rpartition(NEXT_SIMULATION)
        self._log.write(before.replace(NEXT_SIMULATION, b"") + after)
        self._tail = (after if mark else self._tail + after)[-_TAIL:]

    def last_line(self) -> str:
        """The last words of the simulation that was running; asked for when the worker has ended."""
        self._keep(self._redactor.rest())
        return telling_line(self._tail.decode("utf-8", "replace"))

    def close(self) -> None:
        self._keep(self._redactor.rest())
        self.closed = True
        self._connection.close()
