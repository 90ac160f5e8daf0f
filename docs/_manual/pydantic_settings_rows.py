"""Rows of keys that are declared as pydantic models.

A row is made from the JSON Schema of a field (type, choices, range, default), its `description`, and `unit` in
`json_schema_extra`.  A field without a description takes its sentence from `descriptions.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import yaml
from markdown_tables import code
from pydantic import BaseModel, TypeAdapter

from bbfalsify.campaigns.schema import (
    CAMPAIGN_SECTIONS,
    REQUIRED_SECTIONS,
    ClaimEntry,
    QueryEntry,
    RequirementEntry,
)
from bbfalsify.registry import engine_kind

_MODELS: dict[str, type[BaseModel]] = {
    "requirement about signals": RequirementEntry,
    "requirement about symbols": ClaimEntry,
    "requirement about states": QueryEntry,
}


@dataclass(frozen=True)
class Row:
    key: str
    multiplies: bool
    """A list makes several runs."""
    values: str
    default: str
    required: bool
    unit: str
    sentence: str


def settings_table(name: str) -> list[Row]:
    if name == "campaign":
        return [_section(key, kind) for key, kind in CAMPAIGN_SECTIONS.items()]
    return _of_model(name, _MODELS[name] if name in _MODELS else engine_kind(name).named("settings"))


def _section(key: str, kind: Any) -> Row:
    schema = TypeAdapter(kind).json_schema()
    needed = key in REQUIRED_SECTIONS
    return _row("campaign", key, schema, _multiplies(kind), "", needed, schema.get("$defs", {}))


def _of_model(place: str, model: type[BaseModel]) -> list[Row]:
    schema = model.model_json_schema()
    found = []
    for key, field in model.model_fields.items():
        entry = schema["properties"][key]
        multiplies = _multiplies(field.annotation, field.metadata)
        default = _default(entry.get("default"), multiplies=multiplies)
        found.append(_row(place, key, entry, multiplies, default, field.is_required(), schema.get("$defs", {})))
    return found


def _row(
    place: str, key: str, schema: dict[str, Any], multiplies: bool, default: str, needed: bool, definitions: Any
) -> Row:
    said = schema.get("description") or _descriptions().get(f"{place}.{key}", "")
    return Row(key, multiplies, _values(_one(schema), definitions), default, needed, schema.get("unit", ""), said)


def _multiplies(annotation: Any, metadata: Any = ()) -> bool:
    """Whether a list under this key makes several runs: a list that may also be written as one value."""
    metadata = metadata or getattr(annotation, "__metadata__", ())
    origin = get_origin(getattr(annotation, "__origin__", annotation)) or get_origin(annotation)
    return origin is list and any(type(item).__name__ == "_OneIsEnough" for item in metadata)


def _one(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of one value, where a list of such values is allowed, too."""
    either = schema.get("anyOf", [])
    return either[0] if len(either) == 2 and either[1].get("items") == either[0] else schema


def _default(value: Any, *, multiplies: bool) -> str:
    value = value[0] if multiplies and isinstance(value, list) and len(value) == 1 else value
    if value is None or value == []:
        return "none"
    if value == "":
        return "empty"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(f"{value:g}" if isinstance(value, float) else str(value))


def _values(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "$ref" in schema:
        inner = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        return "{" + ", ".join(f"`{name}`" for name in inner.get("properties", {})) + "}"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " ".join(f"`{choice}`" for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_values(s, definitions) for s in schema["anyOf"] if s.get("type") != "null")
    kind = schema.get("type")
    names = {"integer": "whole number", "number": "number", "boolean": "`true` `false`", "string": "text"}
    if kind == "array":
        return f"list of {_values(schema['items'], definitions)}"
    if kind == "object":
        return "mapping"
    return f"{names.get(kind or '', '')}{_range(schema)}"


def _range(schema: dict[str, Any]) -> str:
    low = f"≥ {schema['minimum']}" if "minimum" in schema else ""
    low = low or (f"> {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else "")
    high = f"≤ {schema['maximum']}" if "maximum" in schema else ""
    return "".join(f" {part}" for part in (low, high) if part)


@cache
def _descriptions() -> dict[str, str]:
    file = Path(__file__).parent / "descriptions.yaml"
    tables = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {f"{place}.{key}": text for place, keys in tables.items() for key, text in keys.items()}
