"""Members of `results.json`, from the dataclasses that write it: one table per class, in the order they are met."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from api_pages import attributes
from markdown_tables import cell, code, prose, table

_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "text"}


def results(*references: str) -> str:
    """The tables of some classes ("module:Class") and of all classes that their members hold."""
    named = [reference.partition(":") for reference in references]
    waiting: list[type] = [getattr(import_module(module), name) for module, _, name in named]
    done: list[type] = []
    while waiting:
        kind = waiting.pop(0)
        if kind not in done:
            done.append(kind)
            waiting += [inner for hint in get_type_hints(kind).values() for inner in _classes(hint)]
    return "\n".join(map(_section, done))


def _section(kind: type) -> str:
    said = {name: text for base in reversed(kind.__mro__) for name, _, text in attributes(base) if text}
    hints = get_type_hints(kind)
    rows = []
    for part in fields(kind):
        name = part.metadata.get("member", part.name)
        if name is not None:
            rows.append((code(name), cell(_type(hints[part.name])), cell(prose(said.get(part.name, "")))))
    return f"### {kind.__name__}\n\n{table(('member', 'value', 'meaning'), rows)}"


def _classes(hint: Any) -> list[type]:
    if isinstance(hint, type) and is_dataclass(hint) and hasattr(hint, "from_json"):
        return [hint]
    return [inner for part in get_args(hint) for inner in _classes(part)]


def _type(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        words = [_type(part) for part in parts if part is not NoneType]
        return " or ".join([*words, "null"] if NoneType in parts else words)
    if origin is tuple:
        return f"list of {_type(parts[0])}"
    if origin is not None and len(parts) == 2:
        return f"mapping to {_type(parts[1])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " ".join(code(str(member.value)) for member in hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})" if hasattr(hint, "from_json") else hint.__name__
    return _WORDS.get(hint, getattr(hint, "__name__", str(hint)))
