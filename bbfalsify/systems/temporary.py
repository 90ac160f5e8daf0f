"""Temporary folders whose names say which process made them, so that those of killed processes are removed later.

bbfalsify-4026531836-12345-fmu-x1y2z3/      namespace of process numbers, process, kind
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def temporary_folder(kind: str) -> Path:
    """Make a private folder, which the caller removes; the first one also removes what dead processes left."""
    _clean_up_once(os.getpid())
    return Path(tempfile.mkdtemp(prefix=f"bbfalsify-{_namespace()}-{os.getpid()}-{kind}-"))


@contextmanager
def temporary(kind: str) -> Iterator[Path]:
    """A private folder as long as it is needed."""
    folder = temporary_folder(kind)
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def remove_left_behind() -> None:
    """Remove the folders of processes that were killed; those of another user stay."""
    pattern = re.compile(rf"bbfalsify-{_namespace()}-(\d+)-")
    for folder in Path(tempfile.gettempdir()).glob("bbfalsify-*"):
        found = pattern.match(folder.name)
        if found and not _lives(int(found[1])):
            remove(folder)


@functools.lru_cache(1)
def _clean_up_once(pid: int) -> None:
    remove_left_behind()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


@functools.lru_cache(1)
def _namespace() -> str:
    """Identifier of the namespace of process numbers: several containers may share /tmp."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return "0"
