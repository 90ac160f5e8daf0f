"""Tables of campaign keys, from the declarations that the reader of campaign files uses."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

from markdown_tables import cell, code, table

from bbfalsify.campaigns.json_schema import schema_of
from bbfalsify.registry import ENGINES

if find_spec("bbfalsify.campaigns.settings_tables") is not None:
    from bbfalsify.campaigns.settings_tables import settings_table
else:  # keys are declared as pydantic models
    from pydantic_settings_rows import settings_table

HEADS = ("key", "default", "values", "meaning")
REQUIREMENTS = ("signals", "symbols", "states")


def engines() -> str:
    rows = [
        (f"[`{name}`](#engine-{name})", cell(kind.says), ", ".join(map(code, kind.needs)), kind.about)
        for name, kind in ENGINES.items()
    ]
    return table(("engine", "does", "needs", "requirements are about"), rows)


def sections() -> str:
    return _table("campaign")


def requirement(about: str) -> str:
    return _table(f"requirement about {about}")


def settings(engine: str) -> str:
    return _table(engine)


def schemas(what: str) -> str:
    return f"```json\n{json.dumps(schema_of(what), indent=2)}\n```"


def missing() -> list[str]:
    """Keys that no sentence describes; empty when all is well."""
    names = ["campaign", *(f"requirement about {about}" for about in REQUIREMENTS), *ENGINES]
    return [f"{name}.{row.key}" for name in names for row in settings_table(name) if not row.sentence]


def _table(name: str) -> str:
    return table(HEADS, map(_cells, settings_table(name)))


def _cells(row: Any) -> tuple[str, ...]:
    key = f"{code(row.key)} ×" if row.multiplies else code(row.key)
    values = cell(row.values) + (f" ({row.unit})" if row.unit else "")
    return key, "needed" if row.required else cell(row.default), values, cell(row.sentence)
