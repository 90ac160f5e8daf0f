"""The way of one command through the code: how deep the system is called, and how often the way changes rooms.

    python experiments/bench/call_path.py                         `run` on the heater
    python experiments/bench/call_path.py run other.yaml          any other command line
    python experiments/bench/call_path.py --list                  also print the way, and the frames at the system

The command runs in this process, under `sys.setprofile`, and its simulations too (`--executor in-process` is added).

    frames      when the first function of the system is called (one in a file below `adapters/`, or the heater that
                ships with the package): how many frames of the package lie below `bbfalsify.cli.main:main`, the
                system's own function included.  Frames of other libraries (typer's eight) are not counted.
    rooms       a room is the first component of a path below `bbfalsify/` (`running/driver.py` is in `running`).  Every
                function of the package is noted when it is called for the first time.  Not noted are functions
                that an import calls (decorators, say), lambdas, comprehensions, and double-underscore methods, which
                Python calls.  The figure is how often two functions that follow each other in this list lie in
                different rooms; printed for all rooms, and without the libraries that every room uses, for the whole
                command and for its way to the first call of the system.

Numbers depend neither on the machine nor on its speed, as long as the compiled kernel is in its cache: run the command
once before.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import tempfile
from collections.abc import Collection
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = str(REPOSITORY / "bbfalsify") + "/"
SYSTEMS = (str(REPOSITORY / "adapters") + "/", PACKAGE + "examples/heater/system.py")
LIBRARIES = ("core", "jit", "records", "automata", "modelling", "kernel", "logic", "stats")
HEATER = ["run", str(REPOSITORY / "experiments/heater/campaign.yaml")]


class CallPath:
    """A profile function: notes each function of the package once, and the stack at the first call of the system."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.stack: list[str] | None = None
        self.before_system = 0
        """Functions noted until the system was called."""
        self._seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen:
            return
        is_function = bool(code.co_flags & inspect.CO_NEWLOCALS) and bool(code.co_flags & inspect.CO_OPTIMIZED)
        if not is_function or code.co_name.startswith(("<", "__")) or _is_importing(frame):
            return
        self._seen.add(code)
        if code.co_filename.startswith(PACKAGE):
            self.functions.append(_place(code))
        if self.stack is None and code.co_filename.startswith(SYSTEMS):
            self.stack, self.before_system = _frames_above(frame), len(self.functions)

    def changes(self, rooms_left_out: Collection[str] = (), *, until: int | None = None) -> int:
        rooms = [room for function in self.functions[:until] if (room := _room(function)) not in rooms_left_out]
        return len(list(groupby(rooms))) - 1


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and _place(frame.f_code) != "cli/main.py:main":
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def _place(code: CodeType) -> str:
    return f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_qualname}"


def _room(function: str) -> str:
    return function.partition(":")[0].partition("/")[0].removesuffix(".py")


def _frames_above(frame: FrameType) -> list[str]:
    """Frames of the package from below the command line's `main` down to this one."""
    stack: list[str] = []
    above: FrameType | None = frame
    while above is not None and _place(above.f_code) != "cli/main.py:main":
        if above is frame or above.f_code.co_filename.startswith(PACKAGE):
            stack.append(_place(above.f_code))
        above = above.f_back
    return stack[::-1]


def follow(command: list[str]) -> CallPath:
    """Execute a command in this process; what it prints is left out."""
    from bbfalsify.cli.main import main

    path = CallPath()
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["bbfalsify", *command, "--executor", "in-process", "--quiet", "--out", folder]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            sys.setprofile(path)
            try:
                main()
            finally:
                sys.setprofile(None)
    return path


def run() -> None:
    listed = "--list" in sys.argv
    path = follow([argument for argument in sys.argv[1:] if argument != "--list"] or HEATER)
    if listed:
        print("\n".join(path.functions), "\n", sep="\n")
        print("\n".join(path.stack or ()), "\n", sep="\n")
    print(f"frames from below main to the system: {'-' if path.stack is None else len(path.stack)}")
    for what, until in (("the whole command", len(path.functions)), ("to the system", path.before_system)):
        print(f"room changes in order of first call, {what}: {path.changes(until=until)} ({until} functions)")
        print(f"  without {', '.join(LIBRARIES)}: {path.changes(LIBRARIES, until=until)}")


if __name__ == "__main__":
    run()
