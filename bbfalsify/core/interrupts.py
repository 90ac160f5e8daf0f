"""Ctrl-C that waits: for work that must not be left half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def uninterrupted(*, second_ends: bool = False) -> Iterator[None]:
    """Hold back Ctrl-C until the end; with `second_ends`, for work that may last, the second one ends the process."""
    handler = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or not callable(handler) or isinstance(handler, _HoldingBack):
        yield
        return
    holding = _HoldingBack(second_ends)
    signal.signal(signal.SIGINT, holding)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if holding.interrupted:
            handler(signal.SIGINT, None)


class _HoldingBack:
    def __init__(self, second_ends: bool) -> None:
        self._second_ends = second_ends
        self.interrupted = False

    def __call__(self, number: int, frame: Any) -> None:
        if self.interrupted and self._second_ends:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.interrupted = True
