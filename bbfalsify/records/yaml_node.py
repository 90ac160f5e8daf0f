"""Reading plain YAML data with a list of complaints instead of exceptions.

A `Node` is a value of the document together with its key path.  Asking it for something of the wrong shape notes a
problem with file and line, and returns an empty answer, so that reading goes on and every mistake is found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from bbfalsify.core.errors import Place, Problem, unknown_name
from bbfalsify.records.documents import Document, KeyPath, Text


def kind_of_value(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return type(value).__name__


class Node:
    def __init__(self, document: Document, path: KeyPath, value: Any, problems: list[Problem]) -> None:
        self.document = document
        self.path = path
        self.value = value
        self.problems = problems

    @property
    def name(self) -> str:
        return ".".join(str(part) for part in self.path) or "the file"

    @property
    def place(self) -> Place:
        return Place(self.document.file or None, self.document.line(self.path))

    def problem(self, message: str, **facts: Any) -> None:
        self.problems.append(self.document.problem(self.path, message, **facts))

    def child(self, key: str | int) -> Node:
        inside: Any = self.value if isinstance(self.value, dict | list) else None
        return Node(self.document, (*self.path, key), None if inside is None else inside[key], self.problems)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def get(self, key: str) -> Node | None:
        """The child, unless it is absent or empty."""
        return self.child(key) if key in self and self.value[key] is not None else None

    def mapping(self, allowed: tuple[str, ...] | None = None, required: tuple[str, ...] = ()) -> bool:
        """True where this is a mapping; unknown and missing keys are noted."""
        if not isinstance(self.value, dict):
            self.problem(f"'{self.name}' must be a mapping, found {kind_of_value(self.value)}.")
            return False
        if allowed is not None:
            for key in self.value:
                if key not in allowed:
                    place = self.child(key).place
                    where = f"in '{self.name}'" if self.path else ""
                    self.problems.append(
                        unknown_name("key", key, allowed, file=place.file, line=place.line, where=where)
                    )
        for key in required:
            if self.value.get(key) is None:
                where = f" in '{self.name}'" if self.path else ""
                self.problem(f"the key '{key}' is missing{where}.")
        return True

    def items(self) -> Iterator[tuple[str, Node]]:
        """Children of a mapping, by name."""
        if isinstance(self.value, dict):
            for key in self.value:
                yield str(key), self.child(key)

    def elements(self) -> Iterator[Node]:
        """Children of a list; anything else is noted."""
        if not isinstance(self.value, list):
            self.problem(f"'{self.name}' must be a list, found {kind_of_value(self.value)}.")
            return
        for index in range(len(self.value)):
            yield self.child(index)

    def text(self) -> Text | None:
        """A text of the modelling language; a bare number or true/false will do."""
        value = self.value
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            value = str(value)
        if not isinstance(value, str):
            self.problem(f"'{self.name}' must be a text, found {kind_of_value(value)}.")
            return None
        return Text(value, Place(self.document.file, self.document.text_line(self.path)))

    def string(self) -> str | None:
        """A name; numbers are taken as written."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float):
            self.problem(f"'{self.name}' must be a name, found {kind_of_value(self.value)}.")
            return None
        return str(self.value)

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            self.problem(f"'{self.name}' must be true or false, found {kind_of_value(self.value)}.")
            return False
        return self.value

    def number(self) -> float | None:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not math.isfinite(self.value):
            found = f"'{self.value}'" if isinstance(self.value, str | float) else kind_of_value(self.value)
            self.problem(f"'{self.name}' must be a number, found {found}.")
            return None
        return float(self.value)
