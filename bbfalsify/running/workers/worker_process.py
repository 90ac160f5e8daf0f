"""The parent's view of one worker process: is it alive, how did it end, and how to end it with all it started."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque

from bbfalsify.core.interrupts import uninterrupted
from bbfalsify.running.workers.channel import PollingChannel
from bbfalsify.running.workers.worker_log import WorkerOutput
from bbfalsify.systems.programs.process_tree import descendants, end_family, how_it_ended, is_ending, kill

_ENDING_S = 0.2
"""Seconds that a process may take to begin to end after it has closed its socket, before it is killed."""
_LONGEST_END_S = 10.0
WORKER_MARK = "BBFALSIFY_WORKER"
"""Environment variable that all programs of a worker inherit: its process number."""
_FROM_OUTSIDE = frozenset((signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGKILL", 0), getattr(signal, "SIGHUP", 0)))
"""Signals of operators and of the operating system (out of memory); faults and `abort` have others."""


def worker_mark(pid: int) -> str:
    return f"{WORKER_MARK}={pid}"


class WorkerProcess:
    """The process, its two lines to us, and the queries it has not yet answered."""

    def __init__(self, process: multiprocessing.Process, channel: PollingChannel, output: WorkerOutput) -> None:
        self.process = process
        self._pid: int = process.pid or 0
        self.channel = channel
        self.output = output
        self.assigned: deque[int] = deque()
        """Sent and not yet answered; the first one is being worked on."""
        self.clock_started = time.monotonic()
        self.ready = False
        self.passing_s = 0.0
        """Seconds that the current simulation of a system in real time takes at least."""
        self.together = 1
        """Queries that the current call executes."""
        self.watched_for_writing = False
        self.output_watched = True
        self.started_by_it: set[tuple[int, str]] = set()
        self.killed_from_outside = False
        """It ended by a signal that neither the driver nor a fault of its own code sends; known after `destroy`."""

    def exited(self) -> bool:
        if os.name != "posix":
            return not self.process.is_alive()
        try:
            # Only look (WNOWAIT): while the process is not reaped, its number cannot be given to another one.
            return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # multiprocessing reaps whatever has ended whenever it starts a process
            return True

    def ask_to_end(self) -> None:
        """Let it close its system and go; what it has started is noted while it can still be found."""
        self.started_by_it = descendants(self._pid)
        self.channel.push(())

    def destroy(self) -> str:
        """Kill it with everything it started, and say how it had ended, if it had."""
        with uninterrupted():
            return self._destroy()

    def _destroy(self) -> str:
        ended_by_itself = self.exited() or self._ends_soon()
        self.started_by_it |= descendants(self._pid)
        if os.name == "posix":
            self._kill_with_family(idle=ended_by_itself and not self.assigned and not self.started_by_it)
        else:
            self.process.kill()
        self.process.join()
        self.output.drain()
        code = self.process.exitcode
        self.killed_from_outside = ended_by_itself and code is not None and -code in _FROM_OUTSIDE
        self.process.close()
        self.channel.close()
        self.output.close()
        return how_it_ended(code, self.output.last_line()) if ended_by_itself else "killed by the driver"

    def _kill_with_family(self, *, idle: bool) -> None:
        """Kill everything it started until none is left, then itself: while it lives, orphans come to it."""
        if not idle:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._pid, signal.SIGSTOP)  # so that it starts nothing more
            end_family(self._pid, worker_mark(self._pid))
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it had not yet made its own group
            self.process.kill()
        kill(self.started_by_it)

    def _ends_soon(self) -> bool:
        """Its socket is closed, so it is about to end by itself; wait for the reason rather than kill it."""
        if not self.channel.closed:
            return False
        started = time.monotonic()
        # One that has begun to end is waited for, however busy the machine is (and however large its core).
        while (waited := time.monotonic() - started) < _ENDING_S or is_ending(self._pid):
            if self.exited():
                return True
            if waited > _LONGEST_END_S:
                break
            time.sleep(0.001)
        return False
