"""Send requests to a program that stays alive; start its process when needed, and again after a failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from bbfalsify.core.errors import Problem, SystemFailure, UserError
from bbfalsify.systems.failures import MalformedAnswer, SessionFailure
from bbfalsify.systems.interface import Port, Usage
from bbfalsify.systems.programs import line_protocol as protocol
from bbfalsify.systems.programs.child import Child
from bbfalsify.systems.programs.launching import Launch
from bbfalsify.systems.programs.line_protocol import Hello
from bbfalsify.systems.programs.process_cost import cpu_seconds, forget_peak, memory_mb

_MOST_LINES_BEFORE_HELLO = 1000
_HINT = (
    ". It has to speak the line protocol, and its first line is its hello "
    """({"bbfalsify": 1, …}; 'bbfalsify new adapter NAME --kind process' writes such a program)"""
)
"""For those who name any program after `cmd:`."""


class Conversation:
    """The requests to a program and its process, of which there is at most one."""

    def __init__(
        self,
        launch: Launch,
        *,
        start_limit_s: float = 60.0,
        time_limit_s: float | None = None,
        close_limit_s: float = 1.0,
        restart_every: int | None = None,
    ) -> None:
        limits = {"start_limit_s": start_limit_s, "time_limit_s": time_limit_s, "close_limit_s": close_limit_s}
        wrong = [
            Problem(f"{name} is {limit:g}; it must be more than 0.")
            for name, limit in limits.items()
            if limit is not None and not limit > 0
        ]
        if restart_every is not None and restart_every < 1:
            wrong.append(Problem(f"restart_every is {restart_every}; it must be 1 or more."))
        if wrong:
            raise UserError(wrong)
        self.launch = launch
        self.description: Hello | None = None
        """Ports and capabilities, if known: declared by the adapter, or said by the program itself."""
        self.runs = True
        """It takes whole signals; known when it has said hello."""
        self._limits = start_limit_s, time_limit_s, close_limit_s
        self._restart_every = restart_every
        self._child: Child | None = None
        self._number = self._served = 0
        self._between_requests = True
        self._cpu_before: float | None = None
        self._steps = protocol.StepRequests()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_child": None}

    def describe(self) -> Hello:
        """Return the description of the program; start and ask it if the adapter declares none."""
        if self.description is None:
            child = Child(self.launch, log=None)
            try:
                self.description = self._read_hello(child)
            except SessionFailure as failure:
                text = f"the program '{' '.join(self.launch.command)}' could not be started: {failure}{_HINT}"
                raise SystemFailure(child.redact(text)) from None
            finally:
                child.close(protocol.encode(1, "close", {}), self._limits[2])
        return self.description

    # ------------------------------------------------------------------ one simulation

    def begin(self) -> None:
        """Make sure that a process waits for the first request."""
        child = self._usable_child()
        if child is None:
            child = self._start()
        self._served += 1
        child.forget_words()
        self._cpu_before = cpu_seconds(child.pid)

    def request(self, kind: str, members: Mapping[str, Any]) -> dict[str, Any]:
        """Ask, and return the answer to this very request."""
        return self._ask(protocol.encode(self._number + 1, kind, members), f"its answer to '{kind}'")

    def step(self, inputs: Mapping[str, float], duration_s: float) -> dict[str, Any]:
        """As `request("step", …)`, but faster."""
        return self._ask(self._steps.encode(self._number + 1, inputs, duration_s), "its answer to 'step'")

    def _ask(self, request: bytes, what: str) -> dict[str, Any]:
        child = self._child
        if child is None:
            raise SessionFailure("the session has ended")
        self._number += 1
        self._between_requests = False
        line = child.ask(request, self._limits[1], what)
        try:
            answer = protocol.decode(line, self._number)
            if child.unread:
                child.expect_nothing_more(what)
        except SessionFailure as failure:
            self._between_requests = not isinstance(failure, MalformedAnswer)
            raise type(failure)(child.redact(str(failure))) from None
        self._between_requests = True
        return answer

    def finish(self, *, memory: bool) -> Usage:
        """Return the cost of the simulation; drop a process that has not answered its last request."""
        child = self._child
        if child is None:
            return Usage()
        now, before = cpu_seconds(child.pid), self._cpu_before
        peak_mb = memory_mb(child.pid, peak=True) if memory else None
        if not self._between_requests:
            self.drop()
        elif peak_mb is not None:
            forget_peak(child.pid)
        return Usage(None if now is None or before is None else now - before, peak_mb)

    def check_memory(self) -> None:
        if self._child is not None and self.launch.memory_mb is not None:
            self._between_requests = False
            self._child.check_memory(self._child.memory_mb())
            self._between_requests = True

    # ------------------------------------------------------------------ the process

    @property
    def child(self) -> Child | None:
        """The process that is running now, if one is."""
        return self._child

    def start(self) -> None:
        """Start it before it is needed."""
        if self._usable_child() is None:
            self._start()

    def _usable_child(self) -> Child | None:
        if self._child is not None and self._child.owner != os.getpid():
            self._child = None  # a copy made by fork: the process belongs to our parent
        if self._child is None:
            return None
        if self._restart_every is not None and self._served >= self._restart_every:
            self.close()
        elif self._child.spoke_unasked():
            sys.stderr.write("the program ended or said something between two simulations; it is started again\n")
            self.drop()
        return self._child

    def _start(self) -> Child:
        child = Child(self.launch)
        try:
            hello = self._read_hello(child)
            _check_promise(self.description, hello)
        except SessionFailure as failure:
            child.end()
            raise type(failure)(child.redact(str(failure))) from None
        except BaseException:
            child.end()
            raise
        if self.description is None:
            self.description = hello
        self.runs = hello.runs
        self._child, self._number, self._served, self._between_requests = child, 0, 0, True
        return child

    def _read_hello(self, child: Child) -> Hello:
        for _ in range(_MOST_LINES_BEFORE_HELLO):
            line = child.line(self._limits[0], "its hello")
            if protocol.is_hello(line):
                return protocol.parse_hello(line)
            child.log_line(line)
        raise MalformedAnswer(f"none of its first {_MOST_LINES_BEFORE_HELLO} lines is a hello")

    def drop(self) -> None:
        """End the process at once."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def close(self) -> None:
        """Ask the process to end; end it if it does not."""
        child, self._child = self._child, None
        if child is not None:
            child.close(protocol.encode(self._number + 1, "close", {}), self._limits[2])


