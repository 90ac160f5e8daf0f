"""Read an FMU's modelDescription.xml (FMI 2.0 and 3.0) without loading its binary.

Variables with their types, units, start values and array sizes; the co-simulation interface and its abilities.  The
file is untrusted: document type declarations (and with them entities) are refused, and every mistake in it is a problem
of a `UserError`, never another exception.
"""

from __future__ import annotations

import math
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.core.units import UNITS

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_ELEMENTS = 100_000
"""Limit of the elements of an array, each of which can be a port."""
FLOATS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", "Enumeration", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")
NUMBERS = (*FLOATS, *INTEGERS, "Boolean")
_OTHERS = ("String", "Binary", "Clock")
_KINDS = {
    2: ("Real", "Integer", "Enumeration", "Boolean", "String"),
    3: (*(kind for kind in NUMBERS if kind not in ("Real", "Integer")), *_OTHERS),
}
_OTHER_NAMES = {
    "": None, "-": "1", "°C": "degC", "Celsius": "degC", "°F": "degF", "Kelvin": "K", "sec": "s", "rev/min": "rpm",
    "1/min": "rpm", "r/min": "rpm", "m/s^2": "m/s2", "m/(s.s)": "m/s2", "m^2": "m2", "m^3": "m3", "m^3/s": "m3/s",
    "N.m": "Nm", "N m": "Nm", "°": "deg", "ohm": "Ohm", "kW.h": "kWh", "kW h": "kWh", "mol/L": "mol/l", "L": "l",
}  # fmt: skip
"""How tools write units that we call by another name."""


@dataclass(frozen=True)
class Variable:
    name: str
    reference: int
    kind: str
    """FMI's own name of the type: Real, Integer, … in FMI 2; Float64, Int32, … in FMI 3."""
    causality: str = "local"
    variability: str = "continuous"
    unit: str | None = None
    start: str | None = None
    """As written; an array's values are separated by spaces."""
    shape: tuple[int, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    """Its range; of an enumeration the first and last value."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS

    @property
    def can_start_elsewhere(self) -> bool:
        """True if its value may be set before the initialisation."""
        if self.variability == "constant" or self.causality in ("structuralParameter", "independent"):
            return False
        return self.causality in ("input", "parameter") or self.start is not None

    def element_names(self) -> Iterator[str]:
        """The name itself, or y[0], y[1], … (y[0,0], y[0,1], …) of an array, in the order of its values."""
        if not self.shape:
            yield self.name
            return
        for flat in range(self.size):
            index = []
            for length in reversed(self.shape):
                flat, at = divmod(flat, length)
                index.append(str(at))
            yield f"{self.name}[{','.join(reversed(index))}]"


@dataclass(frozen=True)
class Description:
    fmi: int
    """2 or 3."""
    model_name: str
    identifier: str
    """Name of its library."""
    token: str
    """Argument of `instantiate`: guid, or instantiationToken."""
    any_step: bool
    """It can take steps of different sizes."""
    step: float | None
    """The step size it asks for."""
    can_save: bool
    variables: dict[str, Variable] = field(default_factory=dict)

    @property
    def platform_folder(self) -> str:
        """Folder inside the archive with the library for this machine."""
        return "/".join(("binaries", _platform_folder(self.fmi)))

    @property
    def library(self) -> str:
        return f"{self.platform_folder}/{self.identifier}{_suffix()}"


def read_description(text: bytes, file: str) -> Description:
    """Parse the description; report all problems at once, each with the name of the FMU's file."""
    root = _parse(text, file)
    version = root.get("fmiVersion", "")
    if not re.fullmatch(r"2\.0(\.\d+)?|3\.0(\.\d+)?", version):
        raise UserError(Problem(f"FMI version '{version}' is not supported.", file=file, allowed=("2.0", "3.0")))
    interface = root.find("CoSimulation")
    if interface is None:
        offered = [name for name in ("ModelExchange", "ScheduledExecution") if root.find(name) is not None]
        raise UserError(
            Problem(
                f"this FMU is for {' and '.join(offered) or 'nothing we know'} only; it must contain its own solver: "
                "export it again for co-simulation.",
                file=file,
            )
        )
    reader = _Reader(root, int(version[0]), file)
    fmi3 = reader.fmi == 3
    identifier = interface.get("modelIdentifier", "")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,255}", identifier):  # it becomes part of a path
        reader.complain(f"the model identifier '{identifier}' is not a C identifier.")
    default = root.find("DefaultExperiment")
    internal = reader.positive(interface, "fixedInternalStepSize")
    found = Description(
        fmi=reader.fmi,
        model_name=root.get("modelName") or identifier,
        identifier=identifier,
        token=root.get("instantiationToken" if fmi3 else "guid", ""),
        any_step=internal is None and reader.flag(interface, "canHandleVariableCommunicationStepSize"),
        step=internal or (None if default is None else reader.positive(default, "stepSize")),
        can_save=reader.flag(interface, "canGetAndSetFMUState" if fmi3 else "canGetAndSetFMUstate"),
        variables=reader.variables(),
    )
    if reader.problems:
        raise UserError(reader.problems)
    return found


