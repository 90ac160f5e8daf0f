"""Settings after the `?` of a reference to a system.

    house.fmu?outputs=room.T,speed:der(x)&step=0.01&set.mass=3.5
    plant.py:cart?set.mass=3.5

`set.NAME` gives a parameter (of an FMU also any start value) another default.  `inputs`, `outputs` and `step` are for
FMUs; `port:variable` names a port.  A letter that means something here (`&`, `,`, `=`, `:`) is written as in a web
address: `%26`, `%2C`, `%3D`, `%3A`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from bbfalsify.core.errors import Problem, UserError, unknown_name

SET = "set."
_PORTS = ("inputs", "outputs")
_LIST_SEPARATOR = re.compile(r",(?![^\[]*\])")
"""A comma, but not one between the indices of m[0,1]."""


@dataclass(frozen=True)
class ReferenceSettings:
    inputs: Mapping[str, str] | None = None
    """Port → variable."""
    outputs: Mapping[str, str] | None = None
    step: float | None = None
    values: Mapping[str, float | str] = field(default_factory=dict)
    """Parameters; a text is for an FMU's variable of type String."""

    def numbers(self) -> dict[str, float]:
        """The values, where only numbers are allowed."""
        wrong = [
            Problem(f"'{SET}{name}={value}': expected a number.")
            for name, value in self.values.items()
            if isinstance(value, str)
        ]
        if wrong:
            raise UserError(wrong)
        return {name: float(value) for name, value in self.values.items()}


def split_reference(text: str) -> tuple[str, ReferenceSettings]:
    """Split a reference at its `?`; report all mistakes in the settings at once."""
    place, mark, written = text.partition("?")
    if not mark:
        return text, ReferenceSettings()
    is_fmu = place.lower().endswith(".fmu")
    problems: list[Problem] = []
    lists: dict[str, dict[str, str]] = {}
    values: dict[str, float | str] = {}
    step = None
    seen: set[str] = set()
    for setting in written.split("&"):
        key, equals, value = setting.partition("=")
        key = unquote(key).strip()
        if not equals or not key or not value.strip():
            problems.append(Problem(f"'{setting}' after the '?' of '{place}': expected KEY=VALUE."))
        elif key in seen:
            problems.append(Problem(f"'{key}' is given twice after the '?' of '{place}'."))
        elif key.startswith(SET) and key != SET:
            values[key.removeprefix(SET)] = _number_or_text(unquote(value).strip())
        elif is_fmu and key in _PORTS:
            lists[key] = dict(map(_port, _LIST_SEPARATOR.split(value)))
        elif is_fmu and key == "step":
            step = _step(unquote(value), problems)
        else:
            allowed = (*(_PORTS if is_fmu else ()), *(("step",) if is_fmu else ()), f"{SET}NAME")
            problems.append(unknown_name("setting", key, allowed, where=f"after the '?' of '{place}'"))
        seen.add(key)
    if problems:
        raise UserError(problems)
    return place, ReferenceSettings(lists.get("inputs"), lists.get("outputs"), step, values)


def _port(item: str) -> tuple[str, str]:
    port, colon, variable = item.partition(":")
    name = unquote(port).strip()
    return (name, unquote(variable).strip()) if colon else (name, name)


def _step(text: str, problems: list[Problem]) -> float | None:
    value = _number_or_text(text)
    if isinstance(value, float) and value > 0:
        return value
    problems.append(Problem(f"'step={text}': expected a positive number."))
    return None


def _number_or_text(text: str) -> float | str:
    if text in ("true", "false"):
        return float(text == "true")
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) and "_" not in text else text
