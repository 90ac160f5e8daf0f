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
from bbfalsify.core.engine_kind import Engines
from bbfalsify.core.setting_values import Setting
from bbfalsify.core.settings import Settings, keys_of

_REQUIREMENTS: tuple[type[Settings], ...] = (RequirementEntry, ClaimEntry, QueryEntry)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def schema_of(what: str, engines: Engines) -> dict[str, Any]:
    """Return the schema of a campaign or of a specification file."""
    models: list[type[Settings]] = []
    sections: Mapping[str, Setting] = SPECIFICATION_SECTIONS
    entries = [_reference(entry) for entry in _REQUIREMENTS]
    special = {"requirements": {"type": "array", "minItems": 1, "items": {"anyOf": entries}}}
    if what == "campaign":
        models = [engines.kind(name).named("settings") for name in engines.names()]
        sections = CAMPAIGN_SECTIONS
        special = {
            "engine": _or_list({"oneOf": [_reference(model) for model in models]}),
            "requirements": _or_list({"anyOf": [{"type": "string"}, *entries]}),
        }
    definitions = {cls.__name__: _record(cls) for cls in (*_REQUIREMENTS, *models)}
    top = {"$schema": _DRAFT, "title": f"A {what} of bbfalsify"}
    return {**top, **_mapping(sections, special), "$defs": definitions}


def _reference(cls: type[Settings]) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{cls.__name__}"}


def _record(cls: type[Settings]) -> dict[str, Any]:
    forms = {"oneOf": [{"required": [form]} for form in FORMS]} if cls is ClaimEntry else {}
    return {"description": cls.__doc__ or "", **_mapping(keys_of(cls), {}), **forms}


def _mapping(declared: Mapping[str, Setting], special: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a mapping with these keys; the name of an engine must always be given."""
    return {
        "type": "object",
        "properties": {name: {**key_schema(one), **special.get(name, {})} for name, one in declared.items()},
        "required": [name for name, one in declared.items() if one.required or name == "kind"],
        "additionalProperties": False,
    }


def key_schema(one: Setting) -> dict[str, Any]:
    """Return the schema of a key, with its default, unit and sentence."""
    schema = value_schema(one)
    if one.multiplies:
        schema = _or_list(schema)
    elif one.plural:
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]}
    if not one.required and (one.default is not None or one.optional):
        schema = {**schema, "default": list(one.default) if one.plural else one.default}
    unit = {"unit": one.rules.unit} if one.rules.unit else {}
    return {**schema, **unit, "description": one.rules.sentence}


def value_schema(one: Setting) -> dict[str, Any]:
    """Return the schema of a single value."""
    kinds = [schema for kind in one.types if (schema := _kind(kind, one))]
    kinds += [{"type": "null"}] if one.optional else []
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}


def _kind(kind: Any, one: Setting) -> dict[str, Any]:
    rules = one.rules
    if typing.get_origin(kind) is dict:
        return {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Settings):
        return _record(kind)
    if rules.choices and kind in (int, str):
        open_ended = [str(choice) for choice in rules.choices if str(choice).partition(":")[2].isupper()]
        listed = {"enum": [choice for choice in rules.choices if choice not in open_ended]}
        patterns = [{"pattern": f"^{choice.partition(':')[0]}:.+"} for choice in open_ended]
        return {"anyOf": [listed, *patterns]} if patterns else listed
    if kind not in _TYPES:
        return {}  # anything, or objects that only callers from Python give
    ranges = {"minimum": rules.at_least, "exclusiveMinimum": rules.above, "maximum": rules.at_most}
    bounds = {word: limit for word, limit in ranges.items() if limit is not None} if kind in (int, float) else {}
    least = {"minLength": 1} if kind is str and one.default != "" else {}
    return {"type": _TYPES[kind], **bounds, **least}


def _or_list(item: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "array", "minItems": 1, "items": item}]}
