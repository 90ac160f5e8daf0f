"""Does this profile fit this system?  Names and units of inputs and outputs, and values of parameters, checked before
anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from bbfalsify.core.choices import HIGHEST, LOWEST
from bbfalsify.core.errors import Place, Problem
from bbfalsify.core.units import unit_problem
from bbfalsify.modelling.profiles.laws import Law, Values
from bbfalsify.systems.parameters import parameters_of, value_problems

if TYPE_CHECKING:
    from bbfalsify.modelling import Profile
    from bbfalsify.systems import System


def port_problems(profile: Profile, system: System) -> list[Problem]:
    """Everything that does not fit; empty when the profile drives every input, and only inputs, of the system."""
    driven = {port.name: port.unit for port in profile.inputs}
    seen = dict(profile.outputs)
    inputs = {port.name: port.unit for port in system.inputs}
    outputs = {port.name: port.unit for port in system.outputs}
    return [
        *_unknown("input", driven, inputs, profile, system),
        *(
            _place(profile, "inputs").problem(
                f"nothing drives input '{name}' of system '{system.name}': add it under inputs: or signals:."
            )
            for name in inputs
            if name not in driven
        ),
        *_unknown("output", seen, outputs, profile, system),
        *_units({**driven, **seen}, {**inputs, **outputs}, profile, system),
    ]


def parameter_problems(profile: Profile, system: System) -> Iterator[Problem]:
    """Find laws for parameters that the system does not have, or whose values it refuses."""
    known = parameters_of(system)
    for drawn in profile.parameters:
        for value in dict.fromkeys(_values(drawn.law)):
            problem = next(value_problems(system, {drawn.name: value}), None)
            if problem is not None and drawn.name in known and not isfinite(drawn.law.high - drawn.law.low):
                info = known[drawn.name]
                cut = f" The law has no end there; 'range: [{info.low:g}, {info.high:g}]' cuts it off."
                problem = replace(problem, message=problem.message + cut)
            if problem is not None:
                yield replace(problem, file=drawn.place.file, line=drawn.place.line)
                break
        if drawn.name in known:
            yield from _units({drawn.name: drawn.unit}, {drawn.name: known[drawn.name].unit}, profile, system)


def _values(law: Law) -> Iterable[float]:
    """All values of a law that has some; of another one its ends and one between, which is hardly a whole number."""
    if isinstance(law, Values):
        return (value for value, weight in zip(law.values, law.weights, strict=True) if weight > 0)
    return (law.value(u) for u in (LOWEST, HIGHEST, 0.3))


def length_problems(profile: Profile, horizons: Iterable[float]) -> list[Problem]:
    """Find signals that change too often within the longest of these horizons."""
    longest = max(horizons, default=0.0)
    found = (signal.length_problem(longest) for signal in profile.signals)
    return [problem for problem in found if problem is not None]


def _unknown(what: str, named: Iterable[str], known: Iterable[str], profile: Profile, system: System) -> list[Problem]:
    known = list(known)
    where = f"(system '{system.name}')"
    return [_place(profile, name).unknown(what, name, known, where=where) for name in named if name not in known]


def _units(
    of_profile: dict[str, str | None], of_system: dict[str, str | None], profile: Profile, system: System
) -> list[Problem]:
    problems = []
    for name, unit in of_profile.items():
        other = of_system.get(name)
        if unit is not None and other is not None and unit != other:
            message = f"'{name}' is in '{unit}' here but in '{other}' in system '{system.name}'."
            problems.append(_place(profile, name).problem(message))
        elif unit is not None and other is None and (unknown := unit_problem(unit, where=f"of '{name}'")) is not None:
            place = _place(profile, name)
            problems.append(replace(unknown, file=place.file, line=place.line))
    return problems


def _place(profile: Profile, name: str) -> Place:
    """The place of an input or output, which may stand in the campaign; else the profile's file."""
    return profile.places.get(name, Place(profile.file))


def units_of(profile: object) -> set[str]:
    """Units that a profile names, known ones or not."""
    from bbfalsify.modelling import Profile

    if not isinstance(profile, Profile):
        return set()
    return {unit for unit in (*(port.unit for port in profile.inputs), *dict(profile.outputs).values()) if unit}
