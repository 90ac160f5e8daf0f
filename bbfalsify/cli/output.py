r"""Print: the last place before the terminal or the log of a CI server.

`say` prints one line, whatever is in it; `print_json` prints data.  While a command runs, standard output and error are
guarded: secrets are removed, control characters are escaped (colours of our own pass), characters that the terminal
lacks become question marks, and no line begins with a command to a CI server.  `unguarded` gives the stream behind the
guard to those who draw or annotate on purpose.  `results` is standard output; whatever else prints while a command
works (an adapter that is imported, a guide, an engine of another package) gets standard error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from bbfalsify.core.errors import UserError
from bbfalsify.core.redaction import without_secrets
from bbfalsify.core.visible_text import CONTROL, escaped, visible

_COLOUR = r"\x1b\[[0-9;]*m"
_OBEYED = re.compile(rf"(?!{_COLOUR})[{CONTROL}]|##(?=\[)")
_COMMAND = re.compile(r"^(\s*)(?=::)", re.MULTILINE)
"""GitHub's runner obeys lines that begin in this way."""


class Guarded:
    """A text stream that shows what is written to it, and obeys none of it."""

    def __init__(self, stream: TextIO) -> None:
        if isinstance(stream, io.TextIOWrapper):  # a terminal may know fewer characters than we print
            stream.reconfigure(errors="replace")
        self.stream = stream
        self._line_begins = True
        self._closed = False

    def write(self, text: str) -> int:
        if self._closed:
            return len(text)
        shown = escaped(without_secrets(text), _OBEYED)
        # The rest of a line that was begun before is no beginning of a line.
        first = 0 if self._line_begins else shown.find("\n") + 1 or len(shown)
        if text:
            self._line_begins = text.endswith("\n")
        self.pass_on(shown[:first] + _COMMAND.sub(r"\1\\", shown[first:]))
        return len(text)

    def pass_on(self, text: str) -> None:
        """Write a text as it is."""
        if not self._closed:
            with self._reader_may_leave():
                self.stream.write(text)

    def flush(self) -> None:
        with self._reader_may_leave():
            self.stream.flush()

    @contextlib.contextmanager
    def _reader_may_leave(self) -> Iterator[None]:
        """Go on without a reader that has seen enough (`| head`): files are still to be written."""
        try:
            yield
        except BrokenPipeError:
            self._closed = True
            # Python flushes once more at its end, and must not fail then.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def guarded_output() -> Iterator[None]:
    """Guard standard output and standard error."""
    with contextlib.redirect_stdout(_guard(sys.stdout)) as out, contextlib.redirect_stderr(_guard(sys.stderr)):
        try:
            yield
        finally:
            out.flush()  # here a reader may have left; at the end of Python that would change the exit code


def _guard(stream: Any) -> Any:
    return stream if isinstance(stream, Guarded) else Guarded(stream)


def unguarded(stream: Any) -> Any:
    return stream.stream if isinstance(stream, Guarded) else stream


class _Foreign(Guarded):
    """Standard error for foreign code; as it is no terminal to it, it neither draws nor resets colours there."""

    def isatty(self) -> bool:
        return False


_results: list[Any] = []


@contextlib.contextmanager
def results_alone() -> Iterator[None]:
    """Keep standard output for results: foreign code that prints in this process prints to standard error."""
    _results.append(results())
    try:
        with contextlib.redirect_stdout(_Foreign(unguarded(sys.stderr))):
            yield
    finally:
        _results.pop()


def results() -> Any:
    """Return the stream of results."""
    return _results[-1] if _results else sys.stdout


def say(text: object = "", *, error: bool = False, flush: bool = False) -> None:
    """Print one line."""
    print(visible(str(text)), file=sys.stderr if error else results(), flush=flush)


def say_block(text: str, *, error: bool = False) -> None:
    """Print a text of several lines (a traceback), each of them marked."""
    for line in text.splitlines():
        say(f"| {line}", error=error)


def write_file(file: Path, text: str) -> None:
    """Write a file that an option names."""
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror}.") from None


def print_json(data: Any, **format: Any) -> None:
    """Print JSON for machines; secrets are removed from its texts, and numbers stay numbers."""
    text = json.dumps(without_secrets(data), **format) + "\n"
    out = results()
    out.pass_on(text) if isinstance(out, Guarded) else out.write(text)
