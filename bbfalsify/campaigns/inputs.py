"""What a campaign is about: its systems, profiles and models, loaded and checked; problems go to the reader."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.requirements.stl import RequirementItem
from bbfalsify.core.errors import UserError
from bbfalsify.records.documents import KeyPath

if TYPE_CHECKING:
    from bbfalsify.campaigns.requirements.queries import PlannedModel
    from bbfalsify.modelling import Network, Profile
    from bbfalsify.records.accepted import Acceptances
    from bbfalsify.systems import System


def _key_path(reader: Reader, key: str, value: str) -> KeyPath:
    given = reader.document.data[key]
    return (key, given.index(value)) if isinstance(given, list) else (key,)


def system_of(reader: Reader, base: Path, reference: str, answers: Collection[str]) -> System | None:
    from bbfalsify.systems import SymbolSystem, load_system

    path = _key_path(reader, "system", reference)
    try:
        system = load_system(reference, base=base)
    except UserError as error:
        reader.adopt(path, error.problems)
        return None
    if isinstance(system, SymbolSystem) and "symbols" not in answers:
        reader.problem(path, f"'{reference}' answers symbols, not signals; falsify needs inputs and outputs over time.")
        return None
    if not isinstance(system, SymbolSystem) and set(answers) == {"symbols"}:
        reader.problem(path, f"'{reference}' takes signals; check needs a system that answers symbols.")
        return None
    return system


def profile_of(reader: Reader, base: Path, name: str, answers: Collection[str]) -> Profile | Network | None:
    from bbfalsify.modelling import Profile, check_profile, load_profile

    path = _key_path(reader, "profile", name)
    if not (base / name).is_file():
        reader.problem(path, f"{reader.label(path)}: there is no file '{base / name}'.")
        return None
    try:
        profile = _usage(base / name) if set(answers) == {"symbols"} else load_profile(base / name)
    except UserError as error:
        reader.adopt(path, error.problems)
        return None
    problems = check_profile(profile) if isinstance(profile, Profile) else []
    reader.adopt(path, problems)
    return None if problems else profile


def _usage(file: Path) -> Profile | Network:
    """A profile, or a model without inputs: of a system of symbols only the actions matter."""
    from bbfalsify.modelling import load_network, load_profile
    from bbfalsify.records.documents import read_yaml

    data = read_yaml(file).data if file.suffix in (".yaml", ".yml") else {}
    return load_profile(file) if isinstance(data, dict) and "inputs" in data else load_network(file)


def model_of(reader: Reader, base: Path, reference: str) -> PlannedModel | None:
    from bbfalsify.campaigns.requirements.queries import load_planned_model

    try:
        return load_planned_model(reference, base)
    except UserError as error:
        reader.adopt(_key_path(reader, "model", reference), error.problems)
        return None


def signals_of(profiles: Mapping[str, Profile | None], systems: Mapping[str, System | None]) -> list[str] | None:
    """What formulas may name: every input and output; None while a profile or system could not be loaded."""
    if not systems or None in profiles.values() or None in systems.values():
        return None
    names: dict[str, None] = {}
    for profile in profiles.values():
        names.update(dict.fromkeys(port.name for port in profile.inputs))
    for system in systems.values():
        ports = system.outputs if profiles else (*system.inputs, *system.outputs)
        names.update(dict.fromkeys(port.name for port in ports))
    return list(names)


def check_early_stop(reader: Reader, systems: Iterable[System]) -> None:
    from bbfalsify.systems.interface import CapabilityMissing, require_capability

    for system in systems:
        try:
            require_capability(system, "stepwise", reader.label(("early_stop",)))
        except CapabilityMissing as missing:
            reader.adopt(("early_stop",), missing.problems)


def acceptances_of(
    reader: Reader, file: Path, items: Iterable[RequirementItem], profiles: Mapping[str, Profile | None]
) -> Acceptances | None:
    """The accepted failures; names that this campaign does not know are slips of the pen."""
    from bbfalsify.records.accepted import load_acceptances

    if not file.is_file():
        reader.problem(("accepted",), f"{reader.label(('accepted',))}: there is no file '{file}'.")
        return None
    try:
        acceptances = load_acceptances(file)
    except UserError as error:
        reader.adopt(("accepted",), error.problems)
        return None
    names = [item.data["id"] for item in items if isinstance(item.data, dict) and "id" in item.data]
    if names and profiles and None not in profiles.values():
        actions = {action for profile in profiles.values() for action in profile.network.actions}
        reader.adopt(("accepted",), acceptances.problems(names, actions))
    return acceptances
