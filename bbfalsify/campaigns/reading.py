"""From a YAML document to checked entries; every mistake becomes one sentence with file and line.

`core/setting_values.py` finds the mistakes; a reader names the key as the user knows it, and its place.  Problems are
collected, never raised one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.core.setting_values import Setting, dotted, shown
from bbfalsify.core.settings import Settings, read_keys
from bbfalsify.records.documents import Document, KeyPath

S = TypeVar("S", bound=Settings)
T = TypeVar("T")


@dataclass
class Reader:
    """A document, the problems found in it so far, and how to name its keys to the user."""

    document: Document
    problems: list[Problem]
    label: Callable[[KeyPath], str] = dotted

    def problem(self, path: KeyPath, message: str, **facts: Any) -> None:
        self.problems.append(Problem(message, file=self.document.file or None, line=self.document.line(path), **facts))

    def wrong(self, path: KeyPath, says: str, **facts: Any) -> None:
        """Note a problem with the value at `path`: a sentence without its subject."""
        self.problem(path, f"{self.label(path)} {says}", **facts)

    def unknown(self, path: KeyPath, allowed: Iterable[str]) -> None:
        """Note a key that is not among those allowed."""
        *where, key = path
        place = f"in {self.label(tuple(where))}" if where else ""
        file, line = self.document.file or None, self.document.line(path)
        self.problems.append(unknown_name("key", str(key), allowed, file=file, line=line, where=place))

    def adopt(self, path: KeyPath, problems: Iterable[Problem]) -> None:
        """Take over problems found elsewhere; those that name no file get the place that led there."""
        for problem in problems:
            if problem.file is None:
                # A line says where a problem is; what came without a file is named instead.
                named = self.document.file or problem.message.startswith(f"{self.label(path)} ")
                message = problem.message if named else f"{self.label(path)}: {problem.message}"
                self.problem(path, message, allowed=problem.allowed, closest=problem.closest)
            else:
                self.problems.append(problem)

    def attempt(self, path: KeyPath, function: Callable[..., T], *arguments: Any, **keywords: Any) -> T | None:
        """Call a function; take over the problems it raises, and return None then."""
        try:
            return function(*arguments, **keywords)
        except UserError as error:
            self.adopt(path, error.problems)
            return None

    def sections(self, declared: Mapping[str, Setting], what: str) -> dict[str, list[Any]]:
        """Return the alternatives of every top-level section that is given and right."""
        data = self.document.data
        if not isinstance(data, dict):
            self.problem((), f"a {what} is a mapping of keys to values; found {shown(data)}.")
            return {}
        return read_keys(declared, data, (), self)

    def check(self, cls: type[S], value: Any, path: KeyPath) -> S | None:
        """Return the value as an entry, or None with the problems noted."""
        return next(iter(cls.read(value, path, self)), None)
