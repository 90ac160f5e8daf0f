"""Processes from outside: what one has started, so that it can be ended with it, and how it ended.

Killing the worker's process group ends almost everything.  A child that made a group or session of its own (servers
do) escapes that; on Linux it is found through /proc while the worker is still its ancestor, elsewhere not at all.
What a program leaves behind in a worker that goes on is recognised by a mark in its environment.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_EXITING = 0x4
"""Of the flags of a process in /proc: it is getting shut down."""
Process = tuple[int, str]
"""Number and start time: together they name one process, also after its number has been used again."""


def descendants(pid: int) -> set[Process]:
    """Children, grandchildren, … of a process."""
    found: set[Process] = set()
    waiting = [pid]
    while waiting:
        for child in _children(waiting.pop()):
            started = _start_time(child)
            if started is not None and (child, started) not in found:
                found.add((child, started))
                waiting.append(child)
    return found


def is_ending(pid: int) -> bool:
    """Linux: whether a process has begun to end.  It does so before its connections are closed, and is a zombie or gone
    a moment after: whoever sees the end of a connection can tell whether it was the end of the process."""
    fields = _stat(pid)
    return bool(fields) and bool(int(fields[6]) & _EXITING)


def is_asleep(pid: int) -> bool:
    """Linux: whether it waits for something; elsewhere nobody knows, and it is taken to."""
    fields = _stat(pid)
    return not fields or fields[0] == "S"


def kill(processes: set[Process]) -> None:
    """Kill those that still live."""
    for pid, started in processes:
        if _start_time(pid) == started:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue


def marked(processes: set[Process], mark: str) -> set[Process]:
    """Those of them that have this text, as in NAME=value, among their environment variables."""
    wanted = mark.encode()
    found = set()
    for pid, started in processes:
        try:
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.add((pid, started))
        except OSError:  # gone, or somebody else's
            continue
    return found


def reap(processes: set[Process], patience_s: float) -> None:
    """Take note of the ends of killed processes that have become our children, so that no zombie of them stays."""
    until = time.monotonic() + patience_s
    waiting = {pid for pid, _ in processes}
    while waiting:
        for pid in tuple(waiting):
            try:
                if os.waitpid(pid, os.WNOHANG)[0] or time.monotonic() > until:
                    waiting.discard(pid)
            except ChildProcessError:  # not ours; it may become so when its parent is gone, unless it has ended
                if _start_time(pid) is None or time.monotonic() > until:
                    waiting.discard(pid)
        if waiting:
            time.sleep(0.0005)


def telling_line(output: str) -> str:
    """The line of a process's last output that says most: the head of an error report, else the last line."""
    lines = [line.strip() for line in output.splitlines()]
    for line in reversed(lines):
        if line.startswith(("Fatal Python error", "error: ")) and line != "error: called from":
            return line
    return next((line for line in reversed(lines) if line), "")


def how_it_ended(code: int | None, last_line: str) -> str:
    """In words, from the exit code as Python gives it (negative: killed by that signal)."""
    if code is not None and code < 0:
        try:
            text = f"the process was killed by {signal.Signals(-code).name}"
            if -code == signal.SIGKILL:
                text += " (the machine may have run out of memory)"
        except ValueError:
            text = f"the process was killed by signal {-code}"
    else:
        text = f"the process ended itself with exit code {code}"
    return f"{text}; its last output: {last_line[:200]}" if last_line else text


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text(encoding="ascii").split())
        except OSError:  # it ended while we were looking
            continue
    return found


def _start_time(pid: int) -> str | None:
    fields = _stat(pid)
    return fields[19] if fields else None


def _stat(pid: int) -> list[str]:
    """What the kernel says about a process, from its state on; nothing where it is gone, or not on Linux."""
    try:
        # The name, in parentheses, may contain anything.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
