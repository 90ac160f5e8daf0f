"""Results as JSON and back: a result is a dataclass, and its fields are the members of a JSON object.

    @dataclass(frozen=True, kw_only=True)
    class Shrunk(Stored):
        actions: tuple[str, ...]
        robustness: float = math.nan
        columns: dict[str, Estimate] = member("estimates", default_factory=dict)

    Shrunk.from_json(shrunk.as_json()) == shrunk

`member` names a field's member where it is called otherwise; `member(None)` has none.  Numbers that are not
finite are null; null is read into a float as nan.  Results of older versions are read, too: a missing member takes the
field's default, and only a field without one is required.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, field, fields
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, Self, Union, get_args, get_origin, get_type_hints

from bbfalsify.records.json_files import finite_or_null

Reader = Callable[[Any], Any]


def member(name: str | None, *, written: bool = True, **options: Any) -> Any:
    """A field of a dataclass that is stored under another name, not at all (None), or `written` by somebody else."""
    return field(metadata={"member": name, "written": written}, **options)


class Member(NamedTuple):
    field: str
    name: str
    read: Reader
    required: bool
    written: bool


class Stored:
    """A dataclass that writes and reads its own JSON."""

    def as_json(self) -> dict[str, Any]:
        kind: type = type(self)
        return {m.name: to_json(getattr(self, m.field)) for m in _members(kind) if m.written}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_json` wrote; KeyError or TypeError where it is something else."""
        kind: type = cls
        return cls(**{m.field: m.read(data[m.name]) for m in _members(kind) if m.required or m.name in data})


@functools.cache
def _members(kind: type) -> list[Member]:
    hints, members = get_type_hints(kind), []
    for part in fields(kind):
        name, written = part.metadata.get("member", part.name), part.metadata.get("written", True)
        if name is not None:
            required = part.default is MISSING and part.default_factory is MISSING
            members.append(Member(part.name, name, _reader(hints[part.name]), required, written))
    return members


def to_json(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, float):
        return finite_or_null(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    return [to_json(item) for item in value] if isinstance(value, tuple) else value


def _reader(hint: Any) -> Reader:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        [read] = [_reader(part) for part in parts if part is not NoneType]
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        read = _reader(parts[0])
        return lambda values: tuple(map(read, values))
    if origin is not None and issubclass(origin, Mapping):
        read = _reader(parts[1])
        return lambda values: {key: read(value) for key, value in values.items()}
    if hint is float:
        return lambda value: math.nan if value is None else float(value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        words: dict[str, StrEnum] = {word.value: word for word in hint}
        return lambda value: words.get(value, value)  # a word that only newer versions know stays text
    if hint is Path:
        return Path
    return getattr(hint, "from_json", lambda value: value)
