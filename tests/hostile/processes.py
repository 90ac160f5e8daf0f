"""Looking at processes from outside, for tests that promise to leave none behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path


def _table() -> dict[int, tuple[str, int, int]]:
    """pid → (state, parent, session)."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, parent, _, session, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            table[int(entry.name)] = (state, int(parent), int(session))
    return table


def descendants(root: int) -> set[int]:
    """All processes whose chain of parents leads to `root`, zombies included."""
    return _below(root, _table())


def _below(root: int, table: dict[int, tuple[str, int, int]]) -> set[int]:
    found: set[int] = set()
    frontier = {root}
    while frontier:
        frontier = {pid for pid, (_, parent, _) in table.items() if parent in frontier} - found
        found |= frontier
    return found


def worker_sessions(root: int) -> set[int]:
    """The sessions of all descendants: every worker makes one of its own, and what it starts belongs to it."""
    table = _table()
    return {table[pid][2] for pid in _below(root, table)} - {table[root][2]}


def survivors(processes: set[int], patience_s: float = 5.0) -> set[int]:
    """The living among these processes, and all of their sessions, after a moment in which killed ones can die."""
    until = time.monotonic() + patience_s
    while True:
        table = _table().items()
        living = {pid for pid, (state, _, session) in table if {pid, session} & processes and state not in "ZX"}
        if not living or time.monotonic() > until:
            return living


@contextlib.contextmanager
def nothing_stays() -> Iterator[Callable[[], None]]:
    """Whatever this process starts inside is gone afterwards, with all that belongs to it.

    Call what is given while it runs: what is seen then is looked for later, even if it has lost its parent.
    """
    before, others, seen = descendants(os.getpid()), worker_sessions(os.getpid()), set()

    def look() -> None:
        seen.update(worker_sessions(os.getpid()) - others)

    yield look
    assert descendants(os.getpid()) <= before
    assert seen and survivors(seen) == set()


def listen_to_interrupts() -> None:
    """For `preexec_fn`: a test run in the background of a shell ignores Ctrl-C, and its children would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
