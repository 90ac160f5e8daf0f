"""Tables of campaign keys, from the models that read the files.

A key's row is made from its JSON Schema (type, choices, range, default), from `description`, and from `unit` in
`json_schema_extra`.  A key that the model does not describe yet takes its sentence from `descriptions.yaml`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, get_origin

import yaml
from markdown_tables import cell, code, table
from pydantic import BaseModel, TypeAdapter

from bbfalsify.campaigns.json_schema import schema_of
from bbfalsify.campaigns.schema import (
    CAMPAIGN_SECTIONS,
    REQUIRED_SECTIONS,
    ClaimEntry,
    QueryEntry,
    RequirementEntry,
)
from bbfalsify.registry import ENGINES

REQUIREMENTS: dict[str, type[BaseModel]] = {"signals": RequirementEntry, "symbols": ClaimEntry, "states": QueryEntry}
HEADS = ("key", "default", "values", "meaning")


def engines() -> str:
    rows = [
        (f"[`{name}`](#engine-{name})", cell(kind.says), ", ".join(map(code, kind.needs)), kind.about)
        for name, kind in ENGINES.built_in.items()
    ]
    return table(("engine", "does", "needs", "requirements are about"), rows)


def sections() -> str:
    rows = []
    for name, kind in CAMPAIGN_SECTIONS.items():
        schema = TypeAdapter(kind).json_schema()
        default = "needed" if name in REQUIRED_SECTIONS else ""
        rows.append(_row("campaign", name, schema, multiplies=_multiplies(kind), default=default))
    return table(HEADS, rows)


def requirement(about: str) -> str:
    return _of_model(f"requirement about {about}", REQUIREMENTS[about])


def settings(engine: str) -> str:
    return _of_model(engine, ENGINES.kind(engine).named("settings"))


def schemas(what: str) -> str:
    return f"```json\n{json.dumps(schema_of(what, ENGINES), indent=2)}\n```"


def missing() -> list[str]:
    """Keys with no sentence or with two, and sentences without a key; empty when all is well."""
    told, used = [], set()
    for place, name, schema in every_key():
        fallback = f"{place}.{name}" in _descriptions()
        own = "description" in schema
        used.add(f"{place}.{name}")
        if own == fallback:
            told.append(f"{place}.{name} is described {'twice' if own else 'nowhere'}")
    return told + [f"{key} is no key any more" for key in _descriptions() if key not in used]


def every_key() -> list[tuple[str, str, dict[str, Any]]]:
    found = [("campaign", name, TypeAdapter(kind).json_schema()) for name, kind in CAMPAIGN_SECTIONS.items()]
    models = {f"requirement about {about}": model for about, model in REQUIREMENTS.items()}
    models |= {name: kind.named("settings") for name, kind in ENGINES.built_in.items()}
    for place, model in models.items():
        found += [(place, name, schema) for name, schema in model.model_json_schema()["properties"].items()]
    return found


def _of_model(place: str, model: type[BaseModel]) -> str:
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    rows = []
    for name, field in model.model_fields.items():
        entry = {**schema["properties"][name]}
        multiplies = _multiplies(field.annotation, field.metadata)
        default = "needed" if field.is_required() else _default(entry.get("default"), multiplies=multiplies)
        rows.append(_row(place, name, entry, multiplies=multiplies, default=default, definitions=definitions))
    return table(HEADS, rows)


def _row(
    place: str,
    name: str,
    schema: dict[str, Any],
    *,
    multiplies: bool,
    default: str,
    definitions: dict[str, Any] | None = None,
) -> tuple[str, ...]:
    definitions = definitions or schema.get("$defs", {})
    said = schema.get("description") or _descriptions().get(f"{place}.{name}", "")
    unit = f" ({schema['unit']})" if "unit" in schema else ""
    key = f"{code(name)} ×" if multiplies else code(name)
    return key, default, cell(_values(_one(schema), definitions)) + unit, cell(said)


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
    return code(
        str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    )


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
    tables = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {f"{place}.{key}": text for place, keys in tables.items() for key, text in keys.items()}
