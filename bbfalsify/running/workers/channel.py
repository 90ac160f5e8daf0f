"""Messages between the driver and its workers: length-prefixed pickles over a socket.

What both sides have from the start (`shared`) does not travel: a message that refers to it holds its number.

The worker's end blocks; the parent's end never does, because a parent that blocks while writing to a worker that blocks
while writing to the parent would never return.
"""

from __future__ import annotations

import io
import pickle
import socket
from collections.abc import Iterator, Sequence
from typing import Any

_HEADER = 8


def packed(message: Any, shared: Sequence[object] = ()) -> bytes:
    if not shared:
        return pickle.dumps(message, protocol=5)
    buffer = io.BytesIO()
    _Pickler(buffer, shared).dump(message)
    return buffer.getvalue()


def unpacked(body: bytes | bytearray, shared: Sequence[object] = ()) -> Any:
    return _Unpickler(body, shared).load()


def frame(message: Any, shared: Sequence[object] = ()) -> bytes:
    body = packed(message, shared)
    return len(body).to_bytes(_HEADER, "little") + body


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file, protocol=5)
        self._numbers = {id(thing): number for number, thing in enumerate(shared)}

    def persistent_id(self, thing: object) -> int | None:
        return self._numbers.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes | bytearray, shared: Sequence[object]) -> None:
        super().__init__(io.BytesIO(data))
        self._shared = shared

    def persistent_load(self, number: int) -> object:
        return self._shared[number]


class BlockingChannel:
    """The worker's end."""

    def __init__(self, end: socket.socket, shared: Sequence[object] = ()) -> None:
        self._socket = end
        self._shared = shared
        end.setblocking(True)

    def send(self, message: Any) -> None:
        self._socket.sendall(frame(message))

    def receive(self) -> Any:
        """The next message, or None when the other side is gone."""
        header = self._exactly(_HEADER)
        body = None if header is None else self._exactly(int.from_bytes(header, "little"))
        return None if body is None else unpacked(body, self._shared)

    def _exactly(self, size: int) -> bytearray | None:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            received = self._socket.recv_into(view)
            if received == 0:
                return None
            view = view[received:]
        return buffer

    def end(self) -> None:
        """Say that nothing more will come, even if a child of this process still holds the socket."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


class PollingChannel:
    """The parent's end: `push` and `flush` to write, `messages` to read; none of them waits."""

    def __init__(self, end: socket.socket, shared: Sequence[object] = ()) -> None:
        self._socket = end
        self._shared = shared
        end.setblocking(False)
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self.closed = False
        """The other side has gone."""

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def wants_to_write(self) -> bool:
        return bool(self._outgoing) and not self.closed

    def push(self, message: Any) -> None:
        self._outgoing += frame(message, self._shared)
        self.flush()

    def flush(self) -> None:
        while self._outgoing:
            try:
                sent = self._socket.send(self._outgoing)
            except BlockingIOError:
                return
            except OSError:  # the worker died; its last answers may still be waiting to be read
                self._outgoing.clear()
                return
            del self._outgoing[:sent]

    def messages(self) -> Iterator[Any]:
        """Everything that has arrived completely."""
        while not self.closed:
            try:
                data = self._socket.recv(1 << 18)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.closed = True
            self._incoming += data
            if len(data) < 1 << 18:
                break
        start = 0
        while len(self._incoming) - start >= _HEADER:
            end = start + _HEADER + int.from_bytes(self._incoming[start : start + _HEADER], "little")
            if len(self._incoming) < end:
                break
            yield pickle.loads(memoryview(self._incoming)[start + _HEADER : end])
            start = end
        del self._incoming[:start]

    def wait_until_closed(self, seconds: float) -> None:
        """Read and forget until the other side ends, at most so long."""
        self._socket.settimeout(seconds)
        try:
            while self._socket.recv(1 << 18):
                pass
        except OSError:
            pass
        self.closed = True

    def close(self) -> None:
        self.closed = True
        self._socket.close()
