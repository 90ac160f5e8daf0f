"""Get and set many variables of an FMU at once, with buffers and arguments made once.

FMI has one function per type, so the elements are grouped by function, and each group becomes one call.  All numbers
are float64 outside: booleans are 0 and 1, enumerations their position.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bbfalsify.systems.fmu.description import FLOATS, Variable

if TYPE_CHECKING:
    from bbfalsify.systems.fmu.native import Instance

Element = tuple[Variable, int]
"""One number of the model: a scalar variable and 0, or an array and the position in it."""
Row = np.ndarray
WARNING = 1


def elements_of(variables: Sequence[Variable]) -> dict[str, Element]:
    """Map the name of every number of these variables to its element."""
    return {
        name: (variable, position) for variable in variables for position, name in enumerate(variable.element_names())
    }


def unfit(variable: Variable, values: np.ndarray) -> str | None:
    """Explain why the variable cannot take these numbers; None if it can."""
    if variable.kind in FLOATS:
        return None
    if variable.kind == "Boolean":
        wrong, allowed = (values != 0) & (values != 1), "0 and 1"
    else:
        low, high = _range(variable)
        wrong = ~((values == np.rint(values)) & (values >= low) & (values <= high))
        allowed = f"whole numbers from {low} to {high}"
    if not wrong.any():
        return None
    return f"is of type {variable.kind} and takes {allowed}, not {values[wrong][0]:g}"


def _range(variable: Variable) -> tuple[int, int]:
    kind = variable.kind
    if kind == "Enumeration" and math.isfinite(variable.low) and math.isfinite(variable.high):
        return int(variable.low), int(variable.high)
    bits = int(kind.lstrip("UInt")) if kind[-1].isdigit() else 32  # Integer and Enumeration
    return (0, 2**bits - 1) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def reader(instance: Instance, elements: Sequence[Element]) -> Callable[[Row], None]:
    """Make a function that writes the present value of each element into a row of numbers."""
    groups = [_Group(instance, "Get", columns, elements) for columns in _by_function(instance, elements)]
    calls = [(g.function, g.arguments, g.values, g.places, g.columns, g.name) for g in groups]

    def read(row: Row) -> None:
        for function, arguments, values, places, columns, name in calls:
            status = function(*arguments)
            if status > WARNING:
                instance.fail(status, name)
            row[columns] = values[places]

    return read


def writer(
    instance: Instance, elements: Sequence[Element], start: Mapping[Element, float] | None = None
) -> Callable[[Row], None]:
    """Make a function that sets each element to its number in a row; the rest of their arrays keeps its start."""
    groups = [_Group(instance, "Set", columns, elements) for columns in _by_function(instance, elements)]
    for group in groups:
        group.fill(start or {})
    calls = [(g.function, g.arguments, g.values, g.places, g.columns, g.name) for g in groups]

    def write(row: Row) -> None:
        for function, arguments, values, places, columns, name in calls:
            values[places] = row[columns]
            status = function(*arguments)
            if status > WARNING:
                instance.fail(status, name)

    return write


class _Group:
    """All elements that one call reads or writes, with the arguments of that call."""

    def __init__(self, instance: Instance, verb: str, columns: list[int], elements: Sequence[Element]) -> None:
        mine = [elements[column] for column in columns]
        variables = list(dict.fromkeys(variable for variable, _ in mine))
        word, kind = instance.types[variables[0].kind]
        self.name = verb + word
        self.function = instance.function(self.name)
        self._first, size = {}, 0
        for variable in variables:
            self._first[variable] = size
            size += variable.size
        references = (ctypes.c_uint * len(variables))(*(v.reference for v in variables))
        buffer = (kind * size)()
        self.arguments = (instance.component, references, len(variables), buffer, *instance.count(size))
        self.values = np.ctypeslib.as_array(buffer)
        self.places = _index([self._first[variable] + position for variable, position in mine])
        self.columns = _index(columns)

    def fill(self, start: Mapping[Element, float]) -> None:
        for variable, first in self._first.items():
            numbers = start_numbers(variable)
            for position in range(variable.size):
                self.values[first + position] = start.get((variable, position), numbers[position])


def _index(places: list[int]) -> slice | np.ndarray:
    """Make a slice where possible, because it is faster, else an index array."""
    run = places == list(range(places[0], places[0] + len(places)))
    return slice(places[0], places[0] + len(places)) if run else np.array(places)


def _by_function(instance: Instance, elements: Sequence[Element]) -> Iterable[list[int]]:
    """Group the positions of the elements by the call that can handle them."""
    groups: dict[str, list[int]] = {}
    for column, (variable, _) in enumerate(elements):
        groups.setdefault(instance.types[variable.kind][0], []).append(column)
    return groups.values()


def start_numbers(variable: Variable) -> list[float]:
    """The start value of each element, 0 where none is given (or one is no number)."""
    words = (variable.start or "").split()
    if len(words) == 1:
        words *= variable.size
    if len(words) != variable.size:
        return [0.0] * variable.size
    return [_number(word) for word in words]


def _number(word: str) -> float:
    try:
        return float({"true": "1", "false": "0"}.get(word, word))
    except ValueError:
        return 0.0
