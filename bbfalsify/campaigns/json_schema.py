"""The JSON Schema of campaign files, for editors: completion, explanations, and red lines while typing.

It is made from the declarations that the reader uses, so both allow the same shapes.  What only a reader can know (does
the file exist, does the formula parse) is not in it.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

from bbfalsify.campaigns.schema import (
    CAMPAIGN_SECTIONS,
    FORMS,
    SPECIFICATION_SECTIONS,
    ClaimEntry,
    QueryEntry,
    RequirementEntry,
)
from bbfalsify.core.setting_values import Setting
from bbfalsify.core.settings import Settings, keys_of
from bbfalsify.registry import engine_kind, engine_names

SCHEMAS = ("campaign", "specification")
_REQUIREMENTS = (RequirementEntry, ClaimEntry, QueryEntry)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def schema_of(what: str) -> dict[str, Any]:
    """Return the schema of a campaign or of a specification file."""
    entries = [_record(entry) for entry in _REQUIREMENTS]
    if what == "campaign":
        engine = {"oneOf": [_record(engine_kind(name).named("settings")) for name in engine_names()]}
        requirement = {"anyOf": [{"type": "string"}, *entries]}
        sections, special = CAMPAIGN_SECTIONS, {"engine": _or_list(engine), "requirements": _or_list(requirement)}
    else:
        requirements = {"type": "array", "minItems": 1, "items": {"anyOf": entries}}
        sections, special = SPECIFICATION_SECTIONS, {"requirements": requirements}
    return {"$schema": _DRAFT, "title": f"A {what} of bbfalsify", **_mapping(sections, special)}


def _mapping(declared: Mapping[str, Setting], special: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of a mapping with these keys; the name of an engine must always be given."""
    return {
        "type": "object",
        "properties": {name: {**_of(one), **(special or {}).get(name, {})} for name, one in declared.items()},
        "required": [name for name, one in declared.items() if one.required or name == "kind"],
        "additionalProperties": False,
    }


def _record(cls: type[Settings]) -> dict[str, Any]:
    forms = {"oneOf": [{"required": [form]} for form in FORMS]} if cls is ClaimEntry else {}
    return {"title": cls.__name__, "description": cls.__doc__ or "", **_mapping(keys_of(cls)), **forms}


def _of(one: Setting) -> dict[str, Any]:
    """Return the schema of a key, with its default and its sentence."""
    schema = _value(one)
    if one.multiplies:
        schema = _or_list(schema)
    elif one.plural:
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]}
    told = {"description": one.rules.sentence}
    if one.rules.unit:
        told["unit"] = one.rules.unit
    if not one.required and (one.default is not None or one.optional):
        schema = {**schema, "default": list(one.default) if one.plural else one.default}
    return {**schema, **told}


def _value(one: Setting) -> dict[str, Any]:
    """Return the schema of a single value."""
    kinds = [_kind(kind, one) for kind in one.types if kind is not Any]
    kinds = [kind for kind in kinds if kind] + ([{"type": "null"}] if one.optional else [])
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}


def _kind(kind: Any, one: Setting) -> dict[str, Any]:
    rules = one.rules
    if typing.get_origin(kind) is dict:
        return {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Settings):
        return _record(kind)
    if rules.choices and kind in (int, str):
        listed = [choice for choice in rules.choices if not str(choice).partition(":")[2].isupper()]
        begun = [f"^{str(choice).partition(':')[0]}:.+" for choice in rules.choices if choice not in listed]
        return {"anyOf": [{"enum": listed}, *({"pattern": text} for text in begun)]} if begun else {"enum": listed}
    if kind not in _TYPES:
        return {}  # objects that only callers from Python give
    ranges = {"minimum": rules.at_least, "exclusiveMinimum": rules.above, "maximum": rules.at_most}
    bounds = {word: limit for word, limit in ranges.items() if limit is not None} if kind in (int, float) else {}
    least = {"minLength": 1} if kind is str and one.default != "" else {}
    return {"type": _TYPES[kind], **bounds, **least}


def _or_list(item: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "array", "minItems": 1, "items": item}]}
