"""JSON files that people can read and that are never half written.

Objects are indented, lists of numbers stay on one line.  JSON has no infinity: non-finite numbers travel as the strings
"inf", "-inf" and "nan", which `as_number` (and Python's float) reads back.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bbfalsify.core.checksums import KEY, content_checksum, taken_out, utf8
from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.foreign_files import LARGEST_DATA, read_text
from bbfalsify.core.redaction import record_without_secrets
from bbfalsify.records.disk import wait_for


class WritingFailed(UserError):
    """There is no room, or no right to write: nothing more can be recorded."""


def plain_number(value: float) -> float | str:
    """A number that JSON can hold."""
    value = float(value)
    return value if math.isfinite(value) else repr(value)


def finite_or_null(value: float | str | None) -> float | None:
    """Replace numbers that are not finite by null, for scripts that read results."""
    return None if value is None or not math.isfinite(float(value)) else float(value)


def as_number(value: float | str) -> float:
    return float(value)


# `json.dumps` with options makes an encoder for every call, which costs more than most of what it is called for.
_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_quoted = json.encoder.encode_basestring
_short = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def one_line(data: Any) -> str:
    """JSON without a needless character, and without secrets."""
    return _short(record_without_secrets(data))


def format_json(data: Any, indent: str = "") -> str:
    """JSON text in which only objects (and lists of objects) are broken into lines."""
    kind = type(data)
    if kind is str:
        return _quoted(data)
    if data is None:
        return "null"
    if kind is int or kind is float and math.isfinite(data):
        return repr(data)
    inner = indent + "  "
    if isinstance(data, dict) and data:
        if _SCALARS.issuperset(map(type, data.values())):
            members = _members_below(inner)(data)[1:-1]
        else:
            members = f",\n{inner}".join([f"{_quoted(str(k))}: {format_json(v, inner)}" for k, v in data.items()])
        return f"{{\n{inner}{members}\n{indent}}}"
    if isinstance(data, list | tuple) and dict in set(map(type, data)):
        items = f",\n{inner}".join([format_json(item, inner) for item in data])
        return f"[\n{inner}{items}\n{indent}]"
    return _encoded(data)


MOST_DIGITS = 300
"""Longer integers do not fit into a float64."""
_SCALARS = {str, int, float, bool, type(None)}


@functools.cache
def _members_below(indent: str) -> Callable[[Any], str]:
    """Objects that hold no others are encoded in one go: what separates their members may be any text."""
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(f",\n{indent}", ": ")).encode


def write_json(path: Path, data: Any, *, durable: bool = True) -> None:
    write_atomically(path, file_text(data), durable=durable)


def file_text(data: Any) -> str:
    """Make the text of a file: without secrets and, of an object, with its checksum."""
    data = record_without_secrets(data)
    if isinstance(data, dict):  # as it will be read: tuples are lists then, and all keys are text
        data = {**data, KEY: content_checksum(json.loads(_encoded(data)))}
    return format_json(data) + "\n"


def write_atomically(path: Path, text: str | bytes, *, durable: bool = True) -> None:
    """The file is either the old one or the whole new one, also when the machine stops in between.

    What can be made again from other files need not be `durable`: that takes most of the time.
    """
    try:
        with written_beside(path, text, durable=durable) as temporary:
            os.replace(temporary, path)
        if durable:
            wait_for(path.parent)
    except OSError as error:
        raise WritingFailed(Problem(f"cannot be written: {error.strerror}.", file=str(path))) from None


@contextlib.contextmanager
def written_beside(path: Path, text: str | bytes, *, durable: bool = True) -> Iterator[str]:
    """A temporary file in the same folder with the whole content on disk; gone afterwards, unless it was moved."""
    temporary = f"{path.parent}/.{path.name}.{os.urandom(6).hex()}.tmp"
    try:
        with open(temporary, "xb", buffering=0) as file:
            content = memoryview(utf8(text) if isinstance(text, str) else text)
            while content:
                content = content[file.write(content) :]
            if durable:
                os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def read_json(path: str | Path) -> Any:
    """Read a JSON file; every failure is a UserError; one that carries a checksum must be as it was written."""
    text = read_text(path, largest=LARGEST_DATA)
    try:
        content, whole = taken_out(json.loads(text, parse_int=_whole_number))
    except json.JSONDecodeError as error:
        raise UserError(Problem(f"not valid JSON: {error.msg}.", file=str(path), line=error.lineno)) from None
    except ValueError as error:
        raise UserError(Problem(f"not read: {error}.", file=str(path))) from None
    except RecursionError:
        raise UserError(Problem("not read: lists and objects are nested too deeply.", file=str(path))) from None
    if not whole:
        says = "damaged, or changed by hand: its checksum is wrong (remove the key 'checksum' to read it all the same)."
        raise UserError(Problem(says, file=str(path)))
    return content


def is_sealed(path: str | Path) -> bool:
    """Tell whether a file carries the checksum of its content."""
    try:
        content = json.loads(Path(path).read_bytes())
        return isinstance(content, dict) and KEY in content and taken_out(content)[1]
    except (OSError, ValueError, RecursionError):
        return False


def _whole_number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits; at most {MOST_DIGITS} are allowed")
    return int(text)
