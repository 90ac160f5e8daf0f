"""The JSON Schema of profiles and models in YAML, for editors: completion, and red lines while typing.

Keys come from the tables that the reader uses, so both allow the same ones.  Formulas, guards and names are texts here;
only the reader knows what may stand in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bbfalsify.modelling.formats.yaml_reader import (
    AUTOMATON_KEYS,
    BRANCH_KEYS,
    EDGE_KEYS,
    FORMAT_VERSION,
    LOCATION_KEYS,
    TOP_KEYS,
    VALUE_KEYS,
)
from bbfalsify.modelling.profiles.laws import LAW_KEYS
from bbfalsify.modelling.profiles.signal_spaces import SIGNAL_KEYS

Schema = dict[str, Any]

_TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""YAML reads a guard such as `true` or a weight such as `3` as other types."""
_TRUTH: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_NUMBERS: Schema = {"type": "array", "items": _NUMBER}
_UNIT: Schema = {"type": "string", "description": "A unit such as m/s; '1' for a pure number."}


def profile_schema() -> Schema:
    """Return the schema of a profile, or of a model."""
    branch = _record(BRANCH_KEYS)
    edge = _record(EDGE_KEYS, {"branches": _list(branch)}, required=("from",))
    location = {
        "anyOf": [{"type": "null"}, _record(LOCATION_KEYS, {"rates": _texts(), "urgent": _TRUTH, "committed": _TRUTH})]
    }
    automaton = _record(
        AUTOMATON_KEYS, {"locations": _named(location), "edges": _list(edge)}, required=("initial", "locations")
    )
    laws = {key: _NUMBERS for key in LAW_KEYS} | {"exponential": _NUMBER | {"type": ["number", "array"]}, "unit": _UNIT}
    law = _record((*LAW_KEYS, "unit"), laws)
    signal = _record(SIGNAL_KEYS, {**laws, "every": _NUMBER, "pieces": {"type": "integer"}})
    driven = _record(("actions", "initial", "value", "unit"), {"actions": _named(_NUMBER), "unit": _UNIT})
    special: dict[str, Schema] = {
        "format_version": {"const": FORMAT_VERSION},
        "dialect": {"const": "uppaal"},
        "ode_step": {"type": "number", "exclusiveMinimum": 0},
        "automata": _named(automaton) | {"minProperties": 1},
        "instances": _list(_TEXT),
        "system": _list(_TEXT),
        "priorities": _record(("channels", "processes")),
        "alphabets": _texts(),
        "queries": _list({"anyOf": [_TEXT, _record(("query", "comment"), required=("query",))]}),
        "inputs": _named(driven),
        "outputs": _named({"anyOf": [{"type": "null"}, _record(("unit",), {"unit": _UNIT})]}),
        "uncertainty": {"type": "object"},
        "signals": _named({"anyOf": [signal, {"type": ["number", "array"]}]}),
        "parameters": _named({"anyOf": [law, {"type": ["number", "array"]}]}),
        "ports": {"type": "object"},
    }
    top = _record(TOP_KEYS, special, required=("format_version", "name"))
    subjects = [{"required": [key]} for key in ("automata", "model", *VALUE_KEYS)]
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A profile or model of bbfalsify"}
    return {**about, **top, "anyOf": subjects}


def _record(keys: Iterable[str], special: Mapping[str, Schema] | None = None, required: Iterable[str] = ()) -> Schema:
    """Return the schema of a mapping with these keys; those without a schema of their own are texts."""
    properties = {key: (special or {}).get(key, _TEXT) for key in keys}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _named(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def _texts() -> Schema:
    return _named(_TEXT)


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}
