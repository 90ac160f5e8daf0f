"""Check the user's settings of an FMU against its description: ports, start values, step."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.systems.fmu.description import FLOATS, Description, Variable
from bbfalsify.systems.fmu.variable_access import Element, elements_of, start_numbers, unfit
from bbfalsify.systems.parameters import ParameterInfo, Values
from bbfalsify.systems.reference_settings import SET

_SHOWN = 20
"""Variables in a message; a large model has thousands."""
Names = Iterable[str] | Mapping[str, str]
"""Names of variables, or port names with the variables they stand for."""


def named(names: Names | None) -> dict[str, str] | None:
    """Port name → variable."""
    if names is None or isinstance(names, Mapping):
        return None if names is None else dict(names)
    return {name: name for name in ([names] if isinstance(names, str) else names)}


@dataclass(frozen=True)
class Plan:
    """The variables that every simulation sets and reads."""

    inputs: tuple[Element, ...]
    outputs: tuple[Element, ...]
    start_numbers: Mapping[Element, float]
    start_texts: Mapping[Variable, str]
    parameters: Mapping[str, Element]
    """The numbers that may have another value in each simulation, by name."""

    def starts(self, values: Values) -> dict[Element, float]:
        """Start values of a simulation in which these parameters have these values."""
        return {**self.start_numbers, **{self.parameters[name]: value for name, value in values.items()}}

    def described(self) -> dict[str, ParameterInfo]:
        return {name: self._described(*element) for name, element in self.parameters.items()}

    def _described(self, variable: Variable, position: int) -> ParameterInfo:
        given = self.start_numbers.get((variable, position))
        default = start_numbers(variable)[position] if given is None and variable.start is not None else given
        whole = variable.kind not in FLOATS
        low, high = (0, 1) if variable.kind == "Boolean" else (variable.low, variable.high)
        return ParameterInfo(default, variable.unit, low, high, whole)


class FmuSettings:
    """A check of the user's settings against the FMU's variables that collects all problems."""

    def __init__(self, description: Description, file: str) -> None:
        self._description, self._file = description, file
        self._variables = list(description.variables.values())
        self._elements = elements_of([v for v in self._variables if v.is_number])
        self._problems: list[Problem] = []

    def inputs(self, names: Mapping[str, str] | None) -> dict[str, Element]:
        if names is None:
            return {name: e for name, e in self._elements.items() if e[0].causality == "input"}
        allowed = {
            name: element
            for name, element in self._elements.items()
            if element[0].causality == "input" or element[0].variability == "tunable"
        }
        return self._chosen("input", names, allowed)

    def outputs(self, names: Mapping[str, str] | None) -> dict[str, Element]:
        if names is None:
            return {name: e for name, e in self._elements.items() if e[0].causality == "output"}
        return self._chosen("output", names, self._elements)

    def _chosen(self, what: str, names: Mapping[str, str], allowed: dict[str, Any]) -> dict[str, Element]:
        chosen = {}
        for port, variable in names.items():
            found = {variable: variable} if variable in allowed else self._whole_array(variable, port, allowed)
            for label, element in found.items():
                chosen[port if element == variable else label] = allowed[element]
            if not found:
                unknown = unknown_name(f"{what} variable", variable, allowed, file=self._file)
                self._problems.append(self._not_driven(variable) or unknown)
        return chosen

    def _not_driven(self, name: str) -> Problem | None:
        """Say why a variable that exists cannot be an input; outputs can be any."""
        element = self._elements.get(name)
        if element is None:
            return None
        if element[0].causality == "parameter" and element[0].can_start_elsewhere:
            text = (
                f"'{name}' is a parameter that keeps its value during a simulation, so it cannot be an input; set it "
                f"before: start_values={{'{name}': …}}, or '{self._name}?{SET}{name}=…'."
            )
        else:
            text = (
                f"'{name}' is of causality '{element[0].causality}': only inputs and tunable parameters can be driven."
            )
        return Problem(text, file=self._file)

    @property
    def _name(self) -> str:
        return self._file.replace("\\", "/").rpartition("/")[2]

    def _whole_array(self, name: str, port: str, allowed: dict[str, Any]) -> dict[str, str]:
        """Find all elements of an array that is named without an index."""
        variable = self._description.variables.get(name)
        if variable is None or not variable.shape:
            return {}
        elements = [element for element in variable.element_names() if element in allowed]
        return {port + element[len(name) :]: element for element in elements}

    def parameters(self, driven: Collection[Element]) -> dict[str, Element]:
        """Find the numbers that a simulation may begin with: all start values but those of inputs that are driven."""
        return {
            name: element
            for name, element in self._elements.items()
            if element not in driven and element[0].can_start_elsewhere
        }

    def start_values(self, given: Mapping[str, Any]) -> tuple[dict[Element, float], dict[Variable, str]]:
        numbers: dict[Element, float] = {}
        texts: dict[Variable, str] = {}
        settable = {v.name: v for v in self._variables if v.can_start_elsewhere and (v.is_number or v.kind == "String")}
        elements = {name: e for name, e in self._elements.items() if e[0].name in settable}
        for name, value in given.items():
            variable = settable.get(name)
            if variable is not None and variable.kind == "String":
                if isinstance(value, str):
                    texts[variable] = value
                else:
                    self._complain(f"start value of '{name}': expected a text, got {value!r}.")
            elif name in elements:
                self._number(name, elements[name], value, numbers)
            else:
                known = {*elements, *(v.name for v in settable.values() if v.kind == "String")}
                self._problems.append(unknown_name("start value", name, known, file=self._file))
        return numbers, texts

    def _number(self, name: str, element: Element, value: Any, numbers: dict) -> None:
        if not isinstance(value, int | float | np.number | np.bool_) or not math.isfinite(value):
            self._complain(f"start value of '{name}': expected a finite number, got {value!r}.")
            return
        if (wrong := unfit(element[0], np.array([float(value)]))) is not None:
            self._complain(f"start value of '{name}': it {wrong}.")
            return
        numbers[element] = float(value)

    def period(self, step: float | None) -> float | None:
        """Find the period of the grid on which the FMU runs; None if it takes steps of any size."""
        if step is not None:
            if not (isinstance(step, int | float) and math.isfinite(step) and step > 0):
                self._complain(f"the step must be a positive number, found {step!r}.")
                return None
            return float(step)
        if self._description.any_step:
            return None
        if self._description.step is None:
            self._complain(
                "this FMU takes steps of one size only and does not say which: "
                f"'{self._name}?step=0.1', or FmuSystem(…, step=0.1)."
            )
        return self._description.step

    def finish(self, driven: Mapping[str, Any], seen: Mapping[str, Any]) -> None:
        if not seen and not self._problems:
            some = tuple(name for name, e in self._elements.items() if e[0].causality == "local")[:_SHOWN]
            message = (
                f"this FMU has no output that is a number; name other variables: '{self._name}?outputs=…', or "
                "FmuSystem(…, outputs=[…])."
            )
            self._problems.append(Problem(message, file=self._file, allowed=some))
        for name in sorted(set(driven) & set(seen)):
            self._complain(f"'{name}' is both an input and an output; rename one: outputs={{'y': '{name}'}}.")
        if self._problems:
            raise UserError(self._problems)

    def _complain(self, message: str) -> None:
        self._problems.append(Problem(message, file=self._file))
