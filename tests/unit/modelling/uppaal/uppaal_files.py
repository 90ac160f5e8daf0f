"""Small UPPAAL files, and what the reader says about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bbfalsify.core.errors import UserError
from bbfalsify.modelling import Network, load_model

DOCTYPE = (
    "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' "
    "'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>"
)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def xml_model(
    *, declarations: str = "", parameters: str = "", local: str = "", guard: str = "", sync: str = "", select: str = "",
    update: str = "", invariant: str = "", system: str = "system P;", more: str = "",
) -> str:  # fmt: skip
    """One template P with the locations A and B and an edge between them; the labels stand on known lines."""
    return f"""<?xml version="1.0" encoding="utf-8"?>
{DOCTYPE}
<nta>
<declaration>{escaped(declarations)}</declaration>
<template><name x="5" y="5">P</name><parameter>{escaped(parameters)}</parameter>
<declaration>{escaped(local)}</declaration>
<location id="id0" x="0" y="0"><name x="1" y="1">A</name>
<label kind="invariant">{escaped(invariant)}</label></location>
<location id="id1"><name>B</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/>
<label kind="select">{escaped(select)}</label>
<label kind="guard">{escaped(guard)}</label>
<label kind="synchronisation">{escaped(sync)}</label>
<label kind="assignment">{escaped(update)}</label><nail x="1" y="2"/></transition>
{more}</template>
<system>{escaped(system)}</system>
</nta>
"""


LINES = {"declarations": 4, "parameters": 5, "local": 6, "invariant": 8, "select": 12, "guard": 13, "sync": 14}
LINES |= {"update": 15, "system": 17}


def read(folder: Path, text: str, name: str = "model.xml") -> Network:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return load_model(file)[0]


def problems(folder: Path, text: str, name: str = "model.xml") -> list[tuple[int | None, str]]:
    with pytest.raises(UserError) as caught:
        read(folder, text, name)
    assert {Path(p.file).name for p in caught.value.problems} == {name}
    return [(p.line, p.message) for p in caught.value.problems]
