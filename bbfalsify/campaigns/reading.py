"""From a YAML document to checked entries; every mistake becomes one sentence with file and line.

pydantic finds the mistakes; this module says them: the key as the user knows it, what was found, what is allowed, and
the closest allowed name.  Sections are checked one by one and problems are collected, never raised one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bbfalsify.core.errors import Problem, unknown_name
from bbfalsify.records.documents import Document, KeyPath

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError


def dotted(path: KeyPath) -> str:
    """engine.horizon, requirements[0].stl"""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


@dataclass
class Reader:
    """A document, the problems found in it so far, and how to name its keys to the user."""

    document: Document
    problems: list[Problem]
    label: Callable[[KeyPath], str] = dotted

    def problem(self, path: KeyPath, message: str, **facts: Any) -> None:
        self.problems.append(Problem(message, file=self.document.file or None, line=self.document.line(path), **facts))

    def adopt(self, path: KeyPath, problems: Iterable[Problem]) -> None:
        """Take over problems found elsewhere; those that name no file get the place that led there."""
        for problem in problems:
            if problem.file is None:
                # A line says where a problem is; what came without a file is named instead.
                message = problem.message if self.document.file else f"{self.label(path)}: {problem.message}"
                self.problem(path, message, allowed=problem.allowed, closest=problem.closest)
            else:
                self.problems.append(problem)

    def sections(self, allowed: dict[str, Any], required: Iterable[str], what: str) -> dict[str, Any]:
        """The valid top-level sections; anything else is noted as a problem."""
        data = self.document.data
        if not isinstance(data, dict):
            self.problem((), f"a {what} is a mapping of keys to values; found {_shown(data)}.")
            return {}
        result = {}
        for key, value in data.items():
            if key not in allowed:
                self._unknown((key,), allowed)
                continue
            checked = self.check(allowed[key], value, (key,))
            if checked is not None:
                result[key] = checked
        for key in required:
            if key not in data:
                self.problem((), f"{self.label((key,))} is missing.")
        return result

    def check(self, kind: Any, value: Any, path: KeyPath) -> Any | None:
        """The value validated as a model or type of `schema`, or None with the problems noted."""
        from pydantic import TypeAdapter, ValidationError

        adapter = TypeAdapter(kind)
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            self._translate(error, value, path, adapter)
            return None

    def _translate(self, error: ValidationError, value: Any, path: KeyPath, adapter: TypeAdapter) -> None:
        for detail in error.errors(include_url=False):
            inner, found = _descend(value, detail["loc"])
            full = (*path, *inner)
            kind, context = detail["type"], detail.get("ctx", {})
            label = self.label(full)
            if kind == "extra_forbidden":
                self._unknown(full, _keys(adapter.json_schema()))
            elif kind == "missing":
                self.problem(full, f"{self.label((*full, detail['loc'][-1]))} is missing.")
            elif kind == "literal_error":
                choices = [c.strip("'") for c in context["expected"].replace(" or ", ", ").split(", ")]
                self.not_a_choice(full, found, choices)
            elif kind == "string_pattern_mismatch":
                self.not_a_choice(full, found, context["pattern"].strip("^()$").replace(".+", "ADDRESS").split("|"))
            elif kind in _SENTENCES:
                self.problem(full, f"{label} {_SENTENCES[kind].format(**context)}; found {_shown(found)}.")
            else:
                self.problem(full, f"{label}: {detail['msg']}; found {_shown(found)}.")

    def _unknown(self, path: KeyPath, allowed: Iterable[str]) -> None:
        *where, key = path
        place = f"in {self.label(tuple(where))}" if where else ""
        self.problems.append(
            unknown_name(
                "key", key, allowed, file=self.document.file or None, line=self.document.line(path), where=place
            )
        )

    def not_a_choice(self, path: KeyPath, found: Any, choices: Sequence[str]) -> None:
        import difflib

        close = difflib.get_close_matches(str(found), choices, n=1, cutoff=0.5)
        self.problem(
            path,
            f"{self.label(path)} cannot be {_shown(found)}.",
            allowed=tuple(choices),
            closest=close[0] if close and len(choices) > 1 else None,
        )


_SENTENCES = {
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be finite",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "value_error": "must be a number",
    "string_type": "must be text",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "model_type": "must be a mapping of keys to values",
    "list_type": "must be a list",
}


def _descend(value: Any, location: tuple[str | int, ...]) -> tuple[KeyPath, Any]:
    """Follow pydantic's location through the user's data, leaving out its own tags and the lists we added."""
    path: list[str | int] = []
    for key in location:
        if isinstance(value, dict) and key in value or isinstance(value, list) and isinstance(key, int):
            value = value[key]
            path.append(key)
    return tuple(path), value


def _keys(schema: dict[str, Any]) -> Iterable[str]:
    """Of the model that a schema describes, directly or as the items of a list."""
    return schema.get("properties") or next(iter(schema["$defs"].values()))["properties"]


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
