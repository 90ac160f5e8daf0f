"""Locks on files: one process at a time works in a run directory, or on a campaign; a second one is told who does.

The operating system frees a lock when its process ends, however it ends.  Forked processes close their copies.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from pathlib import Path
from typing import Self

from bbfalsify.core.errors import Problem, UserError

_LOCK_WAIT_S = 5.0
"""Seconds to wait for a lock: a process that was just killed holds it until it has gone."""
_held: weakref.WeakSet[LockedFile] = weakref.WeakSet()


class LockedFile:
    """An open file that no other process has locked."""

    def __init__(self, path: Path, flags: int, doing: str) -> None:
        """`doing` says what the other process does with the file, for the message."""
        self.path = path
        self.handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            _lock(self.handle, path, doing)
        except BaseException:
            self.close()
            raise
        _held.add(self)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.handle)
        self.handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _let_go() -> None:
    """Close the files in a forked process: the parent writes them, and a lock lasts until all copies are closed."""
    for file in tuple(_held):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _lock(file: int, path: Path, doing: str) -> None:
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
                raise UserError(Problem(f"{_owner(file)} {doing}.", file=str(path))) from None
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
