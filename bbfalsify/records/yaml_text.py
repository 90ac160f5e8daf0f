"""Write data as readable YAML: small mappings on one line, long texts as blocks, comments where they are wanted."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bbfalsify.records.documents import KeyPath

WIDTH = 120
_OTHER_MEANINGS = {"true", "false", "null", "on", "off", "yes", "no", "y", "n"}

Comments = Mapping[KeyPath, Sequence[str]]
"""Key path → comment lines above it."""


def as_yaml(data: Mapping[str, Any], comments: Comments | None = None) -> str:
    """Write the mapping as YAML, with an empty line around every section of more than one line."""
    blocks = []
    for key, value in data.items():
        lines = _entry(f"{scalar(key)}:", value, (key,), 0, comments or {})
        blocks.append("\n".join(lines))
    text = blocks[0] if blocks else ""
    for before, block in itertools.pairwise(blocks):
        text += ("\n\n" if "\n" in before or "\n" in block else "\n") + block
    return text + "\n"


def number_text(value: float, digits: int = 6) -> str:
    """Write a number as YAML reads it: 1e-05 would be a string."""
    text = f"{value:.{digits}g}"
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


def _entry(head: str, value: Any, path: KeyPath, depth: int, comments: Comments) -> list[str]:
    """The lines of a value; `head` is the text before it: `key:` or `-`."""
    indent = "  " * depth
    above = [f"{indent}# {line}" for line in comments.get(path, ())]
    flow = None if _has_comments_inside(path, comments) else _flow(value)
    if isinstance(value, str) and "\n" in value.rstrip("\n"):
        body = [f"{indent}  {line}".rstrip() for line in value.rstrip("\n").split("\n")]
        return [*above, f"{indent}{head} |", *body]
    if flow is not None and len(indent) + len(head) + len(flow) < WIDTH:
        return [*above, f"{indent}{head} {flow}".rstrip()]
    lines = [*above]
    if isinstance(value, Mapping):
        items = [line for k, v in value.items() for line in _entry(f"{scalar(k)}:", v, (*path, k), depth + 1, comments)]
        if head == "-":  # the first key stands beside the dash
            first, *rest = items
            return [*above, f"{indent}- {first.strip()}", *rest]
        return [*lines, f"{indent}{head}", *items]
    if isinstance(value, list):
        lines.append(f"{indent}{head}")
        for i, item in enumerate(value):
            lines += _entry("-", item, (*path, i), depth + 1, comments)
        return lines
    return [*above, f"{indent}{head} {scalar(value)}"]


def _has_comments_inside(path: KeyPath, comments: Comments) -> bool:
    return any(len(p) > len(path) and p[: len(path)] == path for p in comments)


def _flow(value: Any) -> str | None:
    """The value on one line, or None if it needs more."""
    if isinstance(value, Mapping):
        if any(isinstance(v, Mapping | list) and v and isinstance(_first(v), Mapping | list) for v in value.values()):
            return None
        flows = {k: _flow(v) for k, v in value.items()}
        entries = [f"{scalar(k)}: {flow}" for k, flow in flows.items() if flow is not None]
        return "{" + ", ".join(entries) + "}" if len(entries) == len(flows) else None
    if isinstance(value, list):
        inner = [None if isinstance(v, Mapping) else _flow(v) for v in value]
        items = [flow for flow in inner if flow is not None]
        return "[" + ", ".join(items) + "]" if len(items) == len(inner) else None
    if isinstance(value, str) and "\n" in value:
        return None
    return scalar(value)


def _first(value: Mapping[Any, Any] | list[Any]) -> Any:
    return next(iter(value.values() if isinstance(value, Mapping) else value))


def scalar(value: Any) -> str:
    """A value or a key on one line, in quotes where YAML would take it for something else."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value, 12)
    text = str(value)
    plain = re.fullmatch(r"[A-Za-z_](?:[\w. <>=!()+*/-]*[\w.)])?", text, flags=re.ASCII)
    return text if plain and text.lower() not in _OTHER_MEANINGS else json.dumps(text, ensure_ascii=False)