def _parse(text: bytes, file: str) -> Element:
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(text, forbid_dtd=True)
    except DefusedXmlException:
        raise UserError(Problem("modelDescription.xml defines a document type; refused.", file=file)) from None
    except (ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        raise UserError(Problem(f"modelDescription.xml cannot be read: {error}.", file=file)) from None
    if root.tag != "fmiModelDescription":
        raise UserError(Problem(f"modelDescription.xml begins with <{root.tag}>, not an FMU's.", file=file))
    return root


class _Reader:
    def __init__(self, root: Element, fmi: int, file: str) -> None:
        self.root, self.fmi, self.file = root, fmi, file
        self.problems: list[Problem] = []

    def complain(self, message: str) -> None:
        self.problems.append(Problem(message, file=self.file))

    def flag(self, element: Element, name: str) -> bool:
        return element.get(name, "false").strip() in ("true", "1")

    def positive(self, element: Element, name: str) -> float | None:
        text = element.get(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            self.complain(f"{name} is '{text}', not a positive number.")
            return None
        return value

    def variables(self) -> dict[str, Variable]:
        types = self._types()
        structural = {}  # FMI 3: sizes of arrays may be the start values of these
        found: dict[str, Variable] = {}
        elements = [element for block in self.root.findall("ModelVariables") for element in block]
        for element in elements:
            if element.get("causality") == "structuralParameter":
                structural[element.get("valueReference")] = element.get("start", "")
        for element in elements:
            variable = self._variable(element, types, structural)
            if variable is None:
                continue
            if variable.name in found:
                self.complain(f"two variables are called '{variable.name}'.")
            found[variable.name] = variable
        return found

    def _variable(self, element: Element, types: dict[str, _Type], structural: dict) -> Variable | None:
        typed: Element | None = element
        if self.fmi == 2:
            typed = next((child for child in element if child.tag in _KINDS[2]), None)
        name, reference = element.get("name"), element.get("valueReference", "")
        if typed is None or typed.tag not in _KINDS[self.fmi] or name is None or not reference.isdecimal():
            self.complain(f"variable '{name}': its type or value reference is missing.")
            return None
        declared = types.get(typed.get("declaredType", ""), _Type())
        unit = typed.get("unit") or declared.unit
        start = typed.get("start")
        if start is None and (given := typed.find("Start")) is not None:
            start = given.get("value")
        return Variable(
            name=name,
            reference=int(reference),
            kind=typed.tag,
            causality=element.get("causality", "local"),
            variability=element.get("variability", "continuous" if typed.tag in FLOATS else "discrete"),
            unit=_our_unit(unit),
            start=start,
            shape=self._shape(name, typed, structural),
            low=_limit(typed, "min", declared.low),
            high=_limit(typed, "max", declared.high),
        )

    def _shape(self, name: str, typed: Element, structural: dict) -> tuple[int, ...]:
        shape = []
        for dimension in typed.findall("Dimension"):
            text = dimension.get("start") or structural.get(dimension.get("valueReference"), "")
            if not text.isdecimal() or int(text) < 1:
                self.complain(f"array '{name}': the size of a dimension is unknown.")
                return ()
            shape.append(int(text))
        if math.prod(shape) > MOST_ELEMENTS:
            self.complain(f"array '{name}' has {math.prod(shape)} elements; at most {MOST_ELEMENTS} are supported.")
            return ()
        return tuple(shape)

    def _types(self) -> dict[str, _Type]:
        found = {}
        for kind in self.root.findall("TypeDefinitions/*"):
            typed = kind if self.fmi == 3 else next(iter(kind), kind)
            values = [v for item in typed.findall("Item") if math.isfinite(v := _number(item.get("value"), math.nan))]
            low, high = (min(values), max(values)) if values else (-math.inf, math.inf)
            limits = _limit(typed, "min", low), _limit(typed, "max", high)
            found[kind.get("name", "")] = _Type(typed.get("unit"), *limits)
        return found


@dataclass(frozen=True)
class _Type:
    """The part of a type definition that its variables inherit."""

    unit: str | None = None
    low: float = -math.inf
    high: float = math.inf


def _limit(element: Element, name: str, default: float) -> float:
    """The range only helps to choose values, so a limit that is no number is no problem."""
    return _number(element.get(name), default)


def _number(text: str | None, default: float) -> float:
    try:
        value = float(text or "")
    except ValueError:
        return default
    return default if math.isnan(value) else value


def _our_unit(unit: str | None) -> str | None:
    """Translate a unit to our name; None if it is unknown here, because units only prevent mistakes."""
    if unit is None:
        return None
    unit = _OTHER_NAMES.get(unit.strip(), unit.strip())
    return unit if unit in UNITS else None


def _platform_folder(fmi: int) -> str:
    """Name of this machine in FMI 2.0 (linux64) or FMI 3.0 (x86_64-linux)."""
    machine = platform.machine().lower()
    processor = {"amd64": "x86_64", "arm64": "aarch64", "i686": "x86", "i386": "x86"}.get(machine, machine)
    system = "windows" if sys.platform == "win32" else "darwin" if sys.platform == "darwin" else "linux"
    if fmi == 3:
        return f"{processor}-{system}"
    return f"{'win' if system == 'windows' else system}{'64' if sys.maxsize > 2**32 else '32'}"


def _suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
