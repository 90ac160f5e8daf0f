"""Continuous systems for black box checking: sampled inputs, thresholds as symbols, STL as LTL over them.

box, claims, notes = sampled(heater, ["always(T <= 75)"], symbols={"on": {"heat": 1}, "off": {"heat": 0}}, period=1)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from bbfalsify.core.errors import UserError
from bbfalsify.engines.checking.claims import Claim
from bbfalsify.logic import Requirement, parse_stl
from bbfalsify.logic.ltl.sampled_stl import Sampling
from bbfalsify.modelling import Network, Profile
from bbfalsify.modelling.profiles.profile import HeldInput
from bbfalsify.systems import System
from bbfalsify.systems.sampled import SampledSystem

Symbols = Mapping[str, Mapping[str, float]]


def sampled(
    system: System, requirements: Sequence[str | Requirement], *, symbols: Symbols, period: float
) -> tuple[SampledSystem, list[Claim], list[str]]:
    """Return the system with symbols, the requirements about them, and notes."""
    names = [port.name for port in (*system.inputs, *system.outputs)]
    formulas = [parse_stl(r, signals=names) if isinstance(r, str) else r.formula for r in requirements]
    sampling = Sampling(formulas, period, inputs={s: dict(values) for s, values in symbols.items()})
    told = [(f"R{n}", "") if isinstance(r, str) else (r.id, r.text) for n, r in enumerate(requirements, start=1)]
    claims = [Claim(*words, formula) for words, formula in zip(told, sampling.properties, strict=True)]
    notes = [f"judged are samples every {period:g}; what happens between them is not seen"]
    notes += [f"{claims[number].id}: {reason}" for number, reason in sampling.unseen.items()]
    return SampledSystem(system, symbols, period, sampling.answer), claims, notes


def resampled(system: System, source: str) -> SampledSystem:
    """Sample a system as it was when a counterexample was written; `source` is that of its requirement (form stl)."""
    facts = json.loads(source)
    formulas = [parse_stl(text) for text in facts["stl"]]
    sampling = Sampling(formulas, facts["period"], inputs=facts["inputs"])
    return SampledSystem(system, facts["inputs"], facts["period"], sampling.answer)


def symbols_of(profile: Profile | Network | None) -> dict[str, dict[str, float]]:
    """The actions of a profile as symbols: the values that each gives to the inputs."""
    if not isinstance(profile, Profile):
        raise UserError("a system of signals needs symbols (on: {heat: 1}), or a profile whose actions set its inputs.")
    symbols: dict[str, dict[str, float]] = {}
    for port in profile.inputs:
        if not isinstance(port, HeldInput):
            raise UserError(
                f"the profile computes the input '{port.name}', so its actions are no symbols; give symbols."
            )
        for action, value in port.values:
            symbols.setdefault(action, {})[port.name] = float(value)
    for action, values in symbols.items():
        silent = [port.name for port in profile.inputs if port.name not in values]
        if silent:
            raise UserError(
                f"the action '{action}' does not set {', '.join(silent)}, so what it means depends on what was "
                "before; give symbols."
            )
    return symbols
