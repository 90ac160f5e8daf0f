"""The pipes of a running program: written and read without ever blocking, its log bounded and without secrets."""

from __future__ import annotations

import os
import select
import subprocess

from bbfalsify.systems.failures import excerpt
from bbfalsify.systems.programs.launching import Launch
from bbfalsify.systems.programs.process_tree import telling_line

READ = 1 << 16
_TAIL = 4096


class Pipes:
    """Standard input, output and error of one process."""

    def __init__(self, process: subprocess.Popen, launch: Launch, log: int | None) -> None:
        self._launch, self._log = launch, log
        pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes)
        self._open = {pipe.fileno(): pipe for pipe in pipes}
        self._poll = select.poll()
        for fd in self._open:
            os.set_blocking(fd, False)
        for fd in (self._stdout, self._stderr):
            self._poll.register(fd, select.POLLIN)
        self._outgoing = b""
        self._waits_to_write = self._input_ends = self._deaf = False
        self.unread = bytearray()
        """Standard output that has arrived and has not been taken."""
        self._redactor = launch.redactor()
        self._tail = b""
        self._logged = 0
        self._plain = True
        """Requests can be written as they are."""

    def _send(self, data: bytes, *, last: bool = False) -> None:
        self._outgoing += data
        self._input_ends = last
        self._write()

    def _deal_with(self, wait_s: float) -> bool:
        happened = False
        for fd, _ in self._poll.poll(wait_s * 1000.0):
            happened = True
            if fd == self._stdin:
                self._write()
            else:
                self._read(fd)
        return happened

    def _write(self) -> None:
        while self._outgoing:
            try:
                sent = os.write(self._stdin, self._outgoing) if self._stdin in self._open else len(self._outgoing)
            except BlockingIOError:
                if not self._waits_to_write:
                    self._poll.register(self._stdin, select.POLLOUT)
                    self._waits_to_write = True
                return
            except OSError:  # it does not read any more; the reason shows at its output
                self._outgoing = b""
                self._shut(self._stdin)
                return
            self._outgoing = self._outgoing[sent:]
        if self._waits_to_write:
            self._poll.unregister(self._stdin)
            self._waits_to_write = False
        if self._input_ends:
            self._shut(self._stdin)

    def _read(self, fd: int) -> bool:
        """Read what is available; tell whether there was anything."""
        try:
            data = os.read(fd, READ)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._shut(fd)
        elif fd == self._stderr:
            self._keep_in_log(data)
        elif not self._deaf:
            self.unread += data
        return bool(data)

    def _shut(self, fd: int) -> None:
        pipe = self._open.pop(fd, None)
        if pipe is None:
            return
        self._plain &= fd != self._stdin
        if fd != self._stdin or self._waits_to_write:
            self._poll.unregister(fd)
            self._waits_to_write &= fd != self._stdin
        pipe.close()

    def _keep_in_log(self, data: bytes, *, last: bool = False) -> None:
        shown = self._redactor.feed(data)
        if last:
            shown += self._redactor.rest()
        self._tail = (self._tail + shown)[-_TAIL:]
        allowed = shown[: max(0, self._launch.output_limit_bytes - self._logged)]
        self._logged += len(allowed)
        if self._log is not None and allowed:
            os.write(self._log, allowed)

    def _last_line(self) -> str:
        self._keep_in_log(b"", last=True)
        return telling_line(self._tail.decode("utf-8", "replace"))

    def _last_words(self) -> str:
        line = self._last_line()
        return f"; its last output: {line[:200]}" if line else ""

    def log_line(self, line: bytes) -> None:
        """Treat a line of its standard output as if it had come on standard error."""
        self._keep_in_log(line)

    def forget_words(self) -> None:
        """Forget its output so far, which belongs to an earlier simulation."""
        self._tail = b""

    def redact(self, text: str) -> str:
        return self._redactor.clean_text(text)

    def _excerpt(self) -> str:
        return excerpt(self.redact(bytes(self.unread[:_TAIL]).decode("utf-8", "backslashreplace")))
