"""Machine code for a search that lasts: compiled beside it by another process, used as soon as it is there.

    native = NativeInBackground(walker)
    native.look(seconds)          between batches of walks: start compiling after some seconds, install what is ready

Searches that share a model (workers, later runs) share the code: one of them compiles, all load it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

from bbfalsify.kernel.native_code import NativePlan, compile_file
from bbfalsify.kernel.walker import Walker

AFTER_S = 2.0
"""Seconds of walking after which a search is worth compiling for."""
_GIVEN_UP_S = 300.0
"""A lock as old as this belongs to a process that was killed."""
_LOOK_EVERY_S = 0.2


class NativeInBackground:
    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._plan: NativePlan | None = None
        self._done = False
        self._looked = 0.0

    def look(self, seconds: float) -> None:
        """Take the next step, if it is time for one; `seconds` were spent on walks so far."""
        if self._done or seconds < AFTER_S or time.monotonic() - self._looked < _LOOK_EVERY_S:
            return
        self._looked = time.monotonic()
        if self._plan is None:
            self._plan = NativePlan.of(self._walker.model)
            self._done = self._plan is None
        if self._plan is None:
            return
        if self._plan.is_compiled:
            self._done = True
            self._plan.install(self._walker)
        elif _lock(self._plan.file):
            self._compile(self._plan)

    def _compile(self, plan: NativePlan) -> None:
        try:
            plan.write()
            child = subprocess.Popen(
                [sys.executable, "-m", __name__, str(plan.file)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError:
            self._done = True
            return
        weakref.finalize(self, _end, child)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.kill()
        child.wait()


def _lock_file(file: Path) -> Path:
    return file.with_suffix(".lock")


def _lock(file: Path) -> bool:
    """Tell whether it is on this process to compile; others wait for the result."""
    lock = _lock_file(file)
    try:
        if lock.exists() and time.time() - lock.stat().st_mtime > _GIVEN_UP_S:
            lock.unlink(missing_ok=True)
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    return True


def _end_with(parent: int) -> None:
    """End when the search has ended: nobody waits any more."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main(file: Path) -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    compile_file(file)
    _lock_file(file).unlink(missing_ok=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
