"""Pass an FMU's log to standard error, which is the worker's bounded log, and its last message to error messages."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

STATUS_WORDS = ("ok", "a warning", "discarded", "an error", "a fatal error", "pending")
WARNING = 1
_LONGEST_MESSAGE = 1000
_MOST_MESSAGES = 200
"""Limit per simulation; an FMU that logs more has its log switched off in the next one, because it costs time."""


def status_word(status: int) -> str:
    return STATUS_WORDS[status] if 0 <= status < len(STATUS_WORDS) else f"the unknown status {status}"


class Messages:
    """The receiver of the messages of all instances of one library."""

    def __init__(self) -> None:
        self._callbacks: Any = None
        self.wanted = True
        self.begin()

    def begin(self) -> None:
        self._last, self._count = "", 0

    def last_words(self) -> str:
        return f"; its last message: {self._last}" if self._last else ""

    def callbacks2(self) -> Any:
        if self._callbacks is None:
            from fmpy import calloc, fmi2, free

            made = fmi2.fmi2CallbackFunctions()
            made.logger = fmi2.fmi2CallbackLoggerTYPE(
                lambda environment, instance, status, category, message: self._log(status, message)
            )
            made.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
            made.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
            try:
                from fmpy.logging import addLoggerProxy

                addLoggerProxy(ctypes.byref(made))  # fills in the arguments of "%s", which ctypes cannot see
            except OSError:  # FMPy has no such helper for this machine: messages come with their %s
                pass
            self._callbacks = made
        return self._callbacks

    def callback3(self, environment: Any, status: int, category: Any, message: Any) -> None:
        self._log(status, message)

    def _log(self, status: int, message: bytes | None) -> None:
        text = (message or b"").decode("utf-8", "replace").strip()[:_LONGEST_MESSAGE]
        self._count += 1
        if status > WARNING or not self._last:
            self._last = " ".join(text.split())[:200]
        if self._count <= _MOST_MESSAGES:
            sys.stderr.write(f"[FMU, {status_word(status)}] {text}\n")
        if self._count == _MOST_MESSAGES:
            self.wanted = False
            sys.stderr.write("[FMU] more messages are not shown, and in later simulations none are asked for\n")
