"""Use a server behind a socket as a black box; a mapper translates between abstract symbols and bytes.

    system = SocketSystem("smtp", LineMapper({"helo": "HELO {id}", "quit": "QUIT"}, banner=True), server=Server([...]))

One session is one use of the server from reset on.  There are four ways to reset: a new connection (`reconnect`), a
restart of the server process (`restart`), a command (`reset=["rm", "-r", "{folder}/mail"]`), or a function
(`reset=function`).  Every session gets a unique identity, so that the server's memory of two sessions never mixes.

Within a step silence and the end of the connection are outputs (`silence`, `closed`), about which a requirement may
speak.  The end of the server is not: the session has failed (`died`), and the next one gets a new server.  A protocol
with a request that is always answered should end its steps with that (a fence), because waiting for silence is slow.
"""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, Unpack

from bbfalsify.core.errors import UserError
from bbfalsify.systems.failures import NoAnswer, SessionFailure, SystemDied
from bbfalsify.systems.interface import Capabilities, Usage
from bbfalsify.systems.programs.process_cost import cpu_seconds, forget_peak, memory_mb
from bbfalsify.systems.servers.connections import Closed, Connection, ConnectionOptions, Flood, Silence
from bbfalsify.systems.servers.mappers import Mapper
from bbfalsify.systems.servers.server import Server

SILENCE, CLOSED, FLOOD = "silence", "closed", "flood"
RESET_S = 10.0
"""Time limit of a command that resets the server."""

Reset = Literal["reconnect", "restart"] | Sequence[str] | Callable[[], None]


class SocketSystem:
    """A server on a port: `server`, which is started here, or one that runs already at `host` and `port`.

    A server that runs already is exclusive, because sessions of workers side by side could disturb each other through
    its memory, unless `exclusive=False` says that they do not.
    """

    def __init__(
        self,
        name: str,
        mapper: Mapper,
        *,
        server: Server | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        reset: Reset = "reconnect",
        exclusive: bool | None = None,
        **connection: Unpack[ConnectionOptions],
    ) -> None:
        if (server is None) == (port is None):
            raise UserError(f"system '{name}': give either the server to start or the port of one that runs.")
        if reset == "restart" and server is None:
            raise UserError(f"system '{name}': only a server that is started here can be restarted.")
        command = isinstance(reset, Sequence) and not isinstance(reset, str) and len(reset) > 0
        if not (callable(reset) or command or reset in ("reconnect", "restart")):
            raise UserError(
                f"system '{name}': reset must be reconnect, restart, a command (a list of words) or a function, "
                f"found '{reset}'."
            )
        self.name, self.mapper, self.server, self.reset = name, mapper, server, reset
        self.alphabet = tuple(mapper.alphabet)
        self.capabilities = Capabilities(
            stepwise=True, real_time=True, exclusive=server is None if exclusive is None else exclusive
        )
        self._host, self._port, self._connection = host, port or 0, connection
        self.line()  # a keyword that connections do not take is an error here, not in the first session

    def prepare(self) -> None:
        """Start the server: each worker process has one of its own."""
        if self.server is not None and not self.server.running:
            self.server.start()

    def close(self) -> None:
        if self.server is not None:
            self.server.stop()

    def open(self, seed: int) -> SocketSession:
        if self.server is not None and (self.reset == "restart" or not self.server.running):
            self.server.start()
        if callable(self.reset):
            self.reset()
        elif not isinstance(self.reset, str):
            self._run_reset(self.reset)
        return SocketSession(self)

    def _run_reset(self, command: Sequence[str]) -> None:
        """Run the command without a shell; its output goes where the server's output goes."""
        words = [word if self.server is None else self.server.fill(word) for word in map(str, command)]
        try:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=2, stderr=2, timeout=RESET_S, check=False,
                cwd=None if self.server is None else self.server.folder,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"the reset command '{words[0]}' did not end within {RESET_S:g} s") from None
        except OSError as error:
            raise SessionFailure(f"the reset command '{words[0]}' cannot be started: {error.strerror}") from None
        if done.returncode != 0:
            raise SessionFailure(f"the reset command '{words[0]}' ended with exit code {done.returncode}")

    def line(self) -> Connection:
        """Make a connection to the server as it is now, not connected yet."""
        server = self.server
        if server is None:
            return Connection(self._host, self._port, **self._connection)
        return Connection(self._host, server.port, hopeless=lambda: not server.running, **self._connection)


class SocketSession:
    def __init__(self, system: SocketSystem) -> None:
        self._system, self._mapper, self._line = system, system.mapper, system.line()
        self._fresh = True
        self.usage = Usage()
        self._cpu_before: float | None = None

    def step(self, symbol: str) -> str:
        fresh, self._fresh = self._fresh, False
        connected = self._line.connected
        try:
            try:
                return self._mapper.step(self._line, symbol)
            except Closed:
                if not (fresh and self._revived()):
                    raise
                connected = self._line.connected
                return self._mapper.step(self._line, symbol)
        except Silence:
            return SILENCE
        except Closed:
            if connected:
                self._notice_death()
            return CLOSED
        except Flood:
            return FLOOD
        except ConnectionError as error:
            self._notice_death()
            raise SessionFailure(f"the server cannot be reached any more: {error.strerror}") from None

    def _notice_death(self) -> None:
        server = self._system.server
        if server is not None and not server.goes_on():
            raise SystemDied(f"the server is gone: {server.how_it_ended()}")

    def __enter__(self) -> Self:
        server = self._system.server
        try:
            try:
                self._begin()
            except (ConnectionError, Closed):
                if not self._revived():
                    raise
        except (Silence, Closed, ConnectionResetError) as error:
            self._line.close(abrupt=True)
            self._notice_death()
            what = "says nothing" if isinstance(error, Silence) else "closed the connection"
            raise SessionFailure(f"the server {what} before the first symbol") from None
        except BaseException:
            self._line.close(abrupt=True)
            raise
        self._cpu_before = None if server is None or server.pid is None else cpu_seconds(server.pid)
        return self

    def _begin(self) -> None:
        # A name that no session has used before; it decides nothing, so it needs no seed.
        self._mapper.begin(self._line, uuid.uuid4().hex[:12])

    def _revived(self) -> bool:
        """Begin again with a new server if the old one has ended; tell whether that was so.

        A server that dies of the last session may still accept a connection.  If our own first symbol killed it, the
        new one will die of it too, and that is the answer.
        """
        server = self._system.server
        if server is None or server.goes_on():
            return False
        server.start()
        self._line.close(abrupt=True)
        self._line = self._system.line()
        self._begin()
        return True

    def __exit__(self, *exception: Any) -> None:
        """Close in order, and note the cost of the session for the server (unknown if it was not started here)."""
        self._line.close()
        server = self._system.server
        if server is None or not server.running or server.pid is None:
            return
        now, before = cpu_seconds(server.pid), self._cpu_before
        self.usage = Usage(None if now is None or before is None else now - before, memory_mb(server.pid, peak=True))
        forget_peak(server.pid)
        if (too_much := server.over_memory()) is not None:
            server.stop()
            if exception[0] is None:
                raise SystemDied(too_much)
