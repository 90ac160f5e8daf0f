"""Checking one value against the declaration of its setting; every problem is a sentence about its key."""

from __future__ import annotations

import difflib
import math
import numbers
import typing
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from bbfalsify.core.errors import Problem, unknown_name

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Rules:
    """The part of a declaration that an annotation cannot say."""

    sentence: str
    choices: tuple[str | int, ...] = ()
    """Allowed values; dask:ADDRESS stands for every text that begins with dask: and goes on."""
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    unit: str = ""
    absent: str = "none"
    """The meaning of a value that is not given, in a few words."""
    single: bool = False
    """A list of alternatives is refused."""
    internal: bool = False
    """For callers from Python only."""
    option: bool = True
    """The command line has an option of the same name."""
    panel: str = "Options"
    """The group in which the command line lists the option."""
    metavar: str | None = None
    short: str | None = None
    """A second name of the option, such as -j."""
    repeated: bool = False
    """The option of a tuple is repeated; otherwise commas separate its values."""


@dataclass(frozen=True)
class Setting:
    """One declared setting."""

    name: str
    types: tuple[Any, ...]
    """Of one value; several where the annotation is a union."""
    optional: bool
    """None is allowed."""
    plural: bool
    """The value is a tuple."""
    required: bool
    default: Any
    rules: Rules

    @property
    def multiplies(self) -> bool:
        """A list of alternatives makes several runs."""
        return not (self.plural or self.rules.single)

    @property
    def default_text(self) -> str:
        """The default as a file has it, or what it means that there is none."""
        if self.default in (None, ()):
            return "" if self.required else self.rules.absent
        return written(self.default)


class Notes(Protocol):
    """Collector of problems."""

    problems: list[Problem]

    def wrong(self, path: KeyPath, says: str, **facts: Any) -> None:
        """Note a problem with the value at `path`: a sentence without its subject."""

    def unknown(self, path: KeyPath, allowed: Iterable[str]) -> None:
        """Note a key that is not among those allowed."""


@dataclass
class Collected:
    """Problems of values that come from no file."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, path: KeyPath, says: str, **facts: Any) -> None:
        self.problems.append(Problem(f"{dotted(path)} {says}", **facts))

    def unknown(self, path: KeyPath, allowed: Iterable[str]) -> None:
        self.problems.append(unknown_name("key", str(path[-1]), allowed))


def dotted(path: KeyPath) -> str:
    """engine.horizon, requirements[0].stl"""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


def written(value: Any) -> str:
    """Return a value as a file has it: 0.5, fair, [1, 10]."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(written, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def closest_choice(found: Any, choices: Iterable[str | int]) -> dict[str, Any]:
    """Return what a problem says about a value that is no choice: those allowed, and the closest of them."""
    allowed = tuple(map(str, choices))
    close = difflib.get_close_matches(str(found), allowed, n=1, cutoff=0.5)
    return {"allowed": allowed, "closest": close[0] if close and len(allowed) > 1 else None}


def alternatives(declared: Setting, value: Any, path: KeyPath, notes: Notes) -> list[Any]:
    """Return the values of a key in a file, one for each run; several only where the setting multiplies."""
    if not (declared.multiplies and isinstance(value, list)):
        return [value_of(declared, value, path, notes)]
    if not value:
        notes.wrong(path, "must not be empty; found [].")
    return [value_of(declared, item, (*path, index), notes) for index, item in enumerate(value)]


def value_of(declared: Setting, value: Any, path: KeyPath, notes: Notes) -> Any:
    """Return one value as its type, with problems noted."""
    if value is None and declared.optional:
        return None
    if declared.types == (Any,):
        if value is None:
            notes.wrong(path, "must not be empty; found nothing.")
        return value
    if not declared.plural:
        return _one(declared, value, path, notes)
    if not isinstance(value, list | tuple):
        return (_one(declared, value, path, notes),)
    return tuple(_one(declared, item, (*path, index), notes) for index, item in enumerate(value))


def _one(declared: Setting, value: Any, path: KeyPath, notes: Notes) -> Any:
    rules, kind = declared.rules, _kind_of(value, declared.types)
    if rules.choices and kind in (str, int):
        if not any(_is_choice(value, choice) for choice in rules.choices):
            notes.wrong(path, f"cannot be {shown(value)}.", **closest_choice(value, rules.choices))
            return value
        return kind(value)
    before = len(notes.problems)
    typed = _typed(kind, value, path, notes)
    if len(notes.problems) == before:
        says = ""
        if kind in (int, float):
            says = _out_of_range(rules, typed)
        elif kind is str and not typed and declared.default != "":
            says = "must not be empty"
        if says:
            notes.wrong(path, f"{says}; found {shown(value)}.")
    return typed


def _kind_of(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the type of a union that fits the value, or its first."""
    fitting = (kind for kind in kinds if kind is Any or isinstance(value, typing.get_origin(kind) or kind))
    return kinds[0] if len(kinds) == 1 or isinstance(value, bool) else next(fitting, kinds[0])


def _is_choice(value: Any, choice: str | int) -> bool:
    if isinstance(value, bool) or not isinstance(choice, str) or not isinstance(value, str):
        return value == choice and not isinstance(value, bool)
    head, _, rest = choice.partition(":")
    return value == choice or (rest.isupper() and value.startswith(f"{head}:") and len(value) > len(head) + 1)


def _typed(kind: Any, value: Any, path: KeyPath, notes: Notes) -> Any:
    """Return the value as the type; numbers may be text, because YAML 1.1 takes 1e3 for text."""
    if hasattr(kind, "read"):  # other settings
        return next(iter(kind.read(value, path, notes)), None)
    if typing.get_origin(kind) is dict:
        return _mapping(typing.get_args(kind)[1], value, path, notes)
    says = ""
    if kind is int or kind is float:
        value, says = (value, "must be a number") if isinstance(value, bool) else _number(kind, value)
    elif kind is bool and not isinstance(value, bool):
        says = "must be true or false"
    elif kind is str and not isinstance(value, str):
        says = "must be text"
    if says:
        notes.wrong(path, f"{says}; found {shown(value)}.")
    return value


def _number(kind: type, value: Any) -> tuple[Any, str]:
    """Return a number of this kind and "", or the value and what is wrong with it."""
    try:
        if kind is float:
            number = float(value)
            return (number, "") if math.isfinite(number) else (value, "must be finite")
        if isinstance(value, str | numbers.Integral) or (isinstance(value, float) and value.is_integer()):
            return int(value), ""
    except (TypeError, ValueError):
        pass
    return value, "must be a number" if kind is float else "must be a whole number"


def _mapping(kind: Any, value: Any, path: KeyPath, notes: Notes) -> Any:
    if not isinstance(value, dict):
        notes.wrong(path, f"must be a mapping of keys to values; found {shown(value)}.")
        return value
    for key in value:
        if not isinstance(key, str) or not key:
            notes.wrong((*path, key), f"must be text; found {shown(key)}.")
    return {key: _typed(kind, item, (*path, key), notes) for key, item in value.items()}


def _out_of_range(rules: Rules, number: float) -> str:
    if rules.above is not None and number <= rules.above:
        return f"must be greater than {rules.above:g}"
    if rules.at_least is not None and number < rules.at_least:
        return f"must be at least {rules.at_least:g}"
    if rules.at_most is not None and number > rules.at_most:
        return f"must be at most {rules.at_most:g}"
    return ""
