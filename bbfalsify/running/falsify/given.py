"""Arguments of a falsification as Python users give them: a profile or its file, requirements or their formulas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from bbfalsify.core.errors import Problem, UserError
from bbfalsify.logic import Formula, Requirement, parse_stl
from bbfalsify.modelling import Profile, check_profile, load_profile
from bbfalsify.systems import System
from bbfalsify.systems.compatibility import length_problems, parameter_problems, port_problems

RequirementLike = str | Formula | Requirement
ProfileLike = str | Path | Profile


def checked_arguments(
    system: System, profile: ProfileLike, requirements: RequirementLike | Sequence[RequirementLike], horizon: float
) -> tuple[Profile, tuple[Requirement, ...]]:
    """Read what is given as text, and check for callers from Python what the command line checks in files."""
    problems: list[Problem] = []
    if not isinstance(system, System):
        problems.append(Problem(f"a system is needed, not {type(system).__name__}; decorate a function with @system."))
    used = _profile(profile, problems)
    if used is not None and isinstance(system, System):
        problems += [*port_problems(used, system), *parameter_problems(used, system)]
    read = _requirements(system, requirements, problems)
    if not (isinstance(horizon, Real) and math.isfinite(horizon) and horizon >= 0):
        problems.append(Problem(f"the horizon must be finite and not negative, found {horizon!r}."))
    elif used is not None:
        problems += length_problems(used, [horizon])
    if problems or used is None:
        raise UserError(problems)
    return used, read


def _profile(given: Any, problems: list[Problem]) -> Profile | None:
    if isinstance(given, str | Path):
        try:
            given = load_profile(given)
        except UserError as error:
            problems += error.problems
            return None
    if not isinstance(given, Profile):
        problems.append(Problem(f"a Profile or its file is needed, not {type(given).__name__}."))
        return None
    problems += check_profile(given)
    return given


def _requirements(system: Any, given: Any, problems: list[Problem]) -> tuple[Requirement, ...]:
    """Read the requirements; one given as a formula is called R1, R2, … by its place."""
    alone = isinstance(given, RequirementLike) or not isinstance(given, Iterable)
    listed = [given] if alone else list(given)
    if not listed:
        problems.append(Problem("at least one requirement is needed."))
    ports = (*system.inputs, *system.outputs) if isinstance(system, System) else None
    signals = None if ports is None else [port.name for port in ports]
    read = []
    for number, item in enumerate(listed, start=1):
        try:
            read.append(_requirement(item, f"R{number}", signals))
        except UserError as error:
            problems += [replace(p, message=f"requirement {number}: {p.message}") for p in error.problems]
    ids = [r.id for r in read]
    problems += [
        Problem(f"two requirements have the id {name}.") for name in sorted({i for i in ids if ids.count(i) > 1})
    ]
    problems += [
        Problem(f"no finite trace can violate {r.id}, '{r.formula}': give its eventually or until a bound.")
        for r in read
        if not r.formula.falsifiable
    ]
    return tuple(read)


def _requirement(given: Any, name: str, signals: Sequence[str] | None) -> Requirement:
    if isinstance(given, Requirement):
        return given
    formula = parse_stl(given, signals=signals) if isinstance(given, str) else given
    if not isinstance(formula, Formula):
        raise UserError(f"a Requirement or a formula is needed, not {type(given).__name__}.")
    return Requirement(name, "", formula)
