"""The systems, profiles and models of a campaign, loaded and checked; problems go to the reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bbfalsify.campaigns.reading import Reader
from bbfalsify.campaigns.requirements.stl import RequirementItem
from bbfalsify.core.errors import Problem
from bbfalsify.core.foreign_files import closest_file, is_file, not_a_file
from bbfalsify.records.documents import KeyPath
from bbfalsify.systems.compatibility import length_problems, parameter_problems, port_problems, units_of

if TYPE_CHECKING:
    from bbfalsify.campaigns.requirements.queries import PlannedModel
    from bbfalsify.modelling import Network, Profile
    from bbfalsify.records.accepted import Acceptances
    from bbfalsify.systems import SymbolSystem, System


@dataclass(frozen=True)
class Inputs:
    """Everything that a campaign names, by its name; None is what could not be loaded."""

    systems: Mapping[str, System | SymbolSystem | None]
    profiles: Mapping[str, Profile | Network | None]
    models: Mapping[str, PlannedModel | None]
    not_checked: Sequence[Problem] = ()
    """What could not be checked without running code."""

    def own_name(self, engine: str) -> str:
        """The name of a run that is described on the command line."""
        named = next(iter(self.systems.values()), None)
        return named.name if named is not None else f"{engine}-{next(m.name for m in self.models.values() if m)}"

    def of_signals(self) -> list[System]:
        """Return the systems that take and give signals."""
        from bbfalsify.systems import SymbolSystem

        return [s for s in self.systems.values() if s is not None and not isinstance(s, SymbolSystem)]

    def usages(self) -> list[Profile]:
        """Return the profiles that drive signals."""
        from bbfalsify.modelling import Profile

        return [profile for profile in self.profiles.values() if isinstance(profile, Profile)]


def load_inputs(
    reader: Reader,
    sections: Mapping[str, Sequence[Any]],
    base: Path,
    about: Collection[str],
    *,
    declared_only: bool = False,
) -> Inputs:
    """Load what the sections name; profiles are checked against the systems that they drive.

    `declared_only`: run no code of a system; what stays unknown for that reason is in `not_checked`.
    """
    from bbfalsify.systems import load_system
    from bbfalsify.systems.declared import NotRead, declared_system

    not_checked: list[Problem] = []
    [constants] = sections.get("constants", [None])

    def system_of(name: str) -> System | SymbolSystem | None:
        path = _key_path(reader, "system", name)
        found: Any = reader.attempt(path, declared_system if declared_only else load_system, name, base=base)
        if isinstance(found, NotRead):
            text = f"the ports of '{name}' were not checked: {found.reason} (--load does)."
            not_checked.append(reader.document.problem(path, text))
            return None
        return None if found is None else _speaking(reader, path, name, found, about, units)

    profiles = {name: profile_of(reader, base, name, about) for name in dict.fromkeys(sections.get("profile", []))}
    units = {unit for profile in profiles.values() for unit in units_of(profile)}
    inputs = Inputs(
        {name: system_of(name) for name in dict.fromkeys(sections.get("system", []))},
        _with_values(reader, profiles) if "signals" in about else profiles,
        {name: model_of(reader, base, name, constants) for name in dict.fromkeys(sections.get("model", []))},
        not_checked,
    )
    for profile in inputs.usages() if "signals" in about else ():
        for system in inputs.of_signals():
            reader.adopt((_owner(reader, "signals"),), port_problems(profile, system))
            reader.adopt((_owner(reader, "parameters"),), parameter_problems(profile, system))
    return inputs


def check_lengths(reader: Reader, inputs: Inputs, engines: Iterable[Any]) -> None:
    """Note signals that change too often in a use of one of these engines."""
    horizons = [float(engine.horizon) for engine in engines if getattr(engine, "horizon", None) is not None]
    for profile in inputs.usages():
        reader.adopt((_owner(reader, "signals"),), length_problems(profile, horizons))


def _owner(reader: Reader, key: str) -> str:
    """The section to blame for what a profile says: an own one of the campaign, or the profile."""
    return key if key in reader.document.data else "profile"


def _key_path(reader: Reader, key: str, value: str) -> KeyPath:
    given = reader.document.data[key]
    return (key, given.index(value)) if isinstance(given, list) else (key,)


def _speaking(
    reader: Reader,
    path: KeyPath,
    reference: str,
    system: System | SymbolSystem,
    answers: Collection[str],
    agreed: Collection[str],
) -> System | SymbolSystem | None:
    """Return the system if the engines can talk to it; its units are known ones, or those of the profiles."""
    from bbfalsify.systems import SymbolSystem
    from bbfalsify.systems.interface import unit_problems

    if isinstance(system, SymbolSystem) and "symbols" not in answers:
        reader.problem(path, f"'{reference}' answers symbols, not signals; falsify needs inputs and outputs over time.")
        return None
    if not isinstance(system, SymbolSystem) and set(answers) == {"symbols"}:
        reader.problem(
            path,
            f"'{reference}' takes signals; check needs a system that answers symbols, or signals sampled (--symbol).",
        )
        return None
    if not isinstance(system, SymbolSystem):
        reader.adopt(path, unit_problems(system, agreed))
    return system


def _no_file(reader: Reader, path: KeyPath, file: Path) -> bool:
    """Note a file that is not there."""
    missing = not is_file(file)
    if missing:
        reader.problem(path, f"{reader.label(path)}: {not_a_file(file)}", closest=closest_file(file))
    return missing


def profile_of(reader: Reader, base: Path, name: str, answers: Collection[str]) -> Profile | Network | None:
    from bbfalsify.modelling import Profile, check_profile, load_profile

    path = _key_path(reader, "profile", name)
    if _no_file(reader, path, base / name):
        return None
    load: Callable[[Path], Profile | Network] = _usage if set(answers) == {"symbols"} else load_profile
    profile = reader.attempt(path, load, base / name)
    problems = check_profile(profile) if isinstance(profile, Profile) else []
    reader.adopt(path, problems)
    return None if problems else profile


def _with_values(reader: Reader, profiles: dict[str, Profile | Network | None]) -> dict[str, Profile | Network | None]:
    """Add the signals and parameters of the campaign to each profile; alone they are one."""
    from bbfalsify.modelling import Profile, with_values
    from bbfalsify.modelling.formats.yaml_reader import VALUE_KEYS

    document = reader.document
    given = [key for key in VALUE_KEYS if isinstance(document.data, dict) and key in document.data]
    if not given:
        return profiles
    name, problems = str(document.data.get("name") or "signals"), list[Problem]()
    added = {
        key: with_values(profile, document, name, problems)
        if profile is None and not profiles or isinstance(profile, Profile)
        else profile
        for key, profile in (profiles or {name: None}).items()
    }
    reader.adopt((given[0],), (replace(problem, file=problem.file or None) for problem in problems))
    return added


def _usage(file: Path) -> Profile | Network:
    """Load a profile, or a model without inputs: for a system of symbols only the actions matter."""
    from bbfalsify.modelling import load_network, load_profile
    from bbfalsify.records.documents import read_yaml

    data = read_yaml(file).data if file.suffix in (".yaml", ".yml") else {}
    return load_profile(file) if isinstance(data, dict) and "inputs" in data else load_network(file)


def model_of(
    reader: Reader, base: Path, reference: str, constants: Mapping[str, Any] | None = None
) -> PlannedModel | None:
    from bbfalsify.campaigns.requirements.queries import load_planned_model

    return reader.attempt(_key_path(reader, "model", reference), load_planned_model, reference, base, constants)


def signals_of(inputs: Inputs) -> list[str] | None:
    """Return what formulas may name: every input and output; None while a profile or system could not be loaded."""
    systems = inputs.of_signals()
    if not systems or len(systems) < len(inputs.systems) or None in inputs.profiles.values():
        return None
    names = [port.name for profile in inputs.usages() for port in profile.inputs]
    for system in systems:
        ports = system.outputs if inputs.profiles else (*system.inputs, *system.outputs)
        names += [port.name for port in ports]
    return list(dict.fromkeys(names))


def check_early_stop(reader: Reader, systems: Iterable[System]) -> None:
    """Note systems that cannot be stopped in the middle of a simulation."""
    from bbfalsify.systems.interface import CapabilityMissing, require_capability

    for system in systems:
        if system.capabilities is None:  # only its declaration was read, and computes them
            continue
        try:
            require_capability(system, "stepwise", reader.label(("early_stop",)))
        except CapabilityMissing as missing:
            reader.adopt(("early_stop",), missing.problems)


def acceptances_of(reader: Reader, file: Path, items: Iterable[RequirementItem], inputs: Inputs) -> Acceptances | None:
    """Load the accepted failures; a name that this campaign does not know is surely a typo."""
    from bbfalsify.records.accepted import load_acceptances

    if _no_file(reader, ("accepted",), file):
        return None
    acceptances = reader.attempt(("accepted",), load_acceptances, file)
    names = [item.data["id"] for item in items if isinstance(item.data, dict) and "id" in item.data]
    if acceptances is not None and names and inputs.profiles and None not in inputs.profiles.values():
        actions = {action for profile in inputs.usages() for action in profile.network.actions}
        reader.adopt(("accepted",), acceptances.problems(names, actions))
    return acceptances
