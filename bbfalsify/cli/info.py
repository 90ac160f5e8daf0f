"""bbfalsify info: the ports, units and parameters of a system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bbfalsify.cli.exits import Exit
from bbfalsify.cli.options import AsJson
from bbfalsify.cli.output import print_json, say

if TYPE_CHECKING:
    from bbfalsify.systems import Port
    from bbfalsify.systems.symbols import AnySystem


def info(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="As after --system: a folder, file.py:object, …")],
    as_json: AsJson = False,
) -> int:
    """List the inputs, outputs, parameters and symbols of a system.

    Units and ranges are shown; no use of the system begins.

    \b
    Example:  bbfalsify info adapters/heater
              bbfalsify info pump.fmu
    """
    from bbfalsify.systems import load_system

    facts = facts_about(load_system(system, base=Path()))
    if as_json:
        print_json(facts, allow_nan=False)
        return Exit.NOTHING_FOUND
    declared = ", ".join(k if v is True else f"{k} {v:g}" for k, v in facts["capabilities"].items())
    say(f"{facts['name']} takes {facts['kind']}; declares: {declared or 'nothing special'}")
    rows = [
        (side.removesuffix("s"), row["name"], row["unit"] or "", _range(row), _default(row))
        for side in ("inputs", "outputs", "parameters")
        for row in facts.get(side, ())
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    for *cells, last in rows:
        say("  ".join([*(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)), last]).rstrip())
    if "alphabet" in facts:
        say(f"symbols: {', '.join(facts['alphabet'])}")
    return Exit.NOTHING_FOUND


def facts_about(system: AnySystem) -> dict[str, Any]:
    """Return what a system declares, ready for JSON."""
    from dataclasses import asdict

    from bbfalsify.systems import SymbolSystem
    from bbfalsify.systems.parameters import parameters_of

    declared = {name: value for name, value in asdict(system.capabilities).items() if value not in (False, None)}
    facts: dict[str, Any] = {"name": system.name, "kind": "signals", "capabilities": declared}
    if isinstance(system, SymbolSystem):
        facts |= {"kind": "symbols", "alphabet": list(system.alphabet)}
    else:
        facts |= {"inputs": _ports(system.inputs), "outputs": _ports(system.outputs)}
    parameters = parameters_of(system).items()
    facts["parameters"] = [
        {"name": name, "unit": p.unit, "low": _finite(p.low), "high": _finite(p.high), "default": p.default}
        for name, p in parameters
    ]
    return facts


def _ports(ports: Sequence[Port]) -> list[dict[str, Any]]:
    return [{"name": p.name, "unit": p.unit, "low": _finite(p.low), "high": _finite(p.high)} for p in ports]


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _range(row: dict[str, Any]) -> str:
    low, high = (("" if row[end] is None else f"{row[end]:g}") for end in ("low", "high"))
    return f"{low or '…'} to {high or '…'}" if low or high else ""


def _default(row: dict[str, Any]) -> str:
    return "" if row.get("default") is None else f"default {row['default']:g}"
