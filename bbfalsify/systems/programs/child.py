"""A running process of a program: exchange lines with it within limits, and end it with everything it started.

One loop does all the waiting.  It writes and reads standard output and standard error at the same time (otherwise the
program and we could block each other), and regularly checks whether the program lives and how much memory it has.
Every problem is one of the failures that become the status of a simulation.

The program has a process session of its own.  Ending it kills its process group and everything that it started: found
by descent while it lives, by an inherited environment variable afterwards.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bbfalsify.systems.failures import MalformedAnswer, NoAnswer, SystemDied
from bbfalsify.systems.programs import process_tree
from bbfalsify.systems.programs.launching import MARK, Launch
from bbfalsify.systems.programs.pipes import READ, Pipes
from bbfalsify.systems.programs.process_cost import memory_mb

_LOOK_S = 0.05
"""Period of the checks whether a silent program still lives, and how much memory it has."""
_LOOK_MS = 1000 * _LOOK_S
_ENDING_S = 0.2
"""Time a program may take to end after it was told to, or after it has closed its output."""
_LONGEST_END_S = 10.0
_clock, _write, _read = time.monotonic, os.write, os.read


class Child(Pipes):
    """One process of a program."""

    def __init__(
        self, launch: Launch, *, command: Sequence[str] | None = None, folder: Path | None = None, log: int | None = 2
    ) -> None:
        """`log` is the file descriptor to which its standard error goes, without secrets."""
        self._process, self._mark = launch.start(command, folder)
        super().__init__(self._process, launch, log)
        self.pid = self._process.pid
        self.owner = os.getpid()
        self._only_answer = [(self._stdout, select.POLLIN)]
        self._wait = self._poll.poll
        self._look_at = 0.0
        """Time of the next check."""
        self.code: int | None = None
        """Exit code as subprocess gives it; None until it has been ended."""
        self.cpu_seconds_total: float | None = None
        """CPU time of the process and the children it waited for; None until it has been ended."""
        self.memory_peak_mb: float | None = None
        """The largest memory seen by the regular checks."""

    # ------------------------------------------------------------------ talking

    def ask(self, line: bytes, limit_s: float | None, what: str) -> bytes:
        """Send a line, wait for a line."""
        now = _clock()
        if now >= self._look_at or not self._plain:
            self._send(line)
            return self.line(limit_s, what, since=now)
        # Fast path for the usual case of every step: a whole answer, soon, in one piece.
        try:
            sent = _write(self._stdin, line)
        except OSError:
            sent = 0
        if sent < len(line):
            self._send(line[sent:])
        elif self._wait(_LOOK_MS if limit_s is None or limit_s > _LOOK_S else 1000 * limit_s) == self._only_answer:
            data = _read(self._stdout, READ)
            if data.find(b"\n") == len(data) - 1 and data:
                return data
            self.unread += data
        return self.line(limit_s, what, since=now)

    def expect_nothing_more(self, what: str) -> None:
        """Fail if there is output after the answer."""
        if self.unread:
            raise MalformedAnswer(f"{what} was followed by something nobody had asked for: {self._excerpt()}")

    def line(self, limit_s: float | None, what: str, *, since: float | None = None) -> bytes:
        """The next line of its standard output."""
        incoming = self.unread
        deadline = None if limit_s is None else (time.monotonic() if since is None else since) + limit_s
        searched = 0
        while (end := incoming.find(b"\n", searched)) < 0:
            searched = len(incoming)
            if searched > self._launch.output_limit_bytes:
                raise MalformedAnswer(f"{what} is longer than {self._launch.output_limit_mb:g} MB: {self._excerpt()}")
            if self._stdout not in self._open:
                self._died(what)
            if deadline is not None and time.monotonic() >= deadline:
                raise NoAnswer(f"{what} did not come within {limit_s:g} s{self._last_words()}")
            self._turn(deadline)
        line = bytes(incoming[: end + 1])
        del incoming[: end + 1]
        return line

    def spoke_unasked(self) -> bool:
        """Tell whether it wrote output that belongs to no request, or has ended."""
        self._deal_with(0.0)
        return bool(self.unread) or self._stdout not in self._open or self.exited()

    def run_to_end(self, data: bytes, limit_s: float | None, *, keep_output: bool) -> bytes:
        """Give it all its input and wait until it ends; return its standard output, or log it if not to be kept."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        self._send(data, last=True)
        while self._stdout in self._open or not self.exited():
            if self._stdout in self._open:
                self._turn(deadline)
            else:
                left_s = _LOOK_S if deadline is None else deadline - time.monotonic()
                self._wait_for_end(min(_LOOK_S, left_s))
            if not keep_output:
                self._keep_in_log(bytes(self.unread))
                self.unread.clear()
            elif len(self.unread) > self._launch.output_limit_bytes:
                raise MalformedAnswer(f"more than {self._launch.output_limit_mb:g} MB of output: {self._excerpt()}")
            if deadline is not None and time.monotonic() >= deadline and not self.exited():
                raise NoAnswer(f"it did not end within {limit_s:g} s{self._last_words()}")
        return bytes(self.unread)

    # ------------------------------------------------------------------ the loop

    def _turn(self, deadline: float | None) -> None:
        """Wait a moment for something to happen, deal with it, and check the process when that is due."""
        now = time.monotonic()
        happened = self._deal_with(_LOOK_S if deadline is None else max(0.0, min(_LOOK_S, deadline - now)))
        if not happened or now >= self._look_at:
            self._look()

    # ------------------------------------------------------------------ checks

    def exited(self) -> bool:
        """Tell whether it has ended, without reaping it (WNOWAIT): its number must not be given to another process."""
        if self.code is not None:
            return True
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _look(self) -> None:
        self._look_at = time.monotonic() + _LOOK_S
        if self.exited():
            # Its children may hold its output open; all that it wrote itself is in the pipe by now.
            most = self._launch.output_limit_bytes
            while self._stdout in self._open and len(self.unread) <= most and self._read(self._stdout):
                pass
            self._shut(self._stdout)
        else:
            self.check_memory(self.memory_mb())

    def memory_mb(self) -> float | None:
        """Memory now; of a sandboxed program also that of its processes, because the first of them is the sandbox."""
        now_mb = memory_mb(self.pid)
        if now_mb is None or self._launch.sandbox is None:
            return now_mb
        return now_mb + sum(memory_mb(pid) or 0.0 for pid, _ in process_tree.descendants(self.pid))

    def check_memory(self, now_mb: float | None) -> None:
        if now_mb is None:
            return
        self.memory_peak_mb = max(now_mb, self.memory_peak_mb or 0.0)
        allowed_mb = self._launch.memory_mb
        if allowed_mb is not None and now_mb > allowed_mb:
            raise SystemDied(f"it had {now_mb:.0f} MB of memory, more than the {allowed_mb:g} MB allowed")

    # ------------------------------------------------------------------ error messages

    def _died(self, what: str) -> None:
        """After the end of its output: wait a moment for the reason, and raise it."""
        self._wait_for_end(_ENDING_S)
        if not self.exited() and process_tree.is_ending(self.pid):  # it takes its time on a busy machine
            self._wait_for_end(_LONGEST_END_S)
        if not self.exited():
            raise SystemDied(f"{what} did not come: it closed its standard output{self._last_words()}")
        self.end()
        raise SystemDied(f"{what} did not come: {self.how_it_ended()}")

    def how_it_ended(self) -> str:
        return process_tree.how_it_ended(self.code, self._last_line())

    # ------------------------------------------------------------------ ending

    def close(self, request: bytes, limit_s: float) -> None:
        """Ask it to end, wait at most the limit, then end it."""
        if self.owner == os.getpid() and not self.exited():
            self._deaf = True
            self._send(request, last=True)
            self._wait_for_end(limit_s)
        self.end()

    def _wait_for_end(self, limit_s: float) -> None:
        until = time.monotonic() + limit_s
        pause_s = 0.0005
        while not self.exited() and time.monotonic() < until:
            self._write()
            for fd in (self._stdout, self._stderr):
                while fd in self._open and self._read(fd) and time.monotonic() < until:
                    pass
            time.sleep(pause_s)
            pause_s = min(0.01, 2 * pause_s)

    def end(self) -> None:
        """End it with everything it started: SIGTERM, a moment, SIGKILL.  May be called again."""
        if self.code is not None or self.owner != os.getpid():
            return
        self._deaf = True
        started = process_tree.descendants(self.pid)
        if not self.exited():
            process_tree.signal_group(self.pid, signal.SIGTERM)
            self._wait_for_end(_ENDING_S)
        mark, had_ended = f"{MARK}={self._mark}", self.exited()
        started |= process_tree.descendants(self.pid) | process_tree.marked(process_tree.descendants(os.getpid()), mark)
        started = {process for process in started if process[0] != self.pid}
        process_tree.signal_group(self.pid, signal.SIGKILL)
        process_tree.kill(started)
        if started or not had_ended:  # it may have started more since we looked
            started |= process_tree.end_family(self.pid, mark)
        _, status, usage = os.wait4(self.pid, 0)
        self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
        self._take(usage)
        process_tree.reap(started, _ENDING_S)
        while self._stderr in self._open and self._logged < self._launch.output_limit_bytes:
            if not self._read(self._stderr):
                break
        self._keep_in_log(b"", last=True)
        for fd in tuple(self._open):
            self._shut(fd)

    def _take(self, usage: Any) -> None:
        import resource  # not on every platform on which this file can be imported

        self.cpu_seconds_total = usage.ru_utime + usage.ru_stime
        # The kernel includes the moment before exec, when the process had our memory: smaller values mean nothing.
        if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            self.memory_peak_mb = usage.ru_maxrss / 1024
