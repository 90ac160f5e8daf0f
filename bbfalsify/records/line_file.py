"""The lines of which all records are made, and a file of them that is only appended to.

    {"inputs":["coin"],"outputs":["click"],"crc":"5e1a02b7"}

Events, observations of a check, checkpoints of a search and the histories of a store are such lines: one object of JSON
without needless spaces, its checksum last.  The members tell what a line is; the version of all records of a run stands
in its `manifest.json`.  Lines of older versions without a checksum are read.

Each append is there whole, or not at all.  A line reaches the operating system at once, so a killed process loses
nothing; what a power failure left behind the last whole line is cut off when the file is opened again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bbfalsify.core.checksums import LINE_KEY, has_checksum, line_is_whole, sealed_line
from bbfalsify.core.errors import Problem
from bbfalsify.records.json_files import WritingFailed, one_line
from bbfalsify.records.locks import LockedFile


def line_of(content: Mapping[str, Any]) -> bytes:
    """One line of a record."""
    return sealed_line(one_line(content))


def read_line(line: bytes, *, sealed: bool = False) -> dict[str, Any] | None:
    """Content of a line; None if it is damaged, no object, or lacks the checksum that it must have (`sealed`)."""
    if not line_is_whole(line) or (sealed and not has_checksum(line)):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    content.pop(LINE_KEY, None)
    return content


def append_lines(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append in one go, so that processes that write at the same time do no harm."""
    data = b"".join(map(line_of, entries))
    if data:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)


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
