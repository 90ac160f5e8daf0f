"""Find, signal and reap the processes that a process has started, and describe how it ended.

Killing the worker's process group ends almost everything.  A child that made a group or session of its own (servers
do) escapes that; on Linux it is found through /proc while the worker is still its ancestor, elsewhere not at all.
Processes that have lost their parent are recognised by their session, or by a mark in their environment.  A program
that forks faster than it is looked at is killed again and again, until none of its processes lives (`end_family`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_EXITING = 0x4
"""Flag of a process in /proc: it is shutting down."""
_LONGEST_STORM_S = 10.0
"""Seconds after which no more processes of a family are looked for."""
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


def family(leader: int, mark: str) -> set[Process]:
    """Living processes of a leader, without itself: descendants, its session, and those with this environment variable.

    `mark` is the text NAME=value.  Descendants of any of them belong to it, too.
    """
    table = {pid: fields for pid in _numbers() if (fields := _stat(pid))}
    children: dict[int, list[int]] = {}
    for pid, fields in table.items():
        children.setdefault(int(fields[1]), []).append(pid)
    ours = os.getpid()
    waiting = [pid for pid, fields in table.items() if int(fields[3]) == leader or _has_mark(pid, mark)]
    found: set[int] = set()
    waiting += children.get(leader, ())
    while waiting:
        pid = waiting.pop()
        if pid not in found and pid not in (leader, ours):
            found.add(pid)
            waiting += children.get(pid, ())
    return {(pid, table[pid][19]) for pid in found if table[pid][0] not in "ZX"}


def end_family(leader: int, mark: str) -> set[Process]:
    """Kill all of a family, again and again until none of it lives; return those that were killed."""
    killed: set[Process] = set()
    until = time.monotonic() + _LONGEST_STORM_S
    while (living := family(leader, mark)) and time.monotonic() < until:
        kill(living)
        killed |= living
    return killed


def is_ending(pid: int) -> bool:
    """Tell whether a process has begun to end (on Linux; elsewhere False).

    It is so before its connections are closed, so at the end of a connection this tells whether the process ended.
    """
    fields = _stat(pid)
    return bool(fields) and bool(int(fields[6]) & _EXITING)


def is_asleep(pid: int) -> bool:
    """Tell whether a process waits for something (on Linux; elsewhere True)."""
    fields = _stat(pid)
    return not fields or fields[0] == "S"


def signal_group(pid: int, number: int) -> None:
    """Send a signal to the process group of a process, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def kill(processes: set[Process]) -> None:
    """Kill those that still live."""
    for pid, started in processes:
        if _start_time(pid) == started:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def marked(processes: set[Process], mark: str) -> set[Process]:
    """Select the processes that have this text, as in NAME=value, among their environment variables."""
    return {(pid, started) for pid, started in processes if _has_mark(pid, mark)}


def reap(processes: set[Process], patience_s: float) -> None:
    """Wait for killed processes that have become our children, so that no zombie stays."""
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
    """The most telling line of a process's last output: the head of an error report, else the last line."""
    lines = [line.strip() for line in output.splitlines()]
    for line in reversed(lines):
        if line.startswith(("Fatal Python error", "error: ")) and line != "error: called from":
            return line
    return next((line for line in reversed(lines) if line), "")


def how_it_ended(code: int | None, last_line: str) -> str:
    """Describe an exit code as Python gives it (negative: killed by that signal)."""
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


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone, or another user's
        return False


def _numbers() -> list[int]:
    """Numbers of all processes (on Linux; elsewhere none)."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it ended while we were looking
            found += map(int, task.read_text(encoding="ascii").split())
    return found


def _start_time(pid: int) -> str | None:
    fields = _stat(pid)
    return fields[19] if fields else None


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty where the process is gone, or not on Linux."""
    try:
        # The name, in parentheses, may contain anything.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
