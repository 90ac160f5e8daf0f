"""Parameters of a system: numbers that are fixed at the beginning of a simulation (a mass, a start temperature).

A system declares them in an optional attribute `parameters`, and its `open` takes values for some of them:

    class Thermostat:
        parameters = {"mass": ParameterInfo(1.0, unit="kg", low=0.1, high=10.0)}

        def open(self, seed: int, parameters: Mapping[str, float] | None = None) -> Session: ...

A parameter without a value has its default.  `open_session` is the one place where sessions are opened, so a system
without parameters needs no second argument.  `Preset` gives a system other defaults.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bbfalsify.core.errors import Problem, UserError, unknown_name
from bbfalsify.systems.failures import SessionFailure


@dataclass(frozen=True)
class ParameterInfo:
    """A parameter's default (None where only an FMU knows it), unit, range, and kind of number."""

    default: float | None
    unit: str | None = None
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    """It takes whole numbers only (0 and 1 for a Boolean)."""

    def refusal(self, value: Any) -> str | None:
        """Explain why it cannot have this value; None if it can."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return f"expected a finite number, found {value!r}."
        if self.whole and not float(value).is_integer():
            return f"expected a whole number, found {value:g}."
        if not self.low <= value <= self.high:
            return f"{value:g} is outside its range, {self.low:g} to {self.high:g}."
        return None


Values = Mapping[str, float]
ParametersLike = Mapping[str, float | ParameterInfo]


def as_parameters(given: ParametersLike | None, owner: str) -> dict[str, ParameterInfo]:
    """Make declarations of defaults; `owner` names the system in messages."""
    found = {name: v if isinstance(v, ParameterInfo) else ParameterInfo(v) for name, v in (given or {}).items()}
    wrong = {name: text for name, p in found.items() if (text := p.refusal(p.default))}
    if wrong:
        raise UserError(Problem(f"system '{owner}', default of parameter '{n}': {text}") for n, text in wrong.items())
    return {name: replace(p, default=float(p.default or 0.0)) for name, p in found.items()}


def completed(values: Values, parameters: Mapping[str, ParameterInfo]) -> dict[str, float]:
    """Add the defaults that are known to the values given."""
    known = {name: info.default for name, info in parameters.items() if info.default is not None}
    return {**known, **values}


def parameters_of(system: object) -> Mapping[str, ParameterInfo]:
    """The parameters that a system declares; none where it has no such attribute."""
    return getattr(system, "parameters", None) or {}


def value_problems(system: Any, values: Values) -> Iterator[Problem]:
    """Find what is wrong with values for the parameters of a system."""
    known = parameters_of(system)
    for name, value in values.items():
        if not known:
            yield Problem(f"the system '{system.name}' declares no parameters, so '{name}' cannot be set.")
        elif name not in known:
            yield unknown_name("parameter", name, known, where=f"of the system '{system.name}'")
        elif (text := known[name].refusal(value)) is not None:
            yield Problem(f"parameter '{name}' of the system '{system.name}': {text}")


def open_session(system: Any, seed: int, values: Values | None = None) -> Any:
    """Open a session in which parameters have these values; without values `open` gets only the seed."""
    if values and (problems := list(value_problems(system, values))):
        raise UserError(problems)
    session = system.open(seed, parameters=dict(values)) if values else system.open(seed)
    if not hasattr(type(session), "__enter__"):
        what = "a class, not an object of it" if isinstance(session, type) else f"a {type(session).__name__}"
        raise SessionFailure(f"open() of '{system.name}' returned {what}: a session has __enter__ and __exit__")
    return session


def unwrapped(system: Any) -> Any:
    """The system itself, without the defaults that a `Preset` gives it."""
    return system.system if isinstance(system, Preset) else system


class Preset:
    """A system with other defaults for some of its parameters; everything else is unchanged."""

    def __init__(self, system: Any, values: Values) -> None:
        if problems := list(value_problems(system, values)):
            raise UserError(problems)
        self.system, self.values = system, dict(values)

    @property
    def parameters(self) -> dict[str, ParameterInfo]:
        return {
            name: replace(info, default=self.values.get(name, info.default))
            for name, info in parameters_of(self.system).items()
        }

    def open(self, seed: int, parameters: Values | None = None) -> Any:
        return open_session(self.system, seed, {**self.values, **(parameters or {})})

    def __getattr__(self, name: str) -> Any:
        if name in ("system", "values"):  # not yet there while it is being unpickled
            raise AttributeError(name)
        return getattr(self.system, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Preset, (self.system, self.values)
