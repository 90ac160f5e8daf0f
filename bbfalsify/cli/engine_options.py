"""Options made from the declarations of settings, and those that every run has.

    @with_settings(*settings_of_engine("falsify"))
    def falsify(system: …, session: Session) -> int: ...

The command has an option for each setting beside the parameters of the function.  A parameter whose type is a dataclass
of options (`Session`, `ModelChoice`) stands for all of these.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum, StrEnum
from typing import Annotated, Any, get_origin

import typer
from typer.core import TyperCommand

from bbfalsify.cli.exits import ARGUMENTS
from bbfalsify.core.setting_values import Setting
from bbfalsify.core.settings import keys_of
from bbfalsify.registry import ENGINES
from bbfalsify.running.execution import Execution

Command = Callable[..., int]


def settings_of_engine(name: str) -> list[Setting]:
    """Return the settings of an engine and of its execution that the command line has as options."""
    kind = ENGINES.kind(name)
    declared = {**keys_of(kind.named("settings")), **keys_of(Execution)}
    return [one for key, one in declared.items() if one.rules.option and key not in kind.ignores]


def with_settings(*settings: Setting) -> Callable[[Command], Command]:
    """Give a command an option for each setting, and those of every session; `boundary` calls it with `arguments`."""

    def decorate(function: Command) -> Command:
        own = inspect.signature(function, eval_str=True).parameters.values()
        groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
        members = {name: _options_of(group) for name, group in groups.items()}
        first = [q for p in own if p.name != "session" for q in members.get(p.name, [p])]
        parameters = [*first, *map(_parameter, settings), *members["session"]]

        def arguments(values: dict[str, Any]) -> dict[str, Any]:
            options = {one.name: _plain(one, values.pop(one.name)) for one in settings}
            values["given"] = {key: value for key, value in options.items() if value is not None}
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            return values

        keywords = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        function.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        function.__annotations__ = {p.name: p.annotation for p in parameters}
        function.__dict__[ARGUMENTS] = arguments
        return function

    return decorate


def _options_of(group: type) -> list[inspect.Parameter]:
    """Return the members of a dataclass of options, without those that are no option."""
    members = inspect.signature(group, eval_str=True).parameters.values()
    return [p for p in members if get_origin(p.annotation) is Annotated]


def _parameter(one: Setting) -> inspect.Parameter:
    """Return the parameter of a command for a setting; None means that it was not given."""
    rules = one.rules
    kind: Any = one.types[0]
    names = () if rules.short is None else (f"--{one.name.replace('_', '-')}", rules.short)
    if rules.choices and rules.metavar is None:
        kind = _enum(one)
    elif one.plural:
        kind = list[str] if rules.repeated else str
    default = one.default_text
    if one.plural and isinstance(one.default, tuple) and not rules.repeated:  # as it is typed, not as a file has it
        default = default.strip("[]").replace(", ", ",")
    if isinstance(one.default, bool):
        default = "yes" if one.default else "no"
    option = typer.Option(
        *names, help=rules.sentence, metavar=rules.metavar, show_default=default or False, rich_help_panel=rules.panel
    )
    kind, absent = (kind, inspect.Parameter.empty) if one.required else (kind | None, None)
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=absent, annotation=annotation)


def _enum(one: Setting) -> Any:
    make: Any = StrEnum  # typer takes choices as an enumeration
    return make(one.name, [(str(choice), str(choice)) for choice in one.rules.choices])


def _plain(one: Setting, value: Any) -> Any:
    """Return what was given as a campaign file would have it; None where nothing was."""
    if one.plural and not one.rules.repeated and value is not None:
        return [word.strip() for word in value.split(",")]
    return value.value if isinstance(value, Enum) else None if value == [] else value


_LIST, _DEFAULT = re.compile(r"<list\[(\w+)\]>"), re.compile(r"(\[default: )\((.*)\)(?=[;\]])", re.DOTALL)
"""Types and defaults as click writes them, in parentheses of its own."""


def with_whole_precisions(words: list[str]) -> list[str]:
    """Join the two words of `--precision relative 0.1`, which are one value."""
    joined: list[str] = []
    for word in words:
        if len(joined) >= 2 and joined[-1] == "relative" and joined[-2].endswith("precision"):
            joined[-1] = f"relative {word}"
        else:
            joined.append(word)
    return joined


class GroupedCommand(TyperCommand):
    """A command whose help lists its options in groups."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_whole_precisions(args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            panel = getattr(parameter, "rich_help_panel", None)
            panel = panel or ("Arguments" if parameter.param_type_name == "argument" else "Options")
            if record is not None:
                groups.setdefault(panel, []).append((_LIST.sub(r"<\1>", record[0]), _DEFAULT.sub(r"\1\2", record[1])))
        for panel, records in groups.items():
            with formatter.section(panel):
                formatter.write_dl(records)
