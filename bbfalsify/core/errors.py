"""The exceptions of bbfalsify, and the problems that they report.

    BBFalsifyError
    ├── UserError            the user's files or arguments are wrong (exit code 2); carries *all* problems found
    ├── SystemFailure        the black box or its adapter failed (exit code 3)
    ├── ExecutorLost         the cluster that simulates is gone (exit code 4); the run can be resumed
    └── InvariantViolated    a bug of bbfalsify

A violated requirement is a `Verdict`, a spent budget is a stop reason, a crashed simulation is a status: none of
them is an exception.  Exceptions keep their facts as attributes, so reports need not parse text.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

MOST_NAMES = 40
"""Longer lists of allowed names are cut."""
EASILY_READ = 10
"""With more allowed names, the closest is said before them."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with the user's input: what, where, what was allowed, what was probably meant."""

    message: str
    file: str | None = None
    line: int | None = None
    allowed: tuple[str, ...] = ()
    closest: str | None = None

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        allowed = f" Allowed: {', '.join(self.allowed)}." if self.allowed else ""
        meant = f" Did you mean '{self.closest}'?" if self.closest is not None else ""
        after_a_long_list = len(self.allowed) > EASILY_READ  # it would not be seen
        return where + self.message + (meant + allowed if after_a_long_list else allowed + meant)


def unknown_name(
    what: str, name: str, known: Iterable[str], *, file: str | None = None, line: int | None = None, where: str = ""
) -> Problem:
    """Make the problem "unknown WHAT 'NAME'", with the known names and the closest of them."""
    names = sorted({str(k) for k in known})
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    shown = names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"… {len(names) - MOST_NAMES} more"]
    return Problem(
        f"unknown {what} '{name}'{' ' + where if where else ''}.",
        file=file,
        line=line,
        allowed=tuple(shown) if shown else ("(none)",),
        closest=close[0] if close else None,
    )


@dataclass(frozen=True)
class Place:
    """Position of a piece of text: its file and the number of its first line; both None for calls of the builder."""

    file: str | None
    line: int | None = None

    def line_of(self, line: int) -> int | None:
        return None if self.line is None else self.line + line - 1

    def problem(
        self, message: str, line: int = 1, *, allowed: tuple[str, ...] = (), closest: str | None = None
    ) -> Problem:
        return Problem(message, self.file, self.line_of(line), allowed, closest)

    def unknown(self, what: str, name: str, known: Iterable[str], line: int = 1, *, where: str = "") -> Problem:
        return unknown_name(what, name, known, file=self.file, line=self.line_of(line), where=where)


class BBFalsifyError(Exception):
    """Base of everything bbfalsify raises on purpose."""


class UserError(BBFalsifyError):
    """Wrong input; `problems` lists everything that was found, not only the first."""

    def __init__(self, problems: Iterable[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems)]
        elif isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))


class SystemFailure(BBFalsifyError):
    """The system under test, or its adapter, cannot be used at all."""


class ExecutorLost(BBFalsifyError):
    """The cluster on which simulations run is gone; what is recorded stays."""


class InvariantViolated(BBFalsifyError):
    """A bug of bbfalsify, with the facts needed to report it."""
