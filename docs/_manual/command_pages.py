"""The commands, from the functions that the command line calls: typer reads the same signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from markdown_tables import cell, code, prose, table
from typer.models import ArgumentInfo, OptionInfo

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.main import app

_KINDS = {int: "N", float: "X", str: "TEXT"}


def commands() -> str:
    """A table of all commands, and a section for each."""
    functions = {info.name: info.callback for info in app.registered_commands}
    rows = [(f"[`{name}`](#{name})", cell(_paragraphs(function)[0])) for name, function in functions.items()]
    sections = [_section(name, function) for name, function in functions.items()]
    return "\n".join([table(("command", "does"), rows), *sections])


def exit_codes() -> str:
    """The codes by number; the words are the names of the enumeration."""
    rows = [(str(int(code)), code.name.lower().replace("_", " ")) for code in Exit]
    return table(("code", "meaning"), rows)


def _section(name: str, function: Callable[..., Any]) -> str:
    arguments, options = [], []
    for parameter, kind, info in _parameters(function):
        if isinstance(info, ArgumentInfo):
            arguments.append((code(_argument_name(parameter, kind, info)), cell(info.help or "")))
        elif not info.hidden:
            names = ", ".join(map(code, _option_names(parameter, kind, info)))
            options.append((names, _value(kind, info), _default(parameter, info), cell(info.help or "")))
    words = ["bbfalsify", name, *(row[0].strip("`") for row in arguments), *(["[OPTIONS]"] if options else [])]
    parts = [f"## {name}", f"```text\n{' '.join(words)}\n```", *map(_paragraph, _paragraphs(function))]
    if arguments:
        parts.append(table(("argument", "meaning"), arguments))
    if options:
        parts.append(table(("option", "value", "default", "meaning"), options))
    return "\n\n".join(parts) + "\n"


def _parameters(function: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Any, Any]]:
    """Each parameter with its type and what typer is told about it."""
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        annotation = hints.get(parameter.name, parameter.annotation)
        kind, *more = get_args(annotation) if hasattr(annotation, "__metadata__") else (annotation,)
        info = next((m for m in more if isinstance(m, ArgumentInfo | OptionInfo)), None)
        if info is not None:
            yield parameter, _not_none(kind), info


def _not_none(kind: Any) -> Any:
    inner = [k for k in get_args(kind) if k is not NoneType]
    return inner[0] if NoneType in get_args(kind) and len(inner) == 1 else kind


def _argument_name(parameter: inspect.Parameter, kind: Any, info: ArgumentInfo) -> str:
    name = (info.metavar or parameter.name).upper().strip("[]").removesuffix("...")
    name = f"{name}…" if get_origin(kind) is list else name
    return name if parameter.default is parameter.empty else f"[{name}]"


def _option_names(parameter: inspect.Parameter, kind: Any, info: OptionInfo) -> list[str]:
    # The first name of an option in an annotation stands where the default of one outside of it would.
    declared = [d for d in (info.default, *(info.param_decls or ())) if isinstance(d, str) and d.startswith("-")]
    given = [part.strip() for names in declared for part in names.split("/")]
    name = parameter.name.replace("_", "-")
    return given or ([f"--{name}", f"--no-{name}"] if kind is bool else [f"--{name}"])


def _value(kind: Any, info: OptionInfo) -> str:
    if kind is bool:
        return ""
    kind = get_args(kind)[0] if get_origin(kind) is list else kind
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return " ".join(code(str(choice.value)) for choice in kind)
    return code(info.metavar or _KINDS.get(kind, "PATH"))


def _default(parameter: inspect.Parameter, info: OptionInfo) -> str:
    if parameter.default is parameter.empty:
        return "needed"
    shown = info.show_default if isinstance(info.show_default, str) else parameter.default
    if shown is None or shown is False or shown in ((), []):
        return ""
    return cell("yes" if shown is True else str(getattr(shown, "value", shown)))


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    return re.split(r"\n\s*\n", inspect.cleandoc(function.__doc__ or ""))


def _paragraph(text: str) -> str:
    """A paragraph that typer must not wrap (it begins with \\b) is shown as it is."""
    if text.startswith("\b"):
        return f"```text\n{inspect.cleandoc(text.removeprefix(chr(8)).strip(chr(10)))}\n```"
    return prose(text)
