"""The JSON Schema of campaign files, for editors: completion, explanations, and red lines while typing.

It is made from the very models that the reader uses, so both allow the same shapes.  What only a reader can know (does
the file exist, does the formula parse) is not in it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, TypeAdapter

from bbfalsify.campaigns.schema import (
    CAMPAIGN_SECTIONS,
    REQUIRED_SECTIONS,
    SPECIFICATION_SECTIONS,
    ClaimEntry,
    QueryEntry,
    RequirementEntry,
)
from bbfalsify.core.engine_kind import Engines

SCHEMAS = ("campaign", "specification")
_REQUIREMENTS = (RequirementEntry, ClaimEntry, QueryEntry)
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(what: str, engines: Engines) -> dict[str, Any]:
    """Return the schema of a campaign or a specification file."""
    return _campaign(engines) if what == "campaign" else _specification()


def _campaign(engines: Engines) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    engine = {"oneOf": [_of(engines.kind(name).named("settings"), definitions) for name in engines.names()]}
    entries = [_of(entry, definitions) for entry in _REQUIREMENTS]
    requirement = {"anyOf": [{"type": "string"}, *entries]}
    special = {"engine": _one_or_more(engine), "requirements": _one_or_more(requirement)}
    return _document("campaign", CAMPAIGN_SECTIONS, REQUIRED_SECTIONS, special, definitions)


def _specification() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    entries = [_of(entry, definitions) for entry in _REQUIREMENTS]
    special = {"requirements": {"type": "array", "minItems": 1, "items": {"anyOf": entries}}}
    required = ("format_version", "requirements")
    return _document("specification", SPECIFICATION_SECTIONS, required, special, definitions)


def _document(
    what: str, sections: dict[str, Any], required: tuple[str, ...], special: dict[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    properties = {name: special.get(name) or _of(kind, definitions) for name, kind in sections.items()}
    return {
        "$schema": _DRAFT,
        "title": f"A {what} of bbfalsify",
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        "$defs": definitions,
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(ref_template="#/$defs/{model}")
    definitions.update(schema.pop("$defs", {}))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        definitions[kind.__name__] = schema
        return {"$ref": f"#/$defs/{kind.__name__}"}
    return schema


def _one_or_more(item: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "array", "minItems": 1, "items": item}]}
