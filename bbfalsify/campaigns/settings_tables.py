"""Tables of keys for the manual, made from the declarations that the reader uses.

for row in settings_table("falsify"):
    row.key, row.values, row.default, row.unit, row.sentence
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bbfalsify.campaigns.schema import (
    CAMPAIGN_SECTIONS,
    SPECIFICATION_SECTIONS,
    ClaimEntry,
    QueryEntry,
    RequirementEntry,
)
from bbfalsify.core.setting_values import Setting
from bbfalsify.core.settings import Settings, keys_of
from bbfalsify.registry import engine_kind, engine_names

_GROUPS: dict[str, Mapping[str, Setting]] = {
    "campaign": CAMPAIGN_SECTIONS,
    "specification": SPECIFICATION_SECTIONS,
    "requirement about signals": keys_of(RequirementEntry),
    "requirement about symbols": keys_of(ClaimEntry),
    "requirement about states": keys_of(QueryEntry),
}
_WORDS = {int: "whole number", float: "number", bool: "true or false", str: "text", dict: "mapping"}


@dataclass(frozen=True)
class Row:
    key: str
    multiplies: bool
    """A list of alternatives makes several runs."""
    values: str
    """The choices, or the type with its range."""
    choices: tuple[str, ...]
    default: str
    """As a file has it, or what it means that nothing is given; empty where something must be given."""
    required: bool
    unit: str
    sentence: str


def tables() -> list[str]:
    """Return the names of all tables: files, requirements, and every engine."""
    return [*_GROUPS, *engine_names()]


def settings_table(name: str) -> list[Row]:
    """Return the keys of an engine, or of another of `tables()`, in their order."""
    declared = _GROUPS[name] if name in _GROUPS else keys_of(engine_kind(name).named("settings"))
    return [_row(one) for one in declared.values()]


def _row(one: Setting) -> Row:
    required = one.required or one.name == "kind"
    default = "" if required else one.default_text
    rules, choices = one.rules, tuple(map(str, one.rules.choices))
    return Row(one.name, one.multiplies, _values(one), choices, default, required, rules.unit, rules.sentence)


def _values(one: Setting) -> str:
    if one.rules.choices:
        text = ", ".join(map(str, one.rules.choices))
    else:
        text = " or ".join(word for kind in one.types if (word := _word(kind, one)))
    return f"list of {text}" if one.plural else text


def _word(kind: Any, one: Setting) -> str:
    if isinstance(kind, type) and issubclass(kind, Settings):
        return f"{{{', '.join(keys_of(kind))}}}"
    rules = one.rules
    limits = [(rules.above, ">"), (rules.at_least, "≥"), (rules.at_most, "≤")] if kind in (int, float) else []
    bounds = "".join(f" {sign} {limit:g}" for limit, sign in limits if limit is not None)
    return f"{_WORDS.get(typing.get_origin(kind) or kind, '')}{bounds}"
