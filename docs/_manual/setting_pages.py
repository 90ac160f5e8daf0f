"""Tables of campaign keys, from the declarations that read the files (`bbfalsify.campaigns.settings_tables`)."""

from __future__ import annotations

import json

from markdown_tables import cell, code, prose, table

from bbfalsify.campaigns.json_schema import schema_of
from bbfalsify.campaigns.settings_tables import Row, settings_table
from bbfalsify.registry import ENGINES

HEADS = ("key", "", "default", "values", "meaning")


def engines() -> str:
    rows = [
        (f"[`{name}`](#engine-{name})", cell(kind.says), ", ".join(map(code, kind.needs)), kind.about)
        for name, kind in ENGINES.items()
    ]
    return table(("engine", "does", "needs", "requirements are about"), rows)


def sections() -> str:
    return settings("campaign")


def requirement(about: str) -> str:
    return settings(f"requirement about {about}")


def settings(name: str) -> str:
    return table(HEADS, map(_row, settings_table(name)))


def schemas(what: str) -> str:
    return f"```json\n{json.dumps(schema_of(what), indent=2)}\n```"


def _row(row: Row) -> tuple[str, ...]:
    values = " ".join(map(code, row.choices)) if row.choices else cell(row.values)
    unit = f" ({row.unit})" if row.unit else ""
    default = "needed" if row.required else cell(row.default)
    return code(row.key), "×" if row.multiplies else "", default, values + unit, cell(prose(row.sentence))
