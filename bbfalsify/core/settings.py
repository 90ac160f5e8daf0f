"""One declaration per setting: name, type, choices, range, default, unit and one sentence.

    class ToySettings(Settings):
        depth: int = setting("Steps of each walk.", default=3, at_least=1)
        rule: str = setting("How walks choose.", default="fair", choices=("fair", "fast"))

Everything else is derived.  `ToySettings(depth=0, rule="fat")` raises a UserError with both problems, and `keys_of`
returns the declarations, from which campaign keys, their JSON Schema, command-line options and the tables of the manual
are made.

Types are int, float, bool, str, Literal, dict, another `Settings`, unions of these, `X | None`, and `tuple[X, ...]`, a
list that is one value.  In a file, other settings may have a list of alternatives: lists multiply into runs.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, dataclass_transform

from bbfalsify.core.errors import UserError, unknown_name
from bbfalsify.core.setting_values import Collected, KeyPath, Notes, Rules, Setting, alternatives, shown, value_of

REQUIRED = dataclasses.MISSING


def setting(sentence: str, *, default: Any = REQUIRED, **rules: Any) -> Any:
    """Declare a field of a `Settings` class; `Rules` explains the keywords.  Without a default it must be given."""
    known = [field.name for field in dataclasses.fields(Rules) if field.name != "sentence"]
    if unknown := [
        unknown_name("keyword", name, known, where=f'of setting("{sentence}")') for name in rules if name not in known
    ]:
        raise UserError(unknown)
    if isinstance(default, list):
        raise UserError(f'setting("{sentence}"): a default is a tuple, not a list.')
    return dataclasses.field(default=default, metadata={"rules": Rules(sentence, **rules)})


def engine_name(name: str) -> Any:
    """Declare the field `kind` of an engine's settings."""
    return setting("The name of the engine.", default=name, choices=(name,), single=True, option=False)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(setting,))
class Settings:
    """Base of every group of settings: a frozen dataclass of keywords, checked when it is made."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    _declared: ClassVar[Mapping[str, Setting]]

    def __init_subclass__(cls, *, kw_only: bool = True) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)
        hints = typing.get_type_hints(cls)
        cls._declared = {field.name: _declared(field, hints[field.name]) for field in dataclasses.fields(cls)}
        cls.__init__ = _with_known_names(cls, cls.__init__)  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        notes = Collected()
        for name, declared in settings_of(type(self)).items():
            object.__setattr__(self, name, value_of(declared, getattr(self, name), (name,), notes))
        if not notes.problems:
            self.note_conflicts((), notes)
        if notes.problems:
            raise UserError(notes.problems)

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Yield settings that do not go together: the key, and a sentence without its subject."""
        yield from ()

    def note_conflicts(self, path: KeyPath, notes: Notes) -> None:
        for key, says in self.conflicts():
            notes.wrong((*path, key), says)

    def as_json(self) -> dict[str, Any]:
        """Return the settings as a file has them."""
        return {name: getattr(self, name) for name in keys_of(type(self))}

    @classmethod
    def read(cls, data: Any, path: KeyPath, notes: Notes) -> list[Self]:
        """Return an instance for each combination of the lists in `data`; none where something is wrong."""
        if not isinstance(data, dict):
            notes.wrong(path, f"must be a mapping of keys to values; found {shown(data)}.")
            return []
        before = len(notes.problems)
        values = read_keys(keys_of(cls), data, path, notes)
        if len(notes.problems) > before:
            return []
        defaults = {name: declared.default for name, declared in settings_of(cls).items()}
        given = {name: values.get(name, [default]) for name, default in defaults.items()}
        found = []
        for point in itertools.product(*given.values()):
            made = object.__new__(cls)  # the values are checked already
            made.__dict__.update(zip(given, point, strict=True))
            made.note_conflicts(path, notes)
            found.append(made)
        return found


def _with_known_names(cls: type[Settings], init: Callable[..., None]) -> Callable[..., None]:
    """Name the closest setting where a keyword is none."""

    @functools.wraps(init)
    def checked(self: Settings, *values: Any, **given: Any) -> None:
        unknown = [unknown_name("setting", name, cls._declared) for name in given if name not in cls._declared]
        if unknown:
            notes = Collected([replace(one, message=f"{cls.__name__}: {one.message}") for one in unknown])
            for name in given.keys() & cls._declared.keys():
                value_of(cls._declared[name], given[name], (name,), notes)
            raise UserError(notes.problems)
        init(self, *values, **given)

    return checked


def settings_of(cls: type[Settings]) -> Mapping[str, Setting]:
    """Return the declarations of a class by name, in their order."""
    return cls._declared


def keys_of(cls: type[Settings]) -> Mapping[str, Setting]:
    """Return the declarations that files may give."""
    return {name: declared for name, declared in settings_of(cls).items() if not declared.rules.internal}


def _declared(field: dataclasses.Field[Any], hint: Any) -> Setting:
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kinds = [kind for kind in (typing.get_args(hint) if union else [hint]) if kind is not types.NoneType]
    plural, literal = typing.get_origin(kinds[0]) is tuple, typing.get_origin(kinds[0]) is typing.Literal
    rules: Rules = field.metadata["rules"]
    if literal:
        rules = dataclasses.replace(rules, choices=typing.get_args(kinds[0]))
    return Setting(
        name=field.name,
        types=typing.get_args(kinds[0])[:1] if plural else (str,) if literal else tuple(kinds),
        optional=union and types.NoneType in typing.get_args(hint),
        plural=plural,
        required=field.default is REQUIRED,
        default=None if field.default is REQUIRED else field.default,
        rules=rules,
    )


def read_keys(
    declared: Mapping[str, Setting], data: Mapping[str, Any], path: KeyPath, notes: Notes
) -> dict[str, list[Any]]:
    """Return the alternatives of every key that is given and right; note the others."""
    values = {}
    for name, one in declared.items():
        before = len(notes.problems)
        if name not in data:
            if one.required:
                notes.wrong((*path, name), "is missing.", allowed=tuple(map(str, one.rules.choices)))
            continue
        found = alternatives(one, data[name], (*path, name), notes)
        if len(notes.problems) == before:
            values[name] = found
    for key in data:
        if key not in declared:
            notes.unknown((*path, key), declared)
    return values
