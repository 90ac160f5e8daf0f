"""Units of inputs and outputs: checked for equality, never converted silently.

A unit is "1" (no dimension) or a product of known symbols: `degC`, `km/h`, `m/s^2`, `kg*m^2`.  Two ports fit together
when they say the same unit; a port without a unit fits everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from bbfalsify.core.errors import Problem, unknown_name

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "1": "a plain number",
        "%": "per cent",
        "s": "second",
        "ms": "millisecond",
        "us": "microsecond",
        "ns": "nanosecond",
        "min": "minute",
        "h": "hour",
        "d": "day",
        "m": "metre",
        "mm": "millimetre",
        "cm": "centimetre",
        "km": "kilometre",
        "mi": "mile",
        "ft": "foot",
        "g": "gram",
        "kg": "kilogram",
        "l": "litre",
        "K": "kelvin",
        "degC": "degree Celsius",
        "degF": "degree Fahrenheit",
        "rad": "radian",
        "deg": "degree of angle",
        "rev": "revolution",
        "rpm": "revolutions per minute",
        "mph": "miles per hour",
        "Hz": "hertz",
        "N": "newton",
        "Pa": "pascal",
        "kPa": "kilopascal",
        "bar": "bar",
        "J": "joule",
        "kJ": "kilojoule",
        "kWh": "kilowatt hour",
        "W": "watt",
        "kW": "kilowatt",
        "V": "volt",
        "A": "ampere",
        "ohm": "ohm",
        "mol": "mole",
        "cd": "candela",
        "lx": "lux",
        "B": "byte",
        "bit": "bit",
    }
)

_FACTOR = re.compile(r"(?P<symbol>[^\^]+?)(\^-?\d+)?")


def check_unit(unit: str | None, *, file: str | None = None, line: int | None = None) -> Problem | None:
    """The problem with a unit, or None."""
    if unit is None:
        return None
    for factor in re.split(r"[*/]", unit):
        match = _FACTOR.fullmatch(factor.strip())
        symbol = match["symbol"] if match else factor.strip()
        if symbol not in UNITS:
            where = "" if symbol == unit else f"in '{unit}'"
            return unknown_name("unit", symbol, UNITS, file=file, line=line, where=where)
    return None
