"""Mappers that translate between abstract symbols and the bytes of a protocol.

    LineMapper({"helo": "HELO {id}", "quit": "QUIT"}, banner=True)         one line asked, one reply
    BytesMapper({"read": b"\\x01\\x00"}, fence=(b"\\x05", b"\\x06"))          whatever comes before the fence's answer

A protocol for which neither is enough has a mapper of its own, see adapters/mosquitto.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from bbfalsify.systems.failures import MalformedAnswer, excerpt
from bbfalsify.systems.servers.connections import Closed, Connection, Silence


class Mapper(Protocol):
    """A translator between abstract symbols and a protocol.  One mapper serves one session after the other."""

    alphabet: tuple[str, ...]

    def begin(self, line: Connection, identity: str) -> None:
        """Start a session: forget the last one; connect, unless connecting is one of the symbols."""
        ...

    def step(self, line: Connection, symbol: str) -> str:
        """Perform one symbol; Silence and Closed raised by the line become outputs."""
        ...


class LineMapper:
    """Text protocols with one request and one reply per step, such as SMTP or FTP.

    `requests` maps symbols to lines; `{id}` in a line stands for the session's identity.  The output is the group (or
    all) of `reply` in the last line of the reply; `more` tells that a line is not the last one.
    """

    def __init__(
        self,
        requests: Mapping[str, str],
        *,
        reply: str = r"(\d{3})",
        more: str = r"\d{3}-",
        banner: bool = False,
        end: str = "\r\n",
        closing: Collection[str] = (),
    ) -> None:
        self.requests, self.banner, self.end = dict(requests), banner, end
        self.alphabet = tuple(self.requests)
        self.closing = frozenset(closing)
        """Symbols after which the server is expected to close: the step waits for it, so that no later one races it."""
        self._reply, self._more = re.compile(reply), re.compile(more)
        self._identity = ""

    def begin(self, line: Connection, identity: str) -> None:
        self._identity = identity
        line.connect()
        if self.banner:
            self._read_reply(line)

    def step(self, line: Connection, symbol: str) -> str:
        if line.connected and (early := line.unread):  # else it would be taken for the reply to this request
            what = excerpt(early.decode("utf-8", "backslashreplace").strip())
            raise MalformedAnswer(f"before '{symbol}' the server had said something nobody had asked for: {what}")
        line.send((self.request(symbol) + self.end).encode())
        output = self._read_reply(line)
        if self.ends(symbol, output):
            with contextlib.suppress(Closed, Silence):
                line.receive(lambda buffer: None)
            line.close(abrupt=True)
        return output

    def request(self, symbol: str) -> str:
        """The line to send; a protocol whose requests depend on what came before overrides this."""
        return self.requests[symbol].replace("{id}", self._identity)

    def ends(self, symbol: str, output: str) -> bool:
        """Tell whether the server closes after this answer; a protocol in which that depends on more overrides this."""
        return symbol in self.closing

    def _read_reply(self, line: Connection) -> str:
        while self._more.match(text := line.receive_line().decode("utf-8", "replace")):
            pass
        found = self._reply.search(text)
        return text[:80] if found is None else found.group(found.lastindex or 0)


class BytesMapper:
    """Binary protocols, and servers that say several things to one request, or none.

    `requests` maps symbols to bytes; `{id}` in them stands for the session's identity.  The answer is all that comes
    until the server is silent.  Waiting for silence is slow: a protocol that has a request which is always answered,
    and with the same bytes, should give both as `fence`.  Then the answer is all that comes before the answer to that.
    `name` makes a symbol of the answer's bytes (hexadecimal digits, `-` for none).
    """

    def __init__(
        self,
        requests: Mapping[str, bytes],
        *,
        fence: tuple[bytes, bytes] | None = None,
        name: Callable[[bytes], str] | None = None,
        greeting: int = 0,
    ) -> None:
        """`greeting`: so many bytes come before the first request."""
        self.requests, self.fence, self.greeting = dict(requests), fence, greeting
        self.alphabet = tuple(self.requests)
        self._name = name or (lambda answer: answer.hex() or "-")
        self._identity = b""

    def begin(self, line: Connection, identity: str) -> None:
        self._identity = identity.encode()
        line.connect()
        if self.greeting:
            line.receive_exactly(self.greeting)

    def step(self, line: Connection, symbol: str) -> str:
        request = self.requests[symbol].replace(b"{id}", self._identity)
        if self.fence is None:
            line.send(request)
            answer = line.drain()
            if not answer and not line.connected:
                raise Closed
            return self._name(answer)
        question, end = self.fence
        line.send(request + question)
        return self._name(line.receive(lambda buffer: _until(buffer, end)))


def _until(buffer: bytearray, end: bytes) -> bytes | None:
    """Take everything up to the end out of the buffer; return it without the end."""
    at = buffer.find(end)
    if at < 0:
        return None
    found = bytes(buffer[:at])
    del buffer[: at + len(end)]
    return found
