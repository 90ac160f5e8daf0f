"""Batched fsync: make files survive a power failure (a killed process loses nothing anyway).

Each wait takes milliseconds, and what the processor had at hand is gone afterwards.  So who makes many small things one
after the other waits for them together, once a second:

    with together():
        for run in runs: …         # what is left to `soon` here reaches the disk with the next wait, or at the end
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

EVERY_S = 1.0
"""Seconds after which written data survives a power failure."""

_left: dict[Path, None] = {}
"""Paths that this process still has to sync, in the order in which they came."""
_groups = 0
_waited = 0.0


def wait_for(*paths: Path) -> None:
    """Wait until these files, the names in these folders, and everything left before them are on disk."""
    global _waited
    _left.update(dict.fromkeys(paths))
    while _left:
        path = next(iter(_left))
        del _left[path]
        _wait(path)
    _waited = time.monotonic()


def soon(*paths: Path) -> None:
    """Have the same on disk within a second; at once outside of `together`."""
    if _groups and time.monotonic() - _waited < EVERY_S:
        _left.update(dict.fromkeys(paths))
    else:
        wait_for(*paths)


@contextlib.contextmanager
def together() -> Iterator[None]:
    global _groups
    _groups += 1
    try:
        yield
    finally:
        _groups -= 1
        wait_for()


def _wait(path: Path) -> None:
    with contextlib.suppress(OSError):  # a file system that cannot (of a pipe, of a device) has nothing to lose
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