def _check_promise(promised: Hello | None, hello: Hello) -> None:
    """Compare the hello with the ports declared (or said at the first start); units count where both are known."""
    if promised is None:
        return
    expected_symbols, symbols = promised.alphabet, hello.alphabet
    if (expected_symbols is None) != (symbols is None):
        kinds = ("signals", "symbols") if expected_symbols is None else ("symbols", "signals")
        raise MalformedAnswer(f"it was said to answer {kinds[0]}, but it answers {kinds[1]}")
    for side in ("inputs", "outputs"):
        if not _same_ports(getattr(promised, side), getattr(hello, side)):
            expected, said = (_port_list(getattr(one, side)) for one in (promised, hello))
            raise MalformedAnswer(f"its {side} are {said}, but {expected} were promised")
    if expected_symbols is not None and symbols is not None and set(expected_symbols) != set(symbols):
        raise MalformedAnswer(f"its alphabet is {', '.join(symbols)}; promised: {', '.join(expected_symbols)}")


def _same_ports(promised: tuple[Port, ...], said: tuple[Port, ...]) -> bool:
    units = {port.name: port.unit for port in said}
    return units.keys() == {port.name for port in promised} and all(
        None in (port.unit, units[port.name]) or port.unit == units[port.name] for port in promised
    )


def _port_list(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{port.name} [{port.unit}]" if port.unit else port.name for port in ports) or "none"
