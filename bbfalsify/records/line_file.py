"""A file of lines that is only appended to: each append is there whole, or not at all.

The event log and the observations of a check are such files.  A line reaches the operating system at once, so a killed
process loses nothing; what a power failure left behind the last whole line is cut off when the file is opened again.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.records.json_files import WritingFailed

_LOCK_WAIT_S = 5.0
"""Seconds to wait for a lock: a process that was just killed holds it until it has gone."""
_open: weakref.WeakSet[LineFile] = weakref.WeakSet()


class LineFile:
    """Opened by one process at a time: two that continue the same run would spoil its record."""

    def __init__(self, path: Path, what: str, is_line: Callable[[bytes], bool]) -> None:
        """`what` names the content in error messages; `is_line` tells a line from what a power failure left."""
        self.path, self._what = path, what
        with self._told():
            self.is_new = not path.is_file()
            self.handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            _lock(self.handle, path)
            with self._told():
                whole = b""
                if os.fstat(self.handle).st_size:
                    whole = whole_lines(path.read_bytes(), is_line)
                    os.ftruncate(self.handle, len(whole))
                self.length, self.lines = len(whole), whole.count(b"\n")
        except BaseException:
            os.close(self.handle)
            raise
        _open.add(self)

    def append(self, data: bytes) -> None:
        """Write whole lines; where there is no room for all of them, none stays."""
        with self._told():
            written = 0
            try:
                while written < len(data):
                    written += os.write(self.handle, data[written:])
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self.handle, self.length)
                raise
            self.length += len(data)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.handle)
        self.handle = -1

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = Problem(f"{self._what} cannot be recorded: {error.strerror}.", file=str(self.path))
            raise WritingFailed(problem) from None


def _let_go() -> None:
    """Close the files in a forked process: the parent writes them, and a lock lasts until all copies are closed."""
    for file in tuple(_open):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def whole_lines(data: bytes, is_line: Callable[[bytes], bool]) -> bytes:
    """Cut off a spoilt end: a line that was cut, or blocks that never reached the disk (zeros)."""
    data = data[: data.rfind(b"\n") + 1]
    while data and not is_line(data[data.rfind(b"\n", 0, -1) + 1 :]):
        data = data[: data.rfind(b"\n", 0, -1) + 1]
    return data


def _lock(file: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                problem = Problem(f"{_owner(file)} is still writing the record of this run.", file=str(path))
                raise UserError(problem) from None
            time.sleep(0.05)
        except OSError:  # a file system without locks
            return


def _owner(file: int) -> str:
    """Name the process that holds the lock, where the operating system tells (Linux)."""
    status = os.fstat(file)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            fields = line.split()
            if len(fields) > 5 and (fields[1], fields[5]) == ("FLOCK", place) and int(fields[4]) > 0:
                return f"another process ({fields[4]})"
    return "another process"
