"""A connection to a server in which every wait has a limit, and silence is an answer.

    with Connection("127.0.0.1", 1883) as line:
        line.send(b"PING\\r\\n")
        line.receive_line()             # b"PONG", or raises Silence or Closed

Reading never blocks longer than `silence_s`.  Closing is orderly by default: no more is sent, the rest of the server's
output is read, and only then is the port released, because a server that is reset while it still answers the last
client is in an undefined state.  Linger 0 keeps thousands of sessions from using up the ports.
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypedDict

_CHUNK = 65536
LONGEST_ANSWER = 16 * 2**20
"""Bytes; a server that sends more within one step floods."""


class Silence(Exception):
    """The server sent nothing (more) within its time."""


class Closed(Exception):
    """The server closed the connection."""


class Flood(Exception):
    """The server sent more than `LONGEST_ANSWER`."""


@dataclass(frozen=True)
class Tls:
    """TLS settings: the certificate authority to trust (None: the system's), and the name the server must have."""

    authority: str | None = None
    server_name: str | None = None
    certificate: str | None = None
    key: str | None = None

    def wrap(self, raw: socket.socket, host: str) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=self.authority)
        if self.certificate is not None:
            context.load_cert_chain(self.certificate, self.key)
        return context.wrap_socket(raw, server_hostname=self.server_name or host)


class ConnectionOptions(TypedDict, total=False):
    """Keywords of a connection; defaults in parentheses."""

    silence_s: float
    """Longest wait for an answer (0.2)."""
    connect_s: float
    """Longest wait for a server to listen (5)."""
    tls: Tls | None


class Connection:
    """TCP, or TLS over it; not connected before `connect` (or `with`)."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        silence_s: float = 0.2,
        connect_s: float = 5.0,
        tls: Tls | None = None,
        hopeless: Callable[[], bool] = lambda: False,
    ) -> None:
        """`hopeless` tells that no server will ever listen: then connecting is given up at once."""
        self.host, self.port, self.silence_s, self.connect_s, self.tls = host, port, silence_s, connect_s, tls
        self._hopeless = hopeless
        self._socket: socket.socket | None = None
        self._readable: Callable[[float], object]
        self._writable: Callable[[float], object]
        self._buffer = bytearray()

    @property
    def connected(self) -> bool:
        return self._socket is not None

    @property
    def unread(self) -> bytes:
        """The first 1000 bytes of what has arrived and has not been taken."""
        return bytes(self._buffer[:1000])

    def connect(self) -> None:
        """Connect; keep trying for `connect_s` while the port refuses (a server that has just been started)."""
        self.close(abrupt=True)
        until = time.monotonic() + self.connect_s
        while True:
            try:
                raw = socket.create_connection((self.host, self.port), timeout=self.connect_s)
                break
            except ConnectionRefusedError:
                if time.monotonic() >= until or self._hopeless():
                    raise
                time.sleep(0.01)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            line = raw if self.tls is None else self.tls.wrap(raw, self.host)
        except BaseException:
            raw.close()
            raise
        # A socket with a timeout polls before every call; here only calls that have to wait do.
        line.setblocking(False)
        self._readable, self._writable = _waiting(line, writing=False), _waiting(line, writing=True)
        self._socket = line

    def send(self, data: bytes) -> None:
        until = None
        while data:
            if self._socket is None:
                raise Closed
            try:
                data = data[self._socket.send(data) :]
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError) as full:
                until = until or time.monotonic() + self.connect_s
                self._wait(self._readable if isinstance(full, ssl.SSLWantReadError) else self._writable, until)
            except OSError:
                self.close(abrupt=True)
                raise Closed from None

    def receive(self, take: Callable[[bytearray], bytes | None], *, silence_s: float | None = None) -> bytes:
        """Wait until `take` finds something complete at the front of the buffer and removes it."""
        found = take(self._buffer)
        if found is None:
            until = time.monotonic() + (self.silence_s if silence_s is None else silence_s)
            while found is None:
                self._read(until)
                found = take(self._buffer)
        return found

    def receive_line(self, *, silence_s: float | None = None) -> bytes:
        """The next line, without its end."""
        return self.receive(_line, silence_s=silence_s)

    def receive_exactly(self, count: int, *, silence_s: float | None = None) -> bytes:
        return self.receive(lambda buffer: _front(buffer, count) if len(buffer) >= count else None, silence_s=silence_s)

    def drain(self, *, silence_s: float | None = None) -> bytes:
        """Receive everything until the server is silent or gone."""
        with contextlib.suppress(Silence, Closed):
            self.receive(lambda buffer: None, silence_s=silence_s)
        return _front(self._buffer, len(self._buffer))

    def close(self, *, abrupt: bool = False) -> None:
        """Shut down and wait for the server to close, or (abrupt) reset the connection."""
        line, self._socket = self._socket, None
        if line is None:
            return
        with contextlib.suppress(OSError):
            if not abrupt:
                line.settimeout(self.silence_s)
                line.shutdown(socket.SHUT_WR)
                while line.recv(_CHUNK):
                    pass
        with contextlib.suppress(OSError):
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()
        self._buffer.clear()

    def _read(self, until: float) -> None:
        if self._socket is None:
            raise Closed
        if self.tls is None:  # TLS may have read already what is asked for
            self._wait(self._readable, until)
        try:
            data = self._socket.recv(_CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError):
            self._wait(self._readable, until)
            return
        except ssl.SSLWantWriteError:
            self._wait(self._writable, until)
            return
        except OSError:
            data = b""
        if not data:
            self._give_up()
            raise Closed
        self._buffer += data
        if len(self._buffer) > LONGEST_ANSWER:
            self.close(abrupt=True)  # the start of the next answer could not be found
            raise Flood(f"more than {LONGEST_ANSWER >> 20} MiB in one step")

    def _wait(self, ready: Callable[[float], object], until: float) -> None:
        left = until - time.monotonic()
        if left <= 0 or not ready(1000.0 * left):
            raise Silence

    def _give_up(self) -> None:
        """Release the port after the server has gone, but keep its last output."""
        said = bytes(self._buffer)
        self.close(abrupt=True)
        self._buffer += said

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _waiting(line: socket.socket, *, writing: bool) -> Callable[[float], object]:
    """Make a function that waits at most so many milliseconds until the socket is ready, and tells whether it is."""
    if not hasattr(select, "poll"):
        return lambda milliseconds: any(
            select.select([] if writing else [line], [line] if writing else [], [], milliseconds / 1000.0)
        )
    poller = select.poll()
    poller.register(line, select.POLLOUT if writing else select.POLLIN)
    return poller.poll


def _front(buffer: bytearray, count: int) -> bytes:
    if count == len(buffer):  # nearly always: one answer to one question
        taken = bytes(buffer)
        buffer.clear()
    else:
        taken = bytes(buffer[:count])
        del buffer[:count]
    return taken


def _line(buffer: bytearray) -> bytes | None:
    end = buffer.find(b"\n") + 1
    return None if end == 0 else _front(buffer, end).rstrip(b"\r\n")
