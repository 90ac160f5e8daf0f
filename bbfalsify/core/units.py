"""Table of the physical units of inputs and outputs, to find misspelt ones.

Units are labels; nothing is converted.
"""

from __future__ import annotations

from bbfalsify.core.errors import Problem, unknown_name

UNITS: dict[str, str] = {
    "1": "without unit", "%": "per cent",
    "s": "second", "ms": "millisecond", "us": "microsecond", "min": "minute", "h": "hour", "d": "day", "Hz": "hertz",
    "kHz": "kilohertz",
    "degC": "degree Celsius", "degF": "degree Fahrenheit", "K": "kelvin",
    "m": "metre", "mm": "millimetre", "cm": "centimetre", "km": "kilometre", "ft": "foot", "mi": "mile",
    "m/s": "metre per second", "m/s2": "metre per second squared", "km/h": "kilometre per hour",
    "mph": "mile per hour", "kn": "knot", "ft/s": "foot per second",
    "rad": "radian", "deg": "degree", "rad/s": "radian per second", "deg/s": "degree per second",
    "rpm": "revolutions per minute",
    "kg": "kilogram", "g": "gram", "t": "tonne", "kg/s": "kilogram per second",
    "l": "litre", "m2": "square metre", "m3": "cubic metre", "l/s": "litre per second",
    "m3/s": "cubic metre per second",
    "N": "newton", "Nm": "newton metre", "Pa": "pascal", "kPa": "kilopascal", "bar": "bar",
    "J": "joule", "kJ": "kilojoule", "kWh": "kilowatt hour", "W": "watt", "kW": "kilowatt", "MW": "megawatt",
    "V": "volt", "mV": "millivolt", "A": "ampere", "mA": "milliampere", "Ohm": "ohm", "F": "farad", "H": "henry",
    "T": "tesla",
    "lx": "lux", "mol": "mole", "mol/l": "mole per litre", "ppm": "parts per million",
}  # fmt: skip


def unit_problem(unit: str, *, file: str | None = None, line: int | None = None, where: str = "") -> Problem | None:
    """Return None if the unit is known, else a problem that names the closest known one."""
    return None if unit in UNITS else unknown_name("unit", unit, UNITS, file=file, line=line, where=where)
