"""A file of lines that is only appended to: each append is there whole, or not at all.

The event log and the observations of a check are such files.  A line reaches the operating system at once, so a killed
process loses nothing; what a power failure left behind the last whole line is cut off when the file is opened again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from bbfalsify.core.errors import Problem
from bbfalsify.records.json_files import WritingFailed
from bbfalsify.records.locks import LockedFile


class LineFile:
    """Opened by one process at a time: two that continue the same run would spoil its record."""

    def __init__(self, path: Path, what: str, is_line: Callable[[bytes], bool]) -> None:
        """`what` names the content in error messages; `is_line` tells a line from what a power failure left."""
        self.path, self._what = path, what
        with self._told():
            self.is_new = not path.is_file()
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._locked = LockedFile(path, flags, "is still writing the record of this run")
        try:
            with self._told():
                whole = found = b""
                if os.fstat(self.handle).st_size:
                    found = path.read_bytes()
                    whole = whole_lines(found, is_line)
                    os.ftruncate(self.handle, len(whole))
                self.length, self.lines = len(whole), whole.count(b"\n")
                self.dropped = found.count(b"\n") - self.lines
                """Damaged lines at the end, which were cut off; a line without an end is no damage but a kill."""
        except BaseException:
            self.close()
            raise

    @property
    def handle(self) -> int:
        return self._locked.handle

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

    def cut(self, lines: int) -> None:
        """Keep so many lines, and drop the rest."""
        with self._told():
            self.length = sum(map(len, self.path.read_bytes().splitlines(keepends=True)[:lines]))
            os.ftruncate(self.handle, self.length)
            self.lines = lines

    def close(self) -> None:
        self._locked.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            problem = Problem(f"{self._what} cannot be recorded: {error.strerror}.", file=str(self.path))
            raise WritingFailed(problem) from None


def whole_lines(data: bytes, is_line: Callable[[bytes], bool]) -> bytes:
    """Cut off a spoilt end: a line that was cut, or blocks that never reached the disk (zeros)."""
    data = data[: data.rfind(b"\n") + 1]
    while data and not is_line(data[data.rfind(b"\n", 0, -1) + 1 :]):
        data = data[: data.rfind(b"\n", 0, -1) + 1]
    return data
