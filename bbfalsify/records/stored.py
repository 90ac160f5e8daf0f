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

`read_strictly` reads files that people pass on: it names all that does not fit the dataclass.  `misfits` names the same
in results that could not be read or shown.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.setting_values import KeyPath, closest_choice
from bbfalsify.records.json_files import finite_or_null
from bbfalsify.records.yaml_node import kind_of_value

Reader = Callable[[Any], Any]
T = TypeVar("T")


def member(name: str | None, *, written: bool = True, **options: Any) -> Any:
    """A field of a dataclass that is stored under another name, not at all (None), or `written` by somebody else."""
    return field(metadata={"member": name, "written": written}, **options)


class Member(NamedTuple):
    field: str
    name: str
    hint: Any
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
            hint = hints[part.name]
            members.append(Member(part.name, name, hint, _reader(hint), required, written))
    return members


_PLAIN = {str, int, bool}


def to_json(value: Any, number: Callable[[float], Any] = finite_or_null) -> Any:
    """Plain data; `number` says how numbers that are not finite are written."""
    if value is None or type(value) in _PLAIN:
        return value
    if hasattr(value, "as_json"):
        return value.as_json()
    if isinstance(value, float):
        return number(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: to_json(item, number) for key, item in value.items()}
    if is_dataclass(value):
        return {part.name: to_json(getattr(value, part.name), number) for part in fields(value)}
    if isinstance(value, tuple):
        if set(map(type, value)) == {float} and all(map(math.isfinite, value)):
            return list(value)  # the samples of a signal: half a million for a year
        return [to_json(item, number) for item in value]
    return value


@functools.cache
def _reader(hint: Any) -> Reader:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        [read] = [_reader(part) for part in parts if part is not NoneType]
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        reads = [_reader(part) for part in parts if part is not Ellipsis]
        if len(reads) == len(parts):
            return lambda values: tuple(read(value) for read, value in zip(reads, values, strict=True))
        return lambda values: tuple(map(reads[0], values))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        read = _reader(parts[1])
        return lambda values: {key: read(value) for key, value in values.items()}
    if hint is float:
        return lambda value: math.nan if value is None else float(value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        words: dict[str, StrEnum] = {word.value: word for word in hint}
        # A word that only newer versions know stays text.
        return lambda value: words.get(value) or _of_type(str, value)
    if hint is Path:
        return Path
    if hint in (str, int, bool):
        return functools.partial(_of_type, hint)
    if is_dataclass(hint) and not hasattr(hint, "from_json"):
        kind: Any = hint
        return lambda data: kind(**{m.field: m.read(data[m.name]) for m in _members(kind) if m.name in data})
    return getattr(hint, "from_json", lambda value: value)


def _of_type(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {_SAID[kind]}, found {kind_of_value(value)}")
    return value


# ---------------------------------------------------------------------- files that others may have changed


def read_strictly(kind: type[T], data: Any, *, file: str | None = None) -> T:
    """Make the dataclass `kind` from plain data; everything that does not fit is a problem of its own."""
    problems = [replace(problem, file=file) for problem in _misfits(kind, data, ())]
    if problems:
        raise UserError(problems)
    shape: Any = kind
    made: T = _reader(shape)(data)
    return made


def misfits(kind: type, data: Any) -> list[Problem]:
    """List what does not fit the dataclass; members that it does not name may be those of another version."""
    return list(_misfits(kind, data, (), open_ended=True))


_SAID = {str: "a text", int: "a whole number", bool: "true or false"}


def _misfits(hint: Any, value: Any, path: KeyPath, open_ended: bool = False) -> Iterator[Problem]:
    """Yield what does not fit the type, and where; `open_ended`: unknown members, and null for a number, fit."""
    if hint is Any:
        return
    origin, parts = get_origin(hint), get_args(hint)
    inner = functools.partial(_misfits, open_ended=open_ended)
    needed, found = "", kind_of_value(value)
    if origin in (Union, UnionType):
        if value is not None:
            yield from inner(next(part for part in parts if part is not NoneType), value, path)
    elif origin is tuple:
        if not isinstance(value, list | tuple) or (parts[-1] is not Ellipsis and len(value) != len(parts)):
            needed = "a list" if parts[-1] is Ellipsis else f"a list of {len(parts)} values"
        elif parts[0] is not float or parts[-1] is not Ellipsis or not {float, int}.issuperset(map(type, value)):
            inside = itertools.repeat(parts[0], len(value)) if parts[-1] is Ellipsis else parts
            for place, (part, item) in enumerate(zip(inside, value, strict=True)):
                yield from inner(part, item, (*path, place))
    elif origin is dict or is_dataclass(hint):
        if not isinstance(value, dict):
            needed = "an object"
        elif origin is dict:
            for key, item in value.items():
                yield from inner(parts[1], item, (*path, key))
        else:
            members = {member.name: member for member in _members(hint)}
            unknown = [] if open_ended else [key for key in value if key not in members]
            yield from (_problem((*path, key), "is not known", **closest_choice(key, members)) for key in unknown)
            for name, one in members.items():
                if name in value:
                    yield from inner(one.hint, value[name], (*path, name))
                elif one.required:
                    yield _problem((*path, name), "is missing")
    elif origin is Literal or (isinstance(hint, type) and issubclass(hint, StrEnum)):
        words = parts if origin is Literal else [word.value for word in hint]
        needed, found = "" if value in words else " or ".join(map(repr, words)), repr(value)
    elif hint is float:
        null = open_ended and value is None
        needed = "" if null or type(value) in (float, int) or value in ("inf", "-inf", "nan") else "a number"
    elif hint in _SAID and type(value) is not hint:
        needed = _SAID[hint]
    if needed:
        yield _problem(path, f"must be {needed}, found {found}")


def _problem(path: KeyPath, says: str, **facts: Any) -> Problem:
    return Problem(f"{'.'.join(map(str, path)) or 'the file'}: {says}.", **facts)
