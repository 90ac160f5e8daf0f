"""The Python interface, from signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from markdown_tables import cell, code, prose, table


def module(name: str, *wanted: str) -> str:
    """The public names of a module (its `__all__`, or those given), one section each."""
    found = import_module(name)
    names = wanted or tuple(n for n in found.__all__ if not n.startswith("_"))
    return "\n".join(_section(name, n, getattr(found, n)) for n in sorted(names, key=str.lower))


def _section(home: str, name: str, thing: Any) -> str:
    parts = [f"### {name} {{#{home}.{name}}}"]
    if inspect.isclass(thing):
        parts += [_signature(name, thing), _doc(thing), _fields(thing), _methods(thing)]
    elif callable(thing):
        parts += [_signature(name, thing), _doc(thing)]
    else:
        parts += [code(repr(thing))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and (issubclass(thing, (Enum, BaseException)) or getattr(thing, "_is_protocol", False)):
        return ""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    marks = _parameters(signature)
    result = "" if inspect.isclass(thing) else _annotation(signature.return_annotation, " -> ")
    text = f"{name}({', '.join(marks)})"
    if len(text + result) > 100:
        text = f"{name}(\n" + "".join(f"    {mark},\n" for mark in marks) + ")"
    return f"```py\n{text}{result}\n```"


def _parameters(signature: inspect.Signature) -> list[str]:
    marks: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            marks.append("*")
            starred = True
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {_value(parameter.default)}"
        marks.append(f"{star}{parameter.name}{_annotation(parameter.annotation, ': ')}{default}")
    return marks


def _annotation(annotation: Any, before: str) -> str:
    """As it is written, without module names."""
    if annotation is inspect.Signature.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return before + re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", text.strip("'"))


def _value(default: Any) -> str:
    if isinstance(default, Enum):
        return f"{type(default).__name__}.{default.name}"
    text = repr(default)
    return "…" if text.startswith("<") else text


def _doc(thing: Any) -> str:
    """The docstring is Markdown already: names in backticks, code indented."""
    own = thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__
    generated = inspect.isclass(thing) and is_dataclass(thing) and (own or "").startswith(f"{thing.__name__}(")
    return "" if not own or generated else prose(inspect.cleandoc(own))


def _fields(thing: type) -> str:
    """Attributes with what is written below them; the members of an enumeration."""
    if issubclass(thing, Enum):
        return table(("member", "value"), [(code(m.name), code(str(m.value))) for m in thing])
    shown_already = is_dataclass(thing)  # in the signature: only those that say more
    rows = [(code(n), code(a), cell(prose(d))) for n, a, d in attributes(thing) if d or not shown_already]
    return table(("attribute", "type", "meaning"), rows) if rows else ""


def attributes(thing: type) -> Iterator[tuple[str, str, str]]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError):
        return
    [definition] = tree.body
    assert isinstance(definition, ast.ClassDef)
    for node, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
            yield node.target.id, ast.unparse(node.annotation), _text_of(after)


def _text_of(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _methods(thing: type) -> str:
    if issubclass(thing, Enum):
        return ""
    rows = []
    for name, member in vars(thing).items():
        member = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        target = member.fget if isinstance(member, property) else member
        shown = name if isinstance(member, property) else f"{name}({', '.join(_names(target))})"
        rows.append((code(shown), cell(prose(inspect.cleandoc(target.__doc__ or "")))))
    return table(("method or property", "meaning"), rows) if rows else ""


def _names(function: Any) -> list[str]:
    marks = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in ("self", "cls"):
            star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            marks.append(f"{star}{parameter.name}" + ("=…" if parameter.default is not parameter.empty else ""))
    return marks
